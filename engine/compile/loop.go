package compile

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// The defaults of a feedback loop.
const (
	defaultMaxIterations = 2
	defaultOnExhausted   = plan.Escalate
	defaultRerun         = plan.Downstream
)

// returning gives the loop of a stage: where its findings go, or where a rejection sends work back.
func (s *stageInfo) returning() (l *specs.Loop, key string) {
	if s.syn.Loop != nil {
		return s.syn.Loop, "feedback_loop"
	}
	return s.returns(), "on_reject"
}

// loopTargets resolves where loops lead, so that roles can follow from it.
func (c *compiler) loopTargets() {
	for i, s := range c.stages {
		if s.isPart() {
			s.node.Loop, s.Target = &plan.Loop{Target: s.owner, Self: true}, s.owner
			c.stages[s.owner].targeted = true
			continue
		}
		l, _ := s.returning()
		if l == nil || s.Final {
			continue
		}
		if r := s.returns(); r != nil && r != l {
			d := c.diags.Errorf(CodeLoopTarget, r.Span, "%s sends work back by its feedback_loop and by on_reject, and a stage has one loop", c.known.Label(i))
			d.Related = []diag.Related{{Span: l.Span, Message: "feedback_loop is here"}}
			d.Help = "make the approval a stage of its own: uses: approval, with: {on_reject: {target_stage: …}}"
		}
		s.node.Loop = &plan.Loop{Target: -1}
		if l.TargetStage == nil {
			continue
		}
		t, ok := c.known.Lookup(l.TargetStage.Value, l.TargetStage.Span, " in target_stage")
		switch {
		case !ok:
		case t == i:
			d := c.diags.Errorf(CodeLoopTarget, l.TargetStage.Span, "%s can't send work back to itself", c.known.Label(i))
			d.Help = "target_stage names the stage that acts on the findings; to try a stage again use retry"
		case c.stages[t].Final:
			c.inFinally(t, l.TargetStage.Span)
		default:
			s.node.Loop.Target, s.Target = t, t
			c.stages[t].targeted = true
		}
	}
}

// loop fills in a stage's loop and checks what only the graph can say.
func (c *compiler) loop(i int) {
	s := c.stages[i]
	l, key := s.returning()
	out := s.node.Loop
	if out == nil {
		return
	}
	var def specs.Loop
	if c.doc.Defaults != nil && c.doc.Defaults.FeedbackLoop != nil {
		def = *c.doc.Defaults.FeedbackLoop
	}
	out.MaxIterations = fixed.Pick(defaultMaxIterations, def.MaxIterations, l.MaxIterations)
	out.OnExhausted = fixed.PickWord(defaultOnExhausted, def.OnExhausted, l.OnExhausted)
	out.Rerun = fixed.PickWord(defaultRerun, def.Rerun, l.Rerun)
	out.OnReject = key == "on_reject"
	out.Convergence = fixed.Convergence(c.kindConvergence(s), def.Convergence, l.Convergence)
	if out.Target < 0 {
		return
	}
	t := c.stages[out.Target]
	if !c.typer.Before(out.Target, i) {
		d := c.diags.Errorf(CodeLoopTarget, l.TargetStage.Span, "%s does not need %q, so it has nothing of it to review", c.known.Label(i), t.node.ID)
		d.Related = []diag.Related{{Span: t.Span, Message: fmt.Sprintf("%q is here", t.node.ID)}}
		d.Help = fmt.Sprintf("add %q to the needs of %s, or name a stage that it needs", t.node.ID, c.known.Label(i))
		if c.needs.RunsBefore(i, out.Target) {
			d.Help = fmt.Sprintf("%q runs after %s, and a loop leads backward; name a stage that %s needs", t.node.ID, c.known.Label(i), c.known.Label(i))
		}
	}
	if t.node.Role != plan.Implementation || t.syn.Gate != nil {
		wrongTarget(&c.diags, l.TargetStage.Span, t)
	}
	c.loopBetween(i, l.TargetStage.Span)
}

// stateFiles reports loops whose state files would have the same name: "a-b" to "c", and "a" to "b-c".
func (c *compiler) stateFiles(g *plan.Graph) {
	first := map[string]int{}
	for i := range g.Nodes {
		l := g.Nodes[i].Loop
		if l == nil || l.Target < 0 || g.Nodes[i].ID == "" || g.Nodes[l.Target].ID == "" {
			continue
		}
		name := scope.StateFile(g.Nodes[i].ID, g.Nodes[l.Target].ID)
		other, taken := first[name]
		if !taken {
			first[name] = i
			continue
		}
		d := c.diags.Errorf(CodeStateFile, c.stages[i].Span, "the loop of %s would share the state file %q with that of %s", c.known.Label(i), name, c.known.Label(other))
		d.Related = []diag.Related{{Span: c.stages[other].Span, Message: "the other stage is here"}}
		d.Help = "give one of the stages an id without the dash"
	}
}

// wrongTarget reports a target that is no implementation, with the key that makes it something else.
func wrongTarget(diags *diag.List, at source.Span, t *stageInfo) {
	if t.syn.Gate != nil {
		d := diags.Errorf(CodeLoopTarget, at, "stage %q is an approval, and only an implementation acts on findings", t.node.ID)
		d.Help = "name the stage whose work is approved"
		return
	}
	d := diags.Errorf(CodeLoopTarget, at, "stage %q has the role %s, and only an implementation acts on findings", t.node.ID, t.node.Role)
	switch {
	case t.syn.Role != nil:
		d.Related = []diag.Related{{Span: t.syn.Role.Span, Message: "its role is given here"}}
		d.Help = "write role: implementation there, or drop it"
	case t.syn.Loop != nil:
		d.Related = []diag.Related{{Span: t.syn.Loop.Span, Message: "it is a review because of its own feedback_loop"}}
		d.Help = fmt.Sprintf("target the stage that %q itself sends work back to", t.node.ID)
	case t.syn.Feedback != nil:
		d.Related = []diag.Related{{Span: t.syn.Feedback.Span, Message: "it is a review because of its feedback"}}
	}
}

// implementing are the ids that say what a stage is for.
var implementing = []string{"implement", "fix", "refactor"}

// role gives what a stage is for: what it says, else what follows from how it is used.
func role(s *stageInfo, diags *diag.List) plan.Role {
	review := s.syn.Loop != nil || s.syn.Feedback != nil || s.reports()
	if s.syn.Role != nil {
		var r plan.Role
		if err := r.UnmarshalText([]byte(s.syn.Role.Value)); err == nil && r != plan.UnknownRole {
			if review && r != plan.Review {
				key, at := "feedback", source.Span{}
				if s.syn.Feedback != nil {
					at = s.syn.Feedback.Span
				}
				if s.syn.Loop != nil {
					key, at = "feedback_loop", s.syn.Loop.Span
				}
				d := diags.Errorf(CodeRole, s.syn.Role.Span, "a stage with %s is a review, not %s", key, s.syn.Role.Value)
				d.Related = []diag.Related{{Span: at, Message: key + " is here"}}
				d.Help = "write role: review, or drop role"
			}
			return r
		}
	}
	switch {
	case review:
		return plan.Review
	case s.targeted, slices.Contains(implementing, s.node.ID):
		return plan.Implementation
	}
	return plan.Work
}
