package compile

// reach says which stages run before which, for many targets at a time. It takes the targets in batches
// of 64: above[i] has bit k set if the k-th target of the batch runs before stage i. A batch costs one walk
// over the graph, so that all pairs of ten thousand stages cost less than reading their document, and no
// table of all pairs is kept.
func (c *compiler) reach(targets []int, visit func(batch []int, above []uint64)) {
	if len(targets) == 0 {
		return
	}
	order := c.order()
	above := make([]uint64, len(c.stages))
	own := make([]uint64, len(c.stages))
	for len(targets) > 0 {
		batch := targets[:min(64, len(targets))]
		targets = targets[len(batch):]
		for k, t := range batch {
			own[t] = 1 << uint(k)
		}
		for _, i := range order {
			var m uint64
			for _, n := range c.stages[i].needs {
				m |= above[n] | own[n]
			}
			above[i] = m
		}
		visit(batch, above)
		for _, t := range batch {
			own[t] = 0
		}
	}
}

// order gives the stages so that each stands after its needs.
func (c *compiler) order() []int {
	order := make([]int, 0, len(c.stages))
	done := make([]bool, len(c.stages))
	var path []int
	for root := range c.stages {
		path = append(path[:0], root)
		for len(path) > 0 {
			i := path[len(path)-1]
			if done[i] {
				path = path[:len(path)-1]
				continue
			}
			waiting := false
			for _, n := range c.stages[i].needs {
				if !done[n] {
					path = append(path, n)
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

// ask answers, for all stages at once, which of the stages they speak of run before them.
func (c *compiler) ask() {
	c.before = make(map[edge]bool)
	var targets []int
	asked := make([]bool, len(c.stages))
	question := func(from, to int) {
		s := c.stages[from]
		if s.allAbove && to < from {
			c.before[edge{from, to}] = true
			return
		}
		for _, n := range s.needs {
			if n == to {
				c.before[edge{from, to}] = true
				return
			}
		}
		c.before[edge{from, to}] = false
		if !asked[to] {
			asked[to] = true
			targets = append(targets, to)
		}
	}
	for i, s := range c.stages {
		if t := s.node.Loop; t != nil && t.Target >= 0 {
			question(i, t.Target)
		}
		c.eachText(s, func(text string) {
			for _, m := range scanMentions(text) {
				if t, ok := c.index[c.meant(m)]; ok {
					question(i, t)
				}
			}
		})
	}
	askers := make([][]int, len(c.stages)) // by target; the order is of no matter, each is answered for itself
	for e, yes := range c.before {
		if !yes {
			askers[e.to] = append(askers[e.to], e.from)
		}
	}
	c.reach(targets, func(batch []int, above []uint64) {
		for k, t := range batch {
			for _, from := range askers[t] {
				if above[from]>>uint(k)&1 == 1 {
					c.before[edge{from, t}] = true
				}
			}
		}
	})
}

// runsBefore answers for one pair, where a mistake is explained.
func (c *compiler) runsBefore(first, then int) bool {
	seen := make([]bool, len(c.stages))
	for todo := []int{then}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range c.stages[i].needs {
			if n == first {
				return true
			}
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return false
}
