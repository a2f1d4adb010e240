package compile

import (
	"fmt"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// kindApproval is the kind of a stage that is nothing but an approval.
const kindApproval = "approval"

// asked gives what a person is asked before a stage: requires_approval, or all of a gate. Nil: nothing.
func (s *stageInfo) asked() *specs.Approval {
	if s.syn.Gate != nil {
		return s.syn.Gate
	}
	if a := s.syn.RequiresApproval; a != nil && a.Required {
		return a
	}
	return nil
}

// returns gives the loop that a rejection takes, nil if it takes none.
func (s *stageInfo) returns() *specs.Loop {
	if a := s.asked(); a != nil {
		return a.Return
	}
	return nil
}

// approval compiles what a person is asked before a stage.
func (c *compiler) approval(i int) {
	s := c.stages[i]
	a := s.asked()
	if a == nil {
		return
	}
	out := &plan.Approval{Message: c.text(a.Message, "an approval's message", scope.Place{Stage: i})}
	for _, l := range a.Approvers {
		fixed.Unevaluated(&c.diags, &l, "approvers")
		out.Approvers = append(out.Approvers, l.Value)
	}
	if a.Timeout != nil {
		out.Timeout = plan.Duration(a.Timeout.Value)
		out.OnTimeout = plan.TimeoutRejects
	}
	out.OnTimeout = fixed.PickWord(out.OnTimeout, a.OnTimeout)
	out.OnReject = fixed.PickWord(plan.UnknownOnReject, a.OnReject)
	if a.Return != nil {
		out.OnReject = plan.RejectReturns
	}
	s.node.Approval = out
	if c.opt.Unattended && a.OnTimeout == nil {
		at := a.Span
		if s.syn.Gate != nil {
			at = s.syn.Uses.Span
		}
		d := c.diags.Errorf(CodeUnattended, at, "%s asks a person, and nobody attends the run", c.known.Label(i))
		key := "requires_approval"
		if s.syn.Gate != nil {
			key = "with"
		}
		d.Help = fmt.Sprintf("say what holds without an answer, reject, approve or fail, such as %s: {on_timeout: reject}; or let the run be attended", key)
	}
	if c.opt.Unattended && a.OnTimeout != nil && a.Timeout != nil {
		d := c.diags.Errorf(CodeUnattended, a.Timeout.Span, "nobody attends the run, so %s waits for nothing", c.known.Label(i))
		d.Severity = diag.Warning
		d.Help = fmt.Sprintf("on_timeout: %s holds at once", a.OnTimeout.Value)
	}
}
