package taskfile_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/value"
)

// TestReadResult reads the answers of validators: each item in a line, with its fix.
func TestReadResult(t *testing.T) {
	for _, c := range []struct {
		name, answer, items, wrong string
	}{
		{"pass", `{"status": "PASS", "summary": "good"}`, "", ""},
		{"everything", `{"status": "FAIL", "critical": ["no goal - plan.md:3", {"description": "no owner", "file": "plan.md", "line": 7, "suggested_fix": "name one"}],
			"warnings": "long", "suggestions": [{"description": "draw it", "suggested_fix": "as a graph"}]}`,
			"blocking plan.md:3 no goal []\nblocking plan.md:7 no owner [name one]\nadvisory :0 long []\ninformational :0 draw it [as a graph]\n", ""},
		{"a summary stands for what is critical", `{"status": "FAIL", "summary": "bad", "warnings": [{"description": "w", "suggested_fix": "f"}]}`,
			"blocking :0 bad []\nadvisory :0 w [f]\n", ""},
		{"warnings do not fail", `{"status": "PASS", "warnings": [" ", "w"]}`, "", "warnings[0]: no description"},
		{"an empty text", `{"status": "PASS", "warnings": " "}`, "", ""},
		{"items", `{"feedback_items": [{"severity": "blocking", "description": "x"}]}`, "blocking :0 x []\n", ""},
		{"a list", `[{"severity": "advisory", "description": "x"}]`, "advisory :0 x []\n", ""},
		{"both", `{"status": "PASS", "feedback_items": []}`, "", "it has fields of an answer"},
		{"replies too", `{"critical": [], "replies": []}`, "", "it has fields of an answer"},
		{"no status", `{"warnings": []}`, "", `status: missing, expected "PASS" or "FAIL"`},
		{"a fix that is none", `{"status": "FAIL", "critical": [{"description": "x", "suggested_fix": 3}]}`, "", "critical[0].suggested_fix: expected text, found integer 3"},
		{"a contradiction", `{"status": "PASS", "critical": ["x"]}`, "", "the status is PASS with 1 critical"},
		{"neither", `{"summary": "x"}`, "", "feedback_items is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := value.DecodeJSON([]byte(c.answer))
			if err != nil {
				t.Fatal(err)
			}
			r, err := taskfile.ReadResult(v, "plan/validate")
			if (err == nil) != (c.wrong == "") || err != nil && !strings.HasPrefix(err.Error(), c.wrong) {
				t.Fatalf("error %v, want %q", err, c.wrong)
			}
			var b strings.Builder
			for _, i := range r.Items {
				fmt.Fprintf(&b, "%s %s:%d %s [%s]\n", i.Severity, i.File, i.Line, i.Description, i.SuggestedFix)
			}
			if err == nil && b.String() != c.items {
				t.Errorf("items\n%swant\n%s", b.String(), c.items)
			}
		})
	}
}
