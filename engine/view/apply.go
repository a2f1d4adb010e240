package view

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
)

// Apply adds a record: at is the time of the step that it belongs to. A record that names a stage, a loop
// or an escalation that is not known is taken as it is: a reader never refuses a journal.
func (r *Run) Apply(at machine.Instant, rec machine.Record) {
	switch rec := rec.(type) {
	case machine.StageStarted, machine.StageSucceeded, machine.StageFailed, machine.StageSkipped,
		machine.StageRejected, machine.StageNotRun, machine.StageCancelled, machine.StageInterrupted, machine.StageStale,
		machine.RetryScheduled, machine.RetryDue, machine.CheckFailed:
		r.applyStage(at, rec)
	case machine.ApprovalAsked, machine.ApprovalAnswered:
		r.applyApproval(at, rec)
	case machine.FeedbackReceived, machine.FeedbackRouted, machine.ItemOpened, machine.ItemChanged:
		r.applyFeedback(at, rec)
	case machine.FinallyStarted:
		r.applyFinally(at, rec.Stage, rec)
	case machine.FinallyFinished:
		r.applyFinally(at, rec.Stage, rec)
	case machine.EscalationRaised:
		r.raise(at, rec)
	case machine.EscalationDecided:
		r.decide(at, rec)
	default:
		r.applyRun(at, rec)
	}
}

func (r *Run) applyRun(at machine.Instant, rec machine.Record) {
	switch rec := rec.(type) {
	case machine.RunStarted:
		r.info, r.started, r.status = rec.Run, at, machine.RunRunning
		for _, c := range rec.Loops {
			l := r.tree.loop(c.Source, c.Target)
			l.Iteration, l.Cap = c.Iteration, c.Cap
		}
	case machine.RunWaiting:
		r.status, r.reason, r.by = machine.RunIsWaiting, rec.Reason, ""
	case machine.RunPaused:
		r.status, r.reason, r.by = machine.RunIsPaused, rec.Reason, ""
	case machine.RunResumed:
		r.status, r.reason = machine.RunRunning, ""
	case machine.RunCancelling:
		r.reason = rec.Reason
	case machine.RunFinished:
		r.status, r.finished, r.outputs = rec.Status, at, rec.Outputs
		r.reason = rec.Reason
		r.asked, r.open = nil, nil
	case machine.NotifyStarted:
	case machine.NotifyFinished:
	case machine.FinallyStarted:
	case machine.FinallyFinished:
	default:
		return // answers that were refused, events that did not fit, trees: they change nothing that is shown
	}
	r.history = append(r.history, entry{at, slimRun(rec)})
}

// slimRun drops from a record of the run what the explanations do not need.
func slimRun(rec machine.Record) machine.Record {
	switch rec := rec.(type) {
	case machine.RunStarted:
		rec.Inputs, rec.Loops = nil, nil
		return rec
	case machine.RunPaused:
		rec.Tree = machine.Tree{}
		return rec
	case machine.RunFinished:
		rec.Outputs, rec.OpenItems = nil, nil
		return rec
	}
	return rec
}

func (r *Run) applyStage(at machine.Instant, rec machine.Record) {
	var s *stage
	switch rec := rec.(type) {
	case machine.StageStarted:
		s = r.tree.stage(rec.Stage)
		s.start(&rec)
		if rec.Effect != "" {
			r.tries++
		}
	case machine.StageSucceeded:
		s = r.tree.stage(rec.Stage)
		s.end(machine.Succeeded, rec.Iteration, rec.Attempt, rec.DurationMS)
		s.outputs, s.failure, s.cached = rec.Outputs, nil, rec.Cached
	case machine.StageFailed:
		s = r.tree.stage(rec.Stage)
		ms := rec.DurationMS
		if durationOf(&rec) < 0 && s.ended && s.iteration == rec.Iteration {
			ms = s.duration // its try had ended before: a rule makes it fail now
		}
		s.end(machine.Failed, rec.Iteration, rec.Attempt, ms)
		s.failure = &failure{rec.Class, rec.ExitCode, rec.Message, rec.Reason}
	case machine.StageSkipped:
		s = r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status, s.attempts = machine.Skipped, 0
	case machine.StageRejected:
		s = r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status, s.attempts = machine.Rejected, 0
	case machine.StageNotRun:
		s = r.tree.stage(rec.Stage)
		s.status = machine.NotRun
	case machine.StageCancelled:
		s = r.tree.stage(rec.Stage)
		s.status = machine.Cancelled
	case machine.StageInterrupted:
		s = r.tree.stage(rec.Stage)
		s.status = machine.Pending
	case machine.StageStale:
		s = r.tree.stage(rec.Stage)
		if !rec.Cancel { // else its try runs until it was stopped
			s.status, s.outputs, s.failure = machine.Stale, nil, nil
		}
	case machine.RetryScheduled:
		s = r.tree.stage(rec.Stage)
		s.status, s.duration, s.ended = machine.Waiting, rec.DurationMS, true
		s.failure = &failure{class: rec.Class, exitCode: rec.ExitCode, message: rec.Message}
	case machine.RetryDue:
		s = r.tree.stage(rec.Stage)
		s.status = machine.Pending
		return
	case machine.CheckFailed:
		s = r.tree.stage(rec.Stage)
	default:
		return
	}
	r.settle(s)
	s.history = append(s.history, entry{at, slimStage(rec)})
}

// applyFinally takes in the beginning or the end of a finally: of the run, or of a stage that runs a pipeline.
func (r *Run) applyFinally(at machine.Instant, owner string, rec machine.Record) {
	if owner == "" {
		r.applyRun(at, rec)
		return
	}
	s := r.tree.stage(owner)
	s.history = append(s.history, entry{at, rec})
}

// settle drops the question of a stage that has gone on without an answer: it was cancelled, or is stale.
func (r *Run) settle(s *stage) {
	if s.approval != nil && s.status != machine.Waiting {
		s.approval = nil
		r.asked = slices.DeleteFunc(r.asked, func(a *stage) bool { return a == s })
	}
}

// slimStage drops from a record of a stage what the explanations do not need.
func slimStage(rec machine.Record) machine.Record {
	switch rec := rec.(type) {
	case machine.StageStarted:
		return machine.StageStarted{Stage: rec.Stage, Iteration: rec.Iteration, Attempt: rec.Attempt,
			Effect: rec.Effect, At: rec.At, BriefIDs: rec.BriefIDs, Composite: rec.Composite}
	case machine.StageSucceeded:
		rec.Outputs, rec.Tree = nil, nil
		return rec
	}
	return rec
}

func (r *Run) applyApproval(at machine.Instant, rec machine.Record) {
	switch rec := rec.(type) {
	case machine.ApprovalAsked:
		s := r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status = machine.Waiting
		if s.approval == nil {
			i, _ := slices.BinarySearchFunc(r.asked, s, inOrder)
			r.asked = slices.Insert(r.asked, i, s)
		}
		s.approval = &approval{asked: at, message: rec.Message, rounds: rec.Rounds, again: rec.Again,
			approvers: rec.Approvers, deadline: deadline{rec.Until, rec.OnTimeout}}
		rec.Tree = machine.Tree{}
		s.history = append(s.history, entry{at, rec})
	case machine.ApprovalAnswered:
		s := r.tree.stage(rec.Stage)
		s.status = machine.Pending
		if rec.Answer != "" {
			r.by = rec.By
		}
		r.settle(s)
		rec.Tree = machine.Tree{}
		s.history = append(s.history, entry{at, rec})
	}
}

func (r *Run) applyFeedback(at machine.Instant, rec machine.Record) {
	switch rec := rec.(type) {
	case machine.FeedbackReceived:
		s := r.tree.stage(rec.Source)
		rec.Advisory = nil
		s.history = append(s.history, entry{at, rec})
	case machine.FeedbackRouted:
		l := r.tree.loop(rec.Source, rec.Target)
		l.Iteration, l.Cap, l.last = rec.Iteration, rec.MaxIterations, rec.Action.String()
		s := r.tree.stage(rec.Source)
		s.history = append(s.history, entry{at, rec})
		if rec.Action == feedback.ReImplement {
			t := r.tree.stage(rec.Target)
			t.history = append(t.history, entry{at, rec})
		}
	case machine.ItemOpened:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case machine.ItemChanged:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	}
}
