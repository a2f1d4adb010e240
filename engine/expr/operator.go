package expr

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/value"
)

func (c *checker) checkUnary(n *ast.UnaryNode) typed {
	at := c.off.extent(n)
	switch n.Operator {
	case "!", "not":
		x := c.wanted(n.Node, boolType, n.Operator)
		return typed{&eval.Not{Span: at, X: x.node}, boolType}
	case "-":
		x := c.wanted(n.Node, numberType, "-")
		return typed{&eval.Negate{Span: at, X: x.node}, c.numberOf(x.typ)}
	default:
		c.mistake(c.off.token(n), CodeNotOffered, "%q before a value is not part of the language: leave it out", n.Operator)
		return c.broken(n)
	}
}

func (c *checker) checkBinary(n *ast.BinaryNode, guarded bool) typed {
	at := c.off.extent(n)
	if c.notBindsCloser(n) {
		return c.broken(n)
	}
	switch n.Operator {
	case "&&", "and":
		return c.checkLogic(n, false)
	case "||", "or":
		return c.checkLogic(n, true)
	case "??":
		left := c.visit(n.Left, true)
		right := c.visit(n.Right, guarded)
		t := right.typ
		if left.typ.Kind != value.Null {
			t = value.Join(left.typ.NotNull(), right.typ)
		}
		return typed{&eval.Coalesce{Span: at, Left: left.node, Right: right.node}, t}
	case "==", "!=":
		return c.checkEqual(n)
	case "<", "<=", ">", ">=":
		return c.checkOrder(n)
	case "in":
		return c.checkIn(n)
	case "matches":
		return c.checkMatches(n)
	case "contains", "startsWith", "endsWith":
		return c.checkText(n)
	case "+":
		return c.checkPlus(n)
	case "-", "*", "/", "%":
		return c.checkArithmetic(n)
	default:
		hint := map[string]string{"..": "write one dot before a field, and the numbers of a range in a list", "**": "write x * x", "^": "write x * x"}[n.Operator]
		c.mistake(c.off.token(n), CodeNotOffered, "%q is not part of the language: %s", n.Operator, hint)
		return c.broken(n)
	}
}

// notBindsCloser answers not x in y, which is read as (not x) in y.
func (c *checker) notBindsCloser(n *ast.BinaryNode) bool {
	u, ok := n.Left.(*ast.UnaryNode)
	if !ok || u.Operator == "-" || u.Operator == "+" || !slices.Contains([]string{"in", "contains", "matches", "startsWith", "endsWith"}, n.Operator) {
		return false
	}
	if x := c.check(u.Node); x.typ.Kind == value.Bool || x.typ.IsAny() {
		return false
	}
	c.mistake(c.off.extent(n), CodeType, "%q binds closer than %q: write %s",
		u.Operator, n.Operator, c.lang.negated(c.off.of(u.Node), n.Operator, c.off.of(n.Right)))
	return true
}

func (c *checker) checkLogic(n *ast.BinaryNode, or bool) typed {
	left := c.wanted(n.Left, boolType, n.Operator)
	yes, no := c.factsOf(n.Left)
	if or {
		yes = no
	}
	right := c.under(yes, func() typed { return c.wanted(n.Right, boolType, n.Operator) })
	return typed{&eval.Logic{Span: c.off.extent(n), Or: or, Left: left.node, Right: right.node}, boolType}
}

func (c *checker) checkEqual(n *ast.BinaryNode) typed {
	at := c.off.extent(n)
	if isNull(n.Left) || isNull(n.Right) {
		left, right := c.visit(n.Left, true), c.visit(n.Right, true)
		for _, side := range []struct {
			ast ast.Node
			typ value.Type
		}{{n.Left, left.typ}, {n.Right, right.typ}} {
			if !side.typ.Optional && side.typ.Kind != value.Null && !side.typ.IsAny() && !c.readsBelowOptional(side.ast) {
				c.warn(at, CodeNeverNull, "%s is never null: the test has always the same result", quote(c.off.of(side.ast)))
			}
		}
		return typed{&eval.Binary{Span: at, Op: n.Operator, Left: left.node, Right: right.node}, boolType}
	}
	left, right := c.present(n.Left), c.present(n.Right)
	if !value.Assignable(left.typ, right.typ) && !value.Assignable(right.typ, left.typ) {
		if !c.wordMistake(n, left.typ, right.typ) {
			c.comparable(n, left.typ, right.typ)
		}
		return typed{&eval.Binary{Span: at, Op: n.Operator, Left: left.node, Right: right.node}, boolType}
	}
	c.wordMistake(n, left.typ, right.typ)
	return typed{&eval.Binary{Span: at, Op: n.Operator, Left: left.node, Right: right.node}, boolType}
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return out
}

func (c *checker) checkOrder(n *ast.BinaryNode) typed {
	left, right := c.present(n.Left), c.present(n.Right)
	numbers := value.Assignable(left.typ, numberType) && value.Assignable(right.typ, numberType)
	texts := value.Assignable(left.typ, stringType) && value.Assignable(right.typ, stringType)
	if !numbers && !texts {
		c.mistake(c.off.extent(n), CodeType, "%q compares two numbers or two strings, got %s and %s%s",
			n.Operator, describe(left.typ), describe(right.typ), lenHint(left.typ, right.typ))
	}
	return typed{&eval.Binary{Span: c.off.extent(n), Op: n.Operator, Left: left.node, Right: right.node}, boolType}
}

func lenHint(types ...value.Type) string {
	for _, t := range types {
		if t.Kind == value.ListKind {
			return ": write len(…) for the number of elements"
		}
	}
	return ""
}

func (c *checker) checkIn(n *ast.BinaryNode) typed {
	at := c.off.extent(n)
	left, right := c.present(n.Left), c.present(n.Right)
	switch right.typ.Kind {
	case value.ListKind:
		elem := right.typ.ElemType().NotNull()
		if !value.Assignable(left.typ, elem) && !value.Assignable(elem, left.typ) {
			c.mistake(at, CodeType, `"in" looks for %s in a list of %s, which never holds it`, describe(left.typ), describe(elem))
		}
		c.listWords(n, left.typ)
	case value.ObjectKind:
		if !value.Assignable(left.typ, stringType) {
			c.mistake(c.off.extent(n.Left), CodeType, `"in" an object looks for a name: want string, got %s`, describe(left.typ))
		}
	case value.Any, value.UnknownKind:
	case value.String:
		c.mistake(at, CodeType, `"in" looks into a list or an object: for a text within a text write %s`, c.lang.text(c.off.of(n.Right), "contains", c.off.of(n.Left)))
	default:
		c.mistake(c.off.extent(n.Right), CodeType, `"in" looks into a list or an object, got %s`, describe(right.typ))
	}
	return typed{&eval.Binary{Span: at, Op: "in", Left: left.node, Right: right.node}, boolType}
}

// maxPattern is the length of a regular expression, in bytes.
const maxPattern = 1000

func (c *checker) checkMatches(n *ast.BinaryNode) typed {
	x := c.wanted(n.Left, stringType, "matches")
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		c.mistake(c.off.extent(n.Right), CodeType, "the pattern of matches must be a string in quotes, so that it can be checked")
		return c.broken(n)
	}
	if len(pattern.Value) > maxPattern {
		c.mistake(c.off.token(pattern), CodeTooLarge, "a pattern has at most %d bytes, this one has %d", maxPattern, len(pattern.Value))
		return c.broken(n)
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		c.mistake(c.off.token(pattern), CodeSyntax, "%q is no regular expression: %s", clip(pattern.Value),
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return c.broken(n)
	}
	return typed{&eval.Match{Span: c.off.extent(n), X: x.node, Pattern: re}, boolType}
}

func (c *checker) checkText(n *ast.BinaryNode) typed {
	left := c.present(n.Left)
	if left.typ.Kind == value.ListKind && n.Operator == "contains" {
		c.present(n.Right)
		c.mistake(c.off.extent(n), CodeType, `"contains" looks into a text: for an element of a list write %s in %s`, c.off.of(n.Right), c.off.of(n.Left))
		return c.broken(n)
	}
	if !value.Assignable(left.typ, stringType) {
		c.mistake(c.off.extent(n.Left), CodeType, "%s: want string, got %s %s", n.Operator, describe(left.typ), quote(c.off.of(n.Left)))
	}
	right := c.wanted(n.Right, stringType, n.Operator)
	return typed{&eval.Text{Span: c.off.extent(n), Op: n.Operator, Left: left.node, Right: right.node}, boolType}
}

func (c *checker) checkPlus(n *ast.BinaryNode) typed {
	left, right := c.present(n.Left), c.present(n.Right)
	out := &eval.Binary{Span: c.off.extent(n), Op: "+", Left: left.node, Right: right.node, Lists: c.lang == celLanguage}
	isText := left.typ.Kind == value.String || right.typ.Kind == value.String
	switch {
	case left.typ.IsAny() && right.typ.IsAny():
		return typed{out, anyType}
	case isText && value.Assignable(left.typ, stringType) && value.Assignable(right.typ, stringType):
		return typed{out, stringType}
	case !isText && value.Assignable(left.typ, numberType) && value.Assignable(right.typ, numberType):
		return typed{out, c.numberOf(left.typ, right.typ)}
	case out.Lists && value.Assignable(left.typ, listType) && value.Assignable(right.typ, listType):
		return typed{out, value.Join(asList(left.typ), asList(right.typ))}
	}
	hint := ""
	switch {
	case isText:
		hint = ": write string(…) around what is no text"
	case left.typ.Kind == value.ListKind:
		hint = c.lang.pick(": write concat(…) for lists", ": put one element into a list, such as list + [x]")
	}
	c.mistake(out.Span, CodeType, `"+" adds two numbers or joins two strings%s, got %s and %s%s`,
		c.lang.pick("", " or two lists"), describe(left.typ), describe(right.typ), hint)
	return c.broken(n)
}

func (c *checker) checkArithmetic(n *ast.BinaryNode) typed {
	if n.Operator == "-" && c.isDashedName(n) {
		return c.broken(n)
	}
	want := numberType
	if n.Operator == "%" {
		want = intType
	}
	left := c.wanted(n.Left, want, n.Operator)
	right := c.wanted(n.Right, want, n.Operator)
	out := &eval.Binary{Span: c.off.extent(n), Op: n.Operator, Left: left.node, Right: right.node}
	t := c.numberOf(left.typ, right.typ)
	switch n.Operator {
	case "/":
		t = c.quotientType(n, out, left.typ, right.typ)
	case "%":
		t = intType
	}
	return typed{out, t}
}

// numberOf is the type of arithmetic on numbers.
func (c *checker) numberOf(types ...value.Type) value.Type {
	return c.wholeOrNot(eval.NumberOf(types), types)
}

// wholeOrNot gives any in the place of number where it is not known whether the number is an integer: in CEL
// the sense of "/" depends on it.
func (c *checker) wholeOrNot(t value.Type, from []value.Type) value.Type {
	if c.lang != celLanguage || t.Kind != value.Number {
		return t
	}
	unknown := false
	for _, f := range from {
		if f.Kind == value.ListKind {
			f = f.ElemType()
		}
		if f.Kind == value.Number {
			return t
		}
		unknown = unknown || f.IsAny()
	}
	if unknown {
		return anyType
	}
	return t
}

func asList(t value.Type) value.Type {
	if t.IsAny() {
		return listType
	}
	return t
}

// quotientType says what "/" gives. In CEL it drops the fraction where both sides are integers, so that it
// must be known whether they are.
func (c *checker) quotientType(n *ast.BinaryNode, out *eval.Binary, left, right value.Type) value.Type {
	if c.lang != celLanguage || left.Kind == value.Number || right.Kind == value.Number {
		return numberType
	}
	for i, t := range []value.Type{left, right} {
		if side := []ast.Node{n.Left, n.Right}[i]; t.IsAny() && !c.failed {
			text := c.off.of(side)
			c.mistake(c.off.extent(side), CodeType, `"/" drops the fraction of two integers, and it is not known whether %s is one: write int(%s) or double(%s)`,
				quote(text), text, text)
		}
	}
	out.Whole = true
	return intType
}

// isDashedName answers a subtraction that is meant as a name with a dash, as in stages.a-b.x: it checks the
// part before the dash, and nothing behind it if that was the mistake.
func (c *checker) isDashedName(n *ast.BinaryNode) bool {
	left := n.Left
	for { // a-b-c is (a-b)-c
		b, ok := left.(*ast.BinaryNode)
		if !ok || b.Operator != "-" {
			break
		}
		left = b.Left
	}
	if chain, ok := left.(*ast.ChainNode); ok {
		left = chain.Node
	}
	var at span
	switch l := left.(type) {
	case *ast.MemberNode:
		if !c.off.hasDot(l) {
			return false
		}
		at = c.off.token(l.Property)
	case *ast.IdentifierNode:
		at = c.off.token(l)
	default:
		return false
	}
	word, from, ok := dashed(c.src.Text, at)
	if !ok || c.exists(left, word) == dashNo {
		return false
	}
	before := len(c.diags)
	if c.exists(left, word) == dashKnown {
		c.knownDash(left, word, from)
		return true
	}
	c.visit(left, true) // an unknown name before the dash: it says what is meant
	return len(c.diags) > before && c.diags[len(c.diags)-1].Code == CodeDash
}

type dash uint8

const (
	dashNo      dash = iota // what stands before the dash is there
	dashKnown               // the word with the dash is there
	dashUnknown             // neither is
)

func (c *checker) knownDash(chain ast.Node, word string, from int) {
	switch n := chain.(type) {
	case *ast.IdentifierNode:
		c.unknownName(n, c.off.token(n))
	case *ast.MemberNode:
		c.dashMistake(n, value.Type{}, word, from, true)
	}
}
