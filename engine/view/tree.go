package view

import (
	"slices"
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// tree holds the stages and loops of a run: those of the plan, and the instances that came up.
type tree struct {
	plan   *plan.Plan
	stages []*stage
	byPath map[string]*stage
	sorted bool // false: an instance was added at the end of stages since they were last put in order
	loops  []*loop
	loopOf map[string]*loop // by source: a stage has one loop
}

// loop is a feedback loop: its counter, and what was last done or decided about it, "" before that.
type loop struct {
	feedback.Counter
	last string
}

func newTree(p *plan.Plan) tree {
	t := tree{plan: p, sorted: true,
		byPath: make(map[string]*stage, len(p.Graph.Nodes)), loopOf: make(map[string]*loop)}
	t.addGraph(&p.Graph, "", nil)
	return t
}

// addGraph adds the stages of a graph, and of the bodies that have no for_each: of those, how many
// instances there are is known only when they start.
func (t *tree) addGraph(g *plan.Graph, prefix string, order []int) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		s := t.add(prefix+n.ID, n, append(slices.Clip(order), i))
		if n.Loop != nil && n.ForEach == nil { // else each item has its own
			t.addLoop(s.path, prefix+g.Nodes[n.Loop.Target].ID, n.Loop.MaxIterations)
		}
		if n.Body != nil && n.ForEach == nil {
			t.addGraph(n.Body, s.path+"/", s.order)
		}
	}
	if g.Finally != nil { // its stages stand behind those of the graph
		for i := range g.Finally.Nodes {
			n := &g.Finally.Nodes[i]
			t.add(prefix+n.ID, n, append(slices.Clip(order), len(g.Nodes)+i))
		}
	}
}

func (t *tree) add(path string, n *plan.Node, order []int) *stage {
	s := &stage{path: path, node: n, order: order, status: step.Pending}
	t.stages = append(t.stages, s)
	t.byPath[path] = s
	return s
}

func (t *tree) addLoop(source, target string, limit int) *loop {
	pair := feedback.Pair{Source: source, Target: target}
	l := &loop{Counter: feedback.Counter{Pair: pair, Iteration: 1, Cap: limit}}
	t.loops = append(t.loops, l)
	t.loopOf[source] = l
	return l
}

// stage finds the stage with this path; an instance that the plan allows is added when it is first named,
// and so is a path that the plan does not know, at the end.
func (t *tree) stage(path string) *stage {
	if s, ok := t.byPath[path]; ok {
		return s
	}
	n, order := t.locate(path)
	t.sorted = false
	return t.add(path, n, order)
}

// locate finds the node of a path such as "a", "a[0]", "a/b" or "a[1]/b[2]", and its place.
func (t *tree) locate(path string) (*plan.Node, []int) {
	if s, ok := t.byPath[path]; ok {
		return s.node, s.order
	}
	base, item := splitIndex(path)
	if item >= 0 {
		n, order := t.locate(base)
		return n, append(slices.Clip(order), item)
	}
	cut := strings.LastIndexByte(path, '/')
	for range 2 { // the id of what verifies a stage has a "/" of its own
		if cut < 0 {
			break
		}
		if n, order := t.locate(path[:cut]); n != nil && n.Body != nil {
			if i := n.Body.Index(path[cut+1:]); i >= 0 {
				return &n.Body.Nodes[i], append(slices.Clip(order), i)
			}
			if f := n.Body.Finally; f != nil {
				if i := f.Index(path[cut+1:]); i >= 0 {
					return &f.Nodes[i], append(slices.Clip(order), len(n.Body.Nodes)+i)
				}
			}
		}
		cut = strings.LastIndexByte(path[:cut], '/')
	}
	return nil, []int{len(t.plan.Graph.Nodes) + len(t.stages)} // behind all that the plan names
}

// splitIndex splits "a/id[3]" into "a/id" and 3; without an index at its end it is -1.
func splitIndex(part string) (string, int) {
	open := strings.LastIndexByte(part, '[')
	if open < 0 || !strings.HasSuffix(part, "]") {
		return part, -1
	}
	n, err := strconv.Atoi(part[open+1 : len(part)-1])
	if err != nil || n < 0 {
		return part, -1
	}
	return part[:open], n
}

// loop finds a loop; one that the plan does not name (of an instance) is added.
func (t *tree) loop(source, target string) *loop {
	if l, ok := t.loopOf[source]; ok {
		return l
	}
	limit := 0
	if n, _ := t.locate(source); n != nil && n.Loop != nil {
		limit = n.Loop.MaxIterations
	}
	return t.addLoop(source, target, limit)
}

// inOrder compares stages by their place in the plan.
func inOrder(a, b *stage) int { return slices.Compare(a.order, b.order) }

// ordered gives the stages in the order of the plan; instances stand by their index.
func (t *tree) ordered() []*stage {
	if !t.sorted {
		slices.SortStableFunc(t.stages, inOrder)
		t.sorted = true
	}
	return t.stages
}
