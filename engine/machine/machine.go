// Package machine is the deterministic core: it decides what a run does next, and does nothing itself.
//
// Words: events, records and effects are package step's. Step takes an event and gives the records and effects that
// follow; Apply folds one record into the state and is the only mutator. A plan's node becomes an instance with a path ("id", "id[0]" for an item of a for_each,
// "parent/id" inside a body); a frame holds the instances of one graph.
//
// The contract, in order: Step an event; append its records durably; dispatch its effects; Step their
// answers. Step applies each record as it decides it, so that a later decision of the same step sees the
// earlier ones; a process whose append failed must not use the machine again. To resume, Apply all records
// of the journal to a new machine, Step Resumed, and carry out OpenEffects. Resuming decides nothing again.
//
// The machine is total and pure: no clock, randomness, I/O, goroutine, lock or context. An event that does
// not fit is recorded as ignored. Nothing depends on the order of a Go map. What an outcome holds is the
// driver's work, what an expression means engine/expr's, what items and rounds mean engine/feedback's.
package machine

import (
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// Ready is what follows from an event: append the records, then dispatch the effects.
type Ready struct {
	Records []step.Record
	Effects []step.Effect
}

// Machine is a run. It is not safe for concurrent use: one goroutine owns it.
type Machine struct {
	plan  *plan.Plan
	ev    plan.Evaluator
	count func(string) int
	s     state
}

// New returns the machine of a run that has not started. count gives the tokens of a text; nil counts bytes,
// which are never fewer.
func New(p *plan.Plan, ev plan.Evaluator, count func(string) int) *Machine {
	return &Machine{plan: p, ev: ev, count: count, s: newState(newGraph(&p.Graph))}
}

// Status returns where the run stands.
func (m *Machine) Status() step.RunStatus { return m.s.status }

// Cancelling reports whether the run is to end as cancelled.
func (m *Machine) Cancelling() bool { return m.s.cancelling }

// Node returns the plan's node of the instance with a path, nil if there is none.
func (m *Machine) Node(path string) *plan.Node {
	if i := m.s.byPath[path]; i != nil {
		return i.node
	}
	return nil
}

// Step decides what follows from an event.
func (m *Machine) Step(ev step.Event) Ready {
	d := &decider{m: m, s: &m.s, at: ev.When()}
	if d.take(ev) {
		d.goOn()
	}
	return d.ready
}

// OpenEffects returns what was recorded and not answered, in order of ids. A dispatch that is being stopped
// is followed by its Stop.
func (m *Machine) OpenEffects() []step.Effect {
	var out []step.Effect
	for _, e := range m.s.effects {
		switch e.kind {
		case dispatchEffect:
			out = append(out, step.Dispatch{Started: e.inst.started})
			if e.inst.stopping {
				out = append(out, step.Stop{Effect: e.id})
			}
		case timerEffect, deadlineEffect:
			out = append(out, step.Timer{Effect: e.id, Until: e.until})
		case notifyEffect:
			out = append(out, *e.notify)
			if m.s.cancelling {
				out = append(out, step.Stop{Effect: e.id})
			}
		case treeEffect:
			out = append(out, e.readTree())
		case rollbackEffect:
			out = append(out, step.Rollback{Started: e.rollback})
			if m.s.undo.stopped {
				out = append(out, step.Stop{Effect: e.id})
			}
		}
	}
	return out
}
