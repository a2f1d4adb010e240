package machine

import (
	"math/bits"
	"slices"

	"example.com/pipe/engine/plan"
)

// graph is a plan's graph with what the machine asks of it often. It never changes.
type graph struct {
	*plan.Graph
	index      map[string]int // by id
	dependents [][]int
	order      []int         // each node after all that it needs
	sources    []int         // nodes with a loop, ascending
	below      map[int]set   // by target of a loop: all nodes that need it
	whole      map[int]set   // of those, the ones that run again as a whole when one item of a for_each does
	joins      map[int][]int // by source: all sources that a routing of one could ever concern, itself included, ascending
	itemwise   set           // sources all of whose joins stay within one item of a for_each
	verifiers  map[int]int   // by node: the one that verifies its work
	bodies     map[int]*graph
	final      *graph // what stands in finally; nil: nothing
	first      int    // the place of the first node among those of the graph and its finally
}

// set is a set of nodes: a bit for each, since a large plan has one for each target. The nil set is empty.
type set []uint64

func newSet(nodes int) set { return make(set, (nodes+63)/64) }

func (s set) has(n int) bool { return s != nil && s[n/64]&(1<<(n%64)) != 0 }

func (s set) add(n int) { s[n/64] |= 1 << (n % 64) }

func (s set) addAll(o set) {
	for k := range o {
		s[k] |= o[k]
	}
}

// and keeps of s what o has too.
func (s set) and(o set) {
	for k := range o {
		s[k] &= o[k]
	}
}

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
			if p.Nodes[n.Loop.Target].ForEach != nil {
				g.whole[n.Loop.Target] = g.wholeOf(g.below[n.Loop.Target])
			}
		}
	}
	if p.Finally != nil {
		g.final = newGraph(p.Finally)
		g.final.first = len(p.Nodes)
	}
	g.verifiers = verifiersOf(p)
	g.joinSources()
	return g
}

// joinSources parts the sources so that no routing of one concerns any of another part, whatever happens.
func (g *graph) joinSources() {
	first := make(map[int]int, len(g.sources)) // by source: an earlier one of its part, or itself
	var find func(n int) int
	find = func(n int) int {
		if first[n] != n {
			first[n] = find(first[n])
		}
		return first[n]
	}
	isSource, byTarget := newSet(len(g.Nodes)), map[int][]int{}
	for _, n := range g.sources {
		first[n] = n
		isSource.add(n)
		t := g.Nodes[n].Loop.Target
		byTarget[t] = append(byTarget[t], n)
	}
	for _, n := range g.sources {
		t := g.Nodes[n].Loop.Target
		if byTarget[t][0] != n {
			first[find(n)] = find(byTarget[t][0])
			continue
		}
		below := g.below[t]
		for k := range below {
			for word := below[k]; word != 0; word &= word - 1 {
				b := k*64 + bits.TrailingZeros64(word)
				if isSource.has(b) {
					first[find(b)] = find(n)
				}
				if to := byTarget[b]; to != nil {
					first[find(to[0])] = find(n)
				}
			}
		}
	}
	parts := map[int][]int{}
	for _, n := range g.sources {
		parts[find(n)] = append(parts[find(n)], n)
	}
	g.joins = make(map[int][]int, len(g.sources))
	g.itemwise = newSet(len(g.Nodes))
	for _, part := range parts {
		itemwise := g.isItemwise(part)
		for _, n := range part {
			if g.joins[n] = part; itemwise {
				g.itemwise.add(n)
			}
		}
	}
}

// isItemwise reports whether none of the sources that could be routed together concerns more than one item of a for_each.
func (g *graph) isItemwise(part []int) bool {
	return !slices.ContainsFunc(part, func(n int) bool {
		t := g.Nodes[n].Loop.Target
		return g.Nodes[n].ForEach == nil || g.Nodes[t].ForEach == nil || slices.ContainsFunc(part, g.whole[t].has)
	})
}

// downstream gives all nodes that need n, directly or not.
func (g *graph) downstream(n int) set {
	out := newSet(len(g.Nodes))
	queue := []int{n}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range g.dependents[at] {
			if !out.has(d) {
				out.add(d)
				queue = append(queue, d)
			}
		}
	}
	return out
}

// wholeOf gives those of the nodes below a for_each that do not run item by item beside it: they are no
// for_each, or need one that is not.
func (g *graph) wholeOf(below set) set {
	out := newSet(len(g.Nodes))
	for _, n := range g.order {
		node := &g.Nodes[n]
		if below.has(n) && (node.ForEach == nil || slices.ContainsFunc(node.Needs, out.has)) {
			out.add(n)
		}
	}
	return out
}

// upstream gives all nodes that n needs, directly or not.
func (g *graph) upstream(n int) set {
	out := newSet(len(g.Nodes))
	queue := []int{n}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, d := range g.Nodes[at].Needs {
			if !out.has(d) {
				out.add(d)
				queue = append(queue, d)
			}
		}
	}
	return out
}
