package machine

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// The decisions that answer an escalation.
const (
	decisionRetry     = "retry"
	decisionReferBack = "refer-back"
	decisionOverride  = "override"
	decisionAbort     = "abort"
	decisionFail      = "fail" // of nobody: the deadline has passed
)

// answer decides about what a person said. It reports whether the run goes on.
func (d *decider) answer(a step.Answer) bool {
	if d.s.answers[a.ID] {
		return d.ignore(a, "", fmt.Sprintf("answer %q was taken already", a.ID))
	}
	if d.s.cancelling && a.Kind != step.Cancel {
		return d.refuse(a, "the run is being cancelled")
	}
	switch a.Kind {
	case step.Approve, step.Reject:
		return d.answerApproval(a)
	case step.Cancel:
		return d.cancel(a)
	case step.DecideRetry, step.DecideReferBack, step.DecideOverride, step.DecideAbort:
		return d.answerEscalation(a)
	}
	return d.refuse(a, "this version does not know the answer")
}

func (d *decider) refuse(a step.Answer, why string) bool {
	d.emit(step.AnswerRefused{Answer: a.ID, Why: why, At: d.at})
	return false
}

// resumeIf records that a run that waited goes on.
func (d *decider) resumeIf(goesOn bool) {
	if goesOn {
		d.emit(step.RunResumed{At: d.at})
	}
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

func (d *decider) answerEscalation(a step.Answer) bool {
	e, why := d.escalationOf(a)
	if e == nil {
		return d.refuse(a, why)
	}
	r := step.EscalationDecided{ID: e.ID, Answer: a.ID, Decision: a.Kind.String(), At: d.at, By: a.By, Reason: a.Reason,
		Closed: true, Tree: a.Tree}
	ok := false
	switch a.Kind {
	case step.DecideRetry:
		ok = d.decideRetry(e, a, r)
	case step.DecideReferBack:
		ok = d.decideReferBack(e, a, r)
	case step.DecideOverride:
		ok = d.decideOverride(e, a, r)
	case step.DecideAbort:
		d.emit(r)
		d.emit(step.RunCancelling{At: d.at, By: a.By, Reason: "aborted", Rollback: a.Rollback})
		return a.Live
	}
	if !ok {
		return false
	}
	if a.Live {
		d.resumeIf(d.s.status == step.RunIsPaused && len(d.s.escalations) == 0)
	}
	return a.Live
}

// escalationOf finds the open escalation that an answer means: by its id, by one of its sources, or the only
// one.
func (d *decider) escalationOf(a step.Answer) (*escalation, string) {
	var names []string
	var found []*escalation
	for _, e := range d.s.escalations {
		names = append(names, fmt.Sprintf("%s (%s)", e.ID, e.Source()))
		if (a.Escalation == "" || a.Escalation == e.ID) && (a.Stage == "" || slices.Contains(e.Sources, a.Stage)) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return nil, "several escalations are open; name a source of one of: " + strings.Join(names, ", ")
	}
	open := "no escalation is open"
	if len(names) > 0 {
		open = "open: " + strings.Join(names, ", ")
	}
	if was := d.decidedBefore(a); was != "" {
		return nil, was + "; " + open
	}
	if n := len(d.s.decided); len(names) == 0 && n > 0 {
		last := &d.s.decided[n-1]
		return nil, fmt.Sprintf("%s, the last one was %q, and %s decided it: %s", open, last.ID, last.By, last.Decision)
	}
	if len(names) == 0 {
		return nil, open
	}
	return nil, fmt.Sprintf("no open escalation has %s; %s", meant(a), open)
}

// decidedBefore says who closed the escalation that an answer means, if it names one that was open once.
func (d *decider) decidedBefore(a step.Answer) string {
	if a.Escalation == "" {
		return ""
	}
	for i := range d.s.decided {
		if r := &d.s.decided[i]; r.ID == a.Escalation {
			return fmt.Sprintf("the escalation %q is not open any more, %s decided it: %s", r.ID, r.By, r.Decision)
		}
	}
	return ""
}

func meant(a step.Answer) string {
	var parts []string
	if a.Escalation != "" {
		parts = append(parts, fmt.Sprintf("the id %q", a.Escalation))
	}
	if a.Stage != "" {
		parts = append(parts, fmt.Sprintf("the source %q", a.Stage))
	}
	return strings.Join(parts, " and ")
}

// decideRetry lets each source review again: a person worked by hand. What stood on a tree that is no longer
// there runs again too.
func (d *decider) decideRetry(e *escalation, a step.Answer, r step.EscalationDecided) bool {
	r.Rounds = max(1, a.Rounds)
	if e.target == nil {
		r.Rounds = 0
		d.emit(r)
		return true
	}
	r.Covered = covered(e)
	byHand := d.s.madeByHand(a.Tree)
	d.emit(r)
	if byHand {
		for _, f := range d.s.liveFrames() {
			d.staleBehindTargets(f)
		}
	}
	for _, i := range e.sources {
		d.reviewsAgain(i, byHand)
	}
	return true
}

// staleBehindTargets makes everything that ended downstream of a loop's target run again; a target that has done
// its work does not, also one that is downstream of another's: it would undo what was done by hand.
func (d *decider) staleBehindTargets(f *frame) {
	for _, n := range f.graph.order {
		i := f.slots[n]
		asks := i.approval.asked || i.approval.approved && i.status == step.Pending // what was looked at is no longer there
		if i.status != step.Succeeded && i.status != step.Skipped && i.status != step.Failed && i.status != step.NotRun && !asks {
			continue
		}
		if _, isTarget := f.graph.below[n]; isTarget && i.node.Loop == nil && (i.met || i.blocked) {
			continue
		}
		for _, source := range f.graph.sources {
			if f.graph.below[f.graph.Nodes[source].Loop.Target].has(n) {
				d.stale(i, step.ByUpstream)
				break
			}
		}
	}
}

// decideReferBack sends work back with a person's note, as the next iteration of the loops that escalated.
func (d *decider) decideReferBack(e *escalation, a step.Answer, r step.EscalationDecided) bool {
	if e.target == nil {
		return d.refuse(a, fmt.Sprintf("%q was interrupted and has no stage to send work back to; use retry, override or abort", e.Source()))
	}
	if strings.TrimSpace(a.Note) == "" {
		return d.refuse(a, "refer-back wants a note that says what to do")
	}
	to := e.target
	if a.To != "" && a.To != to.path {
		i := d.s.byPath[a.To]
		if i == nil || i.frame != to.frame || i.group != nil || !to.frame.graph.upstream(to.slot).has(i.slot) {
			return d.refuse(a, fmt.Sprintf("work can go back to %q or to a stage that it needs, not to %q", to.path, a.To))
		}
		to = i
	}
	r.Rounds, r.Note, r.To = max(1, a.Rounds), a.Note, to.path
	if to == e.target {
		r.Covered = covered(e)
	}
	d.emit(r)
	if to != e.target {
		d.restart(to, e.sources)
		return true
	}
	for _, t := range upmost(e.sources) {
		d.restart(t, e.sources)
	}
	return true
}

// decideOverride waives items, or takes an interrupted stage as succeeded.
func (d *decider) decideOverride(e *escalation, a step.Answer, r step.EscalationDecided) bool {
	if strings.TrimSpace(a.Reason) == "" {
		return d.refuse(a, "override wants a reason")
	}
	if e.target == nil {
		return d.overrideInterrupted(e, a, r)
	}
	if why := nothingToAccept(e.sources); why != "" {
		return d.refuse(a, why+"; retry makes one more, refer-back with a note")
	}
	for _, i := range e.sources { // it would stand for their approval
		if i.status == step.Rejected && !mayAnswer(i.node.Approval.Approvers, a.By) {
			return d.refuse(a, mayNot(i, a.By))
		}
	}
	if !d.s.isShown {
		return d.refuse(a, "what runs has not ended yet, so what would be overridden was not shown; answer when the run has paused")
	}
	void, warning := d.overrideDiffers(e.Escalation, d.s.shown, a.Tree)
	if void != "" {
		return d.refuse(a, void+" since the escalation was shown; retry has it reviewed again")
	}
	if warning != "" {
		r.Warning = warning + " since the escalation was shown"
	}
	r.Items = a.Items
	if len(r.Items) == 0 {
		r.Items = ids(e.Blocking)
	}
	for _, id := range r.Items {
		if !slices.ContainsFunc(e.Blocking, func(i feedback.Item) bool { return i.ID == id }) {
			return d.refuse(a, fmt.Sprintf("the escalation holds no open item %q; it holds: %s", id, listOr(ids(e.Blocking), "none")))
		}
	}
	d.change(d.s.ledger.Waive(r.Items, a.Reason, a.By))
	for _, i := range e.sources {
		r.Closed = r.Closed && len(d.s.ledger.OpenBlocking(i.path)) == 0
	}
	r.Unchecked = r.Closed && (!a.Live || len(d.s.escalations) > 1)
	d.emit(r)
	return true
}

// covered gives the targets of an escalation whose approval also holds for the rounds that a decision grants.
func covered(e *escalation) []string {
	var out []string
	for _, i := range e.sources {
		if t := i.target(); t.node.Approval != nil && t.approval.approved && !slices.Contains(out, t.path) {
			out = append(out, t.path)
		}
	}
	return out
}

// overrideInterrupted takes an interrupted stage as succeeded with the outputs that a person gives, and waives
// what it had found earlier.
func (d *decider) overrideInterrupted(e *escalation, a step.Answer, r step.EscalationDecided) bool {
	i := e.sources[0]
	if !i.asks {
		return d.refuse(a, fmt.Sprintf("%q is %s since another decision, and was not interrupted since; retry leaves it to that", i.path, i.status))
	}
	outputs := value.NewObject()
	for _, p := range i.node.Outputs {
		v, ok := a.Outputs.Get(p.Name)
		if !ok {
			if p.Required {
				return d.refuse(a, fmt.Sprintf("%q must give output %q; add --output %s=VALUE", i.path, p.Name, p.Name))
			}
			v = nil
		}
		if err := p.Type.Check(v); err != nil && ok {
			return d.refuse(a, fmt.Sprintf("output %q: %s", p.Name, err))
		}
		outputs.Set(p.Name, v)
	}
	for name := range a.Outputs.All() {
		if _, declared := outputs.Get(name); !declared {
			return d.refuse(a, fmt.Sprintf("%q declares no output %q", i.path, name))
		}
	}
	r.Outputs, r.Items = outputs, ids(e.Blocking)
	d.change(d.s.ledger.Waive(r.Items, a.Reason, a.By)) // of a review: what it had found and is now taken as settled
	d.emit(r)
	d.emit(step.StageSucceeded{Stage: i.path, Iteration: i.iteration, Attempt: i.attempt, At: d.at, Outputs: outputs, Reason: byOverride})
	return true
}
