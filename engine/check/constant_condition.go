package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

var constantCondition = Rule{
	Code: "constant-condition",
	Doc:  "A condition that reads nothing always has the same answer, so it decides nothing.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n := &p.Plan.Graph.Nodes[i]
			syn := p.stages[i]
			if n.When != nil && syn.When != nil {
				if yes, ok := constant(n.When); ok {
					d := diag.Diagnostic{Severity: diag.Warning, Code: "constant-condition", Span: syn.When.Span}
					d.Message, d.Help = fmt.Sprintf("stage %q is always skipped", n.ID), "test an input or another stage, or drop the stage"
					if yes {
						d.Message, d.Help = fmt.Sprintf("stage %q always starts, whatever when says", n.ID), "test an input or another stage, or drop when"
					}
					p.Report(d)
				}
			}
			for _, cs := range [][]plan.Check{n.PreChecks, n.PostChecks} {
				for k := range cs { // of those of a contract it is said where the contract is compiled
					if cs[k].Contract == "" {
						constantCheck(p, n.ID, &cs[k])
					}
				}
			}
		}
	},
}

func constantCheck(p *Pass, stage string, c *plan.Check) {
	yes, ok := constant(&c.Validation)
	if !ok {
		return
	}
	answer := "never holds, so the stage always fails"
	if yes {
		answer = "always holds"
	}
	at := source.Span{File: p.Plan.File, Start: c.Validation.At, End: c.Validation.At}
	at.End.Col += len([]rune(c.Validation.Source))
	p.Report(diag.Diagnostic{
		Severity: diag.Warning, Code: "constant-condition", Span: at,
		Message: fmt.Sprintf("this check of stage %q %s", stage, answer),
		Help:    "a check reads something, such as outputs.NAME",
	})
}

// constant gives the value of a condition that reads nothing.
func constant(e *plan.Expr) (yes, ok bool) {
	if len(e.Scope.Fields) > 0 {
		return false, false
	}
	compile := expr.Compile
	if e.Language == plan.CELLanguage {
		compile = expr.CompileCEL
	}
	prog, _ := compile(source.NewScalar(e.Source, source.Span{}, nil), value.ObjectOf(), e.Type)
	if prog == nil {
		return false, false
	}
	v, err := prog.Eval(value.NewObject())
	if err != nil {
		return false, false
	}
	yes, ok = v.(bool)
	return yes, ok
}
