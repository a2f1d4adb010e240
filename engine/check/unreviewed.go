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
			if l == nil || l.Rerun != plan.Path || l.Self {
				continue
			}
			left := stays(p, i, l.Target)
			if len(left) == 0 {
				continue
			}
			at := p.stages[i].Loop.Span
			if r := p.stages[i].Loop.Rerun; r != nil {
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

// stays gives the stages that have run when the source sends work back to the target, need the target, and do not
// run again on a path to the source. What needs the source itself has not run: it waits for the loop to settle.
func stays(p *Pass, source, target int) []int {
	nodes := p.Plan.Graph.Nodes
	down := after(p, target)
	for i, waits := range after(p, source) {
		down[i] = down[i] && !waits
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

// after says of each stage whether it needs the given one, directly or not.
func after(p *Pass, stage int) []bool {
	out := make([]bool, len(p.Plan.Graph.Nodes))
	for todo := []int{stage}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, d := range p.dependents[i] {
			if !out[d] {
				out[d] = true
				todo = append(todo, d)
			}
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
