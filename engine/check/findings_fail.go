package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

var findingsFail = Rule{
	Code: "findings-fail",
	Doc:  "A review without a loop: its blocking findings fail it, and with it the run.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n, syn := &p.Plan.Graph.Nodes[i], p.stages[i]
			if n.Role != plan.Review || (n.Loop != nil && !n.Loop.OnReject) || n.ContinueOnError || syn.ID == nil {
				continue
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Note, Code: "findings-fail", Span: syn.ID.Span,
				Message: fmt.Sprintf("a blocking finding of %q fails the run, since it has no feedback_loop", n.ID),
				Help:    "give it feedback_loop with a target_stage to send the work back instead",
			})
		}
	},
}
