// Package eval evaluates checked expressions: a tree of nodes, the language's functions, and the count that
// bounds both.
//
// Words: a Node is a checked part of an expression, a Function one of the language's own list, a run one
// evaluation with what it has cost. Package expr checks what authors write and builds the nodes; what types
// its check has found does not matter here: each operation looks at the values that it is given, so that a
// scope that is not as declared gives an error and never another result.
//
// Every evaluated node, every element that is looked at and every 64 bytes of text count against MaxSteps,
// and what is made counts against MaxBytes before it is made. Scopes are read where they are, never
// converted. Results may share lists and objects with the scope. It knows nothing of source text but the
// places that nodes carry.
package eval

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/value"
)

// The bounds of one evaluation.
const (
	MaxSteps = 1_000_000 // evaluated nodes, looked-at elements, and 64-byte pieces of text
	MaxBytes = 16 << 20  // of the texts and lists that are made
)

// Span is a stretch of an expression's text, in bytes.
type Span struct{ From, To int }

// Place returns the stretch itself: nodes embed it.
func (s Span) Place() Span { return s }

// Fault is what went wrong in an evaluation, with the stretch of the expression's text.
type Fault struct {
	At      Span
	Message string
	Guard   Guard // what would help: the words for it are the language's
}

// Guard says how an author guards against a value that is not there.
type Guard uint8

// The guards.
const (
	NoGuard      Guard = iota
	GuardName          // of a name of the scope
	GuardMember        // of a field
	GuardElement       // of an element of a list
	GuardText          // of a value whose text is wanted
)

// String gives the name of the guard.
func (g Guard) String() string {
	return [...]string{"none", "name", "member", "element", "text"}[min(g, GuardText)]
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

func faultf(at Span, format string, args ...any) error {
	return &Fault{At: at, Message: fmt.Sprintf(format, args...)}
}

// missing says that a value is not there, and how to guard against it.
func missing(at Span, g Guard, format string, args ...any) error {
	return &Fault{At: at, Message: fmt.Sprintf(format, args...), Guard: g}
}

// Run evaluates the tree below root. An error is a *Fault.
func Run(root Node, scope *value.Object) (value.Value, error) {
	r := &run{scope: scope}
	return r.eval(root)
}

// clip shortens a text of the data for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
