package check

import (
	"fmt"
	"iter"
	"slices"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
)

var unusedInput = Rule{
	Code: "unused-input",
	Doc:  "A declared input that no expression reads: a caller must give it, and nothing comes of it.",
	Run: func(p *Pass) {
		read := make(map[string]bool)
		for e := range exprs(p.Plan) {
			t, ok := e.Scope.Field(plan.ScopeInputs)
			if !ok {
				continue
			}
			for _, name := range t.FieldNames() {
				read[name] = true
			}
		}
		for _, in := range p.Doc.Inputs {
			if read[in.Name.Value] {
				continue
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Code: "unused-input", Span: in.Name.Span,
				Message: fmt.Sprintf("input %q is not read by any stage", in.Name.Value),
				Help:    fmt.Sprintf("read it as inputs.%s, for example in the env of a stage, or drop it", in.Name.Value),
			})
		}
	},
}

// exprs walks all expressions of a plan.
func exprs(p *plan.Plan) iter.Seq[*plan.Expr] {
	return func(yield func(*plan.Expr) bool) {
		nodes := p.Graph.Nodes
		if p.Graph.Finally != nil {
			nodes = slices.Concat(nodes, p.Graph.Finally.Nodes)
		}
		for i := range nodes {
			for e := range nodes[i].Exprs() {
				if !yield(e) {
					return
				}
			}
		}
		if p.Task != nil {
			for e := range p.Task.Exprs() {
				if !yield(e) {
					return
				}
			}
		}
		for i := range p.Graph.Outputs {
			for e := range p.Graph.Outputs[i].Value.Exprs() {
				if !yield(e) {
					return
				}
			}
		}
	}
}
