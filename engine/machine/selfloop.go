package machine

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// The loop of a stage with itself: what verifies its work is a review right behind it, which all who need the
// stage need too. It is a loop like any other, but for what is in this file.

// isSelf reports whether i is the source of a stage's loop with itself.
func (i *instance) isSelf() bool { return i.node.Loop != nil && i.node.Loop.Self }

// asksEach reports whether i, what verifies a list's items or one of them, runs for each item that has succeeded, and
// not when all have.
func asksEach(i *instance) bool {
	return i.isSelf() && i.node.ForEach != nil && i.frame.slots[i.node.Loop.Target].status != step.Skipped
}

// verifier gives what verifies i's work, for the same item of a for_each; nil: nothing does.
func (i *instance) verifier() *instance {
	n, ok := i.frame.graph.verifiers[i.slot]
	if !ok {
		return nil
	}
	return itemOf(i.frame.slots[n], i.item)
}

// feedbackFile gives where the findings of a refine loop are kept, of which i is a half; nil: nowhere.
func (i *instance) feedbackFile() *plan.Template {
	if v := i.verifier(); v != nil {
		i = v
	}
	if i.node.Refine == nil {
		return nil
	}
	return i.node.Refine.FeedbackFile
}

// verifiesItems reports whether i verifies the items of a for_each that has started: it starts with it, and verifies
// each item when that is done.
func (i *instance) verifiesItems() bool {
	return i.isSelf() && i.isGroup() && i.target().isGroup() && i.target().status == step.Running
}

// refineAttempt says which attempt of a refine loop a try of i belongs to; nil: of none.
func (s *state) refineAttempt(i *instance) *step.RefineAttempt {
	if v := i.verifier(); v != nil {
		i = v
	}
	if i.node.Refine == nil || i.isGroup() {
		return nil
	}
	c := s.loopOf(i).counter
	return &step.RefineAttempt{Attempt: c.Iteration, Max: c.Cap}
}

// countsAnew reports whether a loop of a stage with itself begins at 1 again, since something other than itself
// made the stage run again.
func countsAnew(i *instance, sources []*instance) bool {
	return i.isSelf() && !slices.Contains(sources, i)
}

// attemptFailed reports whether a try that failed for good is an attempt of a refine loop that failed: its failure is
// what the validation finds, and the next attempt is made.
func (d *decider) attemptFailed(i *instance, f failure) bool {
	v := i.verifier()
	if v == nil || v.node.Refine == nil || v.isGroup() || !isAttempt(f.class) {
		return false
	}
	d.emit(step.StageFailed{
		Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, Effect: f.effect, At: d.at, Class: f.class,
		ExitCode: f.exitCode, DurationMS: f.durationMS, Message: f.message, Reason: feedback.ReasonAttemptFailed,
	})
	d.takeResult(v, &feedback.Result{Prior: feedback.PriorUnseen, Items: []feedback.Item{{
		Severity: feedback.Blocking, SourceAgent: i.path, Fingerprint: fmt.Sprintf("attempt in iteration %d", i.iteration), // no earlier waiver covers it
		Description: fmt.Sprintf("the attempt in iteration %d failed (%s): %s", i.iteration, f.class, f.message),
	}}}, nil)
	d.routeJoin(&join{members: []*instance{v}, blocked: []*instance{v}})
	return true
}

// isUndecided reports whether i failed as an attempt of a refine loop of which it is open whether another follows.
func (i *instance) isUndecided() bool {
	v := i.verifier()
	return i.reason == feedback.ReasonAttemptFailed && v != nil && !v.done
}

// rule gives the rule by which a loop that i is part of was exhausted; "": none was.
func (i *instance) rule() string {
	if i.reason != feedback.ReasonAttemptFailed {
		return i.reason
	}
	if v := i.verifier(); v != nil && v != i { // of the last attempt
		return v.rule()
	}
	return ""
}

// isAttempt reports whether a class says that work was done and did not come to an end, and not that it could not
// be done at all.
func isAttempt(class string) bool {
	switch stage.Class(class) {
	case stage.Exit, stage.Signal, stage.Timeout, stage.Idle, stage.Protocol, stage.InvalidOutput, stage.FailedCheck, stage.Findings:
		return true
	}
	return false
}

// madeByHand reports whether the workspace holds another tree than the run left.
func (s *state) madeByHand(now step.Tree) bool { return now.Hash != s.workTree.Hash }

// makesAttempt reports whether a retry of what i found is one more attempt of a refine loop. What a person made
// by hand is validated first, not made again, unless the last attempt gave nothing that could be.
func (i *instance) makesAttempt(byHand bool) bool {
	return i.node.Refine != nil && !(byHand && i.target().status == step.Succeeded)
}

// reviewsAgain lets a review that escalated run again after work by hand; of a refine loop that may be one more attempt.
func (d *decider) reviewsAgain(i *instance, byHand bool) {
	if i.makesAttempt(byHand) {
		d.restart(i.target(), []*instance{i})
		return
	}
	if i.status != step.Stale && i.status != step.Pending {
		d.stale(i, step.ByDecision)
	}
}

// nothingToAccept says why what an escalation of reviews is about can't be accepted: the last attempt of a refine loop
// gave nothing; "" if it can.
func nothingToAccept(sources []*instance) string {
	for _, i := range sources {
		if t := i.target(); i.isSelf() && t.status == step.Failed && t.failed() { // else the run goes on without it anyway
			return fmt.Sprintf("the last attempt of %q failed, so there is nothing to accept", t.path)
		}
	}
	return ""
}

// countAnew sets the counter of a stage's loop with itself back to where it began.
func (s *state) countAnew(i *instance) {
	if l := s.loopByKey[feedback.Pair{Source: i.path, Target: targetPath(i)}]; l != nil {
		l.counter = feedback.Counter{Pair: l.counter.Pair, Iteration: 1, Cap: i.node.Loop.MaxIterations}
		l.last, l.pending = "", nil
	}
}

// holdForVerifier hands the workspace on from a stage to what verifies its work, so that nothing else changes it
// before.
func (s *state) holdForVerifier(i *instance) {
	if v := i.verifier(); v != nil && i.writes() && s.wantsStart(v) {
		s.setHolding(v, true)
	}
}

// verifiersOf gives the nodes that verify others, by the node that they verify.
func verifiersOf(g *plan.Graph) map[int]int {
	out := map[int]int{}
	for i := range g.Nodes {
		if l := g.Nodes[i].Loop; l != nil && l.Self {
			out[l.Target] = i
		}
	}
	return out
}
