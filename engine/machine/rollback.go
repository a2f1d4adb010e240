package machine

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// undoing is what is known of the rollbacks at the end of a run.
type undoing struct {
	stages  []*instance // that have a rollback and were started, in the order of their first starts
	running *instance   // whose rollback is under way
	failed  []string    // paths of those whose rollback failed, with the class
	wanted  bool        // a cancel or an abort asked for it
	stopped bool        // a later cancel stopped the one that was under way: the others don't begin
}

// undo is what is known of the rollback of an instance.
type undo struct {
	started bool      // it was started in this run
	begun   bool      // its rollback has begun: there is one a run
	base    step.Tree // before its first start, where the strategy asks for it
}

// isUndone reports whether what i does is undone at the end of a run that fails: each item of a for_each by
// itself. What stands in a finally is what clears away, and stays.
func (i *instance) isUndone() bool { return i.node.Rollback != nil && !i.isGroup() && !i.isFinal() }

// keepsBase reports whether the tree must be known before i starts for the first time, so that its rollback
// can go back to it.
func (i *instance) keepsBase() bool {
	if !i.isUndone() || i.undo.started {
		return false
	}
	return i.node.Rollback.Strategy == plan.FileRestore || i.node.Rollback.Strategy == plan.GitRevert
}

// rollBack undoes what the stages did, one after another, the one that was first started last of all first. It
// reports whether a rollback is under way.
func (d *decider) rollBack() bool {
	u := &d.s.undo
	for _, i := range slices.Backward(u.stages) {
		if u.running != nil {
			return true
		}
		if !u.stopped && !i.undo.begun {
			d.startRollback(i)
		}
	}
	return u.running != nil
}

// startRollback begins the rollback of one instance; one whose environment can't be evaluated fails at once.
func (d *decider) startRollback(i *instance) {
	r := step.RollbackStarted{Stage: i.path, Strategy: i.node.Rollback.Strategy.String(), At: d.at,
		Base: i.undo.base.Hash, Head: i.undo.base.Head}
	env, err := d.environmentOf(i)
	if err != nil {
		d.emit(r)
		d.emit(step.RollbackFinished{Stage: i.path, At: d.at, Class: string(stage.FailedCheck), Message: d.located(err)})
		return
	}
	r.Env, r.Effect = env, d.newEffect()
	d.emit(r)
}

// environmentOf evaluates the environment of the script that undoes what i did.
func (d *decider) environmentOf(i *instance) (*value.Object, error) {
	bindings := i.node.Rollback.Env
	if len(bindings) == 0 {
		return nil, nil
	}
	p := d.prepare(i, i.iteration, i.attempt)
	status := step.RunFailed
	if d.s.cancelling {
		status = step.RunCancelled
	}
	run := d.runObject(i)
	run.Set(plan.RunStatus, status.String())
	p.base.Set(plan.ScopeRun, run)
	env := value.NewObject()
	for k := range bindings {
		text, err := bindings[k].Value.EvalText(p, p.base)
		if err != nil {
			return nil, err
		}
		env.Set(bindings[k].Name, text)
	}
	return env, nil
}

// rolledBack records how a rollback ended. It reports whether one did.
func (d *decider) rolledBack(e step.RolledBack) bool {
	o := d.s.find(e.Effect)
	if o == nil || o.kind != rollbackEffect {
		return d.ignore(e, e.Effect, "no rollback with this effect is under way")
	}
	d.emit(step.RollbackFinished{Effect: e.Effect, Stage: o.rollback.Stage, At: d.at, Class: e.Class, Message: e.Message,
		Recovery: e.Recovery, Files: e.Files})
	return true
}

// withRollbacks adds to the reason of a run that failed which rollbacks failed as well.
func (s *state) withRollbacks(reason string) string {
	if len(s.undo.failed) == 0 {
		return reason
	}
	what := "rollback of "
	if len(s.undo.failed) > 1 {
		what = "rollbacks of "
	}
	return strings.TrimPrefix(reason+"; "+what+strings.Join(s.undo.failed, ", ")+" failed", "; ")
}

// noteStarted keeps of a first start what its rollback needs.
func (s *state) noteStarted(i *instance) {
	if !i.isUndone() || i.undo.started {
		return
	}
	if i.keepsBase() && i.startTree != nil {
		i.undo.base = *i.startTree
	}
	i.undo.started = true
	s.undo.stages = append(s.undo.stages, i)
}

// status is that of a run that goes on.
func (u *undoing) status() step.RunStatus {
	if u.running != nil {
		return step.RunRollingBack
	}
	return step.RunRunning
}

func (u *undoing) dump() string {
	return fmt.Sprintf("%v running=%s failed=%v wanted=%v stopped=%v", paths(u.stages), pathOf(u.running), u.failed, u.wanted, u.stopped)
}

// RollsBack reports whether something that the stages did is still undone before a run that is being cancelled ends.
func (m *Machine) RollsBack() bool {
	u := &m.s.undo
	return u.running != nil || u.wanted && !u.stopped && len(u.stages) > 0
}

// atItsEnd reports whether what comes at the end of the run has begun: rollbacks, or what stands in its finally.
func (s *state) atItsEnd() bool {
	final := s.root.final
	return final != nil && final.outcome != step.UnknownRunStatus ||
		slices.ContainsFunc(s.undo.stages, func(i *instance) bool { return i.undo.begun })
}

func (s *state) applyRollback(r *step.RollbackStarted) {
	i := s.at(r.Stage)
	i.undo.begun = true
	if r.Effect == "" {
		return
	}
	s.undo.running = i
	s.status = step.RunRollingBack
	s.open(&openEffect{id: r.Effect, kind: rollbackEffect, rollback: r})
}

func (s *state) applyRolledBack(r step.RollbackFinished) {
	if r.Class != "" {
		s.undo.failed = append(s.undo.failed, fmt.Sprintf("%q", r.Stage))
	}
	if s.undo.running != nil && s.undo.running.path == r.Stage {
		s.undo.running = nil
		s.status = s.undo.status()
	}
	s.close(r.Effect)
}

// cancelUndoing takes from a cancel what it says about rollbacks: one that asks for none stops those that are
// under way.
func (s *state) cancelUndoing(r step.RunCancelling) {
	switch u := &s.undo; {
	case r.Rollback:
		u.wanted = true
	case u.running != nil:
		u.stopped = true
	}
}

// readTree gives the effect that an open reading of the tree stands for. What a rollback goes back to is kept.
func (o *openEffect) readTree() step.ReadTree {
	e := step.ReadTree{Effect: o.id, Since: o.since}
	if i := o.inst; i != nil && o.purpose == step.ForStart && i.keepsBase() {
		e.Stage = i.path
		e.Keep, e.Head = i.node.Rollback.Strategy == plan.FileRestore, i.node.Rollback.Strategy == plan.GitRevert
	}
	return e
}
