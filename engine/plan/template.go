package plan

import (
	"errors"
	"fmt"
	"strings"

	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// EvalError is what went wrong with an expression or a template, with the place in the file.
type EvalError struct {
	File string // empty: the plan's file, see Plan.Locate
	At   source.Pos
	Err  error
}

// Error gives "file:line:col: message".
func (e *EvalError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.At.IsValid() {
		fmt.Fprintf(&b, "%d:%d:", e.At.Line, e.At.Col)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the error without its place.
func (e *EvalError) Unwrap() error { return e.Err }

// Locate gives err with the plan's file in it, if it is an EvalError that does not name one.
func (p *Plan) Locate(err error) error {
	e, ok := errors.AsType[*EvalError](err)
	if !ok || e.File != "" {
		return err
	}
	return &EvalError{File: p.File, At: e.At, Err: e.Err}
}

// IsLiteral reports whether t holds no expression.
func (t *Template) IsLiteral() bool {
	return len(t.Parts) == 0 && len(t.Fields) == 0 && len(t.Items) == 0
}

// Eval gives the value of t in the scope. One expression alone keeps its value's type, null included; in
// text, strings stand as they are and other values as compact JSON, and null is an error. Errors are
// EvalErrors, or what the evaluator gave.
func (t *Template) Eval(ev Evaluator, scope *value.Object) (value.Value, error) {
	switch {
	case len(t.Parts) == 1 && t.Parts[0].Expr != nil:
		return ev.Eval(*t.Parts[0].Expr, scope)
	case len(t.Parts) > 0:
		return t.text(ev, scope)
	case len(t.Fields) > 0:
		o, err := EvalObject(t.Fields, ev, scope)
		if err != nil {
			return nil, err
		}
		return o, nil
	case len(t.Items) > 0:
		list := make(value.List, len(t.Items))
		for i := range t.Items {
			v, err := t.Items[i].Eval(ev, scope)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	return t.Value, nil
}

// EvalText gives the text of t in the scope: strings as they are, other values as compact JSON. Null is an
// error, also alone. It is for what a process or a person reads: env, dir, prompt, message.
func (t *Template) EvalText(ev Evaluator, scope *value.Object) (string, error) {
	if len(t.Parts) > 0 {
		return t.text(ev, scope)
	}
	v, err := t.Eval(ev, scope)
	if err != nil {
		return "", err
	}
	return t.format(v, t.At, nil)
}

// text joins the parts of t.
func (t *Template) text(ev Evaluator, scope *value.Object) (string, error) {
	var b strings.Builder
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Expr == nil {
			b.WriteString(p.Text)
			continue
		}
		v, err := ev.Eval(*p.Expr, scope)
		if err != nil {
			return "", err
		}
		s, err := t.format(v, p.Expr.At, p.Expr)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// format gives the text of a value that stands at a place, and that an expression gave if e is not nil.
func (t *Template) format(v value.Value, at source.Pos, e *Expr) (string, error) {
	if v == nil {
		what, with := "the value", "??"
		if e != nil {
			what = fmt.Sprintf("%q", strings.TrimSpace(e.Source))
			if e.Language == CELLanguage {
				with = ".orValue(…)"
			}
		}
		return "", &EvalError{File: t.File, At: at,
			Err: fmt.Errorf("%s is null, which has no text; give a value in its place with %s", what, with)}
	}
	s, err := value.Format(v)
	if err != nil {
		return "", &EvalError{File: t.File, At: at, Err: err}
	}
	return s, nil
}

// EvalObject gives an object with the value of each binding, in their order. A value that does not fit the
// type that its binding declares is an error.
func EvalObject(bs []Binding, ev Evaluator, scope *value.Object) (*value.Object, error) {
	o := value.NewObject()
	for i := range bs {
		v, err := bs[i].Value.Eval(ev, scope)
		if err != nil {
			return nil, err
		}
		if err := bs[i].Type.CheckAt(bs[i].Name, v); err != nil {
			return nil, &EvalError{File: bs[i].Value.File, At: bs[i].Value.At, Err: err}
		}
		o.Set(bs[i].Name, v)
	}
	return o, nil
}
