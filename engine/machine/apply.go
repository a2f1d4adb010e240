package machine

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// Apply folds a record into the state. It is the only mutator, in the first run and in every resume. A
// record that names what the plan does not have is a journal of another plan: our own bug, so it panics.
func (m *Machine) Apply(r step.Record) {
	s := &m.s
	switch r := r.(type) {
	case step.RunStarted:
		s.applyRunStarted(r)
	case step.RunWaiting:
		s.status, s.reason = step.RunIsWaiting, r.Reason
	case step.RunPaused:
		s.status, s.reason, s.shown, s.isShown = step.RunIsPaused, r.Reason, r.Tree, true
	case step.RunResumed:
		s.applyResumed(r)
	case step.RunCancelling:
		s.applyCancelling(r)
	case step.RunFinished:
		s.status, s.reason = r.Status, r.Reason
	case step.StageStarted:
		s.applyStarted(&r)
	case step.StageSucceeded:
		s.applySucceeded(&r)
	case step.StageFailed:
		s.applyFailed(&r)
	case step.StageSkipped:
		s.applySkipped(r)
	case step.StageRejected:
		s.applyRejected(r)
	case step.StageNotRun:
		s.settle(s.at(r.Stage), step.NotRun)
	case step.StageCancelled:
		s.applyCancelled(r)
	case step.StageInterrupted:
		s.applyInterrupted(r)
	case step.StageStale:
		s.applyStale(r)
	case step.RetryScheduled:
		s.applyRetry(r)
	case step.RetryDue:
		s.applyRetryDue(r)
	case step.TreeAsked:
		s.applyTreeAsked(r)
	case step.TreeRecorded:
		s.applyTree(r)
	case step.FeedbackReceived:
		s.applyReceived(r)
	case step.FeedbackRouted:
		s.applyRouted(r)
	case step.ItemOpened:
		s.ledger.Apply(feedback.Change{Item: r.Item})
	case step.ItemChanged:
		s.ledger.Apply(feedback.Change{Item: r.Item})
	case step.ApprovalAsked:
		s.applyAsked(r)
	case step.ApprovalAnswered:
		s.applyAnswered(r)
	case step.EscalationRaised:
		s.applyRaised(r)
	case step.EscalationDecided:
		s.applyDecided(r)
	case step.NotifyStarted:
		s.applyNotify(r)
	case step.NotifyFinished:
		s.close(r.Effect)
	case step.FinallyStarted:
		s.applyFinallyStarted(r)
	case step.FinallyFinished:
		s.applyFinallyFinished(r)
	case step.RollbackStarted:
		s.applyRollback(&r)
	case step.RollbackFinished:
		s.applyRolledBack(r)
	case step.AnswerRefused:
		s.answers[r.Answer] = true
	case step.CheckFailed, step.EventIgnored: // they are for readers
	default:
		panic(fmt.Sprintf("machine: apply a record of type %q", r.RecordType()))
	}
}

// at gives the instance with a path.
func (s *state) at(path string) *instance {
	i := s.byPath[path]
	if i == nil {
		panic(fmt.Sprintf("machine: a record names stage %q, which the plan does not have", path))
	}
	return i
}

func (s *state) applyRunStarted(r step.RunStarted) {
	s.run, s.status, s.started, s.inputs = r.Run, step.RunRunning, r.At, r.Inputs
	s.sent = newSentBack(r)
	for _, c := range r.Loops {
		s.addLoop(&loop{counter: c})
	}
	for _, i := range s.root.slots {
		s.refresh(i)
	}
}

func (s *state) applyCancelling(r step.RunCancelling) {
	s.cancelling, s.abandoned = true, s.abandoned || r.Finally
	s.cancelUndoing(r)
	s.reason = r.Reason
	for _, e := range s.escalations {
		s.release(e)
	}
	s.escalations = nil
	for _, e := range slices.Clone(s.effects) {
		// Nobody needs it any more; a tree that can't be read must not keep a run from ending.
		if e.kind == treeEffect && !(e.inst != nil && e.inst.isFinal() && !s.abandoned) {
			s.close(e.id)
		}
	}
	for _, i := range s.all {
		if i.stopsAtCancel(s.abandoned) {
			i.stopping = true
			s.stopping++
		}
	}
}

// stopsAtCancel reports whether a try of i runs that a cancel stops.
func (i *instance) stopsAtCancel(finally bool) bool {
	return i.status == step.Running && !i.isComposite() && !i.stopping && (finally || !i.isFinal())
}

// settle gives i a status in which no try of it runs.
func (s *state) settle(i *instance, status step.StageStatus) {
	s.close(i.effect)
	s.setHolding(i, false)
	s.endStopping(i)
	s.setUnrouted(i, false)
	if i.approval.asked {
		s.clearApproval(i)
	}
	i.status = status
	if status != step.Failed {
		i.reason = ""
	}
	i.came, i.next, i.startTree = false, 0, nil
	i.asks, i.redo = false, nil
	if !i.isComposite() { // its prompt and inputs, which only an open try needs
		i.started = nil
	}
	s.noteClosed(i, false)
	for _, part := range i.parts() { // what they found and was not routed is no longer of a run of i
		s.setUnrouted(part, false)
	}
	s.refresh(i)
}

// clearApproval forgets what was asked and answered about the start of i.
func (s *state) clearApproval(i *instance) {
	if i.approval.asked {
		s.waiting--
	}
	s.close(i.approval.timer)
	i.approval = approval{}
}

func (s *state) endStopping(i *instance) {
	if i.stopping {
		i.stopping = false
		s.stopping--
	}
}

func (s *state) applyStarted(r *step.StageStarted) {
	i := s.at(r.Stage)
	s.noteStarted(i)
	i.iteration, i.attempt, i.started = r.Iteration, r.Attempt, r
	i.redo, i.startTree, i.approval.unchecked, i.next = nil, nil, false, 0
	i.brief, i.briefIDs, i.base = r.Brief, r.BriefIDs, r.Base
	i.status, i.class, i.exitCode = step.Running, "", nil
	note := i.note
	s.handOver(i)
	s.overrides = nil // they were checked before anything starts
	if r.Composite {
		s.expand(i, r)
		if i.isGroup() && note != "" { // a person meant all of them
			for _, item := range i.items {
				item.note = note
				s.sent.add(item.path, envelope.SourceOperatorReferBack, note)
			}
		}
		return
	}
	if i.round && r.Attempt == 1 && !i.hadBefore {
		i.before, i.hadBefore = i.outputs, true
	}
	i.outputs = nil
	i.dispatched = true
	s.open(&openEffect{id: r.Effect, inst: i, kind: dispatchEffect})
	s.setHolding(i, true)
	s.refresh(i)
}

// handOver empties what waited to be handed to a target.
func (s *state) handOver(i *instance) {
	i.note = ""
	for _, l := range s.loopsTo[i.path] {
		if !s.isUnrouted(l) {
			l.pending = nil
		}
	}
}

// isUnrouted reports whether the review of a loop has ended and is still to be routed: what it gave is not handed
// over before.
func (s *state) isUnrouted(l *loop) bool {
	source := s.byPath[l.counter.Source]
	return source != nil && source.unrouted
}

// expand opens the parts of a composite: the items of a for_each, or the stages of a body.
func (s *state) expand(i *instance, r *step.StageStarted) {
	if i.isGroup() {
		i.items = i.items[:0:0]
		for k := range r.Items {
			path := fmt.Sprintf("%s[%d]", i.path, k)
			item := s.byPath[path]
			if item == nil {
				item = s.newInstance(&instance{path: path, node: i.node, frame: i.frame, slot: i.slot, item: k,
					group: i, order: append(append([]int{}, i.order...), k)})
			}
			item.each = r.Items[k]
			i.items = append(i.items, item)
		}
		i.undone = len(i.items)
		for _, item := range i.items {
			s.reset(item)
		}
		s.noteClosed(i, i.undone == 0)
		s.refresh(i)
		if v := i.verifier(); v != nil {
			s.place(v)
		}
		return
	}
	if i.body == nil {
		i.body = s.newFrame(i.frame.graph.bodies[i.slot], i, i.path+"/")
	}
	i.body.live = true
	for _, slot := range i.body.slots {
		s.reset(slot)
	}
	if final := i.body.final; final != nil {
		final.live, final.outcome = false, step.UnknownRunStatus
		for _, slot := range final.slots {
			s.reset(slot)
		}
	}
	s.noteClosed(i, i.body.undone == 0)
	s.refresh(i)
}

// reset makes i pending again, as part of a composite that starts. What it counts stays. The count of an
// item's group is set by who expands it.
func (s *state) reset(i *instance) {
	if i.done && i.group == nil {
		i.frame.undone++
	}
	i.done, i.accepted, i.blocked, i.round = false, false, false, false
	s.clearApproval(i)
	i.status = step.Pending
	i.came, i.next, i.startTree, i.redo = false, 0, nil, nil
	if i.isSelf() && !i.isGroup() {
		s.countAnew(i)
	}
	s.refresh(i)
}

func (s *state) applySucceeded(r *step.StageSucceeded) {
	i := s.at(r.Stage)
	i.iteration, i.attempt = r.Iteration, r.Attempt
	i.class, i.exitCode, i.outputs = "", r.ExitCode, r.Outputs
	if r.Tree != nil {
		i.changes, s.workTree = r.Tree.Changed, *r.Tree
		if i.ratchets() {
			i.reviewed = r.Tree.Hash
		}
	}
	s.worked = true
	i.accepted = r.Reason == byOverride
	s.settle(i, step.Succeeded)
	s.setUnrouted(i, i.isSource() && !i.accepted)
	s.holdForVerifier(i)
}

func (s *state) applyFailed(r *step.StageFailed) {
	i := s.at(r.Stage)
	i.iteration, i.attempt = r.Iteration, r.Attempt
	i.class, i.exitCode, i.outputs = r.Class, r.ExitCode, nil
	s.worked = true
	if i.body != nil {
		i.body.live = false
	}
	i.reason = r.Reason
	s.settle(i, step.Failed)
}

func (s *state) applySkipped(r step.StageSkipped) {
	i := s.at(r.Stage)
	i.iteration, i.attempt = r.Iteration, 0
	i.outputs = nil
	s.settle(i, step.Skipped)
	for _, item := range i.items { // of an earlier start
		s.settle(item, step.Skipped)
	}
	i.items = nil
}

// applyRejected settles a review that is an approval: what it found waits for the routing.
func (s *state) applyRejected(r step.StageRejected) {
	i := s.at(r.Stage)
	i.outputs = nil
	s.settle(i, step.Rejected)
	s.setUnrouted(i, true)
}

func (s *state) applyCancelled(r step.StageCancelled) {
	i := s.at(r.Stage)
	if i.body != nil {
		i.body.live = false
	}
	s.settle(i, step.Cancelled)
}

func (s *state) applyInterrupted(r step.StageInterrupted) {
	i := s.at(r.Stage)
	s.close(r.Effect)
	s.endStopping(i)
	i.redo = i.started
	i.status, i.asks = step.Pending, i.node.OnInterrupt == plan.Ask
	if !i.writes() {
		s.setHolding(i, false)
	}
	s.refresh(i)
}

func (s *state) applyStale(r step.StageStale) {
	i := s.at(r.Stage)
	if r.Anew {
		s.countAnew(i)
	}
	if r.Cancel {
		i.stopping = true
		s.stopping++
		return
	}
	i.round = r.Cause == step.ByFeedback
	if r.Cause == step.ByUpstream {
		s.clearApproval(i)
	}
	i.accepted, i.blocked, i.hadBefore, i.disputed = false, false, false, false
	i.before = nil
	if i.body != nil {
		i.body.live = false
		if i.body.final != nil {
			i.body.final.live = false
		}
	}
	s.settle(i, step.Stale)
	if i.group != nil && i.group.status != step.Running && i.group.status != step.Stale {
		i.group.status = step.Running
		s.refresh(i.group)
	}
}
