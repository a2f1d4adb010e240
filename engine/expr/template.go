package expr

import (
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// Piece is a piece of a template: text as it comes out, or an expression.
type Piece struct {
	Text   string
	Expr   source.Scalar // of what stands between "${{" and "}}"; knows its places in the file
	IsExpr bool
}

const (
	open    = "${{"
	escaped = "$${{"
)

// SplitTemplate cuts a text into what stands outside and inside of "${{ }}". "$${{" stands for the text
// "${{". A text without an expression gives one piece, or none if it is empty; a "}}" inside a string or
// behind an inner "{" ends no expression. The diagnostics name a "${{" that is not closed.
func SplitTemplate(src source.Scalar) ([]Piece, []diag.Diagnostic) {
	var pieces []Piece
	var diags []diag.Diagnostic
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			pieces = append(pieces, Piece{Text: text.String()})
			text.Reset()
		}
	}
	rest := 0
	for {
		at := strings.Index(src.Text[rest:], open)
		if at < 0 {
			break
		}
		at += rest
		if at > rest && src.Text[at-1] == '$' {
			text.WriteString(src.Text[rest:at-1] + open)
			rest = at + len(open)
			continue
		}
		end := endOfExpr(src.Text, at+len(open))
		if end < 0 {
			d := problem(src, span{From: at, To: at + len(open)}, CodeTemplate, `"${{" is not closed: write "}}" behind the expression`)
			d.Help = `for the text itself write "$${{"`
			diags = append(diags, d)
			break
		}
		text.WriteString(src.Text[rest:at])
		flush()
		pieces = append(pieces, Piece{Expr: cut(src, at+len(open), end), IsExpr: true})
		rest = end + len("}}")
	}
	text.WriteString(src.Text[rest:])
	flush()
	return pieces, diags
}

// HasExpr reports whether SplitTemplate finds an expression in the text, closed or not.
func HasExpr(text string) bool {
	return strings.Count(text, open) > strings.Count(text, escaped)
}

// endOfExpr returns the place of the "}}" that ends the expression beginning at from, or -1. Another "${{"
// before it means that this one was never closed.
func endOfExpr(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			end := skipString(text, i)
			if text[end] != text[i] || end == i { // an apostrophe that opens no string
				return plainEnd(text, from)
			}
			i = end
		case '{':
			depth++
		case '}':
			if depth > 0 {
				depth--
				continue
			}
			if strings.HasPrefix(text[i:], "}}") {
				return i
			}
		}
		if strings.HasPrefix(text[i:], open) {
			return -1
		}
	}
	return plainEnd(text, from)
}

// plainEnd finds a "}}" where quotes and brackets do not match: the expression's own diagnostic says what is
// wrong with them.
func plainEnd(text string, from int) int {
	end := strings.Index(text[from:], "}}")
	if next := strings.Index(text[from:], open); end < 0 || next >= 0 && next < end {
		return -1
	}
	return from + end
}

// cut returns the bytes from..to of a scalar as a scalar of its own, with marks where a column does not
// follow from the one before.
func cut(src source.Scalar, from, to int) source.Scalar {
	text := src.Text[from:to]
	var marks []source.Mark
	var next source.Pos
	for i := range text {
		p := src.Pos(from + i)
		if i == 0 || p != next {
			marks = append(marks, source.Mark{Offset: i, Pos: p})
		}
		next = source.Pos{Line: p.Line, Col: p.Col + 1}
	}
	if utf8.RuneCountInString(text) > 0 {
		if end := src.Pos(to); end != next {
			marks = append(marks, source.Mark{Offset: len(text), Pos: end})
		}
	}
	return source.NewScalar(text, src.At(from, to), marks)
}
