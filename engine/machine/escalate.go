package machine

import (
	"fmt"
	"slices"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// exhausted ends the rounds of reviews for a rule. Those of them that say so fail; then nobody is asked, and what
// the others of the join found is not routed. Else a person is asked about the whole join; where nobody is asked,
// all of it fails.
func (d *decider) exhausted(sources, join []*instance, rule string) {
	var fails []*instance
	for _, i := range sources {
		if i.node.Loop.OnExhausted == plan.FailRun {
			fails = append(fails, i)
		}
	}
	why := "on_exhausted is fail"
	if len(fails) > 0 {
		join = fails
	} else if why = d.nobodyAsked(sources[0].frame); why != "" {
		fails = join
	}
	if d.breaksContract(join) {
		return // the run fails: nobody is asked about the rest
	}
	for _, i := range join {
		d.routed(i, feedback.Escalate, rule, sources...)
	}
	for _, i := range fails {
		d.fail(i, failure{class: string(stage.Findings), reason: rule, message: "the loop is exhausted (" + rule + "); " + why})
	}
	if len(fails) == 0 {
		d.escalate(join, rule)
	}
}

// breaksContract holds reviews that are to be escalated together against the contract of routings, before any of
// them is routed. It reports whether one breaks it, and has failed.
func (d *decider) breaksContract(join []*instance) bool {
	broken := false
	for _, i := range join {
		broken = !d.keepsContract(i, feedback.Escalate, d.s.loopOf(i).counter) || broken
	}
	return broken
}

// escalate asks a person what to do with the open blocking items of reviews.
func (d *decider) escalate(sources []*instance, rule string) {
	e := feedback.Escalation{Target: sources[0].target().path, Reason: rule, NothingToAccept: nothingToAccept(sources)}
	named := d.s.loopOf(sources[0]).counter
	for _, i := range sources {
		e.Sources = append(e.Sources, i.path)
		c := d.s.loopOf(i).counter
		if c.Iteration >= c.Cap && named.Iteration < named.Cap {
			named = c
		}
		d.change(d.s.ledger.Escalate(i.path, ids(d.s.ledger.OpenBlocking(i.path)), c.Iteration, rule))
		e.Blocking = withItems(e.Blocking, d.s.ledger.OpenBlocking(i.path))
	}
	e.Iterations, e.Max = named.Iteration, named.Cap
	for _, i := range d.linkedWith(sources[0]) {
		if !slices.Contains(sources, i) {
			e.NotReviewedSince = withItems(e.NotReviewedSince, without(d.s.ledger.OpenBlocking(i.path), e.Blocking))
		}
	}
	d.raise(e)
}

// raise asks a person, and tells those who want to know.
func (d *decider) raise(e feedback.Escalation) {
	e.ID, e.TaskID, e.History = fmt.Sprintf("x%d", d.s.nextEscalation), d.s.run.TaskID, d.s.history[d.s.told:]
	e.HistoryFrom = d.s.told
	r := step.EscalationRaised{At: d.at, Escalation: e}
	policy := d.m.plan.Escalation
	if policy == nil {
		d.emit(r)
		return
	}
	if policy.Timeout > 0 {
		r.Effect, r.Until, r.OnTimeout = d.newEffect(), d.at.Add(time.Duration(policy.Timeout)), policy.OnTimeout.String()
	}
	d.emit(r)
	for _, n := range policy.Notify {
		d.emit(step.NotifyStarted{Effect: d.newEffect(), Escalation: e.ID, Run: n.Run, At: d.at})
	}
}

// passDeadlines decides what follows from all deadlines that have passed; nothing in a run that is being cancelled. It
// reports whether there were any. live says that the run also goes on.
func (d *decider) passDeadlines(live bool) bool {
	any := false
	for _, o := range slices.Clone(d.s.effects) {
		if o.kind == deadlineEffect && o.until <= d.at && d.s.find(o.id) != nil && !d.s.cancelling {
			d.passed(o, live)
			any = true
		}
	}
	return any
}

// passed decides what follows from a deadline that has passed: nobody answered an approval, or nobody decided an
// escalation.
func (d *decider) passed(o *openEffect, live bool) {
	if o.inst != nil {
		d.unanswered(o.inst, byTimeout, "its time is over")
		d.resumeIf(live && d.s.status == step.RunIsWaiting)
		return
	}
	e := d.s.escalationByID(o.escalation)
	r := step.EscalationDecided{ID: e.ID, Decision: decisionAbort, At: d.at, By: byTimeout, Closed: true, Tree: d.s.shown}
	if e.onTimeout != plan.FailEscalated.String() {
		d.emit(r)
		d.emit(step.RunCancelling{At: d.at, By: byTimeout, Reason: "aborted", Why: "nobody decided the escalation " + e.ID + " in time"})
		return
	}
	r.Decision = decisionFail
	d.emit(r)
	for _, i := range e.sources {
		class := stage.Findings
		if e.target == nil {
			class = stage.Interrupted
		}
		d.fail(i, failure{class: string(class), reason: e.Reason, message: "nobody decided the escalation " + e.ID + " in time"})
	}
	d.resumeIf(live && d.s.status == step.RunIsPaused && len(d.s.escalations) == 0)
}

func (s *state) applyNotify(r step.NotifyStarted) {
	n := &step.Notify{Effect: r.Effect, Run: r.Run}
	if e := s.escalationByID(r.Escalation); e != nil {
		n.Escalation = e.Escalation
	}
	s.open(&openEffect{id: r.Effect, kind: notifyEffect, escalation: r.Escalation, notify: n})
}
