package machine

import (
	"fmt"
	"iter"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// closeComposite ends a for_each or a body of which no part can go on. What stands in a body's finally comes
// first.
func (d *decider) closeComposite(i *instance) {
	bad, failed := d.partsFailed(i)
	finds := failed && becomesFindings(i)
	if i.body != nil {
		status, reason := step.RunSucceeded, ""
		if failed && !finds { // findings are a good end
			status, reason = step.RunFailed, bad.message
		}
		if d.finallyRuns(i.body, status, reason) {
			return
		}
		if f := i.body.final.failed(); f != nil && (!failed || finds) {
			bad, failed, finds = failureOf(f), true, false
		}
	}
	switch {
	case finds:
		d.takeFindings(i)
	case failed:
		d.failWhole(i, bad)
		return
	case i.isSource() && !i.returns(), i.node.OnEscalation == plan.EscalationFinds && len(d.s.ledger.Open(i.path)) > 0:
		d.takeResult(i, &feedback.Result{}, nil) // nothing is open inside, so what it gave before is settled
	}
	if n := len(d.s.ledger.OpenBlocking(i.path)); n > 0 && (!i.isSource() || i.returns()) {
		d.failWhole(i, failure{class: string(stage.Findings), message: findingsWithoutLoop(n)})
		return
	}
	r := step.StageSucceeded{Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, At: d.at, DurationMS: d.at.Since(i.started.At)}
	if !failed {
		outputs, err := d.compositeOutputs(i)
		if err != nil {
			d.failWhole(i, failure{class: string(stage.FailedCheck), message: d.located(err)})
			return
		}
		r.Outputs = outputs
	}
	if !i.isGroup() { // a for_each asks for each of its items
		if why := d.postChecks(i, step.StageEnded{Outputs: r.Outputs}); why != "" {
			d.failWhole(i, failure{class: string(stage.FailedCheck), message: why})
			return
		}
	}
	d.emit(r)
}

// failWhole fails a composite, which took as long as its parts.
func (d *decider) failWhole(i *instance, f failure) {
	f.durationMS = d.at.Since(i.started.At)
	d.fail(i, f)
}

// partsFailed works out how a composite fails whose parts can't go on; false: it doesn't.
func (d *decider) partsFailed(i *instance) (failure, bool) {
	if bad := firstFailed(i.own()); bad != nil {
		return failureOf(bad), true
	}
	if left := i.undone; i.isGroup() && left > 0 || i.body != nil && i.body.undone > 0 {
		return failure{class: string(stage.Findings), message: "findings could not be routed: another review failed"}, true
	}
	return failure{}, false
}

func failureOf(bad *instance) failure {
	f := failure{class: string(stage.Cancelled), message: fmt.Sprintf("%q did not succeed", bad.path), reason: bad.rule()}
	if bad.class != "" {
		f.class = bad.class
	}
	return f
}

// failStuck ends the innermost composite that holds a review whose findings can't be routed any more, since
// another review of its join failed for good. It reports whether there was one.
func (d *decider) failStuck() bool {
	for _, i := range slices.Backward(d.s.all) {
		if i.isComposite() && i.status == step.Running {
			d.closeComposite(i)
			return true
		}
	}
	return false
}

// inside gives all that a composite consists of, at every depth.
func inside(i *instance) iter.Seq[*instance] {
	return func(yield func(*instance) bool) { visitInside(i, yield) }
}

func visitInside(i *instance, yield func(*instance) bool) bool {
	parts := i.items
	if i.body != nil {
		if parts = i.body.slots; i.body.final != nil {
			parts = slices.Concat(parts, i.body.final.slots)
		}
	}
	for _, part := range parts {
		if !yield(part) || !visitInside(part, yield) {
			return false
		}
	}
	return true
}

// own gives the parts of a composite without those of a finally.
func (i *instance) own() []*instance {
	if i.isGroup() {
		return i.items
	}
	return i.body.slots
}

// firstFailed gives the first of the parts of a composite that failed, in plan order; of those that failed by
// themselves before those that could not run.
func firstFailed(parts []*instance) *instance {
	var notRun *instance
	for _, p := range parts {
		if p.status == step.Failed && p.failed() {
			return p
		}
		if p.failed() && notRun == nil {
			notRun = p
		}
	}
	return notRun
}

// becomesFindings reports whether a pipeline inside the run failed by exhausted loops alone, and its open items
// are to become items of its stage.
func becomesFindings(i *instance) bool {
	return i.body != nil && i.node.OnEscalation == plan.EscalationFinds && !slices.ContainsFunc(i.body.slots, failedOtherwise)
}

// failedOtherwise reports whether a stage, or anything in it that made it fail, failed by more than an exhausted loop.
func failedOtherwise(i *instance) bool {
	switch {
	case i.status == step.Cancelled:
		return true
	case i.status != step.Failed || !i.failed():
		return false
	}
	return i.reason == "" || i.isComposite() && slices.ContainsFunc(i.own(), failedOtherwise)
}

// takeFindings makes the open items inside a composite its own.
func (d *decider) takeFindings(i *instance) {
	var found []feedback.Item
	var taken []string
	for part := range inside(i) {
		for _, item := range d.s.ledger.Open(part.path) {
			if !slices.Contains(taken, item.ID) { // by one of its sources
				taken = append(taken, item.ID)
				found = append(found, item)
			}
		}
		d.change(d.s.ledger.Withdraw(part.path, fmt.Sprintf("taken over by %q", i.path)))
	}
	d.takeResult(i, &feedback.Result{Items: found}, nil)
}

// nobodyAsked reports why no person is asked about what could not be resolved in a frame; "" if one is.
func (d *decider) nobodyAsked(f *frame) string {
	for owner := f.owner; owner != nil; owner = owner.frame.owner {
		switch owner.node.OnEscalation {
		case plan.EscalationFails, plan.EscalationFinds:
			return fmt.Sprintf("on_escalation of %q is %s", owner.path, owner.node.OnEscalation)
		}
	}
	if d.s.run.Unattended {
		return "the run is unattended"
	}
	return ""
}
