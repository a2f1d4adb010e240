package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

var loopOfOne = Rule{
	Code: "loop-of-one",
	Doc:  "A loop of one iteration never sends work back: the first blocking finding is at the cap.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n := &p.Plan.Graph.Nodes[i]
			if n.Loop == nil || n.Loop.MaxIterations != 1 {
				continue
			}
			at := p.Doc.Stages[i].Loop.Span
			if m := p.Doc.Stages[i].Loop.MaxIterations; m != nil {
				at = m.Span
			}
			what := "asks a person"
			if n.Loop.OnExhausted == plan.FailRun {
				what = "fails the run"
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Note, Code: "loop-of-one", Span: at,
				Message: fmt.Sprintf("with max_iterations 1 the first blocking finding of %q %s; no work is sent back to %q",
					n.ID, what, p.Plan.Graph.Nodes[n.Loop.Target].ID),
				Help: "iterations count from 1, the first review included; 2 sends work back once",
			})
		}
	},
}
