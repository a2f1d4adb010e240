// Package graph holds what compiling needs of graphs: which stages wait for all above them, where stages
// need each other in a circle, which needs others imply, and who runs before whom.
//
// Nodes are numbers, from 0 in the order of the document. Every answer costs what the graph is long, also
// where each of ten thousand stages waits for all above it; no table of all pairs is kept. What a node is,
// and what to say about it, is package compile's.
package graph

import "slices"

// Needs holds, by node, the nodes that it needs: ascending, without repeats.
type Needs [][]int

// Edge is a pair of nodes: From needs To, or is asked whether it does, directly or not.
type Edge struct{ From, To int }

// Sinks knows, of the nodes so far, those that none of them needs yet: who waits for all of these waits for
// all nodes so far. Each node joins and leaves them once.
type Sinks struct {
	order []int // by arrival; some have left
	in    map[int]bool
}

// All gives the sinks, ascending.
func (s *Sinks) All() []int {
	var out []int
	for _, n := range s.order {
		if s.in[n] {
			out = append(out, n)
		}
	}
	return out
}

// Add adds the next node, which needs the given ones.
func (s *Sinks) Add(node int, needs []int) {
	if s.in == nil {
		s.in = make(map[int]bool)
	}
	for _, n := range needs {
		delete(s.in, n)
	}
	s.in[node] = true
	s.order = append(s.order, node)
	if len(s.order) > 2*len(s.in)+16 {
		s.order = slices.DeleteFunc(s.order, func(n int) bool { return !s.in[n] })
	}
}

// BreakCycles takes the edge that closes a cycle out of n, for each cycle that it finds, and gives the
// cycles: each node needs the next and the last needs the first; the first stands foremost in the
// document.
func (n Needs) BreakCycles() [][]int {
	const (
		unseen = iota
		open   // on the path
		closed
	)
	var cycles [][]int
	state := make([]uint8, len(n))
	type frame struct{ node, next int }
	for root := range n {
		if state[root] != unseen {
			continue
		}
		path := []frame{{root, 0}}
		state[root] = open
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == len(n[top.node]) {
				state[top.node] = closed
				path = path[:len(path)-1]
				continue
			}
			need := n[top.node][top.next]
			switch state[need] {
			case open:
				from := slices.IndexFunc(path, func(f frame) bool { return f.node == need })
				cycle := make([]int, 0, len(path)-from)
				for _, f := range path[from:] {
					cycle = append(cycle, f.node)
				}
				first := slices.Index(cycle, slices.Min(cycle))
				cycles = append(cycles, slices.Concat(cycle[first:], cycle[:first]))
				n[top.node] = slices.Delete(n[top.node], top.next, top.next+1)
			case unseen:
				top.next++
				state[need] = open
				path = append(path, frame{need, 0})
			case closed:
				top.next++
			}
		}
	}
	return cycles
}

// Reduce gives the needs without those that another need of the same node implies. n has no cycles.
func (n Needs) Reduce() Needs {
	joins := make([][]int, len(n)) // by need: the nodes that have it beside others
	var targets []int
	for i, needs := range n {
		if len(needs) < 2 {
			continue
		}
		for _, t := range needs {
			if joins[t] == nil {
				targets = append(targets, t)
			}
			joins[t] = append(joins[t], i)
		}
	}
	implied := make(map[Edge]bool)
	all := make([]uint64, len(n)) // of a batch's targets, those above one of the node's needs
	n.reach(targets, func(batch []int, above []uint64) {
		for i, needs := range n {
			if len(needs) < 2 {
				continue
			}
			all[i] = 0
			for _, t := range needs {
				all[i] |= above[t]
			}
		}
		for k, t := range batch {
			for _, i := range joins[t] {
				if all[i]>>uint(k)&1 == 1 {
					implied[Edge{i, t}] = true
				}
			}
		}
	})
	out := make(Needs, len(n))
	for i, needs := range n {
		for _, t := range needs {
			if !implied[Edge{i, t}] {
				out[i] = append(out[i], t)
			}
		}
	}
	return out
}
