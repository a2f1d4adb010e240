package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
)

var silentApproval = Rule{
	Code: "silent-approval",
	Doc:  "An approval that does not say what is approved: neither a message nor a description of the stage.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n, syn := &p.Plan.Graph.Nodes[i], p.Doc.Stages[i]
			if n.Approval == nil || n.Approval.Message != nil || n.Description != "" {
				continue
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Note, Code: "silent-approval", Span: syn.RequiresApproval.Span,
				Message: fmt.Sprintf("who approves %q is told nothing but its name", n.ID),
				Help:    "write what is asked: requires_approval: Deploy to production?",
			})
		}
	},
}
