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
			n, syn := &p.Plan.Graph.Nodes[i], p.stages[i]
			if n.Approval == nil || n.Approval.Message != nil || n.Description != "" {
				continue
			}
			d := diag.Diagnostic{
				Severity: diag.Note, Code: "silent-approval",
				Message: fmt.Sprintf("who approves %q is told nothing but its name", n.ID),
				Help:    "write what is asked: requires_approval: Deploy to production?",
			}
			if d.Span = syn.Span; syn.RequiresApproval != nil {
				d.Span = syn.RequiresApproval.Span
			}
			if syn.Gate != nil {
				d.Span, d.Help = syn.Uses.Span, "write what is asked: with: {message: \"Deploy to production?\"}"
			}
			p.Report(d)
		}
	},
}
