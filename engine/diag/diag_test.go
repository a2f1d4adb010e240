package diag

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

var update = flag.Bool("update", false, "write the golden file again")

func at(f *source.File, part string) source.Span {
	i := strings.Index(f.Text(), part)
	return f.Span(i, i+len(part))
}

func TestText(t *testing.T) {
	long := strings.Repeat("x", 150) + "HERE" + strings.Repeat("y", 150)
	f := source.NewFile("a.yaml", "name: x\n\tkey:\tvälue\nwide: 世界 BAD\nesc: \x1b[31mred\x1b[0m\u202e BAD2\n"+long+"\nlast: |\n  two\n  lines\nend:")
	other := source.NewFile("b\x1b.yaml", "x: y")
	var l List
	l.Errorf("plain", at(f, "x\n"), "the thing %q is wrong", "x")
	l.Warnf("tabs", at(f, "välue"), "below tabs")
	l.Notef("wide", at(f, "BAD"), "below wide characters")
	l.Errorf("control", at(f, "BAD2"), "a message with \x1b[2J and\na line feed").Help = "line one\nline \x07two\n"
	l.Errorf("long", at(f, "HERE"), "on a long line")
	l.Errorf("lines", at(f, "|\n  two\n  lines"), "over several lines").Related = []Related{
		{Span: at(f, "name"), Message: "related"}, {Span: source.Span{File: "unknown.yaml", Start: source.Pos{Line: 3, Col: 4}}, Message: "elsewhere"},
	}
	l.Errorf("end", f.Span(len(f.Text()), len(f.Text())), "at the end of the file")
	l.Errorf("other", at(other, "y"), "in another file")
	l.Errorf("nofile", source.Span{}, "nowhere")
	l.Errorf("escape", at(f, "\x1b[31m"), "on an escape")
	l.Errorf("beyond", source.Span{File: "a.yaml", Start: source.Pos{Line: 99, Col: 1}}, "on no line")

	got := l.Text(f, nil, other)
	if strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Error("a control character reached the text")
	}
	const path = "testdata/text.golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the text differs (go test -update writes it again):\n%s", got)
	}
	var short strings.Builder
	for line := range strings.Lines(got) {
		if strings.HasSuffix(line, "]\n") && !strings.HasPrefix(line, " ") {
			short.WriteString(line)
		}
	}
	if l.Short() != short.String() {
		t.Errorf("the short form is\n%s", l.Short())
	}
}

func TestSorted(t *testing.T) {
	span := func(file string, line, col int) source.Span {
		return source.Span{File: file, Start: source.Pos{Line: line, Col: col}, End: source.Pos{Line: line, Col: col + 1}}
	}
	var l List
	l.Errorf("b", span("b", 1, 1), "m")
	l.Errorf("a", span("a", 2, 1), "m")
	l.Errorf("b", span("a", 1, 9), "m")
	l.Errorf("a", span("a", 1, 9), "n")
	l.Errorf("a", span("a", 1, 9), "m")
	l.Warnf("a", span("a", 1, 9), "m")
	l.Errorf("a", span("a", 1, 9), "m")
	var got []string
	for _, d := range l.Sorted() {
		got = append(got, fmt.Sprint(d.Line()))
	}
	want := "a:1:9: error: m [a]\na:1:9: error: n [a]\na:1:9: warning: m [a]\na:1:9: error: m [b]\na:2:1: error: m [a]\nb:1:1: error: m [b]"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("sorted:\n%s\nwant:\n%s", s, want)
	}
	if l.Len() != 7 || l[0].Code != "b" {
		t.Error("sorting changed the list itself")
	}
	if !l.HasErrors() || l.Count(Warning) != 1 || (List{}).HasErrors() {
		t.Error("severities are counted wrongly")
	}
	var warnings List
	warnings.Warnf("w", source.Span{}, "m")
	if warnings.HasErrors() {
		t.Error("a warning is no error")
	}
}

// A list takes no more than anybody reads, and an error that it does not take is one all the same.
func TestTooMany(t *testing.T) {
	at := func(line int) source.Span {
		return source.Span{File: "x", Start: source.Pos{Line: line, Col: 1}, End: source.Pos{Line: line, Col: 2}}
	}
	var l List
	for i := range 3 * Most {
		l.Warnf("w", at(i+1), "warning %d", i).Help = "h"
	}
	if len(l) != Most+1 || l.HasErrors() || l[Most].Code != CodeTooMany || l[Most].Span != at(Most+1) || l[Most-1].Help != "h" {
		t.Errorf("%d diagnostics, the last is %+v", len(l), l[len(l)-1])
	}
	l.Errorf("e", at(9), "error").Help = "h"
	if len(l) != Most+1 || !l.HasErrors() || l.Count(Error) != 1 {
		t.Errorf("an error that was left out counts %d times", l.Count(Error))
	}
	var sum List
	sum.Add(l...)
	sum.Add(l...)
	if len(sum) != Most+1 || !sum.HasErrors() {
		t.Errorf("the sum of two lists has %d diagnostics", len(sum))
	}
}

func TestJSON(t *testing.T) {
	var l List
	b, err := l.JSON()
	if err != nil || string(b) != `{"version":1,"errors":0,"warnings":0,"diagnostics":[]}` {
		t.Errorf("an empty list is %s, %v", b, err)
	}
	l.Errorf("x", source.Span{File: "a\x1b\xff", Start: source.Pos{Line: 1, Col: 2}, End: source.Pos{Line: 1, Col: 3}}, "bad \xff byte")
	l.Add(Diagnostic{Severity: Warning, Code: "w", Message: "m"})
	b, err = l.JSON()
	if err != nil || !json.Valid(b) || strings.ContainsRune(string(b), '\x1b') {
		t.Fatalf("%s, %v", b, err)
	}
	var back struct{ Diagnostics List }
	if err := json.Unmarshal(b, &back); err != nil || len(back.Diagnostics) != 2 || back.Diagnostics[0].Severity != Warning {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

func TestSeverity(t *testing.T) {
	for _, s := range []Severity{Error, Warning, Note} {
		text, err := s.MarshalText()
		var back Severity
		if err != nil || back.UnmarshalText(text) != nil || back != s {
			t.Errorf("%v becomes %q becomes %v", s, text, back)
		}
	}
	var s Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil || !strings.Contains(err.Error(), `"fatal"`) {
		t.Errorf("an unknown word gives %v", err)
	}
	if got := UnknownSeverity.String(); got != "unknown" {
		t.Errorf("the zero severity is %q", got)
	}
}

func TestSuggest(t *testing.T) {
	keys := []string{"id", "description", "role", "run", "agent", "prompt", "prompt_file", "needs", "timeout", "max_iterations", "on_exhausted", "when", "with"}
	for name, want := range map[string]string{
		"timout": "timeout", "Timeout": "timeout", "maxIterations": "max_iterations", "max-iterations": "max_iterations",
		"rnu": "run", "desc": "description", "promt": "prompt", "wehn": "when", "wen": "when", "needs": "", "x": "", "zzz": "",
		"": "", "onexhausted": "on_exhausted", "ids": "id", "color": "", strings.Repeat("a", 1000): "",
	} {
		if want != "" {
			want = fmt.Sprintf("did you mean %q?", want)
		}
		if got := Suggest(name, keys); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("bat", []string{"cat", "rat", "hat"}); got != "cat" {
		t.Errorf("of equally near names %q wins", got)
	}
	if got := Suggest("a", nil); got != "" {
		t.Errorf("of no candidates: %q", got)
	}
}
