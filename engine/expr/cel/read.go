package cel

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/antlr4-go/antlr/v4"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/google/cel-go/parser/gen"
)

// reader turns the parser's tree into the one of package expr.
type reader struct {
	source   *scanned
	tree     *Tree
	vars     []variable // of the macros around, the innermost last
	level    int        // macros around
	nodes    int
	most     int // nodes
	tooLarge *Problem
}

// variable is a name that a macro gives.
type variable struct {
	name  string
	level int
	index bool
}

// node adds a node to the tree.
func (r *reader) node(n ast.Node, token, extent Span) ast.Node {
	if r.nodes++; r.nodes > r.most && r.tooLarge == nil {
		r.tooLarge = &Problem{At: r.source.whole(), Kind: TooLarge,
			Message: fmt.Sprintf("an expression has at most %d parts: compute it in a stage and test the output", r.most)}
	}
	n.SetLocation(file.Location{From: token.From, To: token.To})
	r.tree.Places[n] = Place{Token: token, Extent: extent}
	return n
}

// problem notes what an author must change and stands for the part.
func (r *reader) problem(at, extent Span, kind Kind, format string, args ...any) ast.Node {
	r.tree.Problems = append(r.tree.Problems, Problem{At: at, Kind: kind, Message: fmt.Sprintf(format, args...)})
	return r.node(&Broken{}, at, extent)
}

// extent returns the stretch of a part of the parser's tree.
func (r *reader) extent(t antlr.ParserRuleContext) Span {
	return Span{From: r.source.at(t.GetStart().GetStart()), To: r.source.at(t.GetStop().GetStop() + 1)}
}

// of returns the stretch of a node.
func (r *reader) of(n ast.Node) Span { return r.tree.Places[n].Extent }

// text returns the text of a node.
func (r *reader) text(n ast.Node) string {
	at := r.of(n)
	return clip(r.source.text[at.From:at.To])
}

// read turns one part. The cases are one for each form of the grammar.
func (r *reader) read(t antlr.ParseTree) ast.Node {
	switch t := t.(type) {
	case *gen.StartContext:
		return r.read(t.GetE())
	case *gen.ExprContext:
		return r.choice(t)
	case *gen.ConditionalOrContext:
		left := r.read(t.GetE())
		for i, next := range t.GetE1() {
			left = r.binary(t.GetOps()[i], left, r.read(next))
		}
		return left
	case *gen.ConditionalAndContext:
		left := r.read(t.GetE())
		for i, next := range t.GetE1() {
			left = r.binary(t.GetOps()[i], left, r.read(next))
		}
		return left
	case *gen.RelationContext:
		if t.GetOp() == nil {
			return r.read(t.Calc())
		}
		return r.binary(t.GetOp(), r.read(t.Relation(0)), r.read(t.Relation(1)))
	case *gen.CalcContext:
		if t.GetOp() == nil {
			return r.read(t.Unary())
		}
		return r.binary(t.GetOp(), r.read(t.Calc(0)), r.read(t.Calc(1)))
	case *gen.LogicalNotContext:
		return r.unary(t.GetOps(), r.read(t.Member()))
	case *gen.NegateContext:
		return r.unary(t.GetOps(), r.read(t.Member()))
	case *gen.MemberExprContext:
		return r.read(t.Member())
	case *gen.PrimaryExprContext:
		return r.read(t.Primary())
	case *gen.NestedContext:
		return r.read(t.GetE())
	case *gen.ConstantLiteralContext:
		return r.read(t.Literal())
	case *gen.SelectContext:
		return r.field(t)
	case *gen.IndexContext:
		return r.index(t)
	case *gen.MemberCallContext:
		return r.method(t)
	case *gen.GlobalCallContext:
		return r.global(t)
	case *gen.IdentContext:
		return r.name(t)
	case *gen.CreateListContext:
		return r.list(t)
	case *gen.CreateStructContext:
		return r.object(t)
	case antlr.ParserRuleContext:
		return r.literal(t)
	default: // the parser's trees hold nothing else
		return r.problem(r.source.whole(), r.source.whole(), Syntax, "the expression can't be read: write it in a simpler way")
	}
}

func (r *reader) choice(t *gen.ExprContext) ast.Node {
	cond := r.read(t.GetE())
	if t.GetOp() == nil {
		return cond
	}
	n := &ast.ConditionalNode{Ternary: true, Cond: cond, Exp1: r.read(t.GetE1()), Exp2: r.read(t.GetE2())}
	return r.node(n, r.source.span(t.GetOp()), Span{From: r.of(cond).From, To: r.of(n.Exp2).To})
}

func (r *reader) binary(op antlr.Token, left, right ast.Node) ast.Node {
	n := &ast.BinaryNode{Operator: op.GetText(), Left: left, Right: right}
	return r.node(n, r.source.span(op), Span{From: r.of(left).From, To: r.of(right).To})
}

func (r *reader) unary(ops []antlr.Token, x ast.Node) ast.Node {
	for _, op := range slices.Backward(ops) {
		at := r.source.span(op)
		x = r.node(&ast.UnaryNode{Operator: op.GetText(), Node: x}, at, Span{From: at.From, To: r.of(x).To})
	}
	return x
}

func (r *reader) name(t *gen.IdentContext) ast.Node {
	at, name := r.source.span(t.GetId()), t.GetId().GetText()
	if t.GetLeadingDot() != nil {
		return r.problem(r.extent(t), r.extent(t), NotOffered, "a dot before a name is not part of the language: write %s", name)
	}
	for _, v := range slices.Backward(r.vars) {
		if v.name == name {
			return r.node(&Variable{PointerNode: ast.PointerNode{Name: name}, Level: v.level, Index: v.index}, at, at)
		}
	}
	return r.node(&ast.IdentifierNode{Value: name}, at, at)
}

// isOptional reports whether a chain holds a ".?": what follows it is optional too.
func isOptional(n ast.Node) bool {
	m, ok := n.(*ast.MemberNode)
	return ok && m.Optional
}

func (r *reader) field(t *gen.SelectContext) ast.Node {
	base := r.read(t.Member())
	at := r.extent(t.GetId())
	name := r.source.text[at.From:at.To]
	if _, quoted := t.GetId().(*gen.EscapedIdentifierContext); quoted {
		name = name[1 : len(name)-1]
	}
	key := r.node(&ast.StringNode{Value: name}, at, at)
	n := &ast.MemberNode{Node: base, Property: key, Optional: t.GetOpt() != nil || isOptional(base)}
	return r.node(n, at, Span{From: r.of(base).From, To: at.To})
}

func (r *reader) index(t *gen.IndexContext) ast.Node {
	base, key := r.read(t.Member()), r.read(t.GetIndex())
	n := &ast.MemberNode{Node: base, Property: key, Optional: t.GetOpt() != nil || isOptional(base)}
	return r.node(n, r.source.span(t.GetOp()), Span{From: r.of(base).From, To: r.extent(t).To})
}

func (r *reader) list(t *gen.CreateListContext) ast.Node {
	n := &ast.ArrayNode{}
	if t.GetElems() != nil {
		for _, e := range t.GetElems().GetElems() {
			if e.GetOpt() != nil {
				r.optionalPart(e)
			}
			n.Nodes = append(n.Nodes, r.read(e.GetE()))
		}
	}
	return r.node(n, r.source.span(t.GetOp()), r.extent(t))
}

func (r *reader) optionalPart(e gen.IOptExprContext) {
	at := r.source.span(e.GetOpt())
	r.problem(at, at, NotOffered, `"?" in a list or an object is not part of the language: give the value a default with orValue`)
}

func (r *reader) object(t *gen.CreateStructContext) ast.Node {
	n := &ast.MapNode{}
	if entries := t.GetEntries(); entries != nil {
		for i, k := range entries.GetKeys() {
			if k.GetOpt() != nil {
				r.optionalPart(k)
			}
			key := r.read(k.GetE())
			if _, ok := key.(*ast.StringNode); !ok {
				at := r.of(key)
				key = r.problem(at, at, NotOffered, "the name of a field is a string in quotes: write {%q: …}", clip(r.source.text[at.From:at.To]))
			}
			pair := &ast.PairNode{Key: key, Value: r.read(entries.GetValues()[i])}
			n.Pairs = append(n.Pairs, r.node(pair, r.of(key), Span{From: r.of(key).From, To: r.of(pair.Value).To}))
		}
	}
	return r.node(n, r.source.span(t.GetOp()), r.extent(t))
}

// literal turns a literal; what is none of the language's is a problem.
func (r *reader) literal(t antlr.ParserRuleContext) ast.Node {
	at := r.extent(t)
	text := r.source.text[at.From:at.To]
	switch t := t.(type) {
	case *gen.IntContext:
		n, err := strconv.ParseInt(signed(t.GetSign(), t.GetTok()), 0, 64)
		if err != nil {
			return r.problem(at, at, Syntax, "the number %s does not fit 64 bits", clip(text))
		}
		return r.node(&ast.IntegerNode{Value: int(n)}, at, at)
	case *gen.DoubleContext:
		f, err := strconv.ParseFloat(signed(t.GetSign(), t.GetTok()), 64)
		if err != nil {
			return r.problem(at, at, Syntax, "the number %s is out of range", clip(text))
		}
		return r.node(&ast.FloatNode{Value: f}, at, at)
	case *gen.StringContext:
		s, ok := unquote(t.GetTok().GetText())
		if !ok {
			return r.problem(at, at, Syntax, `a string names a character that there is not: write the character itself`)
		}
		return r.node(&ast.StringNode{Value: s}, at, at)
	case *gen.BoolTrueContext:
		return r.node(&ast.BoolNode{Value: true}, at, at)
	case *gen.BoolFalseContext:
		return r.node(&ast.BoolNode{Value: false}, at, at)
	case *gen.NullContext:
		return r.node(&ast.NilNode{}, at, at)
	case *gen.UintContext:
		return r.problem(at, at, NotOffered, `numbers with a "u" are not part of the language: write %s`, text[:len(text)-1])
	case *gen.BytesContext:
		return r.problem(at, at, NotOffered, "byte strings are not part of the language: write a string without the b before it")
	case *gen.CreateMessageContext:
		return r.problem(at, at, NotOffered, `messages are not part of the language: write an object, such as {"name": value}`)
	}
	return r.problem(at, at, NotOffered, "this is not part of the language: write it with operators and functions")
}

// signed returns a number as strconv reads it. Leading zeros make no octal number in CEL.
func signed(sign, tok antlr.Token) string {
	text := tok.GetText()
	for len(text) > 1 && text[0] == '0' && '0' <= text[1] && text[1] <= '9' {
		text = text[1:]
	}
	if sign != nil {
		return sign.GetText() + text
	}
	return text
}
