package plan

// Index gives the index of the node with the given id, or -1. It looks at the nodes one by one; who asks
// often keeps a map of its own.
func (g *Graph) Index(id string) int {
	for i := range g.Nodes {
		if g.Nodes[i].ID == id {
			return i
		}
	}
	return -1
}

// Dependents gives, for each node, the indexes of the nodes that need it directly, ascending. All lists
// share one array, so that a graph of n nodes and e needs costs two allocations.
func (g *Graph) Dependents() [][]int {
	count := make([]int, len(g.Nodes))
	total := 0
	for i := range g.Nodes {
		for _, n := range g.Nodes[i].Needs {
			count[n]++
			total++
		}
	}
	all := make([]int, 0, total)
	out := make([][]int, len(g.Nodes))
	for i, c := range count {
		out[i] = all[len(all) : len(all) : len(all)+c]
		all = all[:len(all)+c]
	}
	for i := range g.Nodes {
		for _, n := range g.Nodes[i].Needs {
			out[n] = append(out[n], i)
		}
	}
	return out
}

// Order gives the indexes of the nodes so that each stands after all that it needs; nodes that could stand
// next to each other keep the order of the document. A graph with a cycle gives only the nodes that are
// neither in one nor behind one.
func (g *Graph) Order() []int {
	missing := make([]int, len(g.Nodes))
	var ready heap
	for i := range g.Nodes {
		missing[i] = len(g.Nodes[i].Needs)
		if missing[i] == 0 {
			ready.push(i)
		}
	}
	dependents := g.Dependents()
	order := make([]int, 0, len(g.Nodes))
	for len(ready) > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, d := range dependents[i] {
			if missing[d]--; missing[d] == 0 {
				ready.push(d)
			}
		}
	}
	return order
}

// heap is a binary heap of ints with the smallest on top.
type heap []int

func (h *heap) push(v int) {
	*h = append(*h, v)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up] <= s[i] {
			return
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *heap) pop() int {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	*h = s
	for i := 0; ; {
		low := 2*i + 1
		if low >= len(s) {
			return top
		}
		if low+1 < len(s) && s[low+1] < s[low] {
			low++
		}
		if s[i] <= s[low] {
			return top
		}
		s[i], s[low] = s[low], s[i]
		i = low
	}
}
