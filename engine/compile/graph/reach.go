package graph

// Before gives, of the pairs that are asked about, those where To runs before From. n has no cycles.
func (n Needs) Before(asked []Edge) map[Edge]bool {
	yes := make(map[Edge]bool, len(asked))
	askers := make([][]int, len(n)) // by target
	var targets []int
	for _, e := range asked {
		if askers[e.To] == nil {
			targets = append(targets, e.To)
		}
		askers[e.To] = append(askers[e.To], e.From)
	}
	n.reach(targets, func(batch []int, above []uint64) {
		for k, t := range batch {
			for _, from := range askers[t] {
				if above[from]>>uint(k)&1 == 1 {
					yes[Edge{from, t}] = true
				}
			}
		}
	})
	return yes
}

// RunsBefore answers for a single pair, where a mistake is explained.
func (n Needs) RunsBefore(first, then int) bool {
	seen := make([]bool, len(n))
	for todo := []int{then}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, t := range n[i] {
			if t == first {
				return true
			}
			if !seen[t] {
				seen[t] = true
				todo = append(todo, t)
			}
		}
	}
	return false
}

// reach takes the targets in batches of 64: above[i] has bit k set if the k-th target of the batch runs
// before node i. A batch costs one walk over the graph.
func (n Needs) reach(targets []int, visit func(batch []int, above []uint64)) {
	if len(targets) == 0 {
		return
	}
	order := n.order()
	above := make([]uint64, len(n))
	own := make([]uint64, len(n))
	for len(targets) > 0 {
		batch := targets[:min(64, len(targets))]
		targets = targets[len(batch):]
		for k, t := range batch {
			own[t] = 1 << uint(k)
		}
		for _, i := range order {
			var m uint64
			for _, t := range n[i] {
				m |= above[t] | own[t]
			}
			above[i] = m
		}
		visit(batch, above)
		for _, t := range batch {
			own[t] = 0
		}
	}
}

// order gives the nodes so that each stands after what it needs.
func (n Needs) order() []int {
	order := make([]int, 0, len(n))
	done := make([]bool, len(n))
	var path []int
	for root := range n {
		path = append(path[:0], root)
		for len(path) > 0 {
			i := path[len(path)-1]
			if done[i] {
				path = path[:len(path)-1]
				continue
			}
			waiting := false
			for _, t := range n[i] {
				if !done[t] {
					path = append(path, t)
					waiting = true
				}
			}
			if !waiting {
				done[i] = true
				order = append(order, i)
				path = path[:len(path)-1]
			}
		}
	}
	return order
}
