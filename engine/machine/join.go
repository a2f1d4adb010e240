package machine

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
)

// join is the reviews that are routed together: those that ended since the last routing and that a routing of
// one of them would concern. It follows from the plan and the outcomes, never from time: reviews that are
// linked wait for each other, and a routing never concerns one that is not linked.
type join struct {
	members []*instance // in plan order
	blocked []*instance // of those, with open blocking items
	targets []*instance // where work goes: the most upstream of the blocked ones' targets
	failed  bool        // a linked review failed for good, and the run with it: work is not sent back
}

// route routes one join, if there is one that waits for nothing more.
func (d *decider) route() bool {
	if len(d.s.ended) == 0 {
		return false
	}
	seen := map[*instance]bool{} // only looked up; true: linked with one that may still run
	await := newAwaiting()
	mayRun := func(i *instance) bool { return seen[i] || await.mayRun(i) }
	for _, i := range d.s.ended {
		if _, known := seen[i]; known {
			continue
		}
		linked, waits := d.linkedUntil(i, mayRun)
		for _, o := range linked {
			seen[o] = waits
		}
		if !waits && d.routeJoin(d.joinOf(linked)) {
			return true
		}
	}
	return false
}

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
		if slot := i.frame.slots[n]; slot.isGroup() && slot.status == Running {
			out = append(out, slot.items...)
		} else {
			out = append(out, slot)
		}
	}
	return out
}

// joinOf gives the join of linked reviews of which none may still run.
func (d *decider) joinOf(linked []*instance) *join {
	j := &join{}
	for _, i := range linked {
		if i.status == Failed && i.failed() {
			j.failed = true
		}
		if !i.unrouted {
			continue
		}
		j.members = append(j.members, i)
		if len(d.s.ledger.OpenBlocking(i.path)) > 0 {
			j.blocked = append(j.blocked, i)
		}
	}
	j.targets = upmost(j.blocked)
	return j
}

// upmost gives the targets of reviews without those that need another of them, in plan order.
func upmost(sources []*instance) []*instance {
	var all, out []*instance
	for _, i := range sources {
		if t := i.target(); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	for _, t := range all {
		if !slices.ContainsFunc(all, func(o *instance) bool {
			return o != t && o.frame.graph.below[o.slot].has(t.slot) && (o.item < 0 || t.item < 0 || o.item == t.item)
		}) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, byOrder)
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
	case Running, Waiting:
		return true
	case Pending, Stale:
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

// routeJoin routes the members of a join. It reports whether anything was decided.
func (d *decider) routeJoin(j *join) bool {
	decided := false
	for _, i := range j.members {
		if !slices.Contains(j.blocked, i) {
			d.routed(i, feedback.Accept, "")
			decided = true
		}
	}
	if len(j.blocked) == 0 || j.failed {
		return decided
	}
	if capped := d.capped(j.blocked); len(capped) > 0 {
		d.exhausted(capped, j.blocked, feedback.ReasonIterationCap)
		return true
	}
	for _, i := range j.blocked {
		d.routed(i, feedback.ReImplement, "")
	}
	for _, t := range j.targets {
		d.restart(t, j.blocked)
	}
	return true
}

// capped gives those of the reviews with open blocking items that are at their cap.
func (d *decider) capped(blocked []*instance) []*instance {
	var out []*instance
	for _, i := range blocked {
		if action, _ := d.s.loopOf(i).counter.Decide(len(d.s.ledger.OpenBlocking(i.path))); action == feedback.Escalate {
			out = append(out, i)
		}
	}
	return out
}

// routed records what follows from one review.
func (d *decider) routed(i *instance, action feedback.Action, rule string) {
	c := d.s.loopOf(i).counter
	if action == feedback.ReImplement {
		c.Iteration++
	}
	d.emit(FeedbackRouted{Source: i.path, Target: c.Target, At: d.at, Action: action, Iteration: c.Iteration,
		MaxIterations: c.Cap, Rule: rule, Items: ids(d.s.ledger.OpenBlocking(i.path))})
}

// exhausted ends the rounds of reviews for a rule. Those of them that say so fail; then nobody is asked, and what
// the others of the join found is not routed. Else a person is asked about the whole join.
func (d *decider) exhausted(sources, join []*instance, rule string) {
	var fails []*instance
	for _, i := range sources {
		if i.node.Loop.OnExhausted == plan.FailRun {
			fails = append(fails, i)
		}
	}
	if len(fails) > 0 {
		join = fails
	}
	for _, i := range join {
		d.routed(i, feedback.Escalate, rule)
	}
	for _, i := range fails {
		d.fail(i, failure{class: string(stage.Findings), reason: rule, message: "the loop is exhausted (" + rule + "); on_exhausted is fail"})
	}
	if len(fails) == 0 {
		d.escalate(join, rule)
	}
}

// escalate asks a person what to do with the open blocking items of reviews.
func (d *decider) escalate(sources []*instance, rule string) {
	e := feedback.Escalation{ID: d.newEscalation(), TaskID: d.s.run.TaskID, Target: sources[0].target().path, Reason: rule}
	named := d.s.loopOf(sources[0]).counter
	for _, i := range sources {
		e.Sources = append(e.Sources, i.path)
		c := d.s.loopOf(i).counter
		if c.Iteration >= c.Cap && named.Iteration < named.Cap {
			named = c
		}
		d.change(d.s.ledger.Escalate(ids(d.s.ledger.OpenBlocking(i.path)), c.Iteration, rule))
		e.Blocking = append(e.Blocking, d.s.ledger.OpenBlocking(i.path)...)
	}
	e.Iterations, e.Max = named.Iteration, named.Cap
	for _, i := range d.linkedWith(sources[0]) {
		if !slices.Contains(sources, i) {
			e.NotReviewedSince = append(e.NotReviewedSince, d.s.ledger.OpenBlocking(i.path)...)
		}
	}
	e.History = slices.Clone(d.s.history)
	d.emit(EscalationRaised{At: d.at, Escalation: e})
}

// noChange decides about a target that left tree and outputs as they were although work was sent back to it.
func (d *decider) noChange(t *instance) {
	var sources []*instance
	for _, l := range inOrder(d.s, d.s.loopsTo[t.path]) {
		i := d.s.at(l.counter.Source)
		if l.last != feedback.Accept.String() && len(d.s.ledger.OpenBlocking(i.path)) > 0 {
			sources = append(sources, i)
		}
	}
	if len(sources) > 0 {
		d.exhausted(sources, sources, feedback.ReasonNoChange)
	}
}

// restart makes a target run again, and what needs it after it.
func (d *decider) restart(t *instance, sources []*instance) {
	again := d.rerun(t, sources)
	d.stale(t, ByFeedback)
	for _, i := range again {
		d.stale(i, ByUpstream)
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
		one := t.item >= 0 && slot.isGroup() && slot.status != Pending && t.item < len(slot.items) &&
			!slices.ContainsFunc(g.Nodes[n].Needs, whole.has)
		if one {
			out = append(out, slot.items[t.item])
		} else {
			whole.add(n)
			out = append(out, slot)
		}
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
func (d *decider) stale(i *instance, cause StaleCause) {
	if i.status == Pending && i.iteration == 0 && i.redo == nil {
		return // it never came to its start
	}
	for _, part := range i.parts() {
		if part.status == Running || part.status == Waiting || part.effect != "" || part.isComposite() {
			d.stale(part, ByUpstream)
		}
	}
	running := !i.isComposite() && i.status == Running
	if running && i.stopping {
		return
	}
	d.emit(StageStale{Stage: i.path, At: d.at, Cause: cause, Cancel: running})
}

// parts gives what a composite consists of.
func (i *instance) parts() []*instance {
	if i.body != nil {
		return i.body.slots
	}
	return i.items
}

// dropBehindFailed records again of stale stages that they can't run, where what failed does not run again.
func (d *decider) dropBehindFailed(again []*instance) {
	for _, i := range again {
		for _, n := range i.node.Needs {
			if need := itemOf(i.frame.slots[n], i.item); need.failed() && i.status == Stale {
				d.notRun(i, need)
			}
		}
	}
}
