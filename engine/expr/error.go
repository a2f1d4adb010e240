package expr

import (
	"errors"
	"fmt"
	"strings"

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

// fault is an error of an evaluation at a stretch of the expression's text.
type fault struct {
	at  span
	msg string
}

func (f *fault) Error() string { return f.msg }

func faultf(at span, format string, args ...any) error {
	return &fault{at: at, msg: fmt.Sprintf(format, args...)}
}

// located turns a fault into an *Error with its place in the file.
func (p *Program) located(err error) error {
	var f *fault
	if errors.As(err, &f) {
		return &Error{Span: p.span(f.at), Message: f.msg}
	}
	return &Error{Span: p.span(span{0, len(p.src.Text)}), Message: err.Error()}
}
