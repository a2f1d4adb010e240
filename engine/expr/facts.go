package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/value"
)

// The language knows one rule beside tests against null: what a stage gave is there once its status is
// known to be the word for success.
const (
	statusField  = "status"
	outputsField = "outputs"
	successWord  = "succeeded"
)

// view is what a part of an expression sees around it.
type view struct {
	env   *Env
	elems []value.Type // the element types of the predicates around, the innermost last
	facts *facts       // what is known to hold
}

// facts is what is known to be there, as a list of the keys of member chains. A key stands for its chain
// and for what it begins with; a key of below stands for all behind it too.
type facts struct {
	next  *facts
	key   string
	below bool
}

func (f *facts) and(g *facts) *facts {
	for ; g != nil; g = g.next {
		f = &facts{next: f, key: g.key, below: g.below}
	}
	return f
}

// present reports whether the chain with a key is known not to be null.
func (f *facts) present(key string) bool {
	for ; f != nil; f = f.next {
		if f.key == key || strings.HasPrefix(f.key, key+sep) || f.below && strings.HasPrefix(key, f.key+sep) {
			return true
		}
	}
	return false
}

const sep = "\x00"

// onlySuccessBeside reports whether success is the only one of words that is left without word.
func onlySuccessBeside(words []string, word string) bool {
	return len(words) == 2 && slices.Contains(words, word) && slices.Contains(words, successWord)
}

func isNull(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NilNode:
		return true
	case *ast.IdentifierNode:
		return n.Value == "null"
	default:
		return false
	}
}

// isChain reports whether n is made of names alone, so that a test of it holds for its next use.
func isChain(n ast.Node) bool { return (&view{}).keyOf(n) != "" }

func isString(n ast.Node) bool {
	_, ok := n.(*ast.StringNode)
	return ok
}

// keyOf returns the key of a member chain that is made of names, "" for anything else.
func (v *view) keyOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return v.keyOf(n.Node)
	case *ast.IdentifierNode:
		return n.Value
	case *ast.PointerNode:
		if n.Name == "" {
			return "#" + strconv.Itoa(len(v.elems))
		}
	case *cel.Variable:
		if !n.Index {
			return "#" + strconv.Itoa(n.Level)
		}
	case *ast.MemberNode:
		base := v.keyOf(n.Node)
		if key, ok := n.Property.(*ast.StringNode); ok && base != "" && !n.Method {
			return base + sep + key.Value
		}
	}
	return ""
}

// chainType returns the declared type of a member chain, without diagnostics.
func (v *view) chainType(n ast.Node) (value.Type, bool) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return v.chainType(n.Node)
	case *ast.IdentifierNode:
		return v.env.lookup(n.Value)
	case *ast.MemberNode:
		key, ok := n.Property.(*ast.StringNode)
		if !ok {
			return value.Type{}, false
		}
		base, ok := v.chainType(n.Node)
		if !ok {
			return value.Type{}, false
		}
		return v.env.fields.get(base, key.Value)
	}
	return value.Type{}, false
}

// factsOf returns what is known where the condition n holds, and where it does not.
func (v *view) factsOf(n ast.Node) (yes, no *facts) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			yes, no = v.factsOf(n.Node)
			return no, yes
		}
	case *ast.BinaryNode:
		return v.binaryFacts(n)
	}
	return nil, nil
}

func (v *view) binaryFacts(n *ast.BinaryNode) (yes, no *facts) {
	switch n.Operator {
	case "&&", "and":
		y1, _ := v.factsOf(n.Left)
		y2, _ := v.factsOf(n.Right)
		return y1.and(y2), nil
	case "||", "or":
		_, n1 := v.factsOf(n.Left)
		_, n2 := v.factsOf(n.Right)
		return nil, n1.and(n2)
	case "==":
		return v.equalFacts(n)
	case "!=":
		yes, no = v.equalFacts(n)
		return no, yes
	}
	return nil, nil
}

// equalFacts returns the facts of left == right, and of its contrary.
func (v *view) equalFacts(n *ast.BinaryNode) (same, differ *facts) {
	left, right := n.Left, n.Right
	if isNull(left) || isString(left) {
		left, right = right, left
	}
	key := v.keyOf(left)
	if key == "" {
		return nil, nil
	}
	if isNull(right) {
		return nil, &facts{key: key}
	}
	word, ok := right.(*ast.StringNode)
	if !ok {
		return nil, nil
	}
	same = &facts{key: key}
	base, isStatus := strings.CutSuffix(key, sep+statusField)
	if !isStatus {
		return same, nil
	}
	success := &facts{key: base + sep + outputsField, below: true}
	if word.Value == successWord {
		return same.and(success), nil
	}
	if t, ok := v.chainType(left); ok && onlySuccessBeside(t.Enum, word.Value) {
		differ = success
	}
	return same, differ
}

// readsBelowOptional reports whether a chain reads through something that may be missing: the guard of a
// test against null makes the whole chain null then.
func (v *view) readsBelowOptional(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChainNode:
		return v.readsBelowOptional(n.Node)
	case *ast.MemberNode:
		if _, named := n.Property.(*ast.StringNode); !named {
			return true
		}
		t, ok := v.chainType(n.Node)
		return !ok || t.Optional || v.readsBelowOptional(n.Node)
	default:
		return false
	}
}

// exists looks for a word with a dash in the place of the last name of a chain.
func (v *view) exists(chain ast.Node, word string) dash {
	var get func(string) bool
	short := ""
	switch n := chain.(type) {
	case *ast.IdentifierNode:
		short = n.Value
		get = func(s string) bool { _, ok := v.env.lookup(s); return ok }
	case *ast.MemberNode:
		key, isName := n.Property.(*ast.StringNode)
		base, ok := v.chainType(n.Node)
		if !ok || !isName {
			return dashNo
		}
		short = key.Value
		get = func(s string) bool { _, ok := v.env.fields.get(base, s); return ok }
	}
	switch {
	case get(short):
		return dashNo
	case get(word):
		return dashKnown
	default:
		return dashUnknown
	}
}

// under checks something where more is known.
func (v *view) under(more *facts, check func() typed) typed {
	before := v.facts
	v.facts = v.facts.and(more)
	defer func() { v.facts = before }()
	return check()
}
