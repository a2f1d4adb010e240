package specs

import (
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

// Words that other readers of YAML take for a bool are neither that nor a message.
func TestApprovalWords(t *testing.T) {
	for _, word := range []string{"yes", "no", "On", "OFF", "y", `"true"`, `'false'`, `"no"`} {
		p, l := ParsePipeline(source.NewFile("p.yaml",
			"name: p\nversion: 1\nstages:\n  - id: a\n    run: x\n    requires_approval: "+word+"\n"))
		if got := l.Text(); len(l) != 1 || !strings.Contains(got, "must be true, false or a message") || !strings.Contains(got, "write true or false") {
			t.Errorf("%s: %s", word, got)
		}
		if p.Stages[0].RequiresApproval != nil {
			t.Errorf("%s was taken for something", word)
		}
	}
	for word, required := range map[string]bool{"true": true, "false": false, "no way": true, "only on Mondays": true} {
		p, l := ParsePipeline(source.NewFile("p.yaml",
			"name: p\nversion: 1\nstages:\n  - id: a\n    run: x\n    requires_approval: "+word+"\n"))
		if a := p.Stages[0].RequiresApproval; len(l) > 0 || a == nil || a.Required != required {
			t.Errorf("%s: %+v, %s", word, a, l.Text())
		}
	}
}
