package machine

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/step"
)

// turns keeps order among the items of a for_each with max_parallel: those that are not under way wait for their turn.
type turns struct {
	underway int         // items that are under way
	waiting  []*instance // what may start as far as its needs go, in order
	next     *instance   // the first of them, while one more may be under way: it may start
}

// queues reports whether i waits for its turn among the items of a for_each before it may start.
func queues(i *instance) bool {
	return i.group != nil && !i.under && i.group.node.ForEach.MaxParallel > 0
}

// isFull reports whether as many items of a for_each are under way as may be at once.
func (i *instance) isFull() bool {
	most := i.node.ForEach.MaxParallel
	return most > 0 && i.turns.underway >= most
}

// queue puts i among those that wait for their turn, or takes it out, and lets the first of them come to its start.
func (s *state) queue(i *instance, waits bool) {
	t := &i.group.turns
	t.waiting = put(t.waiting, i, waits)
	var next *instance
	if len(t.waiting) > 0 && !i.group.isFull() {
		next = t.waiting[0]
	}
	if next == t.next {
		return
	}
	if t.next != nil {
		s.ready = put(s.ready, t.next, false)
	}
	if t.next = next; next != nil {
		s.ready = put(s.ready, next, true)
	}
}

// countUnderway keeps count of the items of a for_each that are under way.
func (s *state) countUnderway(i *instance) {
	g := i.group
	if g == nil || g.node.ForEach.MaxParallel == 0 {
		return
	}
	under := i.status == step.Running || i.status == step.Waiting || i.came && !i.approval.late
	if under == i.under {
		return
	}
	if i.under = under; under {
		g.turns.underway++
	} else {
		g.turns.underway--
	}
	s.ready = put(s.ready, i, false)
	s.queue(i, false) // place follows
}

// beginGroup evaluates the items of a for_each and opens an instance for each.
func (d *decider) beginGroup(i *instance, iteration int) {
	p := d.prepare(i, iteration, 1)
	if i.node.When != nil && !asksEach(i) {
		ok, err := p.holds(*i.node.When, p.base)
		if err != nil {
			d.failStart(i, iteration, d.located(err))
			return
		}
		if !ok && !slices.ContainsFunc(i.items, d.hasBlocking) {
			d.emit(step.StageSkipped{Stage: i.path, Iteration: iteration, At: d.at})
			return
		}
	}
	items, err := p.list(&i.node.ForEach.Items)
	if err != nil {
		d.failStart(i, iteration, d.located(err))
		return
	}
	d.dropItems(i, len(items))
	d.emit(step.StageStarted{Stage: i.path, Iteration: iteration, Attempt: 1, At: d.at, Items: items, Composite: true})
}

// hasBlocking reports whether an instance is a review with open blocking items, which runs whatever its condition says.
func (d *decider) hasBlocking(i *instance) bool {
	return i.isSource() && len(d.s.ledger.OpenBlocking(i.path)) > 0
}

// dropItems records that a for_each has only so many items now. What those were that are no longer among them does not
// run, and what they found concerns nobody any more.
func (d *decider) dropItems(i *instance, n int) {
	gone := fmt.Sprintf("%q has no such item any more", i.path)
	for _, item := range i.items[min(n, len(i.items)):] {
		d.emit(step.StageNotRun{Stage: item.path, At: d.at, Gone: true})
		d.change(d.s.ledger.Withdraw(item.path, gone))
		for part := range inside(item) {
			if part.status == step.Pending || part.status == step.Stale {
				d.emit(step.StageNotRun{Stage: part.path, At: d.at, Gone: true})
			}
			d.change(d.s.ledger.Withdraw(part.path, gone))
		}
	}
}
