package scope

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Expression compiles a bare expression, which must give a value of type want. Nil: it was reported as
// wrong.
func (t *Typer) Expression(x *specs.Expr, want value.Type, at Place) *plan.Expr {
	e, _ := t.typed(x.Scalar, x.CEL, want, at)
	return e
}

// Typed is Expression, and gives the type of the expression's values as well.
func (t *Typer) Typed(x *specs.Expr, want value.Type, at Place) (*plan.Expr, value.Type) {
	return t.typed(x.Scalar, x.CEL, want, at)
}

// Text compiles a text for a process or a person.
func (t *Typer) Text(x *specs.Text, at Place) plan.Template {
	if x.CEL {
		out, typ := t.alone(&x.Scalar, at)
		if typ.Kind == value.String && !typ.Optional {
			t.cut(&out, x.Scalar, at)
		}
		return out
	}
	out, _ := t.Template(&x.Scalar, false, at)
	return out
}

// cut makes parts of a text in CEL that joins texts, so that a prompt can tell what other stages wrote from
// the author's words. It has compiled as a whole.
func (t *Typer) cut(out *plan.Template, sc source.Scalar, at Place) {
	pieces := expr.CutCEL(sc)
	if len(pieces) == 1 {
		return
	}
	var parts []plan.Part
	for _, p := range pieces {
		if !p.IsExpr {
			parts = append(parts, plan.Part{Text: p.Text})
			continue
		}
		e, _ := t.typed(p.Expr, true, value.Of(value.String), at)
		if e == nil {
			return
		}
		parts = append(parts, plan.Part{Expr: e})
	}
	if out.Parts = parts; !hasExpr(parts) {
		out.Value, out.Parts = joinText(parts), nil
	}
}

// alone compiles a value that is nothing but an expression in CEL.
func (t *Typer) alone(sc *source.Scalar, at Place) (plan.Template, value.Type) {
	out := plan.Template{At: sc.Span.Start, File: t.fileOf(sc.Span)}
	e, typ := t.typed(*sc, true, value.Of(value.Any), at)
	if e == nil {
		return out, typ
	}
	if typ.Optional || typ.Kind == value.Null {
		t.missing(text{*sc, true}, typ, at)
	}
	out.Parts = []plan.Part{{Expr: e}}
	return out, typ
}

// compiled is what the plan needs of a compiled expression.
type compiled struct {
	typ   value.Type // of its values
	scope value.Type // what it reads
}

// typed compiles one expression, of CEL if cel is set, and gives the type of its values.
func (t *Typer) typed(sc source.Scalar, cel bool, want value.Type, at Place) (*plan.Expr, value.Type) {
	c, ok := t.program(text{sc, cel}, want, at)
	if !ok {
		return nil, value.Of(value.Any)
	}
	start := len(sc.Text) - len(strings.TrimLeft(sc.Text, " \t\r\n"))
	e := &plan.Expr{Source: strings.TrimSpace(sc.Text), Language: text{sc, cel}.language(), Type: want, Scope: c.scope, At: sc.Pos(start), File: t.fileOf(sc.Span)}
	return e, c.typ
}

// program compiles an expression, or finds that the same one was compiled without a word about it. False: it
// was reported as wrong.
func (t *Typer) program(sc text, want value.Type, at Place) (compiled, bool) {
	key := ""
	if at.Stage >= 0 && !at.Post && !t.isFinal(at) && !strings.Contains(sc.Text, "stages") && !strings.Contains(sc.Text, plan.ScopeEach) {
		key = sc.language().String() + " " + want.String() + " " + sc.Text
		if c, ok := t.common[key]; ok {
			return c, true
		}
	}
	prog, ds := sc.compile(t.env(sc, at), want)
	for i := range ds {
		t.explain(&ds[i], sc, at)
	}
	t.diags.Add(ds...)
	if prog == nil {
		return compiled{}, false
	}
	c := compiled{prog.Type(), prog.Scope()}
	if key != "" && len(ds) == 0 {
		t.common[key] = c
	}
	return c, true
}

// explain adds, to a use of an output that may be missing, why it may be.
func (t *Typer) explain(d *diag.Diagnostic, sc text, place Place) {
	if d.Code == expr.CodeUnknownName && mentionsName(sc.Text, plan.ScopeEach) && !t.hasEach(place) {
		d.Help = `"each" is known in a stage with for_each, but for its when and its items, which are asked once for all items`
	}
	if d.Code != expr.CodeMaybeMissing || len(d.Related) > 0 {
		return
	}
	for _, m := range scanMentions(sc.plain()) {
		i, ok := t.stages.index[t.stages.meant(m)]
		if !ok || t.stages.List[i].MayMiss == "" && !t.isFinal(place) {
			continue
		}
		at := sc.At(m.start, m.end)
		if at.Start.Line == d.Span.Start.Line && !d.Span.Start.Before(at.Start) || len(scanMentions(sc.plain())) == 1 {
			s := t.stages.List[i]
			why, span := s.MayMiss, s.MayMissAt
			if why == "" {
				why, span = "may not have run when finally starts", s.Span
			}
			d.Related = []diag.Related{{Span: span, Message: fmt.Sprintf("stage %q %s, so its outputs may not be there", s.ID, why)}}
			return
		}
	}
}

// isFinal reports whether an expression stands in finally.
func (t *Typer) isFinal(at Place) bool {
	return at.Stage >= 0 && t.stages.List[at.Stage].Final
}

// fileOf gives a file as the plan names it: empty for the plan's own.
func (t *Typer) fileOf(at source.Span) string {
	if at.File == t.file {
		return ""
	}
	return at.File
}

// Template compiles a text that may hold expressions. alone says that one expression alone keeps its type;
// else the text of its value is wanted. It gives the type of the template's values.
func (t *Typer) Template(sc *source.Scalar, alone bool, at Place) (plan.Template, value.Type) {
	out := plan.Template{At: sc.Span.Start, File: t.fileOf(sc.Span)}
	if !strings.Contains(sc.Text, "${{") {
		out.Value = sc.Text
		return out, value.Of(value.String)
	}
	pieces, ds := expr.SplitTemplate(*sc)
	t.diags.Add(ds...)
	single := alone && len(pieces) == 1 && pieces[0].IsExpr
	typ := value.Of(value.String)
	for _, p := range pieces {
		if !p.IsExpr {
			out.Parts = append(out.Parts, plan.Part{Text: p.Text})
			continue
		}
		e, et := t.typed(p.Expr, false, value.Of(value.Any), at)
		if e == nil {
			continue
		}
		if et.Optional || et.Kind == value.Null {
			t.missing(text{p.Expr, false}, et, at)
		}
		out.Parts = append(out.Parts, plan.Part{Expr: e})
		if single {
			typ = et
		}
	}
	if len(out.Parts) == 0 || !hasExpr(out.Parts) {
		out.Value = joinText(out.Parts)
		out.Parts = nil
	}
	return out, typ
}

// missing reports an expression in a template whose value may be null.
func (t *Typer) missing(sc text, typ value.Type, at Place) {
	src := strings.TrimSpace(sc.Text)
	from := strings.Index(sc.Text, src)
	d := t.diags.Errorf(expr.CodeMaybeMissing, sc.At(from, from+len(src)), "%q may be missing, and %s needs a value", src, at.Key)
	d.Help = "give a value for that case: " + sc.orElse(emptyOf(typ))
	t.explain(d, sc, at)
}

// emptyOf gives an expression for the empty value of a type.
func emptyOf(t value.Type) string {
	switch t.Kind {
	case value.Bool:
		return "false"
	case value.Int, value.Number:
		return "0"
	case value.ListKind:
		return "[]"
	case value.ObjectKind:
		return "{}"
	}
	return `""`
}

func hasExpr(parts []plan.Part) bool {
	for _, p := range parts {
		if p.Expr != nil {
			return true
		}
	}
	return false
}

func joinText(parts []plan.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Data compiles a value that may hold expressions at any depth. A tree without expressions becomes one
// literal.
func (t *Typer) Data(d *specs.Data, at Place) (plan.Template, value.Type) {
	if d == nil {
		return plan.Template{}, value.Of(value.Any)
	}
	out := plan.Template{At: d.Span.Start, File: t.fileOf(d.Span)}
	switch d.Kind {
	case specs.ScalarData:
		if d.Scalar != nil {
			return t.Template(d.Scalar, true, at)
		}
	case specs.ValueData:
		out.Value = d.Value
		return out, value.TypeOf(d.Value)
	case specs.CELData:
		if d.Scalar != nil {
			return t.alone(d.Scalar, at)
		}
	case specs.MappingData:
		return t.mapping(d, at)
	case specs.SequenceData:
		return t.sequence(d, at)
	case specs.UnknownData:
	}
	return out, value.Of(value.Any)
}

func (t *Typer) mapping(d *specs.Data, at Place) (plan.Template, value.Type) {
	out := plan.Template{At: d.Span.Start, File: t.fileOf(d.Span)}
	literal := true
	for _, e := range d.Fields {
		t.plainKey(&e.Name)
		v, vt := t.Data(e.Value, at)
		literal = literal && v.IsLiteral()
		out.Fields = append(out.Fields, plan.Binding{Name: e.Name.Value, Type: vt, Value: v})
	}
	fields := make([]value.FieldType, len(out.Fields))
	for i, b := range out.Fields {
		fields[i] = value.FieldType{Name: b.Name, Type: b.Type}
	}
	if literal {
		o := value.NewObject()
		for _, b := range out.Fields {
			o.Set(b.Name, b.Value.Value)
		}
		out.Value, out.Fields = o, nil
	}
	return out, value.ObjectOf(fields...)
}

func (t *Typer) sequence(d *specs.Data, at Place) (plan.Template, value.Type) {
	out := plan.Template{At: d.Span.Start, File: t.fileOf(d.Span)}
	literal := true
	elem := value.Of(value.Any)
	for i, it := range d.Items {
		v, vt := t.Data(it, at)
		literal = literal && v.IsLiteral()
		out.Items = append(out.Items, v)
		if i == 0 {
			elem = vt
		} else {
			elem = value.Join(elem, vt)
		}
	}
	if literal {
		list := make(value.List, len(out.Items))
		for i := range out.Items {
			list[i] = out.Items[i].Value
		}
		out.Value, out.Items = list, nil
	}
	return out, value.ListOf(elem)
}

// plainKey reports ${{ }} in a key.
func (t *Typer) plainKey(l *specs.Leaf[string]) {
	if expr.HasExpr(l.Value) {
		d := t.diags.Errorf(CodeTemplateHere, l.Span, "${{ }} is not evaluated in a key")
		d.Help = "write the key out; only values may hold expressions"
	}
}

// Bindings compiles a mapping of names to values.
func (t *Typer) Bindings(es []*specs.Entry, what string, at Place) []plan.Binding {
	if len(es) == 0 {
		return nil
	}
	out := make([]plan.Binding, 0, len(es))
	for _, e := range es {
		if e.Value == nil {
			continue
		}
		at.Key = what + " " + e.Name.Value
		v, typ := t.Data(e.Value, at)
		out = append(out, plan.Binding{Name: e.Name.Value, Type: typ, Value: v})
	}
	return out
}
