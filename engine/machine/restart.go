package machine

import (
	"slices"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// restart makes a target run again, and what needs it after it.
func (d *decider) restart(t *instance, sources []*instance) {
	again := d.rerun(t, sources)
	d.stale(t, step.ByFeedback)
	for _, i := range again {
		d.staleAnew(i, step.ByUpstream, countsAnew(i, sources))
	}
	d.dropBehindFailed(again)
}

// rerun gives what runs again behind a target, in plan order: all that needs it, or only what lies between it
// and the reviews that send work back, as they say.
func (d *decider) rerun(t *instance, sources []*instance) []*instance {
	g := t.frame.graph
	below := g.below[t.slot]
	if below == nil {
		below = g.downstream(t.slot)
	}
	if wanted := pathOnly(g, t, sources); wanted != nil {
		wanted.and(below)
		below = wanted
	}
	var out []*instance
	whole := newSet(len(g.Nodes)) // nodes that are stale as a whole, not only in t's item
	if t.item < 0 {
		whole.add(t.slot)
	}
	for _, n := range g.order {
		if !below.has(n) {
			continue
		}
		slot := t.frame.slots[n]
		if t.item < 0 || !slot.isGroup() || slices.ContainsFunc(g.Nodes[n].Needs, whole.has) {
			whole.add(n)
		}
		if !whole.has(n) && slot.status != step.Pending && t.item < len(slot.items) {
			slot = slot.items[t.item]
		}
		out = append(out, slot) // a for_each without the item, such as one that was skipped, comes to its start again
	}
	return out
}

// pathOnly gives the nodes between a target and its reviews if all of them want only those to run again.
func pathOnly(g *graph, t *instance, sources []*instance) set {
	out := newSet(len(g.Nodes))
	for _, i := range sources {
		if i.node.Loop.Rerun != plan.Path {
			return nil
		}
		up := g.upstream(i.slot)
		up.add(i.slot)
		out.addAll(up)
	}
	return out
}

// stale makes an instance run again, with all its parts; a try that runs is stopped first.
func (d *decider) stale(i *instance, cause step.StaleCause) { d.staleAnew(i, cause, false) }

// staleAnew does what stale does; anew says that i's loop, that of a stage with itself, begins at 1 again.
func (d *decider) staleAnew(i *instance, cause step.StaleCause, anew bool) {
	if i.status == step.Pending && i.iteration == 0 && i.redo == nil {
		return // it never came to its start
	}
	for _, part := range i.parts() {
		if part.status == step.Running || part.status == step.Waiting || part.effect != "" || part.isComposite() {
			d.stale(part, step.ByUpstream)
		}
	}
	running := !i.isComposite() && i.status == step.Running
	if running && i.stopping {
		return
	}
	d.emit(step.StageStale{Stage: i.path, At: d.at, Cause: cause, Cancel: running, Anew: anew})
}

// parts gives what a composite consists of.
func (i *instance) parts() []*instance {
	if i.body == nil {
		return i.items
	}
	if final := i.body.final; final != nil && final.live {
		return slices.Concat(i.body.slots, final.slots)
	}
	return i.body.slots
}

// dropBehindFailed records again of stale stages that they can't run, where what failed does not run again.
func (d *decider) dropBehindFailed(again []*instance) {
	for _, i := range again {
		for _, n := range i.node.Needs {
			if need := itemOf(i.frame.slots[n], i.item); need.failed() && i.status == step.Stale {
				d.notRun(i, need)
			}
		}
	}
}
