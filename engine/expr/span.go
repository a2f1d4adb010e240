package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/expr/eval"
)

// span is a stretch of an expression's text, in bytes.
type span = eval.Span

// offsets leads from the parser's places, which count characters, to bytes.
type offsets struct {
	text  string
	bytes []int                  // by character; nil: the text is ASCII
	cel   map[ast.Node]cel.Place // of a tree that was read from CEL
}

func newOffsets(text string) offsets {
	o := offsets{text: text}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			o.bytes = make([]int, 0, len(text))
			for at := range text {
				o.bytes = append(o.bytes, at)
			}
			break
		}
	}
	return o
}

func (o offsets) at(char int) int {
	switch {
	case char < 0:
		return 0
	case o.bytes == nil:
		return min(char, len(o.text))
	case char >= len(o.bytes):
		return len(o.text)
	default:
		return o.bytes[char]
	}
}

// token returns the stretch of the token that the parser gives as n's location: an operator, a name, a
// bracket.
func (o offsets) token(n ast.Node) span {
	if p, ok := o.cel[n]; ok {
		return p.Token
	}
	loc := n.Location()
	return span{From: o.at(loc.From), To: o.at(loc.To)}
}

// extent returns the stretch that all of n takes, without brackets around it.
func (o offsets) extent(n ast.Node) span {
	if p, ok := o.cel[n]; ok {
		return p.Extent
	}
	return span{From: o.start(n), To: o.end(n)}
}

func (o offsets) start(n ast.Node) int {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return o.start(n.Left)
	case *ast.UnaryNode: // "x not in y" is a not whose place lies behind x
		return min(o.token(n).From, o.start(n.Node))
	case *ast.MemberNode:
		return o.start(n.Node)
	case *ast.SliceNode:
		return o.start(n.Node)
	case *ast.ChainNode:
		return o.start(n.Node)
	case *ast.CallNode:
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			return o.start(m)
		}
	case *ast.ConditionalNode:
		if n.Ternary {
			return o.start(n.Cond)
		}
	case *ast.PredicateNode:
		return o.start(n.Node)
	}
	return o.token(n).From
}

func (o offsets) end(n ast.Node) int {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return o.end(n.Right)
	case *ast.UnaryNode:
		return max(o.token(n).To, o.end(n.Node))
	case *ast.MemberNode:
		if o.hasDot(n) {
			return o.token(n.Property).To
		}
		return o.closing(o.end(n.Property), ']')
	case *ast.SliceNode:
		return o.closing(o.token(n).To, ']')
	case *ast.ChainNode:
		return o.end(n.Node)
	case *ast.CallNode:
		return o.endOfArgs(o.token(n).To, n.Arguments)
	case *ast.BuiltinNode:
		return o.endOfArgs(o.token(n).To, n.Arguments)
	case *ast.ArrayNode:
		return o.endOfList(o.token(n).To, n.Nodes, ']')
	case *ast.MapNode:
		return o.endOfList(o.token(n).To, n.Pairs, '}')
	case *ast.PairNode:
		return o.end(n.Value)
	case *ast.ConditionalNode:
		return o.end(n.Exp2)
	case *ast.PredicateNode:
		return o.end(n.Node)
	case *ast.PointerNode:
		return o.token(n).To + len(n.Name)
	}
	return o.token(n).To
}

// hasDot reports whether a member is written with a dot: its place is then its name's.
func (o offsets) hasDot(n *ast.MemberNode) bool {
	_, isName := n.Property.(*ast.StringNode)
	return isName && n.Location() == n.Property.Location()
}

func (o offsets) endOfArgs(from int, args []ast.Node) int {
	if len(args) > 0 {
		from = o.end(args[len(args)-1])
	}
	return o.closing(from, ')')
}

func (o offsets) endOfList(from int, nodes []ast.Node, bracket byte) int {
	if len(nodes) > 0 {
		from = o.end(nodes[len(nodes)-1])
	}
	return o.closing(from, bracket)
}

// closing returns the place behind the next bracket: between the last part and the bracket stand only
// white space, commas and brackets.
func (o offsets) closing(from int, bracket byte) int {
	if i := strings.IndexByte(o.text[from:], bracket); i >= 0 {
		return from + i + 1
	}
	return len(o.text)
}

// of returns the text of n.
func (o offsets) of(n ast.Node) string {
	s := o.extent(n)
	if _, isElement := n.(*ast.PointerNode); isElement && o.text[s.From:s.To] == "." {
		return "#"
	}
	if s.From >= s.To {
		return ""
	}
	return clip(o.text[s.From:s.To])
}

// clip shortens a text for a message and puts it on one line.
func clip(s string) string {
	const most = 60
	if len(s) <= most && !strings.ContainsAny(s, "\n\t\r") && !strings.Contains(s, "  ") {
		return s
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
