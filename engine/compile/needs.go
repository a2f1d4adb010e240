package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/graph"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// order resolves needs, takes cycles out of them (with a report), and writes the reduced edges into the
// nodes.
func (c *compiler) order() {
	var sinks graph.Sinks
	c.needs = make(graph.Needs, 0, len(c.stages))
	for i, s := range c.stages {
		if s.Final {
			break
		}
		switch {
		case s.isPart(): // it joins when cycles are gone, of which it is no part
			c.needs = append(c.needs, nil)
			continue
		case s.syn.Needs == nil:
			s.allAbove = true
			c.needs = append(c.needs, sinks.All())
		default:
			c.needs = append(c.needs, c.explicitNeeds(i))
		}
		sinks.Add(i, c.needs[i])
	}
	for _, cycle := range c.needs.BreakCycles() {
		c.reportCycle(cycle)
	}
	for i := range c.needs {
		c.needs[i] = c.withPartsOf(c.needs[i])
		if s := c.stages[i]; s.isPart() {
			c.needs[i] = []int{s.owner}
		}
	}
	for i, needs := range c.needs.Reduce() {
		c.stages[i].node.Needs = needs
	}
}

// explicitNeeds resolves the ids of needs, ascending and without repeats.
func (c *compiler) explicitNeeds(i int) []int {
	ids := c.stages[i].syn.Needs.IDs
	out := make([]int, 0, len(ids))
	for _, id := range ids {
		t, ok := c.known.Lookup(id.Value, id.Span, " in needs")
		switch {
		case !ok:
		case t == i:
			c.diags.Errorf(CodeCycle, id.Span, "%s needs itself", c.known.Label(i))
		case c.stages[t].Final:
			c.inFinally(t, id.Span)
		default:
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inFinally reports that a stage of finally is named where only the others can be.
func (c *compiler) inFinally(t int, at source.Span) {
	d := c.diags.Errorf(CodeFinally, at, "%s stands in finally, which runs when all else has ended", c.known.Label(t))
	d.Related = []diag.Related{{Span: c.stages[t].Span, Message: fmt.Sprintf("%q is here", c.stages[t].ID)}}
	d.Help = "name a stage of stages"
}

// reportCycle names a cycle's stages: each needs the next, and the last needs the first.
func (c *compiler) reportCycle(cycle []int) {
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
	at := s.Span
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
			d.Related = []diag.Related{{Span: t.Span,
				Message: fmt.Sprintf("%q has no needs, so it waits for all stages listed above", t.node.ID)}}
			d.Help = fmt.Sprintf("move %q below the stage that it needs, or give %q needs of its own",
				names[0], t.node.ID)
			return
		}
	}
	d.Help = "to send work back to an earlier stage use feedback_loop, which is bounded; needs only leads forward"
}
