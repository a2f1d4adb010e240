package driver

import (
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
)

func TestDecodeItems(t *testing.T) {
	const item = `{"severity":"blocking","description":"x"}`
	for _, c := range []struct {
		name, text string
		items      int
		err        string // what the error holds
	}{
		{"list", "[" + item + "," + item + "]", 2, ""},
		{"empty list", "[]\n", 0, ""},
		{"one line of JSON lines", item + "\n", 1, ""},
		{"JSON lines", item + "\n\n" + item + "\n", 2, ""},
		{"object", `{"summary":"s","feedback_items":[` + item + `]}`, 1, ""},
		{"replies alone", `{"replies":[{"id":"review.1","status":"fixed"}]}`, 0, ""},
		{"the document's form", `{"outputs":{"review":{"summary":"s","feedback_items":[` + item + `]}}}`, 1, ""},
		{"its YAML", "outputs:\n  review:\n    summary: s\n    feedback_items:\n      - severity: advisory\n        description: x\n        line: null\n", 1, ""},
		{"YAML list", "- severity: blocking\n  description: x\n", 1, ""},
		{"YAML in flow form", "[{severity: blocking, description: x}]", 1, ""},
		{"byte order mark", "\xef\xbb\xbf[]", 0, ""},
		{"empty", "", 0, "the document is empty; a clean review writes []"},
		{"blank", " \n\t", 0, "the document is empty"},
		{"torn", `[{"severity":"blocking"`, 0, "1:"},
		{"torn JSON line", item + "\n{\"sev", 0, "2:"},
		{"no items", `{"summary":"all well"}`, 0, "feedback_items is missing"},
		{"text", "looks good to me", 0, "expected a list of items"},
		{"no severity", `[{"description":"x"}]`, 0, "feedback_items[0].severity"},
		{"not UTF-8", "[\"\xff\"]", 0, "not UTF-8"},
		{"repeated name", `[{"severity":"blocking","severity":"advisory","description":"x"}]`, 0, "severity"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := DecodeItems([]byte(c.text))
			var r feedback.Result
			if err == nil {
				r, err = feedback.ReadResult(v, "review")
			}
			switch {
			case c.err == "" && err != nil:
				t.Errorf("error %v", err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v, want one with %q", err, c.err)
			case c.err == "" && len(r.Items) != c.items:
				t.Errorf("%d items, want %d", len(r.Items), c.items)
			}
		})
	}
}
