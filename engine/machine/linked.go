package machine

import (
	"slices"

	"example.com/pipe/engine/step"
)

// linkedWith gives the reviews that are linked with one, directly or through others, in plan order. Reviews
// that have settled, and that no other can make run again, link nothing.
func (d *decider) linkedWith(i *instance) []*instance {
	linked, _ := d.linkedUntil(i, func(*instance) bool { return false })
	return linked
}

// linkedUntil gives what linkedWith does, or, at the first of which a condition holds, those that it has met so
// far, and true.
func (d *decider) linkedUntil(i *instance, stop func(*instance) bool) ([]*instance, bool) {
	rest := unsettled(d.sourcesBeside(i))
	rest = slices.DeleteFunc(rest, func(o *instance) bool { return o == i })
	linked := []*instance{i}
	for k := 0; k < len(linked); k++ {
		if stop(linked[k]) {
			return linked, true
		}
		rest = slices.DeleteFunc(rest, func(o *instance) bool {
			links := linksWith(linked[k], o)
			if links {
				linked = append(linked, o)
			}
			return links
		})
	}
	slices.SortFunc(linked, byOrder)
	return linked, false
}

// unsettled gives those of the reviews that have not settled, or that a routing of one of these could make run
// again.
func unsettled(sources []*instance) []*instance {
	var out, rest []*instance
	for _, i := range sources {
		if i.met {
			rest = append(rest, i)
		} else {
			out = append(out, i)
		}
	}
	if len(out) == 0 || len(rest) == 0 {
		return out
	}
	g := out[0].frame.graph
	again := newSet(len(g.Nodes))
	for k := 0; k < len(out); k++ {
		t := out[k].node.Loop.Target
		if again.has(t) {
			continue // with what is below it
		}
		again.add(t)
		again.addAll(g.below[t])
		rest = slices.DeleteFunc(rest, func(o *instance) bool {
			if again.has(o.slot) {
				out = append(out, o)
				return true
			}
			return false
		})
	}
	return out
}

// linksWith reports whether a routing of one of two reviews concerns the other: their targets are the same or
// need one another, or one review needs the other's target, so that it would run again. A routing to one item
// of a for_each concerns other items only behind a stage that needs all of them.
func linksWith(a, b *instance) bool {
	g := a.frame.graph
	ta, tb := a.target(), b.target()
	if ta.item >= 0 && tb.item >= 0 && ta.item != tb.item {
		return g.whole[ta.slot].has(b.slot) || g.whole[tb.slot].has(a.slot)
	}
	x, y := ta.slot, tb.slot
	return x == y || g.below[x].has(y) || g.below[y].has(x) || g.below[x].has(b.slot) || g.below[y].has(a.slot)
}

// sourcesBeside gives all reviews of a frame that could be linked with one, in plan order. A for_each that has not
// started stands for its items.
func (d *decider) sourcesBeside(i *instance) []*instance {
	var out []*instance
	for _, n := range i.frame.graph.joins[i.slot] {
		switch slot := i.frame.slots[n]; {
		case !slot.isGroup() || slot.status != step.Running:
			out = append(out, slot)
		case i.item >= 0 && i.target().item >= 0 && i.frame.graph.itemwise.has(i.slot):
			if i.item < len(slot.items) {
				out = append(out, slot.items[i.item])
			}
		default:
			out = append(out, slot.items...)
		}
	}
	return out
}

// awaiting asks which reviews may still run before a join is routed.
type awaiting struct {
	known map[*instance]bool
}

func newAwaiting() awaiting { return awaiting{known: map[*instance]bool{}} }

// mayRun reports whether i runs, or can still start without a routing.
func (a awaiting) mayRun(i *instance) bool {
	if known, ok := a.known[i]; ok {
		return known
	}
	may := a.ask(i)
	a.known[i] = may
	return may
}

func (a awaiting) ask(i *instance) bool {
	switch i.status {
	case step.Running:
		return !i.isGroup() || a.goesOn(i)
	case step.Waiting:
		return true
	case step.Pending, step.Stale:
	default:
		return false
	}
	for _, n := range i.node.Needs {
		need := itemOf(i.frame.slots[n], i.item)
		if need.met || i.frame.slots[n].met {
			continue
		}
		// A review on the way to i, or a for_each of some, is linked with i, and settles by the same routing.
		if need.node.Loop != nil || !a.mayRun(need) {
			return false
		}
	}
	return true
}

// goesOn reports whether a for_each that has started goes on without a routing. It does not where items that are left need
// a review outside of it that looks again: that may wait for what comes behind the for_each.
func (a awaiting) goesOn(group *instance) bool {
	waits := false
	for _, item := range group.items {
		switch {
		case item.status != step.Pending && item.status != step.Stale:
			if !item.done {
				return true
			}
		case a.mayRun(item):
			return true
		default:
			waits = true
		}
	}
	return !waits
}
