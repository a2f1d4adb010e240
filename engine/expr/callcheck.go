package expr

import (
	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/value"
)

// checkCallNode checks a call that the parser does not know: of a function of ours, or of something that
// can't be called.
func (c *checker) checkCallNode(n *ast.CallNode) typed {
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		return c.checkCall(n, callee.Value, n.Arguments)
	case *ast.MemberNode:
		c.methodMistake(n, callee)
	default:
		c.mistake(c.off.extent(n), CodeNotOffered, "only a function can be called, by its name")
	}
	return c.broken(n)
}

// checkCall checks a call of a function by its name.
func (c *checker) checkCall(n ast.Node, fn string, args []ast.Node) typed {
	if p := eval.FindPredicate(fn); p != nil {
		return c.checkPredicate(n, p, args)
	}
	f := eval.Find(fn)
	if f == nil {
		c.mistake(c.off.token(n), CodeUnknownFunction, "unknown function %q%s", fn, c.lang.functionHint(fn))
		return c.broken(n)
	}
	return c.checkFunction(n, f, args)
}

func (c *checker) checkFunction(n ast.Node, f *eval.Function, args []ast.Node) typed {
	if len(args) < f.Least || len(args) > len(f.Params) && !f.More {
		c.mistake(c.off.extent(n), CodeType, "%s takes %s, got %d: %s", f.Name, arguments(f.Least, f.More), len(args), f.Signature)
		return c.broken(n)
	}
	out := &eval.Call{Span: c.off.extent(n), Func: f}
	types := make([]value.Type, len(args))
	for i, a := range args {
		got := c.present(a)
		out.Args = append(out.Args, got.node)
		types[i] = got.typ
		if !f.Param(i).Takes(got.typ) {
			c.mistake(c.off.extent(a), CodeType, "%s: want %s, got %s %s", f.Name, f.Param(i), describe(got.typ), quote(c.off.of(a)))
			types[i] = anyType
		}
	}
	t := f.Result(types)
	if f.Name != "float" {
		t = c.wholeOrNot(t, types)
	}
	return typed{out, t}
}

func arguments(n int, more bool) string {
	words := [...]string{"no argument", "one argument", "two arguments", "three arguments"}
	if more {
		return words[n] + " or more"
	}
	return words[n]
}

func (c *checker) checkPredicate(n ast.Node, p *eval.PredicateFunc, args []ast.Node) typed {
	if p.Optional && len(args) == 1 {
		return c.checkFunction(n, eval.Find(p.Name), args)
	}
	if len(args) != 2 {
		hint := ""
		if len(args) == 1 && p.Name == "count" {
			hint = "; the number of all elements is len(list)"
		}
		c.mistake(c.off.extent(n), CodeType, "%s takes a list and a predicate: %s%s", p.Name, p.Signature, hint)
		return c.broken(n)
	}
	over := c.present(args[0])
	if over.typ.Kind != value.ListKind && !over.typ.IsAny() {
		c.mistake(c.off.extent(args[0]), CodeType, "%s: want a list, got %s %s", p.Name, describe(over.typ), quote(c.off.of(args[0])))
		over.typ = listType
	}
	listOf := over.typ
	if listOf.IsAny() {
		listOf = listType
	}
	body := c.checkBody(p, args[1], listOf.ElemType())
	out := &eval.Predicate{Span: c.off.extent(n), Name: p.Name, List: over.node, Body: body.node}
	t := p.Result(listOf, body.typ)
	if p.Name == "sum" {
		t = c.wholeOrNot(t, []value.Type{body.typ})
	}
	return typed{out, t}
}

func (c *checker) checkBody(p *eval.PredicateFunc, n ast.Node, elem value.Type) typed {
	if pred, ok := n.(*ast.PredicateNode); ok {
		n = pred.Node
	}
	c.elems = append(c.elems, elem)
	defer func() { c.elems = c.elems[:len(c.elems)-1] }()
	switch {
	case p.Boolean:
		return c.wanted(n, boolType, p.Name)
	case p.Name == "sum":
		return c.wanted(n, numberType, p.Name)
	default:
		return c.check(n)
	}
}
