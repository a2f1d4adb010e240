package machine

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/step"
)

// takeResult takes in what a stage said: a review's items and replies, with what it learnt beside them; a target's
// disputes. A review that is the target of another may do both.
func (d *decider) takeResult(i *instance, r *feedback.Result, learnt *envelope.Diagnosis) {
	d.takeReview(i, r, learnt, nil)
}

// takeReview does what takeResult does; late says of a new blocking item why it does not block any more, "" if it does.
func (d *decider) takeReview(i *instance, r *feedback.Result, learnt *envelope.Diagnosis, late func(*feedback.Item) string) {
	if r == nil {
		return
	}
	round := i.iteration
	rec := step.FeedbackReceived{Source: i.path, At: d.at, Items: len(r.Items), Summary: r.Summary, Diagnosis: learnt}
	if i.isSource() {
		l := d.s.loopOf(i)
		round, rec.Target = l.counter.Iteration, l.counter.Target
	}
	rec.Round = round
	own := *r
	if _, isTarget := i.frame.graph.below[i.slot]; isTarget {
		rec.Disputed = d.dispute(i, r.Replies)
		if !i.isSource() {
			own.Replies = nil
		}
	}
	for k := range r.Items {
		switch r.Items[k].Severity {
		case feedback.Blocking:
			rec.Blocking++
		case feedback.Advisory:
			rec.Advisory = append(rec.Advisory, feedback.LogAdvisory(r.Items[k]))
		}
	}
	changes := d.s.ledger.Merge(i.path, round, &own)
	for _, item := range d.ratchet(changes, late) {
		rec.Blocking--
		rec.Advisory = append(rec.Advisory, feedback.LogAdvisory(item))
	}
	d.change(changes)
	for _, item := range d.s.ledger.OpenBlocking(i.path) {
		if item.LastRound == round {
			rec.Given = append(rec.Given, item.ID)
		}
	}
	d.emit(rec)
}

// dispute takes in what a target says of the items of its reviews, and gives how many it disputed.
func (d *decider) dispute(target *instance, replies []feedback.Reply) int {
	var disputed []string
	for _, l := range inOrder(d.s, d.s.loopsTo[target.path]) {
		changes := d.s.ledger.Reply(l.counter.Source, target.path, l.counter.Iteration, replies)
		d.change(changes)
		for _, c := range changes {
			if item, _ := d.s.ledger.Get(c.Item.ID); !slices.Contains(disputed, item.ID) {
				disputed = append(disputed, item.ID)
			}
		}
	}
	return len(disputed)
}

// ratchet makes advisory what is new among changes of items and does not block any more, and gives it. An item that
// was made so before is held against it again: it is no older finding that blocks.
func (d *decider) ratchet(changes []feedback.Change, late func(*feedback.Item) string) []feedback.Item {
	var out []feedback.Item
	if late == nil {
		return nil
	}
	for k := range changes {
		item := &changes[k].Item
		if known := d.s.ledger.Has(item.ID); item.Severity != feedback.Blocking || !item.IsOpen() || known && !item.Ratcheted {
			continue
		}
		item.Ratcheted = false
		if why := late(item); why != "" {
			item.Severity, item.Ratcheted = feedback.Advisory, true
			item.Flags = append(slices.Clip(item.Flags), why)
			out = append(out, *item)
		}
	}
	return out
}

// lateness gives what a review's ratchet says of new items, nil where it does not hold: from an iteration on they block
// only on lines that were changed since the tree that was reviewed last.
func (d *decider) lateness(i *instance, lines []step.Lines) func(*feedback.Item) string {
	if i.started == nil || i.started.Since == "" {
		return nil
	}
	return func(item *feedback.Item) string {
		on := slices.ContainsFunc(lines, func(l step.Lines) bool {
			return l.File == item.File && (item.Line == 0 || l.First <= item.Line && item.Line <= l.Last)
		})
		if on && item.File != "" {
			return ""
		}
		return fmt.Sprintf("would block, but it is new and not on lines changed since the last review (ratchet_from: %d)",
			i.node.Loop.Convergence.RatchetFrom)
	}
}

// ratchets reports whether the tree that a review looks at must be known, so that a later one can tell new lines.
func (i *instance) ratchets() bool {
	return i.isSource() && !i.isComposite() && i.node.Loop.Convergence.RatchetFrom > 0
}

// reviewedTree gives the tree that new items of a review are held against; "" where any of them blocks.
func (d *decider) reviewedTree(i *instance) string {
	if !i.ratchets() || d.s.loopOf(i).counter.Iteration < i.node.Loop.Convergence.RatchetFrom {
		return ""
	}
	return i.reviewed
}

// change records changes of items.
func (d *decider) change(changes []feedback.Change) {
	for _, c := range changes {
		if d.s.ledger.Has(c.Item.ID) {
			d.emit(step.ItemChanged(c))
		} else {
			d.emit(step.ItemOpened(c))
		}
	}
}

// unify makes one item of what several reviews of the same target found alike. All of them have ended, or wait for this
// routing, so it does not depend on which of them came first.
func (d *decider) unify(members []*instance) {
	var done []*instance
	for _, i := range members {
		t := i.target()
		if slices.Contains(done, t) {
			continue
		}
		done = append(done, t)
		var sources []string
		for _, l := range inOrder(d.s, d.s.loopsTo[t.path]) {
			sources = append(sources, l.counter.Source)
		}
		if len(sources) > 1 {
			d.change(d.s.ledger.Unify(sources))
		}
	}
}

// withItems adds to a list of items those that are not in it: what several reviews found is one item for each of them.
func withItems(list, more []feedback.Item) []feedback.Item {
	return append(list, without(more, list)...)
}

// without gives items without those that another list has.
func without(items, other []feedback.Item) []feedback.Item {
	if len(items) == 0 || len(other) == 0 {
		return items
	}
	known := make(map[string]bool, len(other)) // only looked up
	for k := range other {
		known[other[k].ID] = true
	}
	return slices.DeleteFunc(items, func(i feedback.Item) bool { return known[i.ID] })
}
