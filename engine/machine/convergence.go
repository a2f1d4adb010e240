package machine

import "example.com/pipe/engine/feedback"

// The rules by which a loop may not go on, in the order in which they are asked; the first that holds for any review of
// a join is named. no_change comes before all: it is asked when the target has ended, before the reviews run again.
// Then the cap, which the protocol itself knows; then disputed, since only a person can settle it; then same_item.

// ruleOf gives the rule that ends the rounds of reviews with open blocking items that were just routed together, with
// those for which it holds; "" if they go on.
func (d *decider) ruleOf(blocked []*instance) (string, []*instance) {
	if capped := d.capped(blocked); len(capped) > 0 {
		return feedback.ReasonIterationCap, capped
	}
	for _, rule := range []string{feedback.ReasonDisputed, feedback.ReasonSameItem} {
		var out []*instance
		for _, i := range blocked {
			if len(d.stuck(i, rule)) > 0 {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			return rule, out
		}
	}
	return "", nil
}

// stuck gives the open blocking items of a review for which a rule about items holds.
func (d *decider) stuck(i *instance, rule string) []feedback.Item {
	c := i.node.Loop.Convergence
	var out []feedback.Item
	for _, item := range d.s.ledger.OpenBlocking(i.path) {
		switch {
		case rule == feedback.ReasonDisputed && c.Disputed > 0 && item.Disputes >= c.Disputed,
			rule == feedback.ReasonSameItem && c.SameItem > 0 && item.Unfixed >= c.SameItem:
			out = append(out, item)
		}
	}
	return out
}

// routedItems gives the items that a routing names: those for which its rule holds, of the review itself or else of
// those with which it is routed; without such a rule all that are open and block.
func (d *decider) routedItems(i *instance, rule string, with []*instance) []string {
	for _, reviews := range [][]*instance{{i}, with} {
		var out []string
		for _, o := range reviews {
			out = append(out, ids(d.stuck(o, rule))...)
		}
		if len(out) > 0 {
			return out
		}
	}
	return ids(d.s.ledger.OpenBlocking(i.path))
}
