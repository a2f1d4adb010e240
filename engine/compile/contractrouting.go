package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// RoutingContract is the name of the contract that holds at every routing of a feedback loop. The program comes
// with one; a project may have its own.
const RoutingContract = "cross-stage-feedback"

// routing compiles the contract of routings, for a pipeline in which there are any.
func (c *compiler) routing(g *plan.Graph) *plan.Contract {
	if c.opt.Contracts == nil || !hasLoop(g, map[*plan.Node]bool{}) {
		return nil
	}
	doc, err := c.contractDoc(RoutingContract)
	if err != nil {
		c.diags.Errorf(CodeContract, c.firstLoop(), "the contract %q, which holds at every routing: %v", RoutingContract, err)
		return nil
	}
	if doc == nil {
		return nil
	}
	compileContract(RoutingContract, doc, &c.diags)
	return routingContract(doc, &c.diags)
}

// firstLoop is where the first loop of the document is written.
func (c *compiler) firstLoop() source.Span {
	for _, s := range c.stages {
		if s.syn.Loop != nil {
			return s.syn.Loop.Span
		}
	}
	return source.Span{File: c.file}
}

// hasLoop reports whether a graph, or one inside of it, sends work back for what a review found. Stages that run
// the same pipeline share its nodes: seen holds the first ones of the graphs that were looked at.
func hasLoop(g *plan.Graph, seen map[*plan.Node]bool) bool {
	if len(g.Nodes) == 0 || seen[&g.Nodes[0]] {
		return false
	}
	seen[&g.Nodes[0]] = true
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Loop != nil && !n.Loop.OnReject || n.Body != nil && hasLoop(n.Body, seen) {
			return true
		}
	}
	return false
}

// routingContract compiles a contract against what the machine gives at a routing. It may declare less of that,
// and nothing else.
func routingContract(doc *specs.Contract, diags *diag.List) *plan.Contract {
	var found diag.List
	before := routingFields(doc.Inputs, scope.RoutingInputs(), "input", diags)
	after := routingFields(doc.Outputs, scope.RoutingOutputs(), "output", diags)
	in, out := value.ObjectOf(before...), value.ObjectOf(after...)
	both := value.ObjectOf(slices.Concat(before, after)...)
	ct := &plan.Contract{
		Name:       RoutingContract,
		PreChecks:  contractChecks(RoutingContract, doc.PreChecks, scope.NewBare(in, out.FieldNames()), &found),
		PostChecks: contractChecks(RoutingContract, doc.PostChecks, scope.NewBare(both, nil), &found),
	}
	for _, d := range found {
		if d.Severity == diag.Error { // what is only odd is so by the types that the contract declares
			diags.Add(d)
		}
	}
	return ct
}

// routingFields gives what a schema declares of what a routing gives, with the types that it is given with.
func routingFields(s *specs.Schema, given value.Type, what string, diags *diag.List) []value.FieldType {
	if s == nil {
		return nil
	}
	var out []value.FieldType
	var ignored diag.List // of the types, which the contract's own compilation reports
	for i, p := range slices.Concat(s.Required, s.Optional) {
		t, known := given.Field(p.Name.Value)
		if !known {
			d := diags.Errorf(CodeContract, p.Name.Span, "a routing has no %s %q", what, p.Name.Value)
			if d.Help = diag.Suggest(p.Name.Value, given.FieldNames()); d.Help == "" {
				d.Help = fmt.Sprintf("the %ss of a routing are %s", what, strings.Join(given.FieldNames(), ", "))
			}
			continue
		}
		want := fixed.ParamType(&ignored, p)
		if i >= len(s.Required) && p.Default == nil {
			want = want.OrNull()
		}
		switch {
		case value.Assignable(t, want):
		case value.Assignable(t.NotNull(), want):
			diags.Errorf(CodeContract, p.Name.Span, "%s %q of a routing may be missing", what, p.Name.Value).Help = "declare it under optional"
		default:
			diags.Errorf(CodeContract, p.Name.Span, "%s %q of a routing is %s, not %s", what, p.Name.Value, typeOf(t), typeOf(want))
		}
		out = append(out, value.FieldType{Name: p.Name.Value, Type: t})
	}
	return out
}
