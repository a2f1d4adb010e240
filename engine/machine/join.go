package machine

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// join is the reviews that are routed together: those that ended since the last routing and that a routing of
// one of them would concern. It follows from the plan and the outcomes, never from time: reviews that are
// linked wait for each other, and a routing never concerns one that is not linked.
type join struct {
	members []*instance // in plan order
	blocked []*instance // of those, with open blocking items
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

// joinOf gives the join of linked reviews of which none may still run.
func (d *decider) joinOf(linked []*instance) *join {
	j := &join{}
	for _, i := range linked {
		if i.status == step.Failed && i.failed() {
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

// routeJoin routes the members of a join. It reports whether anything was decided.
func (d *decider) routeJoin(j *join) bool {
	d.unify(j.members)
	decided := false
	for _, i := range j.members {
		if !slices.Contains(j.blocked, i) {
			d.routed(i, feedback.Accept, "")
			decided = true
		}
	}
	// An accept that breaks the contract of routings fails its review.
	if len(j.blocked) == 0 || j.failed || slices.ContainsFunc(j.members, (*instance).failed) {
		return decided
	}
	if rule, fired := d.ruleOf(j.blocked); rule != "" {
		d.exhausted(fired, j.blocked, rule)
		return true
	}
	var back []*instance
	for _, i := range j.blocked {
		if d.routed(i, feedback.ReImplement, "") {
			back = append(back, i)
		}
	}
	if slices.ContainsFunc(j.blocked, (*instance).failed) {
		return true // the run fails: work is not sent back
	}
	for _, t := range upmost(back) {
		d.restart(t, back)
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

// routed records what follows from one review. False: it breaks the contract of routings, and has failed.
func (d *decider) routed(i *instance, action feedback.Action, rule string, with ...*instance) bool {
	c := d.s.loopOf(i).counter
	if action == feedback.ReImplement {
		c.Iteration++
	}
	if !d.keepsContract(i, action, c) {
		return false
	}
	d.emit(step.FeedbackRouted{Source: i.path, Target: c.Target, At: d.at, Action: action, Iteration: c.Iteration,
		MaxIterations: c.Cap, Rule: rule, Items: d.routedItems(i, rule, with)})
	return true
}

// noChange decides about a target that left tree and outputs as they were although work was sent back to it. It
// is exhausted for those whose items it was handed.
func (d *decider) noChange(t *instance) {
	var sources []*instance
	for _, l := range inOrder(d.s, d.s.loopsTo[t.path]) {
		i := d.s.at(l.counter.Source)
		open := ids(d.s.ledger.OpenBlocking(i.path))
		if i.node.Loop.Convergence.NoChange && slices.ContainsFunc(t.briefIDs, func(id string) bool { return slices.Contains(open, id) }) {
			sources = append(sources, i)
		}
	}
	if len(sources) > 0 {
		d.exhausted(sources, sources, feedback.ReasonNoChange)
	}
}
