package view

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// escalation is one that a person has not decided yet.
type escalation struct {
	feedback.Escalation
	at step.Instant
	deadline
}

type jsonEscalation struct {
	ID               string       `json:"id"`
	TaskID           string       `json:"task_id"`
	FeedbackSource   string       `json:"feedback_source"`
	Target           string       `json:"target,omitempty"`
	Reason           string       `json:"reason"`
	Iterations       int          `json:"iterations_attempted"`
	MaxIterations    int          `json:"max_iterations,omitempty"`
	BlockingIssues   value.Value  `json:"blocking_issues"`
	NotReviewedSince value.Value  `json:"not_reviewed_since,omitempty"`
	FullHistory      value.Value  `json:"full_history"`
	Options          []string     `json:"options"`
	RaisedAt         step.Instant `json:"raised_at,omitzero"`

	Until     *step.Instant `json:"until,omitempty"`      // its deadline
	OnTimeout string        `json:"on_timeout,omitempty"` // what it becomes then
}

// options are the decisions that answer the escalation.
func (e *escalation) options() []string {
	if e.Reason == feedback.ReasonInterrupted {
		return []string{"retry", "override", "abort"}
	}
	if e.NothingToAccept != "" {
		return []string{"retry", "refer-back", "abort"}
	}
	return []string{"retry", "refer-back", "override", "abort"}
}

func (e *escalation) json() jsonEscalation {
	context := e.Context()
	issues, _ := context.Get("blocking_issues")
	history, _ := context.Get("full_history")
	out := jsonEscalation{
		ID: e.ID, TaskID: e.TaskID, FeedbackSource: e.Source(), Target: e.Target, Reason: e.Reason,
		Iterations: e.Iterations, MaxIterations: e.Max, BlockingIssues: issues, FullHistory: history,
		Options: e.options(), RaisedAt: e.at, Until: instant(e.until), OnTimeout: e.onTimeout,
	}
	if len(e.NotReviewedSince) > 0 {
		out.NotReviewedSince = feedback.ItemList(e.NotReviewedSince)
	}
	return out
}

// EscalationJSON gives one escalation as JSON gives those that are open.
func (r *Run) EscalationJSON(e feedback.Escalation) ([]byte, error) {
	out := &escalation{Escalation: e}
	if i := slices.IndexFunc(r.open, func(o *escalation) bool { return o.ID == e.ID }); i >= 0 {
		out = r.open[i]
	}
	return Marshal(out.json())
}

// isAbout reports whether an escalation asks about a stage: it is a source of it, or the stage whose loop with itself
// is.
func (r *Run) isAbout(e *escalation, s *stage) bool {
	return slices.ContainsFunc(e.Sources, func(path string) bool {
		return path == s.path || r.tree.stage(path).owner() == s.path
	})
}

// askedAbout gives the first open escalation that asks about a stage; nil: none does.
func (r *Run) askedAbout(s *stage) *escalation {
	for _, e := range r.open {
		if r.isAbout(e, s) {
			return e
		}
	}
	return nil
}

// escalated is the status that texts give a stage about which a person is asked, whatever its last try came to.
const escalated = "escalated"

// statusText is the status of a stage as texts show it.
func (r *Run) statusText(s *stage) string {
	switch {
	case s.status == step.Running && r.StatusWord() == Interrupted:
		return Interrupted
	case s.status != step.Running && s.status != step.Rejected && r.askedAbout(s) != nil:
		return escalated
	}
	return s.status.String()
}

// waitsFor says for which decision a stage waits; "" for none.
func (r *Run) waitsFor(s *stage) string {
	if e := r.askedAbout(s); e != nil && s.status != step.Running {
		return "waits for a decision (" + e.ID + ")"
	}
	return ""
}

// openReason says for an explanation that a person is still asked.
func openReason(s *stage, e *escalation) string {
	about := "it"
	if !slices.Contains(e.Sources, s.path) {
		about = "its loop with itself"
	}
	return "a person is asked about " + about + ": escalation " + escalationReason(&e.Escalation)
}

func (r *Run) raise(at step.Instant, rec step.EscalationRaised) {
	r.past = feedback.Continue(r.past, &rec.Escalation)
	rec.Escalation.History = r.past
	r.open = append(r.open, &escalation{rec.Escalation, at, deadline{rec.Until, rec.OnTimeout}})
	for _, source := range rec.Escalation.Sources {
		s := r.tree.stage(source)
		s.history = append(s.history, entry{at, slimEscalation(rec)})
	}
}

// slimEscalation drops what the explanations do not need.
func slimEscalation(rec step.EscalationRaised) step.EscalationRaised {
	rec.Escalation.History, rec.Escalation.NotReviewedSince = nil, nil
	return rec
}

// decide takes in a person's decision: granted rounds raise the caps of the loops that escalated.
func (r *Run) decide(at step.Instant, rec step.EscalationDecided) {
	rec.Tree, rec.Outputs = step.Tree{}, nil
	i := slices.IndexFunc(r.open, func(e *escalation) bool { return e.ID == rec.ID })
	if i < 0 {
		return
	}
	e := r.open[i]
	if rec.Answer != "" {
		r.by = rec.By
	}
	for _, source := range e.Sources {
		s := r.tree.stage(source)
		s.history = append(s.history, entry{at, rec})
		l, ok := r.tree.loopOf[source]
		if !ok || e.Target == "" {
			continue
		}
		l.last = rec.Decision
		switch rec.Decision {
		case "retry":
			l.Cap += rec.Rounds
		case "refer-back":
			l.Cap += rec.Rounds
			l.Iteration++
		}
	}
	if rec.To != "" && !slices.Contains(e.Sources, rec.To) {
		t := r.tree.stage(rec.To)
		t.history = append(t.history, entry{at, rec})
	}
	if rec.Closed {
		r.open = slices.Delete(r.open, i, i+1)
		return
	}
	closed := func(item feedback.Item) bool {
		now, ok := r.ledger.Get(item.ID)
		return ok && !now.IsOpen()
	}
	e.Blocking = slices.DeleteFunc(slices.Clone(e.Blocking), closed)
	e.NotReviewedSince = slices.DeleteFunc(slices.Clone(e.NotReviewedSince), closed)
}
