package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// beginGroup evaluates the items of a for_each and opens an instance for each.
func (d *decider) beginGroup(i *instance, iteration int) {
	p := d.prepare(i, iteration, 1)
	if i.node.When != nil {
		ok, err := p.holds(*i.node.When, p.base)
		if err != nil {
			d.failStart(i, iteration, d.located(err))
			return
		}
		if !ok && !slices.ContainsFunc(i.items, d.hasBlocking) {
			d.emit(StageSkipped{Stage: i.path, Iteration: iteration, At: d.at})
			return
		}
	}
	items, err := p.list(&i.node.ForEach.Items)
	if err != nil {
		d.failStart(i, iteration, d.located(err))
		return
	}
	d.dropItems(i, len(items))
	d.emit(StageStarted{Stage: i.path, Iteration: iteration, Attempt: 1, At: d.at, Items: items, Composite: true})
}

// hasBlocking reports whether an instance is a review with open blocking items, which runs whatever its condition says.
func (d *decider) hasBlocking(i *instance) bool {
	return i.isSource() && len(d.s.ledger.OpenBlocking(i.path)) > 0
}

// dropItems records that a for_each has only so many items now. What those were that are no longer among them does not
// run, and what they found concerns nobody any more.
func (d *decider) dropItems(i *instance, n int) {
	if len(i.items) <= n {
		return
	}
	var open []string
	for _, part := range slices.Clone(d.s.all) {
		place, within := strings.CutPrefix(part.path, i.path+"[")
		number, _, _ := strings.Cut(place, "]")
		if k, err := strconv.Atoi(number); !within || err != nil || k < n {
			continue
		}
		open = append(open, ids(d.s.ledger.Open(part.path))...)
		if part.status != NotRun && (part.group == i || part.status == Pending || part.status == Stale) {
			d.emit(StageNotRun{Stage: part.path, At: d.at, Gone: true})
		}
	}
	d.change(d.s.ledger.Withdraw(open, fmt.Sprintf("%q has no such item any more", i.path)))
}
