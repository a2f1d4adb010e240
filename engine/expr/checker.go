package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/value"
)

// checker types a syntax tree and makes the nodes that evaluate it, in one walk. A part with a mistake has
// the type any, so that one mistake gives one diagnostic.
type checker struct {
	reporter
	view
	refs   []Ref
	visits int
}

// maxVisits bounds the walk: a < b < c holds b twice, so that a nested one grows with the power of its depth.
const maxVisits = 8 * MaxNodes

// maxMistakes bounds the diagnostics of one expression: each unknown name is compared with all that there are.
const maxMistakes = 20

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
	case isString(tree) && len(want.Enum) > 0 && !slices.Contains(want.Enum, tree.(*ast.StringNode).Value):
		c.mistake(wholeOf(c.src), CodeType, "want %s, got %q", describe(want), clip(tree.(*ast.StringNode).Value))
	case !value.Assignable(root.typ, want):
		c.mistake(wholeOf(c.src), CodeType, "want %s, got %s", describe(want), describe(root.typ))
	}
	return root.node, root.typ, !c.failed
}

// describe returns a type in the words of a message.
func describe(t value.Type) string {
	if len(t.Enum) > 0 && len(t.Enum) <= 6 {
		return "one of " + strings.Join(quoted(t.Enum), ", ")
	}
	return t.NotNull().String()
}

// check checks a part whose value is used as it is.
func (c *checker) check(n ast.Node) typed { return c.visit(n, false) }

// visit checks a part; guarded, what is missing along a member chain is null and no mistake.
func (c *checker) visit(n ast.Node, guarded bool) typed {
	if c.visits++; c.visits > maxVisits {
		if !c.failed {
			c.mistake(wholeOf(c.src), CodeTooLarge, "comparisons such as a < b < c nest too deep: write them with &&")
		}
		c.failed = true
		return typed{&eval.Constant{}, anyType}
	}
	if len(c.diags) >= maxMistakes {
		return c.broken(n)
	}
	at := c.off.extent(n)
	switch n := n.(type) {
	case *ast.NilNode:
		return typed{&eval.Constant{Span: at, Value: nil}, value.Of(value.Null)}
	case *ast.BoolNode:
		return typed{&eval.Constant{Span: at, Value: n.Value}, boolType}
	case *ast.IntegerNode:
		return typed{&eval.Constant{Span: at, Value: int64(n.Value)}, intType}
	case *ast.FloatNode:
		return c.checkFloat(n)
	case *ast.StringNode:
		return typed{&eval.Constant{Span: at, Value: n.Value}, stringType}
	case *cel.Broken: // reported by who read it
		c.failed = true
		return c.broken(n)
	case *ast.IdentifierNode, *ast.PointerNode, *cel.Variable, *ast.MemberNode, *ast.ChainNode:
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

// checkFloat checks a number with a point. In one language 2.0 is the whole number that it is, in CEL it says
// that fractions are meant.
func (c *checker) checkFloat(n *ast.FloatNode) typed {
	v := value.FromFloat(n.Value)
	t := numberType
	if c.lang != celLanguage {
		t = value.TypeOf(v)
	}
	return typed{&eval.Constant{Span: c.off.extent(n), Value: v}, t}
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
		if _, reported := pair.Key.(*cel.Broken); reported {
			t.Open = true // what is read from it may be there
			c.check(pair.Value)
			continue
		}
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
