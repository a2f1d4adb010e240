package check

import (
	"fmt"
	"math/bits"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

// Bound is how often a stage can run at the most, as long as no person grants more.
type Bound struct {
	Runs  int // that end: 1, and max_iterations - 1 for each loop that makes it run again
	Tries int // with all that retry allows
}

// Bounds gives the bound of each node of a graph. Loops count together: each sends work back at the most
// max_iterations - 1 times in a run, and then its target and what stands downstream of it run again (with
// rerun: path, only what lies between target and source).
func Bounds(g *plan.Graph) []Bound {
	out := make([]Bound, len(g.Nodes))
	for i := range out {
		out[i].Runs = 1
	}
	var loops []int
	for i := range g.Nodes {
		if l := g.Nodes[i].Loop; l != nil && l.MaxIterations > 1 {
			loops = append(loops, i)
		}
	}
	order := g.Order()
	down := make([]uint64, len(g.Nodes)) // the loops of a batch whose target the node is, or needs
	up := make([]uint64, len(g.Nodes))   // the loops of a batch whose source the node is, or is needed by
	for len(loops) > 0 {
		batch := loops[:min(64, len(loops))]
		loops = loops[len(batch):]
		spread(g, order, batch, down, up)
		sums := byteSums(g, batch)
		for i := range g.Nodes {
			for k, m := 0, down[i]&up[i]; m != 0; k, m = k+1, m>>8 {
				out[i].Runs += sums[k][m&0xff]
			}
		}
	}
	for i := range out {
		out[i].Tries = out[i].Runs * max(1, g.Nodes[i].Retry.MaxAttempts)
	}
	return out
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

// spread fills down and up for a batch of at most 64 loops.
func spread(g *plan.Graph, order, batch []int, down, up []uint64) {
	clear(down)
	clear(up)
	var whole uint64 // loops that run all again that stands downstream
	for k, s := range batch {
		l := g.Nodes[s].Loop
		down[l.Target] |= 1 << uint(k)
		if l.Rerun == plan.Path {
			up[s] |= 1 << uint(k)
		} else {
			whole |= 1 << uint(k)
		}
	}
	for _, i := range order {
		for _, n := range g.Nodes[i].Needs {
			down[i] |= down[n]
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		for _, n := range g.Nodes[i].Needs {
			up[n] |= up[i]
		}
	}
	for i := range up {
		up[i] |= whole
	}
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
			if b.Runs < many || p.Doc.Stages[i].ID == nil {
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
			Severity: diag.Note, Code: "many-runs", Span: p.Doc.Stages[first].ID.Span,
			Message: "stages can run often before a person is asked: " + strings.Join(found, ", ") + " times",
			Help:    "each loop allows max_iterations - 1 further runs of its target and of what stands downstream; lower max_iterations where that is too much",
		})
	},
}
