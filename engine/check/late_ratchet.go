package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs"
)

var lateRatchet = Rule{
	Code: "late-ratchet",
	Doc:  "A ratchet_from beyond the cap: no round of the loop is late enough for it, unless a person grants more.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n := &p.Plan.Graph.Nodes[i]
			if n.Loop == nil || n.Loop.Convergence.RatchetFrom <= n.Loop.MaxIterations {
				continue
			}
			c := convergenceOf(p, i)
			if c == nil || c.RatchetFrom == nil {
				continue // what defaults say is for other loops too
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Note, Code: "late-ratchet", Span: c.RatchetFrom.Span,
				Message: fmt.Sprintf("ratchet_from %d is not reached: the loop of %q ends after iteration %d",
					n.Loop.Convergence.RatchetFrom, n.ID, n.Loop.MaxIterations),
				Help: "give an iteration up to the cap, or raise the cap",
			})
		}
	},
}

// convergenceOf gives what a document says of the rules of a node's loop itself; nil: nothing.
func convergenceOf(p *Pass, i int) *specs.Convergence {
	if !isPart(&p.Plan.Graph.Nodes[i]) {
		if l := p.stages[i].Loop; l != nil {
			return l.Convergence
		}
		return nil
	}
	own := p.stages[p.Plan.Graph.Nodes[i].Loop.Target]
	switch {
	case own.Verifiers != nil:
		return own.Verifiers.Convergence
	case own.Refine != nil:
		return own.Refine.Convergence
	}
	return nil
}
