package attempts

import (
	"strings"

	"example.com/pipe/engine/plan"
)

// Pairs knows which stages are looped with themselves: refined, or verified. Each is a pair of nodes, the stage (the
// target of the loop) and what looks at its work (the source), and so is each instance of it.
type Pairs struct {
	bySource, byTarget map[string]*pair // by paths without indexes; only looked up
	refined            bool             // one of them is a refine loop
}

type pair struct {
	source, target string // ids
	max            int
	refine         *plan.Refine // nil: verifiers
	each           bool         // it stands for all items of a list
}

// NewPairs finds the loops of a graph, and of those inside it.
func NewPairs(g *plan.Graph) *Pairs {
	p := &Pairs{bySource: map[string]*pair{}, byTarget: map[string]*pair{}}
	p.find(g, "")
	return p
}

func (p *Pairs) find(g *plan.Graph, prefix string) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Loop != nil && n.Loop.Self {
			l := &pair{n.ID, g.Nodes[n.Loop.Target].ID, n.Loop.MaxIterations, n.Refine, n.ForEach != nil}
			p.bySource[prefix+l.source], p.byTarget[prefix+l.target] = l, l
			p.refined = p.refined || n.Refine != nil
		}
		if n.Body != nil {
			p.find(n.Body, prefix+n.ID+"/")
		}
	}
}

// Source gives the path of what looks at the work of the stage with this path, and whether anything does.
func (p *Pairs) Source(target string) (string, bool) {
	l, ok := p.byTarget[plain(target)]
	if !ok {
		return "", false
	}
	return other(target, l.target, l.source), true
}

// Target gives the path of the stage at whose work the one with this path looks, and whether it looks at any.
func (p *Pairs) Target(source string) (string, bool) {
	l, ok := p.bySource[plain(source)]
	if !ok {
		return "", false
	}
	return other(source, l.source, l.target), true
}

// isRefined reports whether the stage with this path is the validation of a refine loop.
func (p *Pairs) isRefined(source string) bool {
	l, ok := p.bySource[plain(source)]
	return ok && l.refine != nil
}

// isGroup reports whether a path of a pair stands for all items of a list.
func (l *pair) isGroup(path string) bool { return l.each && !strings.HasSuffix(path, "]") }

// other gives the path of the other half of a pair: in the same frame, for the same item.
func other(path, from, to string) string {
	index := ""
	if at := strings.LastIndexByte(path, '['); at > strings.LastIndexByte(path, '/') {
		path, index = path[:at], path[at:]
	}
	return strings.TrimSuffix(path, from) + to + index
}

// plain is a path without the indexes of items: "a/b" for "a[1]/b[0]".
func plain(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], "[")
	}
	return strings.Join(parts, "/")
}
