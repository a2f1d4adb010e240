package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// parse reads an expression; the tree is nil if there is a diagnostic.
func parse(src source.Scalar) (tree ast.Node, diags []diag.Diagnostic) {
	defer func() {
		if r := recover(); r != nil { // the parser is not ours: a text that upsets it is a mistake of the author
			tree, diags = nil, []diag.Diagnostic{problem(src, wholeOf(src), CodeSyntax, "the expression can't be read: write it in a simpler way")}
		}
	}()
	if d, bad := tooLarge(src); bad {
		return nil, []diag.Diagnostic{d}
	}
	t, err := parser.ParseWithConfig(src.Text, &conf.Config{MaxNodes: MaxNodes})
	if err != nil {
		return nil, []diag.Diagnostic{syntaxProblem(src, err)}
	}
	if at, ok := findPipe(src.Text); ok {
		return nil, []diag.Diagnostic{pipeProblem(src, at)}
	}
	return t.Node, nil
}

func pipeProblem(src source.Scalar, at span) diag.Diagnostic {
	return problem(src, at, CodeNotOffered, `"|" is not part of the language: write "||" for "or", and lower(x) for x | lower()`)
}

func problem(src source.Scalar, at span, code diag.Code, format string, args ...any) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Span: src.At(at.From, at.To), Message: fmt.Sprintf(format, args...)}
}

// wholeOf returns the stretch of the expression without the white space around it.
func wholeOf(src source.Scalar) span {
	text := src.Text
	to := len(strings.TrimRight(text, " \t\r\n"))
	from := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	return span{From: min(from, to), To: to}
}

// wrongSize answers an expression that is empty or too long.
func wrongSize(src source.Scalar) (diag.Diagnostic, bool) {
	text := src.Text
	whole := wholeOf(src)
	if whole.From == whole.To {
		return problem(src, whole, CodeSyntax, `want an expression, got nothing: write one, such as true`), true
	}
	if len(text) > MaxSource {
		return problem(src, span{From: MaxSource, To: MaxSource + 1}, CodeTooLarge,
			"an expression has at most %d bytes, this one has %d: compute it in a stage and test the output", MaxSource, len(text)), true
	}
	return diag.Diagnostic{}, false
}

// tooLarge answers what the parser, which calls itself for each bracket, should not see.
func tooLarge(src source.Scalar) (diag.Diagnostic, bool) {
	if d, bad := wrongSize(src); bad {
		return d, true
	}
	text := src.Text
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'', '`':
			i = skipString(text, i)
		case '(', '[', '{':
			if depth++; depth > MaxNesting {
				return problem(src, span{From: i, To: i + 1}, CodeTooLarge,
					"brackets nest deeper than %d: split the expression", MaxNesting), true
			}
		case ')', ']', '}':
			depth--
		}
	}
	return diag.Diagnostic{}, false
}

// skipString returns the place of the quote that ends the string beginning at from, or the text's last byte.
func skipString(text string, from int) int {
	quote := text[from]
	for i := from + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == quote:
			return i
		}
	}
	return len(text) - 1
}

// findPipe finds a "|" that is not half of a "||": the parser takes it as a call.
func findPipe(text string) (span, bool) {
	if strings.Count(text, "|") == 2*strings.Count(text, "||") {
		return span{}, false
	}
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return span{}, false
	}
	off := newOffsets(text)
	for _, t := range tokens {
		if t.Is(lexer.Operator, "|") {
			return span{From: off.at(t.From), To: off.at(t.To)}, true
		}
	}
	return span{}, false
}
