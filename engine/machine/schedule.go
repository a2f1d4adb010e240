package machine

import (
	"fmt"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// goOn decides all that follows until nothing more can be decided without an event.
func (d *decider) goOn() {
	for d.next() {
	}
	d.rest()
}

// next decides one thing: what has ended is closed, then findings are routed, then stages start.
func (d *decider) next() bool {
	if d.s.cancelling {
		return !d.s.abandoned && d.startFinal()
	}
	holds := len(d.s.escalations) > 0 || d.s.stopping > 0 // nothing new starts
	if len(d.s.closed) > 0 {
		if len(d.s.overrides) > 0 && (holds || d.checksOverrides()) {
			return false // one that is void opens again what would be closed
		}
		d.closeComposite(d.s.closed[0])
		return true
	}
	if holds {
		return false
	}
	return d.route() || d.startNext()
}

// startNext starts the first stage, in plan order, that may start; one that has the workspace already, or whose
// tree was just read, comes before. A stage that writes waits for the others to end and holds those behind it
// back, so that it is not put off for ever.
func (d *decider) startNext() bool {
	if len(d.s.ready) == 0 {
		return false
	}
	i := d.s.ready[0]
	for _, held := range d.s.held {
		if d.s.wantsStart(held) {
			i = held
			break
		}
	}
	if d.read != nil && d.s.wantsStart(d.read) {
		i = d.read
	}
	if !i.isComposite() && !d.mayHold(i) {
		return false
	}
	if d.checksOverrides() {
		return false
	}
	d.begin(i)
	return true
}

// startFinal starts a stage of a finally while all else is being cancelled.
func (d *decider) startFinal() bool {
	for _, i := range d.s.ready {
		if i.isFinal() && d.mayHold(i) {
			d.begin(i)
			return true
		}
	}
	return false
}

// mayHold reports whether i may have the workspace now.
func (d *decider) mayHold(i *instance) bool {
	others := len(d.s.held)
	if i.holding {
		others--
	}
	if others >= d.s.run.Jobs {
		return false
	}
	if d.s.writer != nil && d.s.writer != i {
		return false
	}
	return !i.writes() || others == 0
}

// begin brings a stage one step nearer to its start: when, pre_checks, approval, the tree, the dispatch.
func (d *decider) begin(i *instance) {
	if i.redo != nil {
		again := *i.redo
		again.Effect, again.At = d.newEffect(), d.at
		d.emit(again)
		return
	}
	iteration, attempt := i.iteration, max(1, i.next)
	if !i.came {
		iteration++
	}
	if i.isGroup() {
		d.beginGroup(i, iteration)
		if v := i.verifier(); v != nil && d.s.wantsStart(v) { // before the first item ends
			d.begin(v)
		}
		return
	}
	p := d.prepare(i, iteration, attempt)
	if !i.came && !d.wanted(i, p) {
		return
	}
	if i.node.Approval != nil && !i.approval.approved {
		d.emit(step.TreeAsked{Effect: d.newEffect(), Purpose: step.ForApproval, Stage: i.path, Iteration: iteration, At: d.at})
		return
	}
	// Who does not hold the workspace must start in the step that read the tree.
	if known := i.startTree != nil && (i.holding || d.read == i); !known && attempt == 1 && d.needsTree(i) {
		d.emit(step.TreeAsked{Effect: d.newEffect(), Purpose: step.ForStart, Stage: i.path, Iteration: iteration, At: d.at})
		return
	}
	switch {
	case i.node.Body != nil:
		d.beginBody(i, p)
	case i.node.Kind == approvalKind:
		d.pass(i, p)
	default:
		d.dispatch(i, p)
	}
}

// wanted evaluates what decides whether a stage starts at all: when, and pre_checks. It reports whether it
// does; if not, it has recorded why.
func (d *decider) wanted(i *instance, p *preparation) bool {
	if i.node.When != nil && i.item < 0 { // a for_each asks once for all its items
		ok, err := p.holds(*i.node.When, p.base)
		if err != nil {
			d.failStart(i, p.iteration, d.located(err))
			return false
		}
		if !ok && !d.hasBlocking(i) {
			d.emit(step.StageSkipped{Stage: i.path, Iteration: p.iteration, At: d.at})
			return false
		}
	}
	if asksEach(i) && i.target().status != step.Succeeded && !d.hasBlocking(i) {
		d.emit(step.StageSkipped{Stage: i.path, Iteration: p.iteration, At: d.at})
		return false
	}
	if why := d.checks(i, "pre", i.node.PreChecks, p); why != "" {
		d.failStart(i, p.iteration, why)
		return false
	}
	return true
}

// needsTree reports whether the state of the workspace must be known before i starts: to compare it with
// what was approved, or as the base of a target's work.
func (d *decider) needsTree(i *instance) bool {
	if i.approval.unchecked && d.fresh != i {
		return true
	}
	return i.wantsTree() || i.keepsBase()
}

// wantsTree reports whether the tree before and after i's tries must be known: of a target of a loop, and where
// cache or allowed_paths ask for it.
func (i *instance) wantsTree() bool {
	return i.isTarget() || i.node.Cache || len(i.node.AllowedPaths) > 0
}

// isTarget reports whether a loop sends work back to i.
func (i *instance) isTarget() bool {
	_, ok := i.frame.graph.below[i.slot]
	return ok && !i.isComposite()
}

// beginBody evaluates the inputs of a stage that runs a graph of its own, and opens it.
func (d *decider) beginBody(i *instance, p *preparation) {
	inputs, err := plan.EvalObject(i.node.Inputs, p, p.base)
	if err != nil {
		d.failStart(i, p.iteration, d.located(err))
		return
	}
	d.emit(step.StageStarted{Stage: i.path, Iteration: p.iteration, Attempt: 1, At: d.at, Inputs: inputs,
		Brief: p.brief, BriefIDs: p.briefIDs, Composite: true})
}

// dispatch evaluates all that a try gets, and starts it.
func (d *decider) dispatch(i *instance, p *preparation) {
	r := step.StageStarted{Stage: i.path, Iteration: p.iteration, Attempt: p.attempt, At: d.at,
		Key:   fmt.Sprintf("%s/%s/%d", d.s.run.Run, i.path, p.iteration),
		Brief: p.brief, BriefIDs: p.briefIDs, OpenItems: p.items, Base: i.base,
		WantTree: i.wantsTree() || i.ratchets(), Since: d.reviewedTree(i)}
	if i.startTree != nil {
		r.Base = i.startTree.Hash
	}
	if err := p.fill(&r); err != nil {
		d.failStart(i, p.iteration, d.located(err))
		return
	}
	r.Refine = d.s.refineAttempt(i)
	if r.Envelope = p.envelope(); r.Envelope != nil {
		if err := r.Envelope.Validate(); err != nil {
			d.failStart(i, p.iteration, err.Error())
			return
		}
	}
	if i.node.Discovery {
		r.Discovery = d.s.discovery()
		if err := r.Discovery.Validate(); err != nil {
			d.failStart(i, p.iteration, err.Error())
			return
		}
	}
	r.Effect = d.newEffect()
	d.emit(r)
}

// located gives an error in the author's words, with its place in the file.
func (d *decider) located(err error) string { return d.m.plan.Locate(err).Error() }

// rest decides what the run does when nothing more can start: it waits for what is open, for a person, or
// ends.
func (d *decider) rest() {
	if d.s.active > 0 || d.s.status.Ended() {
		return
	}
	switch {
	case d.s.cancelling:
		d.finishCancelled()
	case len(d.s.escalations) > 0:
		d.restPaused()
	case d.s.timers() > 0:
	case d.s.waiting > 0:
		d.restWaiting()
	case d.checksOverrides(): // before the run ends on them
	case d.dropRest() || d.failStuck():
		d.goOn()
	default:
		d.finish()
	}
}

// restWaiting waits for approvals. Where work by hand would make something run again, what the run left must be known.
func (d *decider) restWaiting() {
	switch {
	case d.s.status == step.RunIsWaiting:
	case d.s.worked && d.pause == nil && d.s.root.graph.loops():
		d.emit(step.TreeAsked{Effect: d.newEffect(), Purpose: step.ForPause, At: d.at})
	default:
		d.emit(step.RunWaiting{At: d.at, Reason: "approval"})
	}
}

func (d *decider) restPaused() {
	switch {
	case d.s.status == step.RunIsPaused:
	case d.pause == nil:
		d.emit(step.TreeAsked{Effect: d.newEffect(), Purpose: step.ForPause, At: d.at})
	default:
		d.emit(step.RunPaused{At: d.at, Reason: d.s.escalations[0].Reason, Tree: *d.pause})
	}
}

// timers counts the waits before another try.
func (s *state) timers() int { return len(s.effects) - s.active - s.deadlines }

// dropRest records of what can't start any more that it does not run. It reports whether there was any.
func (d *decider) dropRest() bool {
	any := false
	for _, i := range d.s.all {
		if !i.done && i.frame.live && (i.status == step.Pending || i.status == step.Stale) && (i.group == nil || i.group.status == step.Running) {
			d.emit(step.StageNotRun{Stage: i.path, At: d.at})
			any = true
		}
	}
	return any
}

func failureReason(i *instance) string {
	switch {
	case i.rule() != "":
		return i.rule()
	case i.status == step.Failed:
		return fmt.Sprintf("stage %q failed (%s)", i.path, i.class)
	case i.unaccepted():
		return fmt.Sprintf("findings of %q were not routed", i.path)
	}
	return ""
}

// unaccepted reports whether i is a review that ended and whose loop did not settle.
func (i *instance) unaccepted() bool {
	return (i.status == step.Succeeded || i.status == step.Rejected) && i.isSource() && !i.accepted
}

func openItems(l *feedback.Ledger) []feedback.Item {
	var out []feedback.Item
	for _, item := range l.Items() {
		if item.IsOpen() {
			out = append(out, item)
		}
	}
	return out
}

// checks evaluates pre_checks or post_checks. It gives why they don't hold, with a record for each that
// does not; empty if all hold.
func (d *decider) checks(i *instance, when string, checks []plan.Check, p *preparation) string {
	why := ""
	for k := range checks {
		c := &checks[k]
		ok, values, err := p.check(c)
		if ok {
			continue
		}
		d.emit(step.CheckFailed{Stage: i.path, When: when, Description: c.Description, Validation: c.Validation.Source, Values: values})
		if why == "" {
			why = d.brokenCheck(when, c, err)
		}
	}
	return why
}

// brokenCheck says in a line that a check does not hold, or that it could not be asked.
func (d *decider) brokenCheck(when string, c *plan.Check, err error) string {
	name := fmt.Sprintf("%s_check %q", when, c.Description)
	if c.Contract != "" {
		name += fmt.Sprintf(" of the contract %q", c.Contract)
	}
	if err != nil {
		return name + ": " + d.located(err)
	}
	return name + " does not hold: " + c.Validation.Source
}

// postChecks evaluates the post_checks of a try that ended.
func (d *decider) postChecks(i *instance, e step.StageEnded) string {
	if len(i.node.PostChecks) == 0 {
		return ""
	}
	p := d.prepare(i, i.iteration, i.attempt)
	p.ended(e)
	return d.checks(i, "post", i.node.PostChecks, p)
}
