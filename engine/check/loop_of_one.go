package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// loopOf gives where a stage's loop is written: feedback_loop, or on_reject.
func loopOf(s *specs.Stage, l *plan.Loop) *specs.Loop {
	switch {
	case l.Self:
		return nil // of one iteration it is a plain test of the stage
	case !l.OnReject:
		return s.Loop
	case s.Gate != nil:
		return s.Gate.Return
	case s.RequiresApproval != nil:
		return s.RequiresApproval.Return
	}
	return nil
}

var loopOfOne = Rule{
	Code: "loop-of-one",
	Doc:  "A loop of one iteration never sends work back: the first blocking finding is at the cap.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n := &p.Plan.Graph.Nodes[i]
			if n.Loop == nil || n.Loop.MaxIterations != 1 {
				continue
			}
			l := loopOf(p.stages[i], n.Loop)
			if l == nil {
				continue
			}
			at := l.Span
			if l.MaxIterations != nil {
				at = l.MaxIterations.Span
			}
			first := "blocking finding"
			if n.Loop.OnReject {
				first = "rejection"
			}
			what := "asks a person"
			if n.Loop.OnExhausted == plan.FailRun {
				what = "fails the run"
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Note, Code: "loop-of-one", Span: at,
				Message: fmt.Sprintf("with max_iterations 1 the first %s of %q %s; no work is sent back to %q",
					first, n.ID, what, p.Plan.Graph.Nodes[n.Loop.Target].ID),
				Help: "iterations count from 1, the first review included; 2 sends work back once",
			})
		}
	},
}
