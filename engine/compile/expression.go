package compile

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

// expression compiles a bare expression, which must give a value of type want. Nil: it was reported as
// wrong.
func (c *compiler) expression(sc *source.Scalar, want value.Type, at place) *plan.Expr {
	e, _ := c.typed(*sc, want, at)
	return e
}

// typed compiles one expression and gives the type of its values.
func (c *compiler) typed(sc source.Scalar, want value.Type, at place) (*plan.Expr, value.Type) {
	prog := c.program(sc, want, at)
	if prog == nil {
		return nil, value.Of(value.Any)
	}
	start := len(sc.Text) - len(strings.TrimLeft(sc.Text, " \t\r\n"))
	e := &plan.Expr{Source: strings.TrimSpace(sc.Text), Type: want, Scope: prog.Scope(), At: sc.Pos(start)}
	if c.doc.File == nil || sc.Span.File != c.doc.File.Name {
		e.File = sc.Span.File
	}
	return e, prog.Type()
}

// program compiles an expression, or finds that the same one was compiled without a word about it.
func (c *compiler) program(sc source.Scalar, want value.Type, at place) *expr.Program {
	key := ""
	if at.stage != runEnd && !at.post && !strings.Contains(sc.Text, "stages") {
		key = want.String() + " " + sc.Text
		if p, ok := c.common[key]; ok {
			return p
		}
	}
	prog, ds := c.env(sc, at).Compile(sc, want)
	for i := range ds {
		c.explain(&ds[i], sc)
	}
	c.diags.Add(ds...)
	if key != "" && prog != nil && len(ds) == 0 {
		c.common[key] = prog
	}
	return prog
}

// explain adds, to a use of an output that may be missing, why it may be.
func (c *compiler) explain(d *diag.Diagnostic, sc source.Scalar) {
	if d.Code != expr.CodeMaybeMissing || len(d.Related) > 0 {
		return
	}
	for _, m := range scanMentions(sc.Text) {
		i, ok := c.index[c.meant(m)]
		if !ok || c.stages[i].mayMiss == "" {
			continue
		}
		at := sc.At(m.start, m.end)
		if at.Start.Line == d.Span.Start.Line && !d.Span.Start.Before(at.Start) || len(scanMentions(sc.Text)) == 1 {
			s := c.stages[i]
			d.Related = []diag.Related{{Span: s.mayMissAt, Message: fmt.Sprintf("stage %q %s, so its outputs may not be there", s.node.ID, s.mayMiss)}}
			return
		}
	}
}

// template compiles a text that may hold expressions. alone says that one expression alone keeps its type;
// else the text of its value is wanted. It gives the type of the template's values.
func (c *compiler) template(sc *source.Scalar, alone bool, at place) (plan.Template, value.Type) {
	t := plan.Template{At: sc.Span.Start}
	if c.doc.File == nil || sc.Span.File != c.doc.File.Name {
		t.File = sc.Span.File
	}
	if !strings.Contains(sc.Text, "${{") {
		t.Value = sc.Text
		return t, value.Of(value.String)
	}
	pieces, ds := expr.SplitTemplate(*sc)
	c.diags.Add(ds...)
	single := alone && len(pieces) == 1 && pieces[0].IsExpr
	typ := value.Of(value.String)
	for _, p := range pieces {
		if !p.IsExpr {
			t.Parts = append(t.Parts, plan.Part{Text: p.Text})
			continue
		}
		e, et := c.typed(p.Expr, value.Of(value.Any), at)
		if e == nil {
			continue
		}
		if et.Optional || et.Kind == value.Null {
			c.missing(p.Expr, et, at)
		}
		t.Parts = append(t.Parts, plan.Part{Expr: e})
		if single {
			typ = et
		}
	}
	if len(t.Parts) == 0 || !hasExpr(t.Parts) {
		t.Value = joinText(t.Parts)
		t.Parts = nil
	}
	return t, typ
}

// missing reports an expression in a template whose value may be null.
func (c *compiler) missing(sc source.Scalar, t value.Type, at place) {
	text := strings.TrimSpace(sc.Text)
	from := strings.Index(sc.Text, text)
	d := c.diags.Errorf(expr.CodeMaybeMissing, sc.At(from, from+len(text)), "%q may be missing, and %s needs a value", text, at.key)
	d.Help = "give a value for that case: ${{ " + text + " ?? " + emptyOf(t) + " }}"
	c.explain(d, sc)
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

// data compiles a value that may hold expressions at any depth. A tree without expressions becomes one
// literal.
func (c *compiler) data(d *specs.Data, at place) (plan.Template, value.Type) {
	if d == nil {
		return plan.Template{}, value.Of(value.Any)
	}
	t := plan.Template{At: d.Span.Start}
	switch d.Kind {
	case specs.ScalarData:
		if d.Scalar != nil {
			return c.template(d.Scalar, true, at)
		}
	case specs.ValueData:
		t.Value = d.Value
		return t, value.TypeOf(d.Value)
	case specs.MappingData:
		return c.mapping(d, at)
	case specs.SequenceData:
		return c.sequence(d, at)
	case specs.UnknownData:
	}
	return t, value.Of(value.Any)
}

func (c *compiler) mapping(d *specs.Data, at place) (plan.Template, value.Type) {
	t := plan.Template{At: d.Span.Start}
	literal := true
	for _, e := range d.Fields {
		c.plainKey(&e.Name)
		v, vt := c.data(e.Value, at)
		literal = literal && v.IsLiteral()
		t.Fields = append(t.Fields, plan.Binding{Name: e.Name.Value, Type: vt, Value: v})
	}
	fields := make([]value.FieldType, len(t.Fields))
	for i, b := range t.Fields {
		fields[i] = value.FieldType{Name: b.Name, Type: b.Type}
	}
	if literal {
		o := value.NewObject()
		for _, b := range t.Fields {
			o.Set(b.Name, b.Value.Value)
		}
		t.Value, t.Fields = o, nil
	}
	return t, value.ObjectOf(fields...)
}

func (c *compiler) sequence(d *specs.Data, at place) (plan.Template, value.Type) {
	t := plan.Template{At: d.Span.Start}
	literal := true
	elem := value.Of(value.Any)
	for i, it := range d.Items {
		v, vt := c.data(it, at)
		literal = literal && v.IsLiteral()
		t.Items = append(t.Items, v)
		if i == 0 {
			elem = vt
		} else {
			elem = value.Join(elem, vt)
		}
	}
	if literal {
		list := make(value.List, len(t.Items))
		for i := range t.Items {
			list[i] = t.Items[i].Value
		}
		t.Value, t.Items = list, nil
	}
	return t, value.ListOf(elem)
}

// plainKey reports ${{ }} in a key.
func (c *compiler) plainKey(l *specs.Leaf[string]) {
	if expr.HasExpr(l.Value) {
		d := c.diags.Errorf(CodeTemplateHere, l.Span, "${{ }} is not evaluated in a key")
		d.Help = "write the key out; only values may hold expressions"
	}
}

// bindings compiles a mapping of names to values.
func (c *compiler) bindings(es []*specs.Entry, what string, at place) []plan.Binding {
	if len(es) == 0 {
		return nil
	}
	out := make([]plan.Binding, 0, len(es))
	for _, e := range es {
		if e.Value == nil {
			continue
		}
		at.key = what + " " + e.Name.Value
		v, t := c.data(e.Value, at)
		out = append(out, plan.Binding{Name: e.Name.Value, Type: t, Value: v})
	}
	return out
}

// runOutputs compiles the outputs of the run, which are evaluated when all stages have ended.
func (c *compiler) runOutputs() []plan.Binding {
	return c.bindings(c.doc.Outputs, "output", place{stage: runEnd})
}
