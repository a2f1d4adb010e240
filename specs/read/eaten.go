package read

import (
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
)

// ExprText reads the text of an expression.
func (r *Reader) ExprText(n *yaml.Node, key, what string) *source.Scalar {
	const want = "an expression"
	switch {
	case r.IsBlank(n):
		return nil
	case r.Doc.HasTag(n) && n.Kind == yaml.ScalarNode:
		r.eatenHere(n, key, document.Eaten{Code: document.CodeTag})
		return nil
	case IsNull(n):
		r.emptyExpr(n, key, what)
		return nil
	case n.Kind != yaml.ScalarNode:
		switch first := n.Content; {
		case n.Style&yaml.FlowStyle != 0:
			r.eatenHere(n, key, document.Eaten{Code: document.CodeIndicator})
		case n.Kind == yaml.MappingNode && len(first) == 2 && first[1].Kind == yaml.ScalarNode && first[1].Line == first[0].Line:
			r.eatenHere(n, key, document.Eaten{Code: document.CodeColon})
		default:
			r.WrongKind(n, what, want)
		}
		return nil
	case strings.TrimSpace(n.Value) == "":
		r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s is empty; it must be an expression", what)
		return nil
	}
	s := r.Doc.Scalar(n)
	if document.IsPlain(n) && Incomplete(n.Value) {
		if code := r.followed(n); code != "" {
			r.eatenHere(n, key, document.Eaten{Code: code})
			return nil
		}
	}
	return &s
}

// emptyExpr reports an expression of which YAML has left nothing.
func (r *Reader) emptyExpr(n *yaml.Node, key, what string) {
	rest := r.Doc.RestOfLine(r.Doc.Offset(n))
	switch {
	case n.Anchor != "":
		r.eatenHere(n, key, document.Eaten{Code: document.CodeIndicator})
	case n.Value == "" && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "#"):
		r.eatenHere(n, key, document.Eaten{Code: document.CodeComment})
	default:
		r.WrongKind(n, what, "an expression")
	}
}

// eatenHere reports that YAML ate what stands at n's place, up to the end of its line.
func (r *Reader) eatenHere(n *yaml.Node, key string, e document.Eaten) {
	off := r.Doc.Offset(n)
	rest := r.Doc.RestOfLine(off)
	trimmed := strings.TrimLeft(rest, " \t")
	e.Key, e.Expr, e.From = key, true, off+len(rest)-len(trimmed)
	e.Raw = strings.TrimRight(trimmed, " \t")
	if e.Code == document.CodeIndicator || e.Code == document.CodeTag || e.Code == document.CodeComment {
		if in := r.Doc.InFlow(off); in {
			e.Raw = document.FlowValue(e.Raw)
		}
	}
	r.Doc.Report(e, r.Diags)
}

// followed says what cut a plain scalar off: a comment behind it, or a bracket or comma of YAML's. "" is
// neither.
func (r *Reader) followed(n *yaml.Node) diag.Code {
	end := r.Doc.End(n)
	rest := r.Doc.RestOfLine(min(end, len(r.Doc.Text.Text())))
	trimmed := strings.TrimLeft(rest, " \t")
	switch {
	case trimmed == "":
		return ""
	case trimmed[0] == '#' && len(trimmed) < len(rest):
		return document.CodeComment
	case strings.ContainsRune(",[]{}?", rune(trimmed[0])):
		return document.CodeIndicator
	}
	return ""
}

// Incomplete reports whether an expression ends in the middle: a quote or bracket is open, or an operand
// is missing behind the last operator.
func Incomplete(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'', '`':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' && c != '`' {
					i++
				}
			}
			if i >= len(s) {
				return true
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
	}
	if depth > 0 {
		return true
	}
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsRune("=<>&|+-*/%^,.?:!", rune(s[len(s)-1])) {
		return true
	}
	last := s[strings.LastIndexAny(s, " \t\n)]}")+1:]
	switch last {
	case "and", "or", "not", "in", "contains", "matches", "startsWith", "endsWith":
		return true
	}
	return false
}

// openTemplate returns the code text after the last "${{" that is not closed, if there is one.
func openTemplate(s string) (string, bool) {
	i := strings.LastIndex(s, "${{")
	if i < 0 || strings.Contains(s[i:], "}}") {
		return "", false
	}
	return s[i+3:], true
}

// CutTemplate reports a plain scalar whose ${{ }} was cut off by a comment.
func (r *Reader) CutTemplate(n *yaml.Node, what string) bool {
	if !document.IsPlain(n) {
		return false
	}
	if _, open := openTemplate(n.Value); !open || r.followed(n) != document.CodeComment {
		return false
	}
	r.eatenHere(n, lastWord(what), document.Eaten{Code: document.CodeComment})
	return true
}

// EatenTemplate reports a flow mapping that was meant as a template: "{{ x }}" without its dollar sign.
func (r *Reader) EatenTemplate(n *yaml.Node, what string) bool {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle == 0 || len(n.Content) == 0 ||
		n.Content[0].Kind != yaml.MappingNode || n.Content[0].Style&yaml.FlowStyle == 0 {
		return false
	}
	r.WrongKind(n, what, "text")
	r.Advise("an expression in text is written \"${{ }}\", with the dollar sign")
	return true
}

// lastWord returns the key that a description such as `"env" of stage "x"` speaks of.
func lastWord(what string) string {
	if _, rest, ok := strings.Cut(what, `"`); ok {
		if key, _, ok := strings.Cut(rest, `"`); ok {
			return key
		}
	}
	return "key"
}
