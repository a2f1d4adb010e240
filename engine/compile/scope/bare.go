package scope

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/sentence"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Bare types conditions that read names without an object before them: the checks of contracts. What is written
// for people is answered with the expression to write.
type Bare struct {
	typ   value.Type
	env   *expr.Env
	later []string
}

// NewBare gives the typer of conditions that see the fields of an object type. Later are names that they do not
// see, since they are there only when the stage has run.
func NewBare(t value.Type, later []string) *Bare {
	return &Bare{typ: t, env: expr.NewEnv(t), later: later}
}

// CodeConstant is the code of a check that decides nothing, the same as that of package check's advice.
const CodeConstant diag.Code = "constant-condition"

// Condition compiles a condition. Nil: it was reported as wrong.
func (b *Bare) Condition(v *specs.Expr, diags *diag.List) *plan.Expr {
	want := value.Of(value.Bool)
	compile, lang := (*expr.Env).Compile, plan.ExprLanguage
	if v.CEL {
		compile, lang = (*expr.Env).CompileCEL, plan.CELLanguage
	}
	prog, ds := compile(b.env, v.Scalar, want)
	if prog == nil && !v.CEL {
		ds = b.explain(v.Scalar, ds)
	}
	diags.Add(ds...)
	if prog == nil {
		return nil
	}
	start := len(v.Text) - len(strings.TrimLeft(v.Text, " \t\r\n"))
	if len(prog.Refs()) == 0 {
		diags.Warnf(CodeConstant, v.At(start, start+len(strings.TrimSpace(v.Text))), "this check reads nothing, so that its answer is always the same").
			Help = "read a name that the contract declares" + b.example()
	}
	return &plan.Expr{Source: strings.TrimSpace(v.Text), Language: lang, Type: want, Scope: prog.Scope(), File: v.Span.File, At: v.Pos(start)}
}

// explain answers a validation that does not compile: one that is written for people with the expression to
// write, or an example of this contract's names.
func (b *Bare) explain(v source.Scalar, ds []diag.Diagnostic) []diag.Diagnostic {
	text := strings.TrimSpace(v.Text)
	from := strings.Index(v.Text, text)
	d := diag.Diagnostic{
		Severity: diag.Error, Code: expr.CodeNotExpression, Span: v.At(from, from+len(text)),
		Message: fmt.Sprintf("want an expression, got a sentence: %q", clip(text)),
	}
	switch m, ok := sentence.Rewrite(text, b.typ); {
	case !ok:
	case m.Always != "":
		d.Help = m.Always + "; drop this check"
		return []diag.Diagnostic{d}
	case b.compiles(m.Expr):
		d.Help = "write validation: '" + strings.ReplaceAll(m.Expr, "'", "''") + "'"
		return []diag.Diagnostic{d}
	}
	for i := range ds {
		switch ds[i].Code {
		case expr.CodeNotExpression:
			ds[i].Help = "write what must hold of this contract's names" + b.example()
		case expr.CodeUnknownName:
			if name := b.laterName(v, ds[i]); name != "" {
				ds[i].Message = fmt.Sprintf("%q is an output, which is not there before the stage has run", name)
				ds[i].Help = "move the check to post_checks"
			}
		}
	}
	return ds
}

// laterName gives the output that an unknown name of a pre_check is.
func (b *Bare) laterName(v source.Scalar, d diag.Diagnostic) string {
	for _, name := range b.later {
		for at := 0; ; at += len(name) {
			i := strings.Index(v.Text[at:], name)
			if i < 0 {
				break
			}
			at += i
			if v.At(at, at+len(name)) == d.Span {
				return name
			}
		}
	}
	return ""
}

// compiles reports whether an expression that is to be shown as help is right.
func (b *Bare) compiles(text string) bool {
	prog, _ := b.env.Compile(source.NewScalar(text, source.Span{}, nil), value.Of(value.Bool))
	return prog != nil
}

// example gives conditions over names of the scope, of different kinds where there are some.
func (b *Bare) example() string {
	var out []string
	var kinds []value.Kind
	for _, f := range b.typ.Fields {
		text := ""
		switch t := f.Type; {
		case slices.Contains(kinds, t.Kind):
		case t.Optional:
			text = f.Name + " != nil"
		case t.Kind == value.ListKind || t.Kind == value.ObjectKind:
			text = "len(" + f.Name + ") > 0"
		case len(t.Enum) > 0:
			text = fmt.Sprintf("%s == %q", f.Name, t.Enum[0])
		case t.Kind == value.String:
			text = f.Name + ` != ""`
		case t.Kind == value.Int, t.Kind == value.Number:
			text = f.Name + " >= 1"
		case t.Kind == value.Bool:
			text = f.Name
		}
		if text != "" && len(out) < 2 {
			out, kinds = append(out, text), append(kinds, f.Type.Kind)
		}
	}
	if len(out) == 0 {
		return ", which its schemas declare"
	}
	return ", such as " + strings.Join(out, " or ")
}

// clip shortens a text that a message quotes.
func clip(s string) string {
	const most = 80
	if first, _, more := strings.Cut(s, "\n"); more {
		s = strings.TrimSpace(first) + " …"
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
