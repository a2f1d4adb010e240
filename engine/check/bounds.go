package check

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

// Bound is how often a stage can run at the most, as long as no person grants more.
type Bound struct {
	Runs    int  // that end: 1, and max_iterations - 1 for each loop that makes it run again
	Tries   int  // of these runs, with all that retry allows
	PerItem bool // of each item: the stage, or one around it, has a for_each
	Items   int  // further runs for each item of a for_each whose reviews make it run again

	Body []Bound // of the stages of the pipeline that it runs
}

// Bounds gives the bound of each node of a graph. Loops count together: each sends work back at the most
// max_iterations - 1 times in a run, and then its target and what stands downstream of it run again (with
// rerun: path, only what lies between target and source; where a review that leads to another target may be routed
// with it, also what that one makes run again). The review of a for_each has a loop for each item:
// the same item of its target and of what stands beside it runs again, and all of anything else. Loops inside of
// a pipeline go on counting when the stage that runs it starts again. The loop of a stage with itself counts anew
// each time that anything else makes the stage run, so that its cap multiplies that; what needs the stage waits for it
// to settle, and runs no more often for it.
func Bounds(g *plan.Graph) []Bound {
	out := starts(g)
	settle(g, out)
	return out
}

// starts gives how often each node can start for another reason than its own loop with itself.
func starts(g *plan.Graph) []Bound {
	out := make([]Bound, len(g.Nodes))
	for i := range out {
		out[i].Runs, out[i].PerItem = 1, g.Nodes[i].ForEach != nil
	}
	var loops []int
	for i := range g.Nodes {
		if l := g.Nodes[i].Loop; l != nil && l.MaxIterations > 1 && !l.Self {
			loops = append(loops, i)
		}
	}
	order := g.Order()
	s := newSpreading(g, order, loops)
	for rest := loops; len(rest) > 0; {
		batch := rest[:min(64, len(rest))]
		rest = rest[len(batch):]
		s.spread(g, order, batch)
		sums := byteSums(g, batch)
		for i := range g.Nodes {
			again := s.down[i] & s.up[i]
			once := again & (s.own[i] | ^s.items)
			for k, m := 0, once; m != 0; k, m = k+1, m>>8 {
				out[i].Runs += sums[k][m&0xff]
			}
			for k, m := 0, again&^once; m != 0; k, m = k+1, m>>8 {
				out[i].Items += sums[k][m&0xff]
			}
		}
	}
	for i := range out {
		if n := &g.Nodes[i]; n.Body != nil {
			out[i].Body = starts(n.Body)
			out[i].again(out[i].Runs-1, out[i].Items, out[i].PerItem, n)
		}
	}
	return out
}

// again adds further starts of a node to those of the stages of its body.
func (b *Bound) again(runs, items int, perItem bool, n *plan.Node) {
	for i := range b.Body {
		in := &b.Body[i]
		in.Runs += runs
		in.Items += items
		in.PerItem = in.PerItem || perItem
		in.again(runs, items, perItem, &n.Body.Nodes[i])
	}
}

// settle makes of the starts of nodes their runs: each start of a stage that is looped with itself, and of the part that
// looks at what it did, allows as many as that loop.
func settle(g *plan.Graph, bounds []Bound) {
	for i := range g.Nodes {
		if l := g.Nodes[i].Loop; l != nil && l.Self {
			own := &bounds[l.Target]
			own.Runs *= l.MaxIterations
			own.Items *= l.MaxIterations
			bounds[i].Runs, bounds[i].Items = own.Runs, own.Items
		}
	}
	for i := range g.Nodes {
		n, b := &g.Nodes[i], &bounds[i]
		b.Tries = b.Runs * max(1, n.Retry.MaxAttempts)
		if n.Body != nil {
			settle(n.Body, b.Body)
		}
	}
}

// byteSums gives, for each byte of a set of a batch's loops and each value of it, the further runs that its
// loops allow together: a stage below thousands of loops is summed up in a few steps.
func byteSums(g *plan.Graph, batch []int) *[8][256]int {
	var sums [8][256]int
	for k := range sums {
		for v := 1; v < 256; v++ {
			rest := v & (v - 1)
			sums[k][v] = sums[k][rest]
			if at := 8*k + bits.TrailingZeros8(uint8(v)); at < len(batch) {
				sums[k][v] += g.Nodes[batch[at]].Loop.MaxIterations - 1
			}
		}
	}
	return &sums
}

// spreading says, for a batch of at most 64 loops, by a bit for each, what they make run again.
type spreading struct {
	down  []uint64 // by node: the loops whose target it is, or needs
	up    []uint64 // by node: the loops whose source it is, or is needed by; all of those that rerun the whole
	own   []uint64 // by node: of the loops from item to item, those that make only its same item run again
	items uint64   // the loops of which there is one for each item

	loops  []int    // of the graph, all of them but those of stages with themselves
	selves []int    // the parts of stages that are looped with themselves
	before []uint64 // by node: the loops whose source it is, or needs
	behind []uint64 // by node: the loops whose source it is, or is needed by
}

func newSpreading(g *plan.Graph, order, loops []int) *spreading {
	n := len(g.Nodes)
	s := &spreading{
		loops: loops, before: make([]uint64, n), behind: make([]uint64, n),
		down: make([]uint64, n), up: make([]uint64, n), own: make([]uint64, n),
	}
	for _, i := range order {
		if l := g.Nodes[i].Loop; l != nil && l.Self {
			s.selves = append(s.selves, i)
		}
	}
	return s
}

// spread works out a batch.
func (s *spreading) spread(g *plan.Graph, order, batch []int) {
	clear(s.down)
	clear(s.up)
	clear(s.own)
	s.items = 0
	var whole uint64 // loops that run all again that stands downstream
	for k, from := range batch {
		l := g.Nodes[from].Loop
		bit := uint64(1) << uint(k)
		s.down[l.Target] |= bit
		if g.Nodes[from].ForEach != nil {
			s.items |= bit
			if t := &g.Nodes[l.Target]; t.ForEach != nil && t.When == nil { // one that is skipped has no items
				s.own[l.Target] |= bit
			}
		}
		if l.Rerun == plan.Path {
			s.up[from] |= bit
		} else {
			whole |= bit
		}
	}
	mixed, beside := s.mix(g, order, batch)
	whole |= mixed
	for _, i := range order {
		var above, other uint64 // of what it needs: the loops, and those of them that run all items of it again
		for _, n := range g.Nodes[i].Needs {
			above |= s.down[n] | beside[n]
			other |= s.down[n]&^s.own[n] | beside[n]
		}
		if g.Nodes[i].ForEach != nil {
			s.own[i] |= above & s.items
		}
		s.own[i] &^= other
		s.down[i] |= above
	}
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		for _, n := range g.Nodes[i].Needs {
			s.up[n] |= s.up[i]
		}
	}
	for i := range s.up {
		s.up[i] |= whole
	}
}

// mix adds to the loops of a batch with rerun: path what may run again when they are routed together with others:
// those that lead to other targets and whose sources neither need theirs nor are needed by them. It gives the
// loops that then run all again that stands downstream; and, by the part of a stage that is looped with itself, those
// that also run again what needs that stage, since they are routed with it.
func (s *spreading) mix(g *plan.Graph, order, batch []int) (whole uint64, beside map[int]uint64) {
	clear(s.before)
	clear(s.behind)
	var path, all uint64
	targets := map[int]uint64{}
	for k, from := range batch {
		bit := uint64(1) << uint(k)
		all |= bit
		s.before[from] |= bit
		s.behind[from] |= bit
		targets[g.Nodes[from].Loop.Target] |= bit
		if g.Nodes[from].Loop.Rerun == plan.Path {
			path |= bit
		}
	}
	if !s.anyPath(g) {
		return 0, nil
	}
	for _, i := range order {
		for _, n := range g.Nodes[i].Needs {
			s.before[i] |= s.before[n]
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		for _, n := range g.Nodes[order[k]].Needs {
			s.behind[n] |= s.behind[order[k]]
		}
	}
	for _, other := range s.loops {
		l := g.Nodes[other].Loop
		with := path &^ (s.before[other] | s.behind[other] | targets[l.Target])
		if l.Rerun == plan.Path {
			s.up[other] |= with
		} else {
			whole |= with
		}
	}
	beside = map[int]uint64{}
	for _, part := range s.selves {
		with := all &^ (s.before[part] | s.behind[part])
		for _, n := range g.Nodes[g.Nodes[part].Loop.Target].Needs { // the stage itself runs again by its own loop
			s.up[n] |= with & path
		}
		if g.Nodes[part].ForEach != nil { // but all items begin anew when it starts again as a whole
			s.up[g.Nodes[part].Loop.Target] |= with & path
		}
		beside[part] = with &^ (path &^ whole)
	}
	return whole, beside
}

// anyPath reports whether a loop runs again only what lies between its target and its source: then there may be
// stages downstream of others that ran again which did not.
func (s *spreading) anyPath(g *plan.Graph) bool {
	return slices.ContainsFunc(s.loops, func(i int) bool { return g.Nodes[i].Loop.Rerun == plan.Path })
}

// many is the number of runs of one stage from which a note says so.
const many = 10

var manyRuns = Rule{
	Code: "many-runs",
	Doc:  "A stage that its loops can run ten times or more: rounds of several loops add up.",
	Run: func(p *Pass) {
		const most = 5
		var found []string
		first := -1
		bounds := Bounds(&p.Plan.Graph)
		n := 0
		for i, b := range bounds {
			if b.Runs < many || p.stages[i].ID == nil {
				continue
			}
			if first < 0 {
				first = i
			}
			if n++; n <= most {
				found = append(found, fmt.Sprintf("%q %d", p.Plan.Graph.Nodes[i].ID, b.Runs))
			}
		}
		if first < 0 {
			return
		}
		if n > most {
			found = append(found, fmt.Sprintf("and %d more", n-most))
		}
		p.Report(diag.Diagnostic{
			Severity: diag.Note, Code: "many-runs", Span: p.stages[first].ID.Span,
			Message: "stages can run often before a person is asked: " + strings.Join(found, ", ") + " times",
			Help:    "each loop allows max_iterations - 1 further runs of its target and of what stands downstream, and verifiers and refine_loop multiply those of their stage; lower the caps where that is too much",
		})
	},
}
