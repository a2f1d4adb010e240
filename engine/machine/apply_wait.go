package machine

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/step"
)

func (s *state) applyRetry(r step.RetryScheduled) {
	i := s.at(r.Stage)
	s.close(r.Failed)
	s.worked = true
	i.status, i.next, i.class, i.exitCode = step.Waiting, r.Attempt, r.Class, r.ExitCode
	if !i.writes() { // a writer keeps the workspace between its tries
		s.setHolding(i, false)
	}
	s.open(&openEffect{id: r.Effect, inst: i, kind: timerEffect, until: r.Until})
	s.refresh(i)
}

func (s *state) applyRetryDue(r step.RetryDue) {
	i := s.at(r.Stage)
	s.close(r.Effect)
	i.status, i.came = step.Pending, true
	s.refresh(i)
}

func (s *state) applyTreeAsked(r step.TreeAsked) {
	e := &openEffect{id: r.Effect, kind: treeEffect, purpose: r.Purpose, since: r.Since}
	if r.Stage != "" {
		i := s.at(r.Stage)
		e.inst = i
		i.iteration, i.came, i.approval.late = r.Iteration, true, false
		if r.Purpose == step.ForStart && !i.isComposite() {
			s.setHolding(i, true)
		}
	}
	s.open(e)
	if e.inst != nil {
		s.refresh(e.inst)
	}
}

func (s *state) applyTree(r step.TreeRecorded) {
	s.close(r.Effect)
	switch r.Purpose {
	case step.ForStart:
		i := s.at(r.Stage)
		// Where the start has to wait for a decision or a stop, the tree may change before: it is read again.
		if len(s.escalations) == 0 && s.stopping == 0 {
			tree := r.Tree
			i.startTree = &tree
		} else {
			s.setHolding(i, false)
		}
		s.refresh(i)
	case step.ForApproval:
		if s.worked && s.active == 0 {
			s.workTree, s.worked = r.Tree, false
		}
		s.refresh(s.at(r.Stage))
	case step.ForPause:
		if s.worked && s.active == 0 { // else an answer came before it, and what goes on since has changed it
			s.workTree, s.worked = r.Tree, false
		}
	case step.ForOverride:
		s.overrides = nil
	}
}

func (s *state) applyResumed(r step.RunResumed) {
	s.status = s.undo.status()
	s.isShown = s.isShown && len(s.escalations) > 0 // what a person has before him is what the pause showed
	if !s.cancelling {
		s.reason = ""
	}
	if r.Tree != nil {
		s.workTree, s.worked = *r.Tree, false
	}
}

func (s *state) applyAsked(r step.ApprovalAsked) {
	i := s.at(r.Stage)
	i.iteration, i.came = r.Iteration, true
	if !i.approval.asked {
		s.waiting++
	}
	s.close(i.approval.timer)
	i.approval = approval{asked: true, tree: r.Tree, timer: r.Effect, items: s.shownBefore(i)}
	if r.Effect != "" {
		s.open(&openEffect{id: r.Effect, inst: i, kind: deadlineEffect, until: r.Until})
	}
	i.startTree = nil
	i.status = step.Waiting
	s.setHolding(i, false)
	s.refresh(i)
}

func (s *state) applyAnswered(r step.ApprovalAnswered) {
	if r.Answer != "" {
		s.answers[r.Answer] = true
	}
	i := s.at(r.Stage)
	s.clearApproval(i)
	i.approval = approval{approved: r.Approved, unchecked: r.Approved, tree: r.Tree, by: r.By, reason: r.Reason,
		items: s.shownBefore(i)}
	i.status = step.Pending
	s.refresh(i)
}

func (s *state) applyReceived(r step.FeedbackReceived) {
	i := s.at(r.Source)
	if r.Disputed > 0 {
		i.disputed = true
	}
	if !i.isSource() {
		return
	}
	l := s.keepLoop(i)
	l.summary, l.learnt = r.Summary, r.Diagnosis
	for _, id := range r.Given {
		if !slices.Contains(l.pending, id) {
			l.pending = append(l.pending, id)
		}
	}
}

func (s *state) applyRouted(r step.FeedbackRouted) {
	i := s.at(r.Source)
	l := s.keepLoop(i)
	s.history = append(s.history, s.historyEntry(l, r))
	l.counter.Iteration, l.counter.Cap, l.counter.LastAction = r.Iteration, r.MaxIterations, r.Action
	l.last = r.Action.String()
	if r.Action == feedback.ReImplement {
		s.sends(l, s.ledger.OpenBlocking(r.Source))
	}
	s.setUnrouted(i, false)
	if r.Action == feedback.Accept {
		i.accepted = true
		l.pending = nil
	}
	s.refresh(i)
}

func (s *state) historyEntry(l *loop, r step.FeedbackRouted) feedback.HistoryEntry {
	h := feedback.HistoryEntry{
		Pair: l.counter.Pair, Iteration: l.counter.Iteration, Max: r.MaxIterations, Action: r.Action,
		At: r.At.Time(), Summary: l.summary, Items: s.ledger.Open(r.Source),
	}
	for _, item := range h.Items {
		switch item.Severity {
		case feedback.Blocking:
			h.Blocking++
		case feedback.Advisory:
			h.Advisory++
		}
	}
	return h
}

func (s *state) applyRaised(r step.EscalationRaised) {
	e := &escalation{Escalation: r.Escalation, timer: r.Effect, onTimeout: r.OnTimeout}
	if r.Effect != "" {
		s.open(&openEffect{id: r.Effect, kind: deadlineEffect, until: r.Until, escalation: r.Escalation.ID})
	}
	for _, path := range r.Escalation.Sources {
		e.sources = append(e.sources, s.at(path))
	}
	if r.Escalation.Target != "" {
		e.target = s.at(r.Escalation.Target)
		if r.Escalation.Reason == feedback.ReasonNoChange {
			e.target.blocked = true
			s.refresh(e.target)
		}
	}
	for _, i := range e.sources {
		if r.Escalation.Again != "" { // what was decided before is void
			i.accepted = false
			s.refresh(i)
		}
	}
	s.told = len(s.history)
	s.escalations = append(s.escalations, e)
	s.nextEscalation++
}

// referBack hands a person's note to those that run again first; the other targets are told when they do what the
// reviews found.
func (s *state) referBack(e *escalation, r step.EscalationDecided) {
	first := []*instance{s.at(r.To)}
	if e.target != nil && r.To == e.target.path {
		first = upmost(e.sources)
	}
	for _, t := range first {
		t.note = r.Note
		s.sent.add(t.path, envelope.SourceOperatorReferBack, r.Note)
	}
	for _, i := range e.sources {
		if l := s.loopOf(i); !slices.ContainsFunc(first, func(t *instance) bool { return t.path == l.counter.Target }) {
			s.sends(l, s.ledger.OpenBlocking(i.path))
		}
	}
}

func (s *state) applyDecided(r step.EscalationDecided) {
	if r.Answer != "" {
		s.answers[r.Answer] = true
	}
	e := s.escalationByID(r.ID)
	if e == nil {
		return
	}
	e.waived = append(e.waived, r.Items...)
	for _, i := range e.sources {
		if e.target == nil {
			continue
		}
		l := s.keepLoop(i)
		l.last = r.Decision
		switch r.Decision {
		case decisionRetry:
			l.counter.Cap += r.Rounds
			if i.makesAttempt(s.madeByHand(r.Tree)) {
				l.counter.Iteration++
				l.pending = ids(s.ledger.OpenBlocking(i.path))
				s.sends(l, s.ledger.OpenBlocking(i.path))
			}
		case decisionReferBack:
			l.counter.Cap += r.Rounds
			l.counter.Iteration++
			l.pending = ids(s.ledger.OpenBlocking(i.path))
		}
	}
	if r.Decision == decisionReferBack {
		s.referBack(e, r)
	}
	if r.Tree.Hash != "" && s.active == 0 {
		s.workTree, s.worked = r.Tree, false // what was worked by hand is the base of what comes
	}
	if r.Unchecked {
		s.overrides = append(s.overrides, override{e.Escalation, e.waived, r.Tree})
	}
	if r.Closed {
		s.release(e)
		s.escalations = slices.DeleteFunc(s.escalations, func(o *escalation) bool { return o == e })
		s.decided = append(s.decided, r)
		s.settleWaived(e, r)
		return
	}
	e.Blocking = slices.DeleteFunc(slices.Clone(e.Blocking), func(item feedback.Item) bool {
		now, _ := s.ledger.Get(item.ID)
		return !now.IsOpen()
	})
}

// release lets those go on that an escalation held.
func (s *state) release(e *escalation) {
	s.close(e.timer)
	if e.target != nil && e.target.blocked {
		e.target.blocked = false
		s.refresh(e.target)
	}
	if e.target == nil {
		for _, i := range e.sources {
			i.asks = false
			s.refresh(i)
		}
	}
}

// settleWaived settles the reviews whose findings a person waived. A review that is to run again anyway is
// left to it.
func (s *state) settleWaived(e *escalation, r step.EscalationDecided) {
	if r.Decision != decisionOverride || e.target == nil {
		return
	}
	for _, i := range e.sources {
		switch i.status {
		case step.Succeeded:
			i.accepted = true
			s.loopOf(i).pending = nil
			s.refresh(i)
		case step.Rejected: // the override stands for the approval
			i.approval = approval{approved: true, unchecked: true, late: true, tree: r.Tree, by: r.By, reason: r.Reason,
				items: s.shownBefore(i)}
			i.status, i.came = step.Pending, true
			s.loopOf(i).pending = nil
			s.refresh(i)
		}
	}
}

func ids(items []feedback.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}
