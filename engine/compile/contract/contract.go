// Package contract compiles contracts: schemas and checks that hold for every stage that names one, and those that
// hold at every routing.
//
// The checks of a contract see its inputs and outputs by their bare names, with the types that it declares, whatever
// stage it holds for; those of the contract of routings see what the machine gives at a routing. What a stage must do to
// keep one is package compile's.
package contract

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Code is the code of what is wrong with a contract, or with the stage that names it.
const Code diag.Code = "contract"

// ForRoutings is the name of the contract that holds at every routing of a feedback loop. The program comes with one; a
// project may have its own.
const ForRoutings = "cross-stage-feedback"

// Contract is a compiled contract.
type Contract struct {
	Name            string
	Doc             *specs.Contract
	Inputs, Outputs []plan.Param
	Pre, Post       []plan.Check
}

// Check says what is wrong with a contract beyond its shape. The name is the one by which stages know
// it, the file's.
func Check(name string, doc *specs.Contract) diag.List {
	var diags diag.List
	Compile(name, doc, &diags)
	if name == ForRoutings {
		Routing(doc, &diags)
	}
	return diags
}

// Compile compiles a contract against what it declares.
func Compile(name string, doc *specs.Contract, diags *diag.List) *Contract {
	ct := &Contract{Name: name, Doc: doc}
	fixed.PlainText(diags, doc.Description)
	ct.Inputs = schemaParams(diags, doc.Inputs, "input")
	ct.Outputs = schemaParams(diags, doc.Outputs, "output")
	inputs, outputs := fixed.ParamsType(ct.Inputs), fixed.ParamsType(ct.Outputs)
	both := value.ObjectOf(slices.Concat(inputs.Fields, outputs.Fields)...)
	ct.Pre = checks(name, doc.PreChecks, scope.NewBare(inputs, outputs.FieldNames()), diags)
	ct.Post = checks(name, doc.PostChecks, scope.NewBare(both, nil), diags)
	return ct
}

// schemaParams compiles the entries of a schema. What is optional and has no default may be null.
func schemaParams(diags *diag.List, s *specs.Schema, what string) []plan.Param {
	if s == nil {
		return nil
	}
	out := append(fixed.Params(diags, s.Required, what), fixed.Params(diags, s.Optional, what)...)
	for i := len(s.Required); i < len(out); i++ {
		out[i].Required = false
	}
	return out
}

// checks compiles a list of checks.
func checks(name string, cs []*specs.Check, sc *scope.Bare, diags *diag.List) []plan.Check {
	var out []plan.Check
	for _, ck := range cs {
		if ck.Validation == nil {
			continue
		}
		e := sc.Condition(ck.Validation, diags)
		if e == nil {
			continue
		}
		p := plan.Check{Description: e.Source, Validation: *e, Contract: name}
		if ck.Description != nil {
			fixed.PlainText(diags, ck.Description)
			p.Description = ck.Description.Value
		}
		out = append(out, p)
	}
	return out
}

// Declared is where the contract declares a name.
func (ct *Contract) Declared(name string) []diag.Related {
	for _, s := range []*specs.Schema{ct.Doc.Inputs, ct.Doc.Outputs} {
		if s == nil {
			continue
		}
		for _, p := range slices.Concat(s.Required, s.Optional) {
			if p.Name.Value == name {
				return []diag.Related{{Span: p.Name.Span, Message: "the contract declares it here"}}
			}
		}
	}
	return nil
}

// Routing compiles a contract against what the machine gives at a routing. It may declare less of that,
// and nothing else.
func Routing(doc *specs.Contract, diags *diag.List) *plan.Contract {
	var found diag.List
	before := routingFields(doc.Inputs, scope.RoutingInputs(), "input", diags)
	after := routingFields(doc.Outputs, scope.RoutingOutputs(), "output", diags)
	in, out := value.ObjectOf(before...), value.ObjectOf(after...)
	both := value.ObjectOf(slices.Concat(before, after)...)
	ct := &plan.Contract{
		Name:       ForRoutings,
		PreChecks:  checks(ForRoutings, doc.PreChecks, scope.NewBare(in, out.FieldNames()), &found),
		PostChecks: checks(ForRoutings, doc.PostChecks, scope.NewBare(both, nil), &found),
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
			d := diags.Errorf(Code, p.Name.Span, "a routing has no %s %q", what, p.Name.Value)
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
			diags.Errorf(Code, p.Name.Span, "%s %q of a routing may be missing", what, p.Name.Value).Help = "declare it under optional"
		default:
			diags.Errorf(Code, p.Name.Span, "%s %q of a routing is %s, not %s", what, p.Name.Value, fixed.TypeName(t), fixed.TypeName(want))
		}
		out = append(out, value.FieldType{Name: p.Name.Value, Type: t})
	}
	return out
}
