package machine

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
)

// join is the reviews that are routed together: those that ended since the last routing and whose targets
// are the same or need one another. It follows from the plan and the outcomes, never from time.
type join struct {
	members []*instance // in plan order
	blocked []*instance // of those, with open blocking items
	targets []*instance // where work goes: the most upstream of the blocked ones' targets
	failed  bool        // a review of the same kind failed for good: work is not sent back
}

// route routes one join, if there is one that waits for nothing more. Forced, it does not ask what may still
// start: nothing runs, and joins that wait for each other go in plan order.
func (d *decider) route(forced bool) bool {
	var seen []*instance
	for _, source := range slices.Clone(d.s.ended) {
		t := source.target()
		if slices.Contains(seen, t) {
			continue
		}
		seen = append(seen, t)
		j, ok := d.joinAt(t, forced)
		if ok && d.routeJoin(j) {
			return true
		}
	}
	return false
}

// joinAt gives the join of a target, and whether it may be routed now.
func (d *decider) joinAt(t *instance, forced bool) (*join, bool) {
	if !forced && d.awaited(t) {
		return nil, false
	}
	j := &join{}
	for _, i := range d.s.ended {
		if i.frame != t.frame || !related(i.target(), t) {
			continue
		}
		j.members = append(j.members, i)
		if len(d.s.ledger.OpenBlocking(i.path)) > 0 {
			j.blocked = append(j.blocked, i)
		}
	}
	for _, i := range d.sourcesOf(t) {
		j.failed = j.failed || (i.status == Failed && i.failed())
	}
	j.targets = upmost(j.blocked)
	for _, target := range j.targets {
		if target != t && !forced && d.awaited(target) {
			return nil, false
		}
	}
	return j, true
}

// related reports whether two targets are the same or one needs the other. Two items of a for_each are not.
func related(a, b *instance) bool {
	if a.item >= 0 && b.item >= 0 && a.item != b.item {
		return false
	}
	return a.frame.graph.related(a.slot, b.slot)
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
			return o != t && related(o, t) && o.frame.graph.below[o.slot].has(t.slot)
		}) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, byOrder)
	return out
}

// sourcesOf gives all reviews whose target is t, needs t or is needed by t, in plan order. A for_each that
// has not started stands for its items.
func (d *decider) sourcesOf(t *instance) []*instance {
	var out []*instance
	for _, n := range t.frame.graph.sources {
		slot := t.frame.slots[n]
		if !t.frame.graph.related(slot.node.Loop.Target, t.slot) {
			continue
		}
		if !slot.isGroup() || slot.status != Running {
			out = append(out, slot)
			continue
		}
		for _, item := range slot.items {
			if related(item.target(), t) {
				out = append(out, item)
			}
		}
	}
	return out
}

// awaited reports whether a review of t's join runs, or can still start without a routing of this join.
func (d *decider) awaited(t *instance) bool {
	a := awaiting{t: t, known: map[*instance]bool{}}
	return slices.ContainsFunc(d.sourcesOf(t), a.mayRun)
}

// awaiting asks what may still run before a join at t is routed.
type awaiting struct {
	t     *instance
	known map[*instance]bool
}

// mayRun reports whether i runs, or can still start.
func (a *awaiting) mayRun(i *instance) bool {
	if known, ok := a.known[i]; ok {
		return known
	}
	may := a.ask(i)
	a.known[i] = may
	return may
}

func (a *awaiting) ask(i *instance) bool {
	switch i.status {
	case Running, Waiting:
		return true
	case Pending, Stale:
	default:
		return false
	}
	for _, n := range i.node.Needs {
		need := itemOf(i.frame.slots[n], i.item)
		if !need.met && !i.frame.slots[n].met && !a.maySettle(need) {
			return false
		}
	}
	return true
}

// maySettle reports whether i may come to meet those who need it without a routing of this join. A review of
// the join itself can't; another one may, by a routing of its own.
func (a *awaiting) maySettle(i *instance) bool {
	if i.isSource() && related(i.target(), a.t) {
		return false
	}
	return a.mayRun(i) || i.unrouted || i.blocked
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
	for _, i := range j.blocked {
		l := d.s.loopOf(i)
		if action, _ := l.counter.Decide(len(d.s.ledger.OpenBlocking(i.path))); action == feedback.Escalate {
			d.exhausted(j.blocked, feedback.ReasonIterationCap)
			return true
		}
	}
	for _, i := range j.blocked {
		d.routed(i, feedback.ReImplement, "")
	}
	for _, t := range j.targets {
		d.restart(t, j.blocked)
	}
	return true
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

// exhausted ends the rounds of reviews for a rule: a person is asked, or the reviews fail, as each says.
func (d *decider) exhausted(sources []*instance, rule string) {
	for _, i := range sources {
		d.routed(i, feedback.Escalate, rule)
	}
	var asks []*instance
	for _, i := range sources {
		if i.node.Loop.OnExhausted != plan.FailRun {
			asks = append(asks, i)
			continue
		}
		d.fail(i, failure{class: string(stage.Findings), reason: rule, message: "the loop is exhausted (" + rule + "); on_exhausted is fail"})
	}
	if len(asks) > 0 {
		d.escalate(asks, rule)
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
	for _, i := range d.sourcesOf(sources[0].target()) {
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
		d.exhausted(sources, feedback.ReasonNoChange)
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
		for n := range below {
			wanted[n] = wanted[n] && below[n]
		}
		below = wanted
	}
	var out []*instance
	whole := make(set, len(g.Nodes)) // nodes that are stale as a whole, not only in t's item
	if t.item < 0 {
		whole[t.slot] = true
	}
	for _, n := range g.order {
		if !below.has(n) {
			continue
		}
		slot := t.frame.slots[n]
		one := t.item >= 0 && slot.isGroup() && slot.status != Pending && t.item < len(slot.items) &&
			!slices.ContainsFunc(g.Nodes[n].Needs, func(need int) bool { return whole[need] })
		if one {
			out = append(out, slot.items[t.item])
		} else {
			whole[n] = true
			out = append(out, slot)
		}
	}
	return out
}

// pathOnly gives the nodes between a target and its reviews if all of them want only those to run again.
func pathOnly(g *graph, t *instance, sources []*instance) set {
	out := make(set, len(g.Nodes))
	for _, i := range sources {
		if i.node.Loop.Rerun != plan.Path {
			return nil
		}
		up := g.upstream(i.slot)
		up[i.slot] = true
		for n := range up {
			out[n] = out[n] || up[n]
		}
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
				d.emit(StageNotRun{Stage: i.path, At: d.at, Needed: need.path})
			}
		}
	}
}
