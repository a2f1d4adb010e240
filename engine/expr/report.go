package expr

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr/eval"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// reporter gathers what is wrong with one expression.
type reporter struct {
	src    source.Scalar
	lang   language
	off    offsets
	diags  []diag.Diagnostic
	failed bool // one of them is an error
}

func (r *reporter) mistake(at span, code diag.Code, format string, args ...any) {
	r.failed = true
	r.diags = append(r.diags, problem(r.src, at, code, format, args...))
}

func (r *reporter) warn(at span, code diag.Code, format string, args ...any) {
	d := problem(r.src, at, code, format, args...)
	d.Severity = diag.Warning
	r.diags = append(r.diags, d)
}

// broken is the result of a part with a mistake.
func (r *reporter) broken(n ast.Node) typed {
	return typed{&eval.Constant{Span: r.off.extent(n)}, anyType}
}

// notOffered answers syntax that the library has and the language leaves out.
func (r *reporter) notOffered(n ast.Node) typed {
	at := r.off.token(n)
	switch n.(type) {
	case *ast.SliceNode:
		r.mistake(at, CodeNotOffered, "slices are not part of the language: use first, last, filter with #index, or an element such as x[0]")
	case *ast.VariableDeclaratorNode:
		r.mistake(at, CodeNotOffered, `"let" is not part of the language: write the value where it is used`)
	case *ast.SequenceNode:
		r.mistake(at, CodeNotOffered, `";" is not part of the language: write one expression`)
	case *ast.BytesNode:
		r.mistake(at, CodeNotOffered, "byte strings are not part of the language: write a string without the b before it")
	default:
		r.mistake(at, CodeNotOffered, "this is not part of the language: write it with operators and functions")
	}
	return r.broken(n)
}

// needValue says that a value that may be missing is used as if it were there.
func (r *reporter) needValue(n ast.Node, t value.Type) {
	text := r.off.of(n)
	if t.Kind == value.Null {
		r.mistake(r.off.extent(n), CodeType, "want a value, got null")
		return
	}
	if !isChain(n) { // a test would not tell that it is the same value
		r.mistake(r.off.extent(n), CodeMaybeMissing, `%s may be missing: %s`, quote(text), r.lang.giveDefault())
		return
	}
	r.mistake(r.off.extent(n), CodeMaybeMissing, `%s may be missing: %s, or test it first, such as %s && …`,
		quote(text), r.lang.giveDefault(), r.lang.testOf(n, text))
}

// needBase says that a member is read from a value that may be missing.
func (r *reporter) needBase(n *ast.MemberNode) {
	base := r.off.of(n.Node)
	r.mistake(r.off.extent(n.Node), CodeMaybeMissing, `%s may be missing: write %q behind it, give the whole a default with %s, or test it first, such as %s && …`,
		quote(base), r.lang.optionalDot(), r.lang.defaultWord(), r.lang.testOf(n.Node, base))
}

// wordMistake warns of a comparison with a word that an enumeration does not hold.
func (r *reporter) wordMistake(n *ast.BinaryNode, left, right value.Type) bool {
	word, ok := n.Right.(*ast.StringNode)
	words, of := left.Enum, n.Left
	if !ok {
		word, ok = n.Left.(*ast.StringNode)
		words, of = right.Enum, n.Right
	}
	if !ok || len(words) == 0 || slices.Contains(words, word.Value) {
		return false
	}
	r.unknownWord(word, of, words)
	return true
}

func (r *reporter) unknownWord(word *ast.StringNode, of ast.Node, words []string) {
	hint := diag.Suggest(word.Value, words)
	if hint == "" {
		hint = "it is one of " + strings.Join(quoted(words), ", ")
	}
	r.warn(r.off.token(word), CodeUnknownWord, "%s is never %q: %s", quote(r.off.of(of)), word.Value, hint)
}

// listWords warns of words in x in ["…"] that x never is.
func (r *reporter) listWords(n *ast.BinaryNode, left value.Type) {
	words, ok := n.Right.(*ast.ArrayNode)
	if !ok || len(left.Enum) == 0 {
		return
	}
	for _, e := range words.Nodes {
		if w, ok := e.(*ast.StringNode); ok && !slices.Contains(left.Enum, w.Value) {
			r.unknownWord(w, n.Left, left.Enum)
		}
	}
}

// comparable says that two kinds of value are never equal. Two lists or two objects of other elements may
// be: both may be empty.
func (r *reporter) comparable(n *ast.BinaryNode, left, right value.Type) {
	if left.Kind == right.Kind {
		return
	}
	r.mistake(r.off.extent(n), CodeType, "%q compares %s with %s, which are never equal", n.Operator, describe(left), describe(right))
}

func (r *reporter) dashMistake(n *ast.MemberNode, base value.Type, word string, from int, known bool) {
	at := span{From: from, To: from + len(word)}
	owner := r.off.of(n.Node)
	if known {
		r.mistake(at, CodeDash, `%s is read as a subtraction: write %s["%s"]`, quote(owner+"."+word), owner, word)
		return
	}
	r.mistake(at, CodeDash, `%s is read as a subtraction: a name with a dash is written %s["%s"], and %s has no such field%s`,
		quote(owner+"."+word), owner, word, quote(owner), didYouMean(word, base.FieldNames()))
}

func (r *reporter) methodMistake(n *ast.CallNode, callee *ast.MemberNode) {
	base := r.off.of(callee.Node)
	key, _ := callee.Property.(*ast.StringNode)
	at := r.off.token(callee.Property)
	if key == nil {
		r.mistake(at, CodeNotOffered, "only a function can be called, by its name")
		return
	}
	if eval.Find(key.Value) != nil || eval.FindPredicate(key.Value) != nil {
		r.mistake(at, CodeUnknownFunction, "values have no methods: write %s(%s)", key.Value, base)
		return
	}
	switch key.Value {
	case "contains", "startsWith", "endsWith", "matches":
		r.mistake(at, CodeUnknownFunction, "values have no methods: write %s %s …", base, key.Value)
		return
	}
	r.mistake(at, CodeUnknownFunction, "values have no methods, and there is no function %q%s", key.Value, r.lang.functionHint(key.Value))
}
