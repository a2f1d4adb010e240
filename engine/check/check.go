// Package check gives advice on a sound plan: what compiles and runs, but is likely not what its author
// means, or is worth knowing before a run.
//
// A rule looks at the plan and the document that it came from, and adds warnings and notes; it never adds
// an error, for that a run may not start is package compile's to say. Each rule stands in a file of its
// own and in the one list of Rules. Bounds says how often each stage can run at the most.
package check

import (
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// Rule is one piece of advice.
type Rule struct {
	Code diag.Code
	Doc  string // what it finds and why that matters, a sentence
	Run  func(*Pass)
}

// Pass is what a rule looks at. Node i of the plan's graph is stage i of the document.
type Pass struct {
	Plan   *plan.Plan
	Doc    *specs.Pipeline
	Report func(diag.Diagnostic)

	dependents [][]int // of the plan's graph
}

// Rules gives all rules, in the order in which they run.
func Rules() []Rule {
	return []Rule{
		unusedInput,
		constantCondition,
		uselessRetry,
		loopOfOne,
		findingsFail,
		lineWithoutFile,
		unreviewed,
		manyRuns,
		literalSecret,
		silentApproval,
	}
}

// Check runs all rules over a plan and the document that it was compiled from. A nil plan, or one of
// another document, gives no advice.
func Check(p *plan.Plan, doc *specs.Pipeline) diag.List {
	var diags diag.List
	if p == nil || doc == nil || len(p.Graph.Nodes) != len(doc.Stages) {
		return diags
	}
	pass := &Pass{
		Plan: p, Doc: doc, dependents: p.Graph.Dependents(),
		Report: func(d diag.Diagnostic) { diags.Add(d) },
	}
	for _, r := range Rules() {
		r.Run(pass)
	}
	return diags
}
