package check

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

var unreviewed = Rule{
	Code: "unreviewed",
	Doc:  "With rerun: path, what else stands downstream of the target has not seen its new work.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			l := p.Plan.Graph.Nodes[i].Loop
			if l == nil || l.Rerun != plan.Path {
				continue
			}
			left := stays(p, i, l.Target)
			if len(left) == 0 {
				continue
			}
			at := p.Doc.Stages[i].Loop.Span
			if r := p.Doc.Stages[i].Loop.Rerun; r != nil {
				at = r.Span
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Code: "unreviewed", Span: at,
				Message: fmt.Sprintf("when %q runs again, these do not, and have only seen its earlier work: %s",
					p.Plan.Graph.Nodes[l.Target].ID, names(p.Plan, left)),
				Help: "rerun: downstream, the default, runs them again too",
			})
		}
	},
}

// stays gives the stages that need the target, and do not run again on a path to the source.
func stays(p *Pass, source, target int) []int {
	nodes := p.Plan.Graph.Nodes
	down := make([]bool, len(nodes))
	for todo := []int{target}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, d := range p.dependents[i] {
			if !down[d] {
				down[d] = true
				todo = append(todo, d)
			}
		}
	}
	down[source] = false
	for todo := []int{source}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range nodes[i].Needs {
			if down[n] {
				down[n] = false
				todo = append(todo, n)
			}
		}
	}
	var out []int
	for i, yes := range down {
		if yes {
			out = append(out, i)
		}
	}
	return out
}

// names lists the ids of stages in a message.
func names(p *plan.Plan, stages []int) string {
	const most = 8
	ids := make([]string, 0, most)
	for _, i := range stages[:min(len(stages), most)] {
		ids = append(ids, fmt.Sprintf("%q", p.Graph.Nodes[i].ID))
	}
	s := strings.Join(ids, ", ")
	if len(stages) > most {
		s += fmt.Sprintf(" and %d more", len(stages)-most)
	}
	return s
}
