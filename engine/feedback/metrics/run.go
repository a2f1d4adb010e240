package metrics

import (
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// Types gives how the types of the records begin that Apply looks at, and of those that it looks at as well where
// they stand in one step with one of the first.
func Types() (any, beside []string) {
	return []string{"run.started", "run.finished", "feedback.", "item.", "escalation.", "stage.stale"}, []string{"stage.succeeded"}
}

// Run works out the loops of one run from its records. The zero Run has none.
type Run struct {
	info    step.RunInfo
	started step.Instant
	ended   bool
	carried map[string]int // by source: where an earlier run of the task left the loop
	ledger  feedback.Ledger
	loops   []*loop // in the order of their first reviews
	of      map[string]*loop
	asked   map[string][]string // by id of an open escalation: its sources
}

// loop is a loop as it grows.
type loop struct {
	Loop
	first, last step.Instant // when its first review came in and began; when something was last done about it
	began       bool         // first is when the review began
	before      int          // iterations of a stage's loop with itself, before it counted anew
	settled     bool         // nothing follows any more, for all that is known
}

// Apply adds a record; at is the time of its step. A record that names what is not known is taken as it is.
func (r *Run) Apply(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.RunStarted:
		r.info, r.started, r.carried = rec.Run, at, make(map[string]int, len(rec.Loops))
		for _, c := range rec.Loops {
			r.carried[c.Source] = c.Iteration
		}
	case step.RunFinished:
		r.ended = true
		for _, l := range r.loops {
			if !l.settled {
				l.last = at
			}
		}
	case step.ItemOpened:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case step.ItemChanged:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case step.FeedbackReceived:
		r.received(at, &rec)
	case step.StageSucceeded:
		if l, ok := r.of[rec.Stage]; ok && !l.began && l.first == at {
			l.first, l.began = at-step.Instant(rec.DurationMS), true
		}
	case step.StageStale:
		if l, ok := r.of[rec.Stage]; ok && rec.Anew {
			l.before, l.Iterations = l.before+l.Iterations, 0
		}
	case step.FeedbackRouted:
		r.routed(at, &rec)
	case step.EscalationRaised:
		r.raised(at, &rec.Escalation)
	case step.EscalationDecided:
		r.decided(at, &rec)
	}
}

// loopOf gives the loop of a source, which comes up with its first review.
func (r *Run) loopOf(at step.Instant, source, target string) *loop {
	if l, ok := r.of[source]; ok {
		return l
	}
	l := &loop{first: at, Loop: Loop{Source: source, Target: target, Iterations: max(1, r.carried[source])}}
	if r.of == nil {
		r.of = map[string]*loop{}
	}
	r.of[source] = l
	r.loops = append(r.loops, l)
	return l
}

// received takes in a review. What a target answers, and a review without a loop, is none of ours.
func (r *Run) received(at step.Instant, rec *step.FeedbackReceived) {
	if rec.Target == "" {
		return
	}
	_, known := r.of[rec.Source]
	l := r.loopOf(at, rec.Source, rec.Target)
	open := len(r.ledger.OpenBlocking(rec.Source))
	if !known {
		l.Initial = open
	}
	if open > 0 {
		l.sent++
	}
	l.Iterations = max(l.Iterations, rec.Round)
	l.last, l.settled, l.accepted = at, false, false
}

func (r *Run) routed(at step.Instant, rec *step.FeedbackRouted) {
	l := r.loopOf(at, rec.Source, rec.Target)
	l.Iterations, l.last = rec.Iteration, at
	l.accepted = rec.Action == feedback.Accept
	l.settled = rec.Action != feedback.ReImplement
	l.Escalated = l.Escalated || rec.Action == feedback.Escalate
}

// raised notes whom a person is asked about. A stage that was interrupted is no loop.
func (r *Run) raised(at step.Instant, e *feedback.Escalation) {
	if e.Reason == feedback.ReasonInterrupted {
		return
	}
	if r.asked == nil {
		r.asked = map[string][]string{}
	}
	r.asked[e.ID] = e.Sources
	for _, source := range e.Sources {
		if l, ok := r.of[source]; ok {
			l.Escalated, l.accepted, l.settled, l.last = true, false, true, at
		}
	}
}

// decided notes what a person decided: after an override or an abort, nothing follows.
func (r *Run) decided(at step.Instant, rec *step.EscalationDecided) {
	for _, source := range r.asked[rec.ID] {
		l, ok := r.of[source]
		if !ok {
			continue
		}
		l.last = at
		switch rec.Decision {
		case "retry":
			l.settled = false
		case "refer-back":
			l.settled = false
			l.Iterations++
		}
	}
	if rec.Closed {
		delete(r.asked, rec.ID)
	}
}

// Info says which run it is; it is empty before its first record.
func (r *Run) Info() step.RunInfo { return r.info }

// Started is when the run started, 0 before its first record.
func (r *Run) Started() step.Instant { return r.started }

// Loops gives the loops of the run, in the order of their sources' names: in which order reviews that run side by
// side come in depends on the time that they took.
func (r *Run) Loops() []Loop {
	out := make([]Loop, 0, len(r.loops))
	for _, l := range r.loops {
		o := l.Loop
		o.TaskID, o.Run, o.Pipeline = r.info.TaskID, r.info.Run, r.info.Pipeline
		o.Iterations += l.before
		o.Final = len(r.ledger.OpenBlocking(o.Source))
		o.Resolved = o.accepted && !o.Escalated
		o.Open = !r.ended && !o.Escalated && !o.accepted
		o.DurationMS = max(0, l.last.Since(l.first))
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Loop) int { return strings.Compare(a.Source, b.Source) })
	return out
}
