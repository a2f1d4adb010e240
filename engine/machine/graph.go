package machine

import (
	"slices"

	"example.com/pipe/engine/plan"
)

// graph is a plan's graph with what the machine asks of it often. It never changes.
type graph struct {
	*plan.Graph
	index      map[string]int // by id
	dependents [][]int
	order      []int       // each node after all that it needs
	sources    []int       // nodes with a loop, ascending
	below      map[int]set // by target of a loop: all nodes that need it
	whole      map[int]set // of those, the ones that run again as a whole when one item of the target does
	bodies     map[int]*graph
}

// set is a set of nodes.
type set []bool

func (s set) has(n int) bool { return s != nil && s[n] }

func newGraph(p *plan.Graph) *graph {
	g := &graph{Graph: p, index: make(map[string]int, len(p.Nodes)), dependents: p.Dependents(), order: p.Order(), below: map[int]set{}, whole: map[int]set{}, bodies: map[int]*graph{}}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		g.index[n.ID] = i
		if n.Body != nil {
			g.bodies[i] = newGraph(n.Body)
		}
		if n.Loop == nil {
			continue
		}
		g.sources = append(g.sources, i)
		if g.below[n.Loop.Target] == nil {
			g.below[n.Loop.Target] = g.downstream(n.Loop.Target)
			g.whole[n.Loop.Target] = g.wholeOf(g.below[n.Loop.Target])
		}
	}
	return g
}

// downstream gives all nodes that need n, directly or not.
func (g *graph) downstream(n int) set {
	out := make(set, len(g.Nodes))
	queue := []int{n}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range g.dependents[at] {
			if !out[d] {
				out[d] = true
				queue = append(queue, d)
			}
		}
	}
	return out
}

// wholeOf gives those of the nodes below a for_each that do not run item by item beside it: they are no
// for_each, or need one that is not.
func (g *graph) wholeOf(below set) set {
	out := make(set, len(g.Nodes))
	for _, n := range g.order {
		node := &g.Nodes[n]
		out[n] = below[n] && (node.ForEach == nil || slices.ContainsFunc(node.Needs, out.has))
	}
	return out
}

// upstream gives all nodes that n needs, directly or not.
func (g *graph) upstream(n int) set {
	out := make(set, len(g.Nodes))
	queue := []int{n}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range g.Nodes[at].Needs {
			if !out[d] {
				out[d] = true
				queue = append(queue, d)
			}
		}
	}
	return out
}
