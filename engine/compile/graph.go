package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs"
)

// graph resolves needs, takes cycles out of them (with a report), and writes the reduced edges into the
// nodes.
func (c *compiler) graph() {
	// sinks are the stages so far that no later one has needed yet: to wait for all of them is to wait for
	// all above. Each stage joins and leaves them once, so that the default costs as many edges as stages.
	sinks := make(map[int]bool)
	order := []int{} // of sinks by arrival; those no longer in sinks are skipped
	for i, s := range c.stages {
		if s.syn.Needs == nil {
			s.allAbove = true
			for _, k := range order {
				if sinks[k] {
					s.needs = append(s.needs, k)
				}
			}
			clear(sinks)
			order = order[:0]
		} else {
			s.needs = c.explicitNeeds(i, s.syn.Needs)
			for _, n := range s.needs {
				delete(sinks, n)
			}
		}
		sinks[i] = true
		order = append(order, i)
		if len(order) > 2*len(sinks)+16 {
			order = slices.DeleteFunc(order, func(k int) bool { return !sinks[k] })
		}
	}
	c.breakCycles()
	c.reduce()
}

// explicitNeeds resolves the ids of needs, ascending and without repeats.
func (c *compiler) explicitNeeds(i int, n *specs.Needs) []int {
	out := make([]int, 0, len(n.IDs))
	for _, id := range n.IDs {
		t, ok := c.lookup(id.Value, id.Span, " in needs")
		if !ok {
			continue
		}
		if t == i {
			c.diags.Errorf(CodeCycle, id.Span, "%s needs itself", c.label(i))
			continue
		}
		out = append(out, t)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// breakCycles reports each cycle once, with its path, and drops the edge that closes it.
func (c *compiler) breakCycles() {
	const (
		unseen = iota
		open   // on the path
		closed
	)
	state := make([]uint8, len(c.stages))
	type frame struct{ node, next int }
	for root := range c.stages {
		if state[root] != unseen {
			continue
		}
		path := []frame{{root, 0}}
		state[root] = open
		for len(path) > 0 {
			top := &path[len(path)-1]
			s := c.stages[top.node]
			if top.next == len(s.needs) {
				state[top.node] = closed
				path = path[:len(path)-1]
				continue
			}
			n := s.needs[top.next]
			switch state[n] {
			case open:
				cycle := make([]int, 0, len(path))
				for k := len(path) - 1; k >= 0; k-- {
					cycle = append(cycle, path[k].node)
					if path[k].node == n {
						break
					}
				}
				slices.Reverse(cycle)
				c.reportCycle(cycle)
				s.needs = slices.Delete(s.needs, top.next, top.next+1)
			case unseen:
				top.next++
				state[n] = open
				path = append(path, frame{n, 0})
			case closed:
				top.next++
			}
		}
	}
}

// reportCycle names a cycle's stages: each needs the next, and the last needs the first.
func (c *compiler) reportCycle(cycle []int) {
	// The message starts at the stage of the cycle that the document has first, so that it does not
	// depend on where the search began.
	first := slices.Index(cycle, slices.Min(cycle))
	cycle = slices.Concat(cycle[first:], cycle[:first])
	const most = 10
	var names []string
	for _, i := range cycle[:min(len(cycle), most)] {
		names = append(names, c.stages[i].node.ID)
	}
	if len(cycle) > most {
		names = append(names, "…")
	}
	names = append(names, c.stages[cycle[0]].node.ID)
	s := c.stages[cycle[0]]
	at := s.span()
	if s.syn.Needs != nil && s.syn.Needs.Span.IsValid() {
		at = s.syn.Needs.Span
		for _, id := range s.syn.Needs.IDs {
			if id.Value == names[1] {
				at = id.Span
			}
		}
	}
	d := c.diags.Errorf(CodeCycle, at, "stages need each other in a circle: %s", strings.Join(names, " → "))
	for _, i := range cycle {
		if t := c.stages[i]; t.allAbove {
			d.Related = []diag.Related{{Span: t.span(),
				Message: fmt.Sprintf("%q has no needs, so it waits for all stages listed above", t.node.ID)}}
			d.Help = fmt.Sprintf("move %q below the stage that it needs, or give %q needs of its own",
				names[0], t.node.ID)
			return
		}
	}
	d.Help = "to send work back to an earlier stage use feedback_loop, which is bounded; needs only leads forward"
}

// reduce writes each stage's needs without those that another of its needs implies.
func (c *compiler) reduce() {
	joins := make([][]int, len(c.stages)) // by need: the stages that have it beside others
	var targets []int
	for i, s := range c.stages {
		if len(s.needs) < 2 {
			continue
		}
		for _, n := range s.needs {
			if joins[n] == nil {
				targets = append(targets, n)
			}
			joins[n] = append(joins[n], i)
		}
	}
	implied := make(map[edge]bool)
	all := make([]uint64, len(c.stages)) // of a batch's targets, those above one of the stage's needs
	c.reach(targets, func(batch []int, above []uint64) {
		for i, s := range c.stages {
			if len(s.needs) < 2 {
				continue
			}
			all[i] = 0
			for _, n := range s.needs {
				all[i] |= above[n]
			}
		}
		for k, t := range batch {
			for _, i := range joins[t] {
				if all[i]>>uint(k)&1 == 1 {
					implied[edge{i, t}] = true
				}
			}
		}
	})
	for i, s := range c.stages {
		for _, n := range s.needs {
			if !implied[edge{i, n}] {
				s.node.Needs = append(s.node.Needs, n)
			}
		}
	}
}
