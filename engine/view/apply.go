package view

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/step"
)

// Apply adds a record: at is the time of the step that it belongs to. A record that names a stage, a loop
// or an escalation that is not known is taken as it is: a reader never refuses a journal.
func (r *Run) Apply(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.StageStarted, step.StageSucceeded, step.StageFailed, step.StageSkipped,
		step.StageRejected, step.StageNotRun, step.StageCancelled, step.StageInterrupted, step.StageStale,
		step.RetryScheduled, step.RetryDue, step.CheckFailed:
		r.applyStage(at, rec)
	case step.ApprovalAsked, step.ApprovalAnswered:
		r.applyApproval(at, rec)
	case step.FeedbackReceived, step.FeedbackRouted, step.ItemOpened, step.ItemChanged:
		r.applyFeedback(at, rec)
	case step.RollbackStarted, step.RollbackFinished:
		r.applyRollback(at, rec)
	case step.FinallyStarted:
		r.applyFinally(at, rec.Stage, rec)
	case step.FinallyFinished:
		r.applyFinally(at, rec.Stage, rec)
	case step.EscalationRaised:
		r.raise(at, rec)
	case step.EscalationDecided:
		r.decide(at, rec)
	default:
		r.applyRun(at, rec)
	}
}

func (r *Run) applyRun(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.RunStarted:
		r.info, r.started, r.status = rec.Run, at, step.RunRunning
		for _, c := range rec.Loops {
			l := r.tree.loop(c.Source, c.Target)
			l.Iteration, l.Cap = c.Iteration, c.Cap
		}
	case step.RunWaiting:
		r.status, r.reason, r.by = step.RunIsWaiting, rec.Reason, ""
	case step.RunPaused:
		r.status, r.reason, r.by = step.RunIsPaused, rec.Reason, ""
	case step.RunResumed:
		if r.status = r.goesOn(); !r.cancelling {
			r.reason = ""
		}
	case step.RunCancelling:
		r.reason, r.cancelling = rec.Reason, true
	case step.RunFinished:
		r.status, r.finished, r.outputs = rec.Status, at, rec.Outputs
		r.reason = rec.Reason
		r.asked, r.open = nil, nil
	case step.NotifyStarted:
	case step.NotifyFinished:
	case step.FinallyStarted:
	case step.FinallyFinished:
	default:
		return // answers that were refused, events that did not fit, trees: they change nothing that is shown
	}
	r.history = append(r.history, entry{at, slimRun(rec)})
}

// slimRun drops from a record of the run what the explanations do not need.
func slimRun(rec step.Record) step.Record {
	switch rec := rec.(type) {
	case step.RunStarted:
		rec.Inputs, rec.Loops = nil, nil
		return rec
	case step.RunPaused:
		rec.Tree = step.Tree{}
		return rec
	case step.RunFinished:
		rec.Outputs, rec.OpenItems = nil, nil
		return rec
	}
	return rec
}

func (r *Run) applyStage(at step.Instant, rec step.Record) {
	var s *stage
	switch rec := rec.(type) {
	case step.StageStarted:
		s = r.tree.stage(rec.Stage)
		s.start(&rec)
		if rec.Effect != "" {
			r.tries++
		}
	case step.StageSucceeded:
		s = r.tree.stage(rec.Stage)
		s.end(step.Succeeded, rec.Iteration, rec.Attempt, rec.DurationMS)
		s.outputs, s.failure, s.cached = rec.Outputs, nil, rec.Cached
	case step.StageFailed:
		s = r.tree.stage(rec.Stage)
		ms := rec.DurationMS
		if durationOf(&rec) < 0 && s.ended && s.iteration == rec.Iteration {
			ms = s.duration // its try had ended before: a rule makes it fail now
		}
		s.end(step.Failed, rec.Iteration, rec.Attempt, ms)
		s.failure = &failure{rec.Class, rec.ExitCode, rec.Message, rec.Reason}
	case step.StageSkipped:
		s = r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status, s.attempts = step.Skipped, 0
	case step.StageRejected:
		s = r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status, s.attempts = step.Rejected, 0
	case step.StageNotRun:
		s = r.tree.stage(rec.Stage)
		s.status = step.NotRun
	case step.StageCancelled:
		s = r.tree.stage(rec.Stage)
		s.status = step.Cancelled
	case step.StageInterrupted:
		s = r.tree.stage(rec.Stage)
		s.status = step.Pending
	case step.StageStale:
		s = r.tree.stage(rec.Stage)
		if !rec.Cancel { // else its try runs until it was stopped
			s.status, s.outputs, s.failure = step.Stale, nil, nil
		}
	case step.RetryScheduled:
		s = r.tree.stage(rec.Stage)
		s.status, s.duration, s.ended = step.Waiting, rec.DurationMS, true
		s.failure = &failure{class: rec.Class, exitCode: rec.ExitCode, message: rec.Message}
	case step.RetryDue:
		s = r.tree.stage(rec.Stage)
		s.status = step.Pending
		return
	case step.CheckFailed:
		s = r.tree.stage(rec.Stage)
	default:
		return
	}
	r.settle(s)
	s.history = append(s.history, entry{at, slimStage(rec)})
}

// applyFinally takes in the beginning or the end of a finally: of the run, or of a stage that runs a pipeline.
func (r *Run) applyFinally(at step.Instant, owner string, rec step.Record) {
	if owner == "" {
		r.applyRun(at, rec)
		return
	}
	s := r.tree.stage(owner)
	s.history = append(s.history, entry{at, rec})
}

// settle drops the question of a stage that has gone on without an answer: it was cancelled, or is stale.
func (r *Run) settle(s *stage) {
	if s.approval != nil && s.status != step.Waiting {
		s.approval = nil
		r.asked = slices.DeleteFunc(r.asked, func(a *stage) bool { return a == s })
	}
}

// slimStage drops from a record of a stage what the explanations do not need.
func slimStage(rec step.Record) step.Record {
	switch rec := rec.(type) {
	case step.StageStarted:
		return step.StageStarted{Stage: rec.Stage, Iteration: rec.Iteration, Attempt: rec.Attempt,
			Effect: rec.Effect, At: rec.At, BriefIDs: rec.BriefIDs, Composite: rec.Composite, Envelope: slimEnvelope(rec.Envelope)}
	case step.StageSucceeded:
		rec.Outputs, rec.Tree = nil, nil
		return rec
	}
	return rec
}

// slimEnvelope keeps who sent the work.
func slimEnvelope(e *envelope.Envelope) *envelope.Envelope {
	if e == nil {
		return nil
	}
	return &envelope.Envelope{Source: e.Source}
}

func (r *Run) applyApproval(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.ApprovalAsked:
		s := r.tree.stage(rec.Stage)
		s.come(rec.Iteration)
		s.status = step.Waiting
		if s.approval == nil {
			i, _ := slices.BinarySearchFunc(r.asked, s, inOrder)
			r.asked = slices.Insert(r.asked, i, s)
		}
		s.approval = &approval{asked: at, message: rec.Message, rounds: rec.Rounds, again: rec.Again,
			approvers: rec.Approvers, deadline: deadline{rec.Until, rec.OnTimeout}}
		rec.Tree = step.Tree{}
		s.history = append(s.history, entry{at, rec})
	case step.ApprovalAnswered:
		s := r.tree.stage(rec.Stage)
		s.status = step.Pending
		if rec.Answer != "" {
			r.by = rec.By
		}
		r.settle(s)
		rec.Tree = step.Tree{}
		s.history = append(s.history, entry{at, rec})
	}
}

func (r *Run) applyFeedback(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.FeedbackReceived:
		s := r.tree.stage(rec.Source)
		rec.Advisory, rec.Diagnosis = nil, slimDiagnosis(rec.Diagnosis)
		s.history = append(s.history, entry{at, rec})
	case step.FeedbackRouted:
		l := r.tree.loop(rec.Source, rec.Target)
		l.Iteration, l.Cap, l.last = rec.Iteration, rec.MaxIterations, rec.Action.String()
		s := r.tree.stage(rec.Source)
		s.history = append(s.history, entry{at, rec})
		if rec.Action == feedback.ReImplement {
			t := r.tree.stage(rec.Target)
			t.history = append(t.history, entry{at, rec})
		}
	case step.ItemOpened:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case step.ItemChanged:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	}
}
