// Package expr is the expression language: what stands in "when", "items", "validation" and inside
// "${{ }}". It checks an expression against the types of its scope when a document is read, and evaluates it
// when a stage needs its value.
//
// Words: a scope is the object of names that an expression sees, an Env its type made ready for many
// compilations, a Program a compiled expression, a Ref a member chain that it reads, a template a text with
// expressions in it.
//
// There are two ways to write one: in the grammar of expr-lang, or in CEL (see package cel). Both become one
// syntax tree, so that names, types, functions and results are the same; where an operator means something
// else in CEL, "/" of integers above all, the check says so to the evaluation. No other package knows which
// libraries parse them. Types, functions and evaluation are our own, because the language promises what the
// libraries do not: a value that may be missing must be guarded before it is used; whole numbers are 64-bit
// integers, and an overflow is an error; a missing field is an error, never a silent null, and no error is
// swallowed; every evaluated node counts against MaxSteps and every new text or list against MaxBytes, so
// that the cost is bounded by counts and not by time; no map order, clock, randomness or environment reaches
// a result. Package eval keeps these promises; this one reads and checks.
//
// What an author got wrong is a diagnostic with a span in the file; what goes wrong with the values at run
// time is an *Error with a place. Programs are immutable. What names a scope holds is package compile's to
// say, and what a value of an output may be is package value's.
package expr

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// The bounds of one expression and of one evaluation.
const (
	MaxSource  = 16 << 10      // bytes of an expression
	MaxNodes   = 2000          // nodes of its syntax tree
	MaxNesting = 100           // brackets open at one place
	MaxSteps   = eval.MaxSteps // evaluated nodes, looked-at elements, and 64-byte pieces of text, an evaluation
	MaxBytes   = eval.MaxBytes // of the texts and lists that one evaluation makes
)

// The codes of this package's diagnostics.
const (
	CodeSyntax          diag.Code = "expression-syntax" // it does not parse
	CodeNotExpression   diag.Code = "not-an-expression" // a sentence, or ${{ }} where the text is an expression already
	CodeTooLarge        diag.Code = "expression-too-large"
	CodeNotOffered      diag.Code = "not-offered"   // syntax that the library has and the language leaves out
	CodeUnknownName     diag.Code = "unknown-name"  // no such name in the scope
	CodeUnknownField    diag.Code = "unknown-field" // no such field in an object
	CodeUnknownFunction diag.Code = "unknown-function"
	CodeDash            diag.Code = "dash-in-name" // stages.a-b
	CodeType            diag.Code = "wrong-type"
	CodeMaybeMissing    diag.Code = "maybe-missing"   // an optional value used without a guard
	CodeUnknownWord     diag.Code = "unknown-word"    // compared with a word that it never is; a warning
	CodeNeverNull       diag.Code = "never-null"      // tested for null though it never is; a warning
	CodeTemplate        diag.Code = "open-expression" // ${{ without }}
)

// Program is a compiled expression. It is immutable: any number of evaluations may share it.
type Program struct {
	src  source.Scalar
	root eval.Node
	typ  value.Type
	want value.Type
	refs []Ref
	env  *Env
	lang language
}

// Ref is a member chain that an expression reads, such as stages.plan.outputs.summary.
type Ref struct {
	Path    []string    // names and literal keys, outermost first
	Span    source.Span // of its first appearance
	Guarded bool        // each appearance is under ??, ?. or a test against null
}

// Compile compiles one expression against the type of its scope, an object type; want is the type it must
// give; the zero Type and any take all. The program is nil if a diagnostic is an error. For many
// expressions of one scope, NewEnv is much cheaper.
func Compile(src source.Scalar, env value.Type, want value.Type) (*Program, []diag.Diagnostic) {
	return NewEnv(env).Compile(src, want)
}

// Env is the type of a scope made ready for many compilations. It is not for concurrent use.
type Env struct {
	typ    value.Type
	parent *Env // whose names hold where typ has none
	fields *fieldIndex
}

// NewEnv returns the environment of a scope of type t: an object type, or any where nothing is known.
func NewEnv(t value.Type) *Env {
	if t.IsAny() {
		t = value.Of(value.ObjectKind)
	}
	return &Env{typ: t, fields: newFieldIndex()}
}

// With returns an environment that has the given names beside, and before, those of e. It shares what e
// knows, so that a thousand stages can each add a few names to a scope of thousands.
func (e *Env) With(fields ...value.FieldType) *Env {
	return &Env{typ: value.ObjectOf(fields...), parent: e, fields: e.fields}
}

// lookup returns the type of a name and whether it is declared.
func (e *Env) lookup(name string) (value.Type, bool) {
	for env := e; env != nil; env = env.parent {
		if t, ok := e.fields.get(env.typ, name); ok {
			return t, true
		}
	}
	return value.Type{}, false
}

// open reports whether names that are not declared may be there.
func (e *Env) open() bool {
	for env := e; env != nil; env = env.parent {
		if env.typ.Open {
			return true
		}
	}
	return false
}

// names returns the declared names, the nearest first.
func (e *Env) names() []string {
	var names []string
	for env := e; env != nil; env = env.parent {
		names = append(names, env.typ.FieldNames()...)
	}
	return names
}

// Compile is the package's Compile against e.
func (e *Env) Compile(src source.Scalar, want value.Type) (*Program, []diag.Diagnostic) {
	tree, diags := parse(src)
	if tree == nil {
		return nil, diags
	}
	return e.check(tree, reporter{src: src, lang: ownLanguage, off: newOffsets(src.Text)}, want)
}

// CompileCEL is Compile for an expression that is written in CEL.
func (e *Env) CompileCEL(src source.Scalar, want value.Type) (*Program, []diag.Diagnostic) {
	tree, diags := parseCEL(src)
	if tree == nil {
		return nil, diags
	}
	off := newOffsets(src.Text)
	off.cel = tree.Places
	return e.check(tree.Root, reporter{src: src, lang: celLanguage, off: off, diags: diags, failed: len(diags) > 0}, want)
}

func (e *Env) check(tree ast.Node, r reporter, want value.Type) (*Program, []diag.Diagnostic) {
	c := &checker{reporter: r, view: view{env: e}}
	root, t, ok := c.checkRoot(tree, want)
	if !ok {
		return nil, c.diags
	}
	return &Program{src: r.src, root: root, typ: t, want: want, refs: c.refs, env: e, lang: r.lang}, c.diags
}

// Type returns the type of the program's results.
func (p *Program) Type() value.Type { return p.typ }

// Refs returns the member chains that the program reads, in order of appearance, without repeats.
func (p *Program) Refs() []Ref { return p.refs }

// Eval evaluates the program. The result is of the type that was wanted. It may share lists and objects
// with the scope. An error is an *Error: a missing or null value that is used without a guard, a value of
// another type than the operation takes, a division by zero, an overflow, or a bound that was met.
func (p *Program) Eval(scope *value.Object) (v value.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, &Error{Span: p.span(span{From: 0, To: len(p.src.Text)}), Message: fmt.Sprintf("our own mistake while evaluating it: %v", r)}
		}
	}()
	v, err = eval.Run(p.root, scope)
	if err != nil {
		return nil, p.located(err)
	}
	if err := p.want.Check(v); err != nil {
		return nil, &Error{Span: p.span(span{From: 0, To: len(p.src.Text)}), Message: "the expression gives another type: " + err.Error()}
	}
	return v, nil
}

func (p *Program) span(s span) source.Span { return p.src.At(s.From, s.To) }

// Function describes a function of the language for the reference.
type Function = eval.Doc

// Functions returns the language's own list of functions, sorted by name. What the library brings beyond
// it is off.
func Functions() []Function { return eval.Docs() }
