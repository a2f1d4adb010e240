package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/feedback/report"
	"example.com/pipe/engine/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func write(t interface{ Fatal(...any) }, form report.Form, r feedback.Result) string {
	var b bytes.Buffer
	if err := report.Write(&b, form, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sample has all that an item may have.
var sample = feedback.Result{Summary: "3 findings; 1. of *two* tools", Items: []feedback.Item{
	{Severity: feedback.Blocking, File: "src/log in.ts", Line: 42, Description: "the password is <b>logged</b>, see [rule](1)",
		SuggestedFix: "leave it out", SourceAgent: "eslint", Category: "security", Fingerprint: "f1"},
	{Severity: feedback.Advisory, File: "src/a.go", Description: "mail root@example.com or see https://example.com/x",
		Fingerprint: "f2", Flags: []string{`line -1 dropped: lines count from 1`}},
	{Severity: feedback.Informational, Line: 7, Description: "two\nlines", GateID: "gate", SourceAgent: "eslint"},
	{Severity: feedback.Blocking, File: "b.go", Line: 1, Description: "was accepted", ID: "review.1", Status: feedback.Waived,
		FirstRound: 1, LastRound: 3, By: "anna", Reason: "not ours", Fingerprint: "f3"},
	{Severity: feedback.Blocking, File: "b.go", Line: 2, Description: "was fixed", ID: "review.2", Status: feedback.Fixed, FirstRound: 2, LastRound: 2, By: "review"},
}}

func TestGoldens(t *testing.T) {
	for _, form := range report.Forms() {
		for name, r := range map[string]feedback.Result{"sample": sample, "empty": {}} {
			got := write(t, form, r)
			file := filepath.Join("testdata", name+"."+string(form))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s: %s", file, d)
			}
		}
	}
}

func TestUnknownForm(t *testing.T) {
	err := report.Write(&bytes.Buffer{}, "html", feedback.Result{})
	if err == nil || err.Error() != `write report: form "html" is not known, expected one of items, sarif, markdown, rdjson` {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterThatFails(t *testing.T) {
	for _, form := range report.Forms() {
		if err := report.Write(full{}, form, sample); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: error %v", form, err)
		}
	}
}

// anyText holds what makes trouble in texts: marks, fences, links, control characters, other scripts. Without codes
// for terminals, which the way back takes out.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"```", "# x", "<b>", "</b>", "[a](1)", `\[a](1)`, "{0}", "{{", "@root", "https://x.y/z", "line 42", "x.go:7", "\n", "\t", `"`, "`", "``", "|", "\u202e", "\x00", "\u009b31m", "\x7f", "\U000e0041",
				"日本語", "👩‍👩‍👧", "- [ ] ", "1.", "=====", "&amp;", "Fix: no", ":smile:", "%41", "'", "(E14)"}),
			rapid.StringMatching(`[ -~]{0,12}`), rapid.StringN(0, 6, -1),
		), 1, 8).Draw(t, "parts")
		return strings.ReplaceAll(strings.ToValidUTF8(strings.Join(parts, " "), "\uFFFD"), "\x1b", "")
	})
}

func anyResult(t *rapid.T) feedback.Result {
	var r feedback.Result
	for n := range rapid.IntRange(0, 6).Draw(t, "items") {
		item := feedback.Item{
			Severity:    feedback.Severity(rapid.IntRange(1, 3).Draw(t, "severity")),
			Description: fmt.Sprintf("%d %s", n, anyText().Draw(t, "description")), // no two are one
			SourceAgent: rapid.SampledFrom([]string{"", "lint", "a b", "<i>"}).Draw(t, "agent"),
			Category:    rapid.SampledFrom([]string{"", "security", "style"}).Draw(t, "category"),
			File:        rapid.SampledFrom([]string{"", "a.go", "src/b c.go", "x#y?z%20.go", "a:b.go", "日/本.go", "d/..e", "+x", "C/d"}).Draw(t, "file"),
		}
		if item.File != "" {
			item.Line = rapid.IntRange(0, 99).Draw(t, "line")
		}
		if rapid.Bool().Draw(t, "fixed") {
			item.SuggestedFix = anyText().Draw(t, "fix")
		}
		r.Items = append(r.Items, item)
	}
	r, err := feedback.Normalise(r, feedback.Context{Root: "/repo", LineText: func(string, int) string { return "text" }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRoundTrips writes results and reads them again.
func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := anyResult(t)
		for _, form := range []report.Form{report.Items, report.SARIF, report.RDJSON} {
			text := write(t, form, was)
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xe0041 }) {
				t.Fatalf("%s holds what a terminal obeys: %q", form, text)
			}
			var got feedback.Result
			var err error
			if form == report.Items {
				v, decodeErr := value.DecodeJSON([]byte(text))
				if decodeErr != nil {
					t.Fatal(decodeErr)
				}
				got, err = feedback.ReadResult(v, "review")
			} else {
				got, err = convert.Convert(string(form), convert.Input{Stdout: strings.NewReader(text), Root: "/repo", ExitCode: min(1, len(was.Items))})
			}
			if err == nil {
				got, err = feedback.Normalise(got, feedback.Context{Root: "/repo"})
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", form, err, text)
			}
			if d := cmp.Diff(essence(was, form), essence(got, form)); d != "" {
				t.Fatalf("%s: %s\n%s", form, d, text)
			}
		}
	})
}

// TestReportsOfToolsComeBack writes what real tools have found, and reads it again.
func TestReportsOfToolsComeBack(t *testing.T) {
	files, err := filepath.Glob("../convert/testdata/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d reports, %v", len(files), err)
	}
	items := 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts := make(map[string]string)
		for _, f := range a.Files {
			texts[f.Name] = string(f.Data)
		}
		format := inputFormat.FindStringSubmatch(texts["input"])
		in := convert.Input{Root: "/repo", Module: "example.com/shop", Stdout: strings.NewReader(texts["stdout"]), Stderr: strings.NewReader(texts["stderr"])}
		was, err := convert.Convert(format[1], in)
		if errors.Is(err, convert.ErrNoReview) {
			continue
		}
		if err == nil {
			was, err = feedback.Normalise(was, feedback.Context{Root: in.Root})
		}
		if err != nil {
			t.Fatal(file, err)
		}
		items += len(was.Items)
		for _, form := range []report.Form{report.SARIF, report.RDJSON} {
			got, err := convert.Convert(string(form), convert.Input{Root: in.Root, Stdout: strings.NewReader(write(t, form, was))})
			if err == nil {
				got, err = feedback.Normalise(got, feedback.Context{Root: in.Root})
			}
			if err != nil {
				t.Fatalf("%s as %s: %v", file, form, err)
			}
			if d := cmp.Diff(essence(was, form), essence(got, form)); d != "" {
				t.Errorf("%s as %s: %s", file, form, d)
			}
		}
	}
	if items < 100 {
		t.Errorf("only %d items", items)
	}
}

var inputFormat = regexp.MustCompile(`(?m)^format: (.+)$`)

// essence is what a form keeps of each item, in the order of what is wrong.
func essence(r feedback.Result, form report.Form) []string {
	var out []string
	for _, i := range r.Items {
		if form == report.SARIF && i.File == "" {
			i.Line = 0
		}
		out = append(out, fmt.Sprintf("%q %s %q:%d fix %q fingerprint %s category %s", i.Description, i.Severity, i.File, i.Line, i.SuggestedFix, i.Fingerprint, i.Category))
	}
	slices.Sort(out) // sorted: converters put findings in the order of the code
	return out
}

// TestMarkdownIsOurs holds reports to the lines that they may have, and each text in them to what it was.
func TestMarkdownIsOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyResult(t)
		r.Summary = anyText().Draw(t, "summary")
		if len(r.Items) > 0 && rapid.Bool().Draw(t, "code") {
			r.Items[0].Description += "\x1b[31m\x1b]0;title\x07 \r\n# heading"
		}
		got := write(t, report.Markdown, r)
		if !utf8.ValidString(got) {
			t.Fatal("not UTF-8")
		}
		items := 0
		for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e }) {
				t.Fatalf("%q moves a cursor", line)
			}
			m := lineOfOurs.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%q is no line of ours", line)
			}
			texts := []string{line[len(m[1]):]}
			if rest, ok := strings.CutPrefix(line, "- **"); ok {
				items++
				place, description, _ := strings.Cut(rest, "** ")
				texts = []string{place, description}
			}
			for _, text := range texts {
				if bad := unescaped(text); bad != "" {
					t.Fatalf("%q is not escaped in %q", bad, line)
				}
			}
		}
		if items != len(r.Items) {
			t.Fatalf("%d items of %d:\n%s", items, len(r.Items), got)
		}
	})
}

var lineOfOurs = regexp.MustCompile(`^(# Findings|## (?:Blocking|Advisory|Informational)|\d+ blocking, \d+ advisory, \d+ informational(?:, \d+ closed)?|- \*\*.+\*\* |\*\*Summary:\*\* |  - [A-Z][a-z ]+: |$)`)

// unescaped gives the first mark that Markdown obeys, behind code and escapes.
func unescaped(s string) string {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			fence, end := s[i:i+n], i+n
			for {
				at := strings.Index(s[end:], fence)
				if at < 0 {
					return "`"
				}
				end += at
				run := len(s[end:]) - len(strings.TrimLeft(s[end:], "`"))
				if end += run; run == n {
					break
				}
			}
			i = end - 1
		case strings.IndexByte("*_[]<>&~|$#@", s[i]) >= 0, strings.HasPrefix(s[i:], "://"):
			return s[i : i+1]
		}
	}
	return ""
}

// TestSARIFHasWhatTheStandardAsksFor looks at the properties that its schema requires, and at the values it allows.
func TestSARIFHasWhatTheStandardAsksFor(t *testing.T) {
	for name, r := range map[string]feedback.Result{"sample": sample, "empty": {}} {
		var log struct {
			Schema  string `json:"$schema"`
			Version string
			Runs    []map[string]any
		}
		if err := json.Unmarshal([]byte(write(t, report.SARIF, r)), &log); err != nil {
			t.Fatal(err)
		}
		if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-schema-2.1.0.json") || len(log.Runs) == 0 {
			t.Fatalf("%s: %+v", name, log)
		}
		for _, run := range log.Runs {
			if dig(run, "tool", "driver", "name") == "" || dig(run, "tool", "driver", "name") == nil {
				t.Errorf("%s: a tool without a name", name)
			}
			results, ok := run["results"].([]any)
			if !ok {
				t.Fatalf("%s: no list of results", name)
			}
			for _, res := range results {
				if text, _ := dig(res, "message", "text").(string); text == "" {
					t.Errorf("%s: no message in %v", name, res)
				}
				if !slices.Contains([]any{"error", "warning", "note"}, dig(res, "level")) {
					t.Errorf("%s: level in %v", name, res)
				}
				locations, _ := dig(res, "locations").([]any)
				for _, l := range locations {
					if uri, _ := dig(l, "physicalLocation", "artifactLocation", "uri").(string); uri == "" || strings.ContainsAny(uri, " \\") {
						t.Errorf("%s: %q is no URI", name, uri)
					}
				}
			}
		}
	}
}

func dig(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
