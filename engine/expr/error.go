package expr

import (
	"errors"
	"fmt"
	"strings"

	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/source"
)

// Error is what went wrong with the values of an evaluation.
type Error struct {
	Span    source.Span // of the part that could not be evaluated
	Message string
}

// Error returns "file:line:col: message", without the parts of the place that are not known.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Span.File != "" {
		b.WriteString(e.Span.File + ":")
	}
	if e.Span.IsValid() {
		fmt.Fprintf(&b, "%d:%d:", e.Span.Start.Line, e.Span.Start.Col)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	return b.String() + e.Message
}

// located turns an *eval.Fault into an *Error with its place in the file.
func (p *Program) located(err error) error {
	var f *eval.Fault
	if errors.As(err, &f) {
		return &Error{Span: p.span(f.At), Message: f.Message + p.lang.guard(f.Guard)}
	}
	return &Error{Span: p.span(span{From: 0, To: len(p.src.Text)}), Message: err.Error()}
}
