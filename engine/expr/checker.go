package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// checker types a syntax tree and makes the nodes that evaluate it, in one walk. A part with a mistake has
// the type any, so that one mistake gives one diagnostic.
type checker struct {
	env    *Env
	src    source.Scalar
	off    offsets
	diags  []diag.Diagnostic
	failed bool
	refs   []Ref
	elems  []value.Type // the element types of the predicates around, the innermost last
	facts  *facts       // what is known to hold where the walk is
}

// typed is a checked part: the node that evaluates it and its type.
type typed struct {
	node eval.Node
	typ  value.Type
}

func (c *checker) checkRoot(tree ast.Node, want value.Type) (eval.Node, value.Type, bool) {
	root := c.check(tree)
	switch {
	case c.failed, want.IsAny():
	case !want.Optional && root.typ.Optional:
		c.needValue(tree, root.typ)
	case !value.Assignable(root.typ, want):
		c.mistake(wholeOf(c.src), CodeType, "want %s, got %s", describe(want), describe(root.typ))
	}
	return root.node, root.typ, !c.failed
}

// describe returns a type in the words of a message.
func describe(t value.Type) string {
	if len(t.Enum) > 0 && len(t.Enum) <= 6 {
		return fmt.Sprintf("one of %q", t.Enum)
	}
	return t.NotNull().String()
}

func (c *checker) mistake(at span, code diag.Code, format string, args ...any) {
	c.failed = true
	c.diags = append(c.diags, problem(c.src, at, code, format, args...))
}

func (c *checker) warn(at span, code diag.Code, format string, args ...any) {
	d := problem(c.src, at, code, format, args...)
	d.Severity = diag.Warning
	c.diags = append(c.diags, d)
}

// broken is the result of a part with a mistake.
func (c *checker) broken(n ast.Node) typed {
	return typed{&eval.Constant{Span: c.off.extent(n)}, anyType}
}

// check checks a part whose value is used as it is.
func (c *checker) check(n ast.Node) typed { return c.visit(n, false) }

// visit checks a part; guarded, what is missing along a member chain is null and no mistake.
func (c *checker) visit(n ast.Node, guarded bool) typed {
	at := c.off.extent(n)
	switch n := n.(type) {
	case *ast.NilNode:
		return typed{&eval.Constant{Span: at, Value: nil}, value.Of(value.Null)}
	case *ast.BoolNode:
		return typed{&eval.Constant{Span: at, Value: n.Value}, boolType}
	case *ast.IntegerNode:
		return typed{&eval.Constant{Span: at, Value: int64(n.Value)}, intType}
	case *ast.FloatNode:
		return typed{&eval.Constant{Span: at, Value: value.FromFloat(n.Value)}, value.TypeOf(value.FromFloat(n.Value))}
	case *ast.StringNode:
		return typed{&eval.Constant{Span: at, Value: n.Value}, stringType}
	case *ast.IdentifierNode, *ast.PointerNode, *ast.MemberNode, *ast.ChainNode:
		return c.checkChain(n, guarded)
	case *ast.UnaryNode:
		return c.checkUnary(n)
	case *ast.BinaryNode:
		return c.checkBinary(n, guarded)
	case *ast.ConditionalNode:
		return c.checkChoice(n, guarded)
	case *ast.ArrayNode:
		return c.checkList(n)
	case *ast.MapNode:
		return c.checkObject(n)
	case *ast.BuiltinNode:
		return c.checkCall(n, n.Name, n.Arguments)
	case *ast.CallNode:
		return c.checkCallNode(n)
	default:
		return c.notOffered(n)
	}
}

// notOffered answers syntax that the library has and the language leaves out.
func (c *checker) notOffered(n ast.Node) typed {
	at := c.off.token(n)
	switch n.(type) {
	case *ast.SliceNode:
		c.mistake(at, CodeNotOffered, "slices are not part of the language: use first, last, filter with #index, or an element such as x[0]")
	case *ast.VariableDeclaratorNode:
		c.mistake(at, CodeNotOffered, `"let" is not part of the language: write the value where it is used`)
	case *ast.SequenceNode:
		c.mistake(at, CodeNotOffered, `";" is not part of the language: write one expression`)
	case *ast.BytesNode:
		c.mistake(at, CodeNotOffered, "byte strings are not part of the language: write a string without the b before it")
	default:
		c.mistake(at, CodeNotOffered, "this is not part of the language: write it with operators and functions")
	}
	return c.broken(n)
}

// needValue says that a value that may be missing is used as if it were there.
func (c *checker) needValue(n ast.Node, t value.Type) {
	text := c.off.of(n)
	if t.Kind == value.Null {
		c.mistake(c.off.extent(n), CodeType, "want a value, got null")
		return
	}
	if c.keyOf(n) == "" { // a test would not tell that it is the same value
		c.mistake(c.off.extent(n), CodeMaybeMissing, `%s may be missing: give it a default with "??"`, quote(text))
		return
	}
	c.mistake(c.off.extent(n), CodeMaybeMissing,
		`%s may be missing: give it a default with "??", or test it first, such as %s != nil && …`, quote(text), text)
}

// present checks a part whose value must be there.
func (c *checker) present(n ast.Node) typed {
	got := c.check(n)
	if got.typ.Optional || got.typ.Kind == value.Null {
		c.needValue(n, got.typ)
		got.typ = anyType
	}
	return got
}

// wanted checks a part that must be of a type.
func (c *checker) wanted(n ast.Node, want value.Type, who string) typed {
	got := c.present(n)
	if !value.Assignable(got.typ, want) {
		c.mistake(c.off.extent(n), CodeType, "%s: want %s, got %s %s", who, describe(want), describe(got.typ), quote(c.off.of(n)))
		got.typ = want
	}
	return got
}

func quote(text string) string { return `"` + text + `"` }

func (c *checker) checkChoice(n *ast.ConditionalNode, guarded bool) typed {
	if !n.Ternary {
		c.mistake(wholeOf(c.src), CodeNotOffered, `"if" is not part of the language: write condition ? value : other`)
		return c.broken(n)
	}
	cond := c.wanted(n.Cond, boolType, "?")
	yes, no := c.factsOf(n.Cond)
	then := c.under(yes, func() typed { return c.visit(n.Exp1, guarded) })
	other := c.under(no, func() typed { return c.visit(n.Exp2, guarded) })
	return typed{&eval.Choice{Span: c.off.extent(n), Cond: cond.node, Then: then.node, Other: other.node}, value.Join(then.typ, other.typ)}
}

func (c *checker) checkList(n *ast.ArrayNode) typed {
	out := &eval.List{Span: c.off.extent(n)}
	if len(n.Nodes) == 0 {
		return typed{out, listType}
	}
	var elem value.Type
	for i, e := range n.Nodes {
		got := c.check(e)
		out.Elems = append(out.Elems, got.node)
		if i == 0 {
			elem = got.typ
		}
		elem = value.Join(elem, got.typ)
	}
	return typed{out, value.ListOf(elem)}
}

func (c *checker) checkObject(n *ast.MapNode) typed {
	out := &eval.Object{Span: c.off.extent(n)}
	t := value.Type{Kind: value.ObjectKind}
	for _, p := range n.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			continue
		}
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			c.mistake(c.off.extent(pair.Key), CodeNotOffered, "the name of a field must be a word or a string")
			continue
		}
		if slices.Contains(out.Names, key.Value) {
			c.mistake(c.off.token(key), CodeType, "field %q stands twice in one object", key.Value)
			continue
		}
		got := c.check(pair.Value)
		out.Names = append(out.Names, key.Value)
		out.Elems = append(out.Elems, got.node)
		t.Fields = append(t.Fields, value.FieldType{Name: key.Value, Type: got.typ})
	}
	return typed{out, t}
}

var (
	anyType    = value.Of(value.Any)
	boolType   = value.Of(value.Bool)
	intType    = value.Of(value.Int)
	numberType = value.Of(value.Number)
	stringType = value.Of(value.String)
	listType   = value.Of(value.ListKind)
)

// didYouMean returns `: did you mean "x"?`, or what there is instead, or nothing.
func didYouMean(word string, candidates []string) string {
	if s := diag.Suggest(word, candidates); s != "" {
		return ": " + s
	}
	const most = 8
	if len(candidates) == 0 || len(candidates) > most {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates)) // sorted: as a reader looks for a name
	for i, s := range sorted {
		sorted[i] = fmt.Sprintf("%q", s)
	}
	return ", it has " + strings.Join(sorted, ", ")
}
