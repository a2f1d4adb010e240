package machine

import (
	"slices"

	"example.com/pipe/engine/step"
)

// finish ends the run: well if nothing failed. What stands in its finally comes first.
func (d *decider) finish() {
	r := d.ending()
	if final := d.s.root.final; r.Status == step.RunFailed && (final == nil || final.outcome == step.UnknownRunStatus) {
		if d.rollBack() {
			return
		}
		r.Reason = d.ending().Reason // with the rollbacks that failed
	}
	if d.finallyRuns(d.s.root, r.Status, r.Reason) {
		d.goOn()
		return
	}
	if bad := d.s.root.final.failed(); bad != nil && r.Status == step.RunSucceeded {
		r.Status, r.Reason, r.Outputs = step.RunFailed, failureReason(bad), nil
	}
	r.OpenItems = openItems(&d.s.ledger)
	d.emit(r)
}

// ending works out how the run ends.
func (d *decider) ending() step.RunFinished {
	r := step.RunFinished{At: d.at, Status: step.RunSucceeded}
	var cause *instance // what failed by itself comes before what could only not go on
	for _, i := range d.s.root.slots {
		if i.met {
			continue
		}
		r.Status = step.RunFailed
		if cause == nil || failureReason(cause) == "" || (i.status == step.Failed && cause.status != step.Failed) {
			cause = i
		}
	}
	if cause != nil {
		r.Reason = failureReason(cause)
	}
	if r.Status == step.RunSucceeded {
		outputs, err := d.outputsOf(d.s.root)
		if err != nil {
			r.Status, r.Reason = step.RunFailed, d.located(err)
		}
		r.Outputs = outputs
	}
	r.Reason = d.s.withRollbacks(r.Reason)
	return r
}

// finallyRuns lets what stands in a frame's finally begin, once all else in the frame has ended with a status.
// It reports whether it runs; when it has ended, that is recorded and the frame can end too.
func (d *decider) finallyRuns(f *frame, status step.RunStatus, reason string) bool {
	switch final := f.final; {
	case final == nil:
		return false
	case final.outcome == step.UnknownRunStatus && d.s.abandoned:
		return false
	case final.outcome == step.UnknownRunStatus:
		d.emit(step.FinallyStarted{Stage: pathOf(f.owner), Status: status, Reason: reason, At: d.at})
		return true
	case !final.live:
		return false
	case final.undone > 0:
		return true
	}
	r := step.FinallyFinished{Stage: pathOf(f.owner), Status: step.RunSucceeded, At: d.at}
	if d.s.abandoned {
		r.Status = step.RunCancelled
	} else if f.final.failed() != nil {
		r.Status = step.RunFailed
	}
	d.emit(r)
	return false
}

// failed gives the first part of a finally that failed; nil also without one.
func (f *frame) failed() *instance {
	if f == nil {
		return nil
	}
	return firstFailed(f.slots)
}

// cancel stops the run. What stands in finally runs nevertheless; a cancel while it does stops that as well, and
// one while rollbacks run, and that asks for none, stops those. One that asks for rollbacks may come later than
// another that did not.
func (d *decider) cancel(a step.Answer) bool {
	running := slices.ContainsFunc(d.s.all, func(i *instance) bool { return i.isFinal() && i.frame.live })
	undoing, more := d.s.undo.running != nil && !d.s.undo.stopped, a.Rollback && !d.s.undo.wanted && !d.s.undo.stopped
	switch {
	case undoing && a.Rollback && !more:
		return d.refuse(a, "the run is being cancelled and rolled back already")
	case d.s.cancelling && !undoing && !more && (!running || d.s.abandoned):
		return d.refuse(a, "the run is being cancelled already")
	}
	last := d.s.root.final != nil && d.s.root.final.live
	again := d.s.cancelling && !undoing && !more
	d.emit(step.RunCancelling{At: d.at, By: a.By, Reason: "cancelled", Why: a.Reason, Finally: again || last, Rollback: a.Rollback})
	return a.Live
}

// finishCancelled ends a run whose tries have all been stopped: what has not ended is cancelled, the innermost
// first, each graph after what stands in its finally.
func (d *decider) finishCancelled() {
	for _, i := range d.s.all {
		if !i.isFinal() || d.s.abandoned {
			d.cancelled(i, false)
		}
	}
	if d.s.timers() > 0 {
		return // a stage of a finally waits for its next try
	}
	if d.s.undo.wanted && d.rollBack() {
		return
	}
	for _, i := range slices.Backward(d.s.all) {
		if i.status != step.Running || !i.isComposite() {
			continue
		}
		if i.body != nil && d.finallyRuns(i.body, step.RunCancelled, d.s.reason) {
			d.goOn()
			return
		}
		d.cancelled(i, true)
	}
	if d.finallyRuns(d.s.root, step.RunCancelled, d.s.reason) {
		d.goOn()
		return
	}
	for _, i := range d.s.all { // what stands in a finally that never came
		d.cancelled(i, false)
	}
	d.emit(step.RunFinished{At: d.at, Status: step.RunCancelled, Reason: d.s.withRollbacks(d.s.reason), OpenItems: openItems(&d.s.ledger)})
}

// cancelled records that an instance that has not ended is cancelled; of composites that run only if asked for.
func (d *decider) cancelled(i *instance, composite bool) {
	switch i.status {
	case step.Running:
		if i.isComposite() != composite {
			return
		}
	case step.Pending, step.Stale, step.Waiting, step.Rejected:
	default:
		return
	}
	d.emit(step.StageCancelled{Stage: i.path, Effect: i.effect, At: d.at})
}

func (s *state) applyFinallyStarted(r step.FinallyStarted) {
	final := s.frameOf(r.Stage).final
	final.live, final.outcome = true, r.Status
	for _, i := range final.slots {
		s.refresh(i)
	}
	if final.owner != nil {
		s.noteClosed(final.owner, final.undone == 0)
	}
}

func (s *state) applyFinallyFinished(r step.FinallyFinished) {
	final := s.frameOf(r.Stage).final
	final.live = false
	if final.owner != nil {
		s.noteClosed(final.owner, true)
	}
}

// frameOf gives the frame that a stage owns; "" is the run.
func (s *state) frameOf(path string) *frame {
	if path == "" {
		return s.root
	}
	return s.at(path).body
}
