package machine

import (
	"fmt"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// byOverride is the reason of a stage that a person took as succeeded.
const byOverride = "override"

// decider decides one step. It reads the state and changes it through records alone.
type decider struct {
	m     *Machine
	s     *state
	at    step.Instant
	ready Ready

	fresh *instance  // approved in this step: its tree was just compared
	read  *instance  // whose tree was read in this step for its start
	pause *step.Tree // read in this step for a pause
}

// emit applies a record and keeps it, with the effect that it opens.
func (d *decider) emit(r step.Record) {
	var stops []string
	if c, ok := r.(step.RunCancelling); ok {
		for _, i := range d.s.all {
			if i.stopsAtCancel(c.Finally) {
				stops = append(stops, i.effect)
			}
		}
		for _, e := range d.s.effects {
			if e.kind == notifyEffect || e.kind == rollbackEffect && !c.Rollback {
				stops = append(stops, e.id)
			}
		}
	}
	d.m.Apply(r)
	d.ready.Records = append(d.ready.Records, r)
	switch r := r.(type) {
	case step.StageStarted:
		if r.Effect != "" {
			d.effect(step.Dispatch{Started: &r})
		}
	case step.StageStale:
		if r.Cancel {
			d.effect(step.Stop{Effect: d.s.at(r.Stage).effect})
		}
	case step.RetryScheduled:
		d.effect(step.Timer{Effect: r.Effect, Until: r.Until})
	case step.TreeAsked:
		d.effect(d.s.find(r.Effect).readTree())
	case step.RunCancelling:
		for _, effect := range stops {
			d.effect(step.Stop{Effect: effect})
		}
	case step.ApprovalAsked:
		if r.Effect != "" {
			d.effect(step.Timer{Effect: r.Effect, Until: r.Until})
		}
	case step.EscalationRaised:
		if r.Effect != "" {
			d.effect(step.Timer{Effect: r.Effect, Until: r.Until})
		}
	case step.NotifyStarted:
		d.effect(*d.s.find(r.Effect).notify)
	case step.RollbackStarted:
		if r.Effect != "" {
			d.effect(step.Rollback{Started: &r})
		}
	}
}

func (d *decider) effect(e step.Effect) { d.ready.Effects = append(d.ready.Effects, e) }

func (d *decider) newEffect() string { return fmt.Sprintf("e%d", d.s.nextEffect) }

func (d *decider) ignore(ev step.Event, effect, why string) bool {
	d.emit(step.EventIgnored{Event: ev.EventType(), Effect: effect, Why: why})
	return false
}

// take decides what an event says by itself. It reports whether the run goes on from there.
func (d *decider) take(ev step.Event) bool {
	if start, ok := ev.(step.Start); ok {
		return d.start(start)
	}
	if d.s.status == step.UnknownRunStatus {
		return d.ignore(ev, "", "the run has not started")
	}
	if d.s.status.Ended() {
		if a, ok := ev.(step.Answer); ok {
			return d.refuse(a, fmt.Sprintf("the run has ended (%s)", d.s.status))
		}
		return d.ignore(ev, "", "the run has ended")
	}
	switch e := ev.(type) {
	case step.StageEnded:
		if i := d.dispatched(e.Effect); i != nil {
			d.stageEnded(i, e)
			return true
		}
		return d.ignore(ev, e.Effect, "no try with this effect is running")
	case step.StageLost:
		if i := d.dispatched(e.Effect); i != nil {
			d.lost(i, e)
			return true
		}
		return d.ignore(ev, e.Effect, "no try with this effect is running")
	case step.TimerFired:
		return d.timerFired(e)
	case step.Notified:
		if o := d.s.find(e.Effect); o != nil && o.kind == notifyEffect {
			d.emit(step.NotifyFinished{Effect: e.Effect, Escalation: o.escalation, At: d.at, Class: e.Class, Message: e.Message})
			return true
		}
		return d.ignore(ev, e.Effect, "no notification with this effect is open")
	case step.TreeRead:
		if o := d.s.find(e.Effect); o != nil && o.kind == treeEffect {
			d.treeRead(o, e)
			return true
		}
		return d.ignore(ev, e.Effect, "no reading of the tree with this effect is open")
	case step.RolledBack:
		return d.rolledBack(e)
	case step.Resumed:
		d.resumed(e)
		return true
	case step.Answer:
		passed := d.passDeadlines(e.Live)
		if passed && d.s.cancelling && e.Kind != step.Cancel {
			d.refuse(e, "nobody decided in time, so the run is being cancelled")
			return e.Live
		}
		return d.answer(e) || passed && e.Live
	}
	return d.ignore(ev, "", "this version does not know the event")
}

// resumed goes on with a run that another process has left, after what was worked by hand since is looked at. An
// override on another tree is void, which asks again: then nothing is looked at before that.
func (d *decider) resumed(e step.Resumed) {
	r := step.RunResumed{At: d.at, Ended: e.Ended}
	if len(d.s.overrides) == 0 && !d.s.cancelling {
		r.Tree = e.Tree
	}
	if r.Tree != nil {
		d.workedByHand(*r.Tree)
	}
	d.emit(r)
	d.passDeadlines(true)
}

// timerFired goes on with what a timer held up.
func (d *decider) timerFired(e step.TimerFired) bool {
	switch o := d.s.find(e.Effect); {
	case o != nil && o.kind == timerEffect:
		d.emit(step.RetryDue{Stage: o.inst.path, Effect: e.Effect})
		return true
	case o != nil && o.kind == deadlineEffect && d.s.cancelling:
		return d.ignore(e, e.Effect, "the run is being cancelled")
	case o != nil && o.kind == deadlineEffect:
		d.passed(o, true)
		return true
	}
	return d.ignore(e, e.Effect, "no timer with this effect is open")
}

func (d *decider) start(e step.Start) bool {
	if d.s.status != step.UnknownRunStatus {
		return d.ignore(e, "", "the run has started already")
	}
	inputs := d.m.plan.WithDefaults(e.Inputs)
	e.Run.Jobs = max(1, e.Run.Jobs)
	d.emit(step.RunStarted{Run: e.Run, At: d.at, Inputs: inputs, Loops: e.Loops, Task: e.Task, Prior: e.Prior})
	return true
}

// dispatched gives the instance whose try has an effect id, nil if there is none.
func (d *decider) dispatched(effect string) *instance {
	if o := d.s.find(effect); o != nil && o.kind == dispatchEffect {
		return o.inst
	}
	return nil
}

// lost decides about a try that our own death ended.
func (d *decider) lost(i *instance, e step.StageLost) {
	if i.stopping {
		d.stopped(i)
		return
	}
	d.emit(step.StageInterrupted{Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, Effect: e.Effect, At: d.at})
	switch i.node.OnInterrupt {
	case plan.FailStage:
		d.fail(i, failure{class: string(stage.Interrupted), message: "the try was interrupted; on_interrupt is fail"})
	case plan.Ask:
		why := d.nobodyAsked(i.frame)
		if i.isFinal() {
			why = "nobody is asked about what stands in finally"
		}
		if why != "" {
			d.fail(i, failure{class: string(stage.Interrupted), message: "the try was interrupted; on_interrupt is ask, but " + why})
			return
		}
		d.raise(feedback.Escalation{
			Sources: []string{i.path}, Reason: feedback.ReasonInterrupted, Iterations: i.iteration,
			Blocking: d.s.ledger.OpenBlocking(i.path),
		})
	}
}

// stopped decides about an instance whose try was stopped on our own wish, however it ended.
func (d *decider) stopped(i *instance) {
	if d.s.cancelling {
		d.emit(step.StageCancelled{Stage: i.path, Effect: i.effect, At: d.at})
		return
	}
	d.emit(step.StageStale{Stage: i.path, At: d.at, Cause: step.ByUpstream})
}

// stageEnded decides about a try that ended by itself: exit status and outputs were read by the driver; then
// come items, post_checks, and what follows for the loops.
func (d *decider) stageEnded(i *instance, e step.StageEnded) {
	if i.stopping {
		d.stopped(i)
		return
	}
	f := failure{class: e.Class, effect: e.Effect, exitCode: e.ExitCode, durationMS: e.DurationMS, message: e.Message}
	if e.Class == "" && e.Result == nil && i.isSource() && !i.returns() {
		f.class, f.message = string(stage.ReviewUnavailable), "the review gave no result, so it did not take place"
	}
	if f.class != "" {
		d.tryFailed(i, f)
		return
	}
	d.takeReview(i, e.Result, e.Diagnosis, d.lateness(i, e.Lines))
	if why := d.postChecks(i, e); why != "" {
		f.class, f.message = string(stage.FailedCheck), why
		d.tryFailed(i, f)
		return
	}
	if n := len(d.s.ledger.OpenBlocking(i.path)); n > 0 && (i.node.Loop == nil || i.returns()) {
		f.class, f.message = string(stage.Findings), findingsWithoutLoop(n)
		d.tryFailed(i, f)
		return
	}
	unchanged := i.round && !i.disputed && i.base != "" && e.Tree != nil && e.Tree.Hash == i.base &&
		value.Equal(e.Outputs, i.before)
	d.emit(step.StageSucceeded{Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, Effect: e.Effect, At: d.at,
		ExitCode: e.ExitCode, DurationMS: e.DurationMS, Outputs: e.Outputs, Tree: e.Tree, Cached: e.Cached})
	if unchanged {
		d.noChange(i)
	}
}

// treeRead decides about the state of the workspace that was asked for.
func (d *decider) treeRead(o *openEffect, e step.TreeRead) {
	rec := step.TreeRecorded{Effect: e.Effect, Purpose: o.purpose, Tree: e.Tree, At: d.at}
	if o.inst != nil {
		rec.Stage = o.inst.path
	}
	i, overrides := o.inst, d.s.overrides
	d.emit(rec)
	if d.s.cancelling && !(i != nil && i.isFinal()) {
		return
	}
	if e.Refused != "" && i != nil {
		d.failStart(i, i.iteration, "a rollback could not go back to what the workspace holds now: "+e.Refused)
		return
	}
	switch o.purpose {
	case step.ForApproval:
		d.ask(i, e.Tree, "")
	case step.ForStart:
		if i.approval.unchecked {
			if void, _ := d.approvalDiffers(i, e.Tree); void != "" {
				d.askAgain(i, e.Tree, void+" after the approval")
				return
			}
		}
		d.read = i
	case step.ForPause:
		d.pause = &e.Tree
	case step.ForOverride:
		d.checkOverrides(overrides, e.Tree)
	}
}
