package fixed

import (
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// Convergence gives the rules that end a loop before its cap, of several places as Pick does; 0 and false switch one off.
func Convergence(places ...*specs.Convergence) plan.Convergence {
	out := plan.Convergence{SameItem: 2, Disputed: 2, NoChange: true}
	for _, c := range places {
		if c == nil {
			continue
		}
		out.SameItem = Pick(out.SameItem, c.SameItem)
		out.Disputed = Pick(out.Disputed, c.Disputed)
		out.NoChange = Pick(out.NoChange, c.NoChange)
		out.RatchetFrom = Pick(out.RatchetFrom, c.RatchetFrom)
	}
	return out
}
