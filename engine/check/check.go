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

// Pass is what a rule looks at.
type Pass struct {
	Plan   *plan.Plan
	Doc    *specs.Pipeline
	Report func(diag.Diagnostic)

	stages     []*specs.Stage // by node of the plan's graph; of the verifiers of a stage one that says nothing
	dependents [][]int        // of the plan's graph
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
		lateRatchet,
		manyRuns,
		literalSecret,
		silentApproval,
	}
}

// Check runs all rules over a plan and the document that it was compiled from. A nil plan, or one of
// another document, gives no advice.
func Check(p *plan.Plan, doc *specs.Pipeline) diag.List {
	var diags diag.List
	if p == nil || doc == nil {
		return diags
	}
	stages, ok := stagesOf(&p.Graph, doc)
	if !ok {
		return diags
	}
	pass := &Pass{
		Plan: p, Doc: doc, stages: stages, dependents: p.Graph.Dependents(),
		Report: func(d diag.Diagnostic) { diags.Add(d) },
	}
	for _, r := range Rules() {
		r.Run(pass)
	}
	return diags
}

// stagesOf gives the stages of a document by the nodes of its plan. False: it is the plan of another document.
func stagesOf(g *plan.Graph, doc *specs.Pipeline) ([]*specs.Stage, bool) {
	out := make([]*specs.Stage, 0, len(g.Nodes))
	next := 0
	for i := range g.Nodes {
		if isPart(&g.Nodes[i]) && i > 0 {
			part := &specs.Stage{Span: out[i-1].Span}
			if l := out[i-1].Refine; l != nil && l.Validate != nil {
				part = l.Validate
			}
			out = append(out, part)
			continue
		}
		if next == len(doc.Stages) {
			return nil, false
		}
		out = append(out, doc.Stages[next])
		next++
	}
	return out, next == len(doc.Stages)
}

// isPart reports whether a node is the part of a stage that looks at what the stage did.
func isPart(n *plan.Node) bool { return n.Loop != nil && n.Loop.Self }
