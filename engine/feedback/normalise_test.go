package feedback_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/value"
)

func TestNormalisePaths(t *testing.T) {
	const leaves, control = "it leaves the repository", "it holds control characters"
	tests := []struct{ dir, in, want, dropped string }{
		{"", "a.go", "a.go", ""},
		{"", "./src//api/../auth.ts", "src/auth.ts", ""},
		{"", `src\api\auth.ts`, "src/api/auth.ts", ""},
		{"", " a.go\n", "a.go", ""},
		{"", "", "", ""},
		{"", ".", "", ""},
		{"", "/repo/src/a.go", "src/a.go", ""},
		{"", "/repo/./x/../a.go", "a.go", ""},
		{"", "file:///repo/a.go", "a.go", ""},
		{"", "/repo", "", leaves},
		{"", "/repository/a.go", "", leaves},
		{"", "/etc/passwd", "", leaves},
		{"", "/repo/../etc/passwd", "", leaves},
		{"", "../../etc/passwd", "", leaves},
		{"", "..", "", leaves},
		{"", `..\..\etc`, "", leaves},
		{"", "a/../../b", "", leaves},
		{"", "https://example.com/a.go", "", leaves},
		{"", `C:\windows\x`, "", leaves},
		{"", "a\x00b", "", control},
		{"", "a\nb", "", control},
		{"", "a\x1b[2Jb", "", control},
		{"", "a\u202eog.b", "", control},
		{"", "a\xff", "", "it is not UTF-8"},
		{"", "..hidden/a", "..hidden/a", ""},
		{"api", "a.go", "api/a.go", ""},
		{"api", "api/a.go", "api/a.go", ""},
		{"api/v1", "../lib/a.go", "api/lib/a.go", ""},
		{"api", "../../a.go", "", leaves},
		{"api/", "/repo/lib/a.go", "lib/a.go", ""},
		{".", "a.go", "a.go", ""},
	}
	for _, test := range tests {
		t.Run(test.dir+" "+test.in, func(t *testing.T) {
			in := feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, Description: "d", File: test.in}}}
			got, err := feedback.Normalise(in, feedback.Context{Root: "/repo", Dir: test.dir})
			if err != nil {
				t.Fatal(err)
			}
			item := got.Items[0]
			if item.File != test.want {
				t.Errorf("file %q, want %q", item.File, test.want)
			}
			flags := strings.Join(item.Flags, "; ")
			if test.dropped == "" && flags != "" || test.dropped != "" && !strings.HasSuffix(flags, "dropped: "+test.dropped) {
				t.Errorf("flags %q, want %q", flags, test.dropped)
			}
		})
	}
}

func TestNormaliseLines(t *testing.T) {
	tests := []struct {
		file        string
		line        int
		description string
		want        int
	}{
		{"", 0, "nothing here", 0},
		{"a.go", 0, "null check missing on line 42", 42},
		{"a.go", 0, "Lines 42-45 repeat", 42},
		{"a.go", 7, "see line 42", 7},
		{"src/x.go", 0, "x.go:42 is wrong", 42},
		{"src/x.go", 0, "(src/x.go:42:7) is wrong", 42},
		{"src/x.go", 0, "y.go:9 calls it", 0},
		{"src/x.go", 0, "y.go:9 calls line 3", 3},
		{"", 0, "`src/x.go:42` is wrong", 42},
		{"a.go", 0, "a deadline 5 seconds away", 0},
		{"a.go", 0, "port 10.0.0.1:8080", 0},
		{"a.go", 0, "at 12:30", 0},
		{"a.go", 0, "line 99999999999", 0},
		{"a.go", -3, "no", 0},
	}
	for _, test := range tests {
		t.Run(test.description, func(t *testing.T) {
			in := feedback.Result{Items: []feedback.Item{{
				Severity: feedback.Advisory, File: test.file, Line: test.line, Description: test.description,
			}}}
			got, err := feedback.Normalise(in, feedback.Context{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Items[0].Line != test.want {
				t.Errorf("line %d, want %d", got.Items[0].Line, test.want)
			}
			if dropped := len(got.Items[0].Flags) > 0; dropped != (test.line < 0) {
				t.Errorf("flags %q of the line %d", got.Items[0].Flags, test.line)
			}
			if got.Items[0].Description != test.description {
				t.Errorf("description became %q", got.Items[0].Description)
			}
		})
	}
}

func TestNormaliseKeepsAndClears(t *testing.T) {
	in := feedback.Result{
		Summary: " s\xff ", Prior: feedback.PriorAllFixed,
		Items: []feedback.Item{{
			Severity: feedback.Blocking, Description: " d ", File: "a.go", Line: 2, SourceAgent: "", GateID: "g", Category: "security",
			ID: "review.7", Status: feedback.Waived, FirstRound: 3, LastRound: 4, Sources: []string{"x"}, Reason: "r", By: "b",
			StatusRound: 2, Disputes: 5, Fingerprint: "f", Flags: []string{"kept"},
		}, {Severity: feedback.Advisory, Description: "d", SourceAgent: "ciso"}},
		Replies: []feedback.Reply{{ID: " review.1 ", Status: feedback.Fixed, Reason: " r "}},
	}
	want := feedback.Result{
		Summary: "s\uFFFD", Prior: feedback.PriorAllFixed,
		Items: []feedback.Item{{
			Severity: feedback.Blocking, Description: "d", File: "a.go", Line: 2, SourceAgent: "go", GateID: "g", Category: "security",
			Fingerprint: "f", Flags: []string{"kept"}, ID: "review.7", // which it has of the earlier item that it is
		}, {Severity: feedback.Advisory, Description: "d", SourceAgent: "ciso"}},
		Replies: []feedback.Reply{{ID: "review.1", Status: feedback.Fixed, Reason: "r"}},
	}
	got, err := feedback.Normalise(in, feedback.Context{Agent: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if in.Items[0].ID != "review.7" || in.Replies[0].ID != " review.1 " {
		t.Error("the result handed over was changed")
	}
}

func TestNormaliseRefuses(t *testing.T) {
	good := feedback.Item{Severity: feedback.Blocking, Description: "d"}
	tests := []struct {
		in   feedback.Result
		want string
	}{
		{feedback.Result{Items: []feedback.Item{good, {Description: "d"}}},
			`feedback_items[1].severity: missing, expected "blocking", "advisory" or "informational"`},
		{feedback.Result{Items: []feedback.Item{{Severity: 9, Description: "d"}}},
			`feedback_items[0].severity: missing, expected "blocking", "advisory" or "informational"`},
		{feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, Description: " \n"}}},
			"feedback_items[0].description: missing or empty, expected what is wrong"},
		{feedback.Result{Replies: []feedback.Reply{{ID: " ", Status: feedback.Fixed}}},
			"replies[0].id: missing, expected the id of an item"},
	}
	for _, test := range tests {
		_, err := feedback.Normalise(test.in, feedback.Context{})
		var item *feedback.ItemError
		if !errors.As(err, &item) || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

func TestNormaliseTwiceIsOnce(t *testing.T) {
	text := hostile()
	rapid.Check(t, func(t *rapid.T) {
		c := feedback.Context{Root: "/repo", Agent: text.Draw(t, "agent"),
			LineText: func(file string, line int) string { return fmt.Sprint(file, line) }}
		in := feedback.Result{Summary: text.Draw(t, "summary"), Items: []feedback.Item{{
			Severity: feedback.Blocking, Description: "d" + text.Draw(t, "description"), Line: rapid.IntRange(-2, 5).Draw(t, "line"),
			File: rapid.OneOf(text, rapid.StringMatching(`[a./\\]{0,12}`)).Draw(t, "file"),
		}}}
		once, err := feedback.Normalise(in, c)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := feedback.Normalise(once, c)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once, twice); d != "" {
			t.Fatal(d)
		}
		file := once.Items[0].File
		if strings.HasPrefix(file, "/") || file == ".." || strings.HasPrefix(file, "../") || strings.Contains(file, "/../") {
			t.Fatalf("file %q leaves the repository", file)
		}
	})
}

func TestFingerprintIsOfTheTextOfTheLine(t *testing.T) {
	lines := map[int]string{4: "x := y", 9: "  x := y", 5: "other"}
	of := func(line int, description string) string {
		r, err := feedback.Normalise(
			feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, File: "a.go", Line: line, Description: description}}},
			feedback.Context{LineText: func(_ string, n int) string { return lines[n] }})
		if err != nil {
			t.Fatal(err)
		}
		return r.Items[0].Fingerprint
	}
	if of(4, "d") != of(9, "d") {
		t.Error("a line that moved has another fingerprint")
	}
	if of(4, "d") == of(5, "d") || of(4, "d") == of(4, "e") {
		t.Error("another line or another finding has the same fingerprint")
	}
}

func TestReadResult(t *testing.T) {
	const item = `{"severity":"blocking","file":"a.go","line":42,"description":"d","suggested_fix":"f","source_agent":"ciso","gate_id":null,"category":"security","extra":[1]}`
	full := feedback.Item{Severity: feedback.Blocking, File: "a.go", Line: 42, Description: "d", SuggestedFix: "f", SourceAgent: "ciso", Category: "security"}
	one := []feedback.Item{full}
	none := []feedback.Item{}
	replies := []feedback.Reply{{ID: "review.1", Status: feedback.NotFixed, Reason: "still there"}, {ID: "review.2", Status: feedback.Fixed}}
	const answers = `[{"id":"review.1","status":"not_fixed","reason":"still there"},{"id":"review.2","status":"fixed"}]`
	tests := []struct {
		doc  string
		want feedback.Result
	}{
		{`[]`, feedback.Result{Items: none}},
		{`[` + item + `]`, feedback.Result{Items: one}},
		{item, feedback.Result{Items: one}},
		{`{"feedback_items":[]}`, feedback.Result{Items: none}},
		{`{"summary":"s","feedback_items":[` + item + `],"replies":[],"prior":null}`, feedback.Result{Summary: "s", Items: one}},
		{`{"replies":` + answers + `}`, feedback.Result{Items: none, Replies: replies}},
		{`{"prior":"all_fixed"}`, feedback.Result{Items: none, Prior: "all_fixed"}},
		{`{"outputs":{"review":{"summary":"s","feedback_items":[` + item + `]}}}`, feedback.Result{Summary: "s", Items: one}},
		{`{"outputs":{"p/review[0]":{"feedback_items":[]},"review":1}}`, feedback.Result{Items: none}},
		{`[{"severity":"advisory","description":"d","line":"42-45"}]`,
			feedback.Result{Items: []feedback.Item{{Severity: feedback.Advisory, Line: 42, Description: "d"}}}},
		{`[{"severity":"advisory","description":"d","line":"-3"}]`,
			feedback.Result{Items: []feedback.Item{{Severity: feedback.Advisory, Line: -3, Description: "d"}}}},
		{`[{"severity":"advisory","description":"d","line":7.0}]`,
			feedback.Result{Items: []feedback.Item{{Severity: feedback.Advisory, Line: 7, Description: "d"}}}},
	}
	for _, test := range tests {
		t.Run(test.doc, func(t *testing.T) {
			got, err := feedback.ReadResult(decode(t, test.doc), "p/review[0]")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func decode(t *testing.T, doc string) value.Value {
	t.Helper()
	v, err := value.DecodeJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadResultRefuses(t *testing.T) {
	tests := []struct{ doc, want string }{
		{`null`, "expected a list of items or an object with feedback_items"},
		{`"LGTM"`, "a clean review says []"},
		{`{}`, "feedback_items is missing; a clean review says feedback_items: []"},
		{`{"summary":"all good"}`, "feedback_items is missing"},
		{`{"replies":[]}`, "feedback_items is missing"},
		{`{"prior":null}`, "feedback_items is missing"},
		{`{"feedback_items":null}`, "feedback_items: expected a list, found null"},
		{`{"feedback_items":{}}`, "feedback_items: expected a list"},
		{`{"feedback_items":[],"prior":"some"}`, `prior: "some" is not known, expected "all_fixed"`},
		{`{"feedback_items":[],"summary":3}`, "summary: expected text"},
		{`{"outputs":[]}`, "outputs: expected an object by stage id"},
		{`{"outputs":{"other":{"feedback_items":[]}}}`, `outputs: no entry for this stage, expected one under "review"`},
		{`{"outputs":{"review":[]}}`, "outputs.review: expected an object with feedback_items"},
		{`{"outputs":{"review":{}}}`, "feedback_items is missing"},
		{`[3]`, "feedback_items[0]: expected an object with severity and description"},
		{`[{"severity":"blocking","description":"d"},{"description":"d"}]`,
			`feedback_items[1].severity: missing, expected "blocking", "advisory" or "informational"`},
		{`[{"severity":"critical","description":"d"}]`,
			`feedback_items[0].severity: "critical" is not known, expected "blocking", "advisory" or "informational"`},
		{`[{"severity":1,"description":"d"}]`, "feedback_items[0].severity: "},
		{`[{"severity":"blocking"}]`, "feedback_items[0].description: missing or empty"},
		{`[{"severity":"blocking","description":"  "}]`, "feedback_items[0].description: missing or empty"},
		{`[{"severity":"blocking","description":["d"]}]`, "feedback_items[0].description: expected text"},
		{`[{"severity":"blocking","description":"d","file":3}]`, "feedback_items[0].file: expected text"},
		{`[{"severity":"blocking","description":"d","line":"forty"}]`, "feedback_items[0].line: expected a whole number or null"},
		{`[{"severity":"blocking","description":"d","line":1.5}]`, "feedback_items[0].line: "},
		{`[{"severity":"blocking","description":"d","line":"4-x"}]`, "feedback_items[0].line: "},
		{`[{"severity":"blocking","description":"d","line":99999999999}]`, "feedback_items[0].line: "},
		{`{"replies":3}`, "replies: expected a list"},
		{`{"replies":[3]}`, "replies[0]: expected an object with id and status"},
		{`{"replies":[{"status":"fixed"}]}`, "replies[0].id: missing"},
		{`{"replies":[{"id":"review.1"}]}`, `replies[0].status: "" is no answer`},
		{`{"replies":[{"id":"review.1","status":"waived"}]}`, `replies[0].status: "waived" is no answer, expected "fixed", "not_fixed", "withdrawn" or "disputed"`},
		{`{"replies":[{"id":"review.1","status":"disputed"}]}`, "replies[0].reason: missing, expected why the item is disputed"},
		{`{"replies":[{"id":7,"status":"fixed"}]}`, "replies[0].id: expected text"},
	}
	for _, test := range tests {
		t.Run(test.doc, func(t *testing.T) {
			got, err := feedback.ReadResult(decode(t, test.doc), "p/review[0]")
			if err == nil {
				t.Fatalf("no error, got %+v", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want %q in it", err, test.want)
			}
		})
	}
}

// TestPlacedItems: a description that quotes somebody says no more where its item is.
func TestPlacedItems(t *testing.T) {
	in := feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, Description: "it said: line 7 of a.go:9"}, {Severity: feedback.Blocking, File: "b.go", Line: 3, Description: "line 7"}}}
	out, err := feedback.Normalise(in, feedback.Context{Placed: true})
	if err != nil || out.Items[0].Line != 0 || out.Items[1].Line != 3 {
		t.Errorf("%+v, %v", out.Items, err)
	}
}
