package expr

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/value"
)

// link is a checked member chain, or a part of one.
type link struct {
	typed
	path     []string // the names it reads; nil: it begins elsewhere than at a name of the scope
	whole    bool     // path leads to the very value, no computed key lies behind it
	mayEnd   bool     // a ?. in it may end it as null
	at       span     // of the part that path names
	optional bool     // it holds a ?.
}

// checkChain checks a name, an element of a predicate, or a chain of members.
func (c *checker) checkChain(n ast.Node, guarded bool) typed {
	l := c.checkLink(n, guarded)
	if l.path != nil {
		c.addRef(l, guarded || l.optional)
	}
	if l.mayEnd {
		l.typ = l.typ.OrNull()
	}
	if key := c.keyOf(n); key != "" && c.facts.present(key) {
		l.typ = l.typ.NotNull()
	}
	return l.typed
}

func (c *checker) addRef(l link, guarded bool) {
	for i := range c.refs {
		if strings.Join(c.refs[i].Path, "\x00") == strings.Join(l.path, "\x00") {
			c.refs[i].Guarded = c.refs[i].Guarded && guarded
			return
		}
	}
	c.refs = append(c.refs, Ref{Path: l.path, Span: c.src.At(l.at.From, l.at.To), Guarded: guarded})
}

func (c *checker) checkLink(n ast.Node, guarded bool) link {
	switch n := n.(type) {
	case *ast.ChainNode:
		return c.checkLink(n.Node, guarded)
	case *ast.IdentifierNode:
		return c.checkName(n, guarded)
	case *ast.PointerNode:
		return link{typed: c.checkPointer(n)}
	case *cel.Variable:
		return link{typed: c.checkVariable(n)}
	case *ast.MemberNode:
		return c.checkMember(n, guarded)
	default:
		return link{typed: c.visit(n, guarded)}
	}
}

func (c *checker) checkName(n *ast.IdentifierNode, guarded bool) link {
	at := c.off.token(n)
	t, ok := c.env.lookup(n.Value)
	switch {
	case ok:
	case n.Value == "null":
		return link{typed: typed{&eval.Constant{Span: at, Value: nil}, value.Of(value.Null)}}
	case c.env.open():
		t = anyType
	default:
		c.unknownName(n, at)
		return link{typed: c.broken(n)}
	}
	return link{typed: typed{&eval.Name{Span: at, Name: n.Value, Soft: guarded}, t}, path: []string{n.Value}, whole: true, at: at}
}

func (c *checker) unknownName(n *ast.IdentifierNode, at span) {
	names := c.env.names()
	if word, from, ok := dashed(c.src.Text, at); ok {
		if _, known := c.env.lookup(word); known {
			c.mistake(span{From: from, To: from + len(word)}, CodeDash, "%q is read as a subtraction: a name with a dash can't stand alone, rename it", word)
			return
		}
	}
	switch n.Value {
	case "True", "TRUE", "False", "FALSE":
		c.mistake(at, CodeUnknownName, "unknown name %q: write %s", n.Value, strings.ToLower(n.Value))
		return
	case "None", "NULL", "Null", "nil", "undefined":
		c.mistake(at, CodeUnknownName, "unknown name %q: write %s", n.Value, c.lang.null())
		return
	}
	if s := diag.Suggest(n.Value, names); s != "" {
		c.mistake(at, CodeUnknownName, "unknown name %q: %s", n.Value, s)
		return
	}
	c.mistake(at, CodeUnknownName, "unknown name %q%s; a text needs quotes", n.Value,
		strings.Replace(didYouMean(n.Value, names), ", it has", ", there is", 1))
}

// dashed returns the word with dashes that the name at a place is part of, as in stages.a-b.
func dashed(text string, at span) (word string, from int, ok bool) {
	to := at.To
	for to < len(text) && (text[to] == '-' || isNameByte(text[to])) {
		to++
	}
	word = strings.TrimRight(text[at.From:to], "-")
	return word, at.From, strings.Contains(word, "-")
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

func (c *checker) checkPointer(n *ast.PointerNode) typed {
	at := c.off.extent(n)
	if len(c.elems) == 0 {
		c.mistake(at, CodeSyntax, `"#" stands outside a predicate: it is the element that filter, map and the like look at`)
		return c.broken(n)
	}
	switch n.Name {
	case "":
		return typed{&eval.Pointer{Span: at, Index: false}, c.elems[len(c.elems)-1]}
	case "index":
		return typed{&eval.Pointer{Span: at, Index: true}, intType}
	default:
		c.mistake(at, CodeUnknownName, `unknown name %q: an element is "#", its place "#index"`, "#"+n.Name)
		return c.broken(n)
	}
}

func (c *checker) checkVariable(n *cel.Variable) typed {
	t := intType
	if !n.Index {
		t = c.elems[n.Level-1]
	}
	return typed{&eval.Pointer{Span: c.off.extent(n), Level: n.Level, Index: n.Index}, t}
}

func (c *checker) checkMember(n *ast.MemberNode, guarded bool) link {
	base := c.checkLink(n.Node, guarded)
	if n.Method {
		return link{typed: c.broken(n)} // checkCallNode has said so
	}
	if base.typ.Optional && !n.Optional && !guarded {
		if key := c.keyOf(n.Node); key == "" || !c.facts.present(key) {
			c.needBase(n)
			return link{typed: c.broken(n)}
		}
	}
	l := link{path: base.path, at: base.at, optional: base.optional || n.Optional,
		mayEnd: base.mayEnd || n.Optional && (base.typ.Optional || base.typ.IsAny())}
	m := &eval.Member{Span: c.off.extent(n), Base: base.node, Label: quote(c.off.of(n.Node)), Optional: n.Optional, Soft: guarded}
	l.node = m
	if key, ok := n.Property.(*ast.StringNode); ok {
		at := c.off.token(key)
		m.Key = &eval.Constant{Span: at, Value: key.Value}
		var known bool
		l.typ, known = c.fieldType(n, base.typ, key, at)
		if !known {
			l.typed = c.broken(n)
		}
		if l.whole = base.whole; l.whole {
			l.path = append(append(make([]string, 0, len(base.path)+1), base.path...), key.Value)
			l.at = m.Span
		}
		return l
	}
	index := c.present(n.Property)
	m.Key = index.node
	l.typ = c.elementType(n, base.typ, index.typ)
	if n.Optional {
		l.mayEnd = true // there may be no such element
	}
	return l
}

// fieldType returns the type of a field that is named in the text.
func (c *checker) fieldType(n *ast.MemberNode, base value.Type, key *ast.StringNode, at span) (value.Type, bool) {
	switch base.Kind {
	case value.UnknownKind, value.Any:
		return anyType, true
	case value.ObjectKind:
	case value.ListKind, value.String:
		if hint := c.lang.functionHint(key.Value); strings.HasSuffix(hint, c.lang.pick("len", "size")) {
			c.mistake(at, CodeUnknownField, "%s has no field %q: write %s(%s)", quote(c.off.of(n.Node)), key.Value, c.lang.pick("len", "size"), c.off.of(n.Node))
			return anyType, false
		}
		if base.Kind == value.String {
			c.mistake(at, CodeUnknownField, "%s is string and has no field %q", quote(c.off.of(n.Node)), key.Value)
			return anyType, false
		}
		c.mistake(at, CodeUnknownField, "%s is a list and has no field %q: look at its elements, such as %s",
			quote(c.off.of(n.Node)), key.Value, c.lang.mapOf(c.off.of(n.Node), key.Value))
		return anyType, false
	default:
		c.mistake(at, CodeUnknownField, "%s is %s and has no field %q", quote(c.off.of(n.Node)), describe(base), key.Value)
		return anyType, false
	}
	if t, ok := c.env.fields.get(base, key.Value); ok {
		return t, true
	}
	if word, from, ok := dashed(c.src.Text, at); ok && c.off.hasDot(n) {
		_, known := c.env.fields.get(base, word)
		if known || !base.Open {
			c.dashMistake(n, base, word, from, known)
			return anyType, false
		}
	}
	if base.Open {
		return anyType, true
	}
	c.mistake(at, CodeUnknownField, "%s has no %q%s", quote(c.off.of(n.Node)), key.Value, didYouMean(key.Value, base.FieldNames()))
	return anyType, false
}

// elementType returns the type behind a computed key.
func (c *checker) elementType(n *ast.MemberNode, base, key value.Type) value.Type {
	elem := anyType
	var want value.Type // of the key
	switch base.Kind {
	case value.UnknownKind, value.Any:
		return anyType
	case value.ListKind:
		want, elem = intType, base.ElemType()
	case value.ObjectKind:
		want = stringType
	default:
		c.mistake(c.off.extent(n), CodeType, "%s is %s and has no elements", quote(c.off.of(n.Node)), describe(base))
		return anyType
	}
	if !value.Assignable(key, want) {
		c.mistake(c.off.extent(n.Property), CodeType, "%s is %s: want %s in the brackets, got %s",
			quote(c.off.of(n.Node)), article(base), want, describe(key))
		return anyType
	}
	return elem
}

func article(t value.Type) string {
	if t.Kind == value.ObjectKind {
		return "an object"
	}
	return "a list"
}
