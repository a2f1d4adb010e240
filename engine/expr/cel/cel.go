// Package cel reads CEL: it turns the text of an expression into the syntax tree that package expr checks
// and compiles, so that both languages have one check, one list of functions and one evaluation.
//
// Words: a Tree is what was read, a Place where a node of it stands, a Problem what an author must change, a
// Variable what a macro such as x.map(e, …) calls the element that it looks at.
//
// The grammar is that of cel-go, whose generated parser reads the text. The rest of cel-go is not used: its
// types, its functions and its evaluation do not hold what the language promises (see package expr), and
// its protocol buffers would cost every start of the program. The parser's tables are unpacked when it reads
// its first text.
//
// What CEL and the language both have is turned into the language's own: x.contains(y) into an operator,
// has(x.y) into a test against null, x.?y.orValue(d) into x?.y ?? d, macros into predicates. What only CEL
// has is a Problem, with what to write instead. Names, types and functions are for package expr to check.
package cel

import (
	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/eval"
)

// Span is a stretch of an expression's text, in bytes.
type Span = eval.Span

// Tree is what was read.
type Tree struct {
	Root     ast.Node
	Places   map[ast.Node]Place
	Problems []Problem // of its parts, in order; each is Broken in the tree
}

// Place says where a node stands.
type Place struct {
	Token  Span // its operator, name or bracket
	Extent Span // all of it, without brackets around
}

// Problem is what an author must change.
type Problem struct {
	At      Span
	Kind    Kind
	Message string
	Help    string // may be empty
}

// Kind tells problems apart.
type Kind uint8

// The kinds of problems.
const (
	UnknownKind Kind = iota
	Syntax           // the text is no CEL
	Sentence         // the text is no expression of any kind
	TooLarge
	NotOffered // syntax that CEL has and the language leaves out
	BadCall    // a macro or method without what it takes
	NoFunction // a function that CEL spells in another way
)

var kindNames = [...]string{"unknown", "syntax", "sentence", "too large", "not offered", "bad call", "no function"}

// String gives the name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[UnknownKind]
}

// Variable reads what a macro looks at.
type Variable struct {
	ast.PointerNode
	Level int  // of the macro, the outermost is 1
	Index bool // its place in the list, from 0
}

// Broken stands in the place of a part with a Problem.
type Broken struct {
	ast.NilNode
}

// Limits are the bounds of one expression.
type Limits struct {
	Nodes   int // of the tree
	Nesting int // brackets open at one place
}

// Read reads an expression that is not blank. It gives a problem, and no tree, if the text is no CEL.
func Read(text string, limits Limits) (*Tree, *Problem) {
	s, p := scan(text)
	if p == nil {
		p = s.tooDeep(limits.Nesting)
	}
	if p != nil {
		return nil, p
	}
	root, p := s.parse()
	if p != nil {
		return nil, p
	}
	r := &reader{source: s, tree: &Tree{Places: make(map[ast.Node]Place)}, most: limits.Nodes}
	r.tree.Root = r.read(root)
	if r.tooLarge != nil {
		return nil, r.tooLarge
	}
	return r.tree, nil
}
