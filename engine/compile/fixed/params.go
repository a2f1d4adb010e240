package fixed

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Params compiles declared inputs or outputs; what says which of them, for messages.
func Params(diags *diag.List, ps []*specs.Param, what string) []plan.Param {
	if len(ps) == 0 {
		return nil
	}
	out := make([]plan.Param, 0, len(ps))
	for _, p := range ps {
		out = append(out, param(diags, p, what))
	}
	return out
}

func param(diags *diag.List, p *specs.Param, what string) plan.Param {
	out := plan.Param{Name: p.Name.Value, At: p.Name.Span.Start, Required: p.Default == nil}
	if p.Description != nil {
		out.Description = p.Description.Value
	}
	out.Type = ParamType(diags, p)
	if p.Required != nil {
		out.Required = p.Required.Value
		if p.Required.Value && p.Default != nil {
			d := diags.Errorf(CodeDefault, p.Required.Span, "%s %q is required, so its default is never used", what, p.Name.Value)
			d.Help = "drop required, or drop default"
		}
	}
	if p.Default != nil {
		var ok bool
		if out.Default, ok = paramDefault(diags, p, out.Type, what); !ok {
			out.Required = true // it is there, with a value that was reported
		}
	}
	return out
}

// ParamType gives the declared type of a param. A type that specs reported as wrong is any.
func ParamType(diags *diag.List, p *specs.Param) value.Type {
	switch {
	case len(p.Enum) > 0:
		return enum(diags, p.Enum)
	case p.Type == nil:
		return value.Of(value.Any)
	case p.Items != nil:
		return value.ListOf(typeWord(p.Items.Value))
	}
	return typeWord(p.Type.Value)
}

func enum(diags *diag.List, words []specs.Leaf[string]) value.Type {
	list := make([]string, 0, len(words))
	for _, w := range words {
		if k := slices.Index(list, w.Value); k >= 0 {
			d := diags.Warnf(CodeType, w.Span, "%q stands twice in enum", w.Value)
			d.Related = []diag.Related{{Span: words[k].Span, Message: "the first one is here"}}
			continue
		}
		list = append(list, w.Value)
	}
	return value.OneOf(list...)
}

// typeWord reads a type as documents write it; specs has reported what is none.
func typeWord(word string) value.Type {
	if elem, ok := strings.CutSuffix(word, "[]"); ok {
		return value.ListOf(typeWord(elem))
	}
	switch word {
	case "string":
		return value.Of(value.String)
	case "integer":
		return value.Of(value.Int)
	case "number":
		return value.Of(value.Number)
	case "boolean":
		return value.Of(value.Bool)
	case "object":
		return value.Of(value.ObjectKind)
	case "array":
		return value.Of(value.ListKind)
	}
	return value.Of(value.Any)
}

// paramDefault gives the value of a default, which must be of the param's type.
func paramDefault(diags *diag.List, p *specs.Param, t value.Type, what string) (value.Value, bool) {
	v, ok := constant(diags, p.Default, "a default")
	if !ok {
		return nil, false
	}
	if err := t.Check(v); err != nil {
		d := diags.Errorf(CodeDefault, p.Default.Span, "the default of %s %q does not fit: %v", what, p.Name.Value, err)
		if len(t.Enum) > 0 {
			d.Help = "it may be " + strings.Join(t.Enum, ", ")
			if s, isString := v.(string); isString {
				if near := diag.Suggest(s, t.Enum); near != "" {
					d.Help = near
				}
			}
		}
		return nil, false
	}
	return v, true
}

// constant gives the value of data that holds no expressions.
func constant(diags *diag.List, d *specs.Data, what string) (value.Value, bool) {
	if d == nil {
		return nil, false
	}
	switch d.Kind {
	case specs.ScalarData:
		if d.Scalar == nil {
			return nil, false
		}
		if expr.HasExpr(d.Scalar.Text) {
			diags.Errorf(scope.CodeTemplateHere, d.Span, "%s is a plain value, ${{ }} is not evaluated in it", what)
			return nil, false
		}
		return d.Scalar.Text, true
	case specs.ValueData:
		return d.Value, true
	case specs.MappingData:
		o := value.NewObject()
		ok := true
		for _, e := range d.Fields {
			v, fine := constant(diags, e.Value, what)
			ok = ok && fine
			o.Set(e.Name.Value, v)
		}
		return o, ok
	case specs.SequenceData:
		list := make(value.List, 0, len(d.Items))
		ok := true
		for _, it := range d.Items {
			v, fine := constant(diags, it, what)
			ok = ok && fine
			list = append(list, v)
		}
		return list, ok
	case specs.CELData, specs.UnknownData:
	}
	return nil, false
}

// ParamsType gives the type of an object of the params: those that need not be there may be null.
func ParamsType(ps []plan.Param) value.Type {
	fields := make([]value.FieldType, len(ps))
	for i, p := range ps {
		t := p.Type
		if !p.Required && p.Default == nil {
			t = t.OrNull()
		}
		fields[i] = value.FieldType{Name: p.Name, Type: t}
	}
	return value.ObjectOf(fields...)
}

// PlainText warns of ${{ }} in a text for people, where it is shown as it stands.
func PlainText(diags *diag.List, l *specs.Leaf[string]) {
	if l != nil && expr.HasExpr(l.Value) {
		d := diags.Warnf(scope.CodeTemplateHere, l.Span, "${{ }} is not evaluated in description")
		d.Help = "people see it as it stands; write the sentence without it"
	}
}

// Unevaluated reports ${{ }} in a place where it is plain text.
func Unevaluated(diags *diag.List, l *specs.Leaf[string], key string) {
	if l != nil && expr.HasExpr(l.Value) {
		d := diags.Errorf(scope.CodeTemplateHere, l.Span, "${{ }} is not evaluated in %s", key)
		d.Help = fmt.Sprintf("it works in inputs, outputs, env, with, prompt, dir, allowed_paths and an approval's message; %s must be known before the run", key)
	}
}
