package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/value"
)

// The language knows one rule beside tests against null: what a stage gave is there once its status is
// known to be the word for success.
const (
	statusField  = "status"
	outputsField = "outputs"
	successWord  = "succeeded"
)

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

// keyOf returns the key of a member chain that is made of names, "" for anything else.
func (c *checker) keyOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return c.keyOf(n.Node)
	case *ast.IdentifierNode:
		return n.Value
	case *ast.PointerNode:
		if n.Name == "" {
			return "#" + strconv.Itoa(len(c.elems))
		}
	case *ast.MemberNode:
		base := c.keyOf(n.Node)
		if key, ok := n.Property.(*ast.StringNode); ok && base != "" && !n.Method {
			return base + sep + key.Value
		}
	}
	return ""
}

// under checks something where more is known.
func (c *checker) under(more *facts, check func() typed) typed {
	before := c.facts
	c.facts = c.facts.and(more)
	defer func() { c.facts = before }()
	return check()
}

// factsOf returns what is known where the condition n holds, and where it does not.
func (c *checker) factsOf(n ast.Node) (yes, no *facts) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			yes, no = c.factsOf(n.Node)
			return no, yes
		}
	case *ast.BinaryNode:
		return c.binaryFacts(n)
	}
	return nil, nil
}

func (c *checker) binaryFacts(n *ast.BinaryNode) (yes, no *facts) {
	switch n.Operator {
	case "&&", "and":
		y1, _ := c.factsOf(n.Left)
		y2, _ := c.factsOf(n.Right)
		return y1.and(y2), nil
	case "||", "or":
		_, n1 := c.factsOf(n.Left)
		_, n2 := c.factsOf(n.Right)
		return nil, n1.and(n2)
	case "==":
		return c.equalFacts(n)
	case "!=":
		yes, no = c.equalFacts(n)
		return no, yes
	}
	return nil, nil
}

// equalFacts returns the facts of left == right, and of its contrary.
func (c *checker) equalFacts(n *ast.BinaryNode) (same, differ *facts) {
	left, right := n.Left, n.Right
	if isNull(left) || isString(left) {
		left, right = right, left
	}
	key := c.keyOf(left)
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
	if t, ok := c.chainType(left); ok && onlySuccessBeside(t.Enum, word.Value) {
		differ = success
	}
	return same, differ
}

// onlySuccessBeside reports whether success is the only one of words that is left without word.
func onlySuccessBeside(words []string, word string) bool {
	return len(words) == 2 && slices.Contains(words, word) && slices.Contains(words, successWord)
}

// chainType returns the declared type of a member chain, without diagnostics.
func (c *checker) chainType(n ast.Node) (value.Type, bool) {
	switch n := n.(type) {
	case *ast.ChainNode:
		return c.chainType(n.Node)
	case *ast.IdentifierNode:
		return c.env.lookup(n.Value)
	case *ast.MemberNode:
		key, ok := n.Property.(*ast.StringNode)
		if !ok {
			return value.Type{}, false
		}
		base, ok := c.chainType(n.Node)
		if !ok {
			return value.Type{}, false
		}
		return c.env.fields.get(base, key.Value)
	}
	return value.Type{}, false
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

func isString(n ast.Node) bool {
	_, ok := n.(*ast.StringNode)
	return ok
}
