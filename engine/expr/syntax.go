package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// syntaxProblem turns a parser's error into a diagnostic in our words.
func syntaxProblem(src source.Scalar, err error) diag.Diagnostic {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return problem(src, wholeOf(src), CodeSyntax, "the expression can't be read: check its brackets and operators")
	}
	off := newOffsets(src.Text)
	at := span{From: off.at(fe.From), To: off.at(fe.To)}
	if i := strings.Index(src.Text, "${{"); i >= 0 {
		return problem(src, span{From: i, To: i + 3}, CodeNotExpression,
			`"${{" stands inside an expression: what is here is one already, write it without "${{ }}"`)
	}
	if strings.Contains(fe.Message, "maximum allowed nodes") {
		return problem(src, at, CodeTooLarge, "an expression has at most %d parts: compute it in a stage and test the output", MaxNodes)
	}
	if pipe, ok := findPipe(src.Text); ok {
		return pipeProblem(src, pipe)
	}
	tokens, lexErr := lexer.Lex(file.NewSource(src.Text))
	if errors.As(lexErr, &fe) {
		return lexProblem(src, span{From: off.at(fe.From), To: off.at(fe.To)}, fe.Message)
	}
	return tokenProblem(src, off, tokens, at, fe.Message)
}

// lexProblem names a text that is not made of the language's tokens.
func lexProblem(src source.Scalar, at span, msg string) diag.Diagnostic {
	part := src.Text[at.From:at.To]
	switch {
	case strings.Contains(msg, "not terminated"):
		return problem(src, openString(src.Text), CodeSyntax, "a string is not closed: write the quote that ends it")
	case strings.Contains(msg, "escape"):
		return problem(src, at, CodeSyntax, `a string has a "\" that begins no escape: write "\\", or put the string into backquotes`)
	case strings.Contains(msg, "number"):
		return problem(src, at, CodeSyntax, `%q ends no number: write a number such as 3 or 0.5, or put the text into quotes`, part)
	case strings.Contains(msg, "comment"):
		return problem(src, wholeOf(src), CodeSyntax, `a comment is not closed: write "*/"`)
	case strings.ContainsAny(part, "“”„‘’«»"):
		return problem(src, at, CodeSyntax, `%q is a typographic quote: write " or '`, part)
	case part == "~":
		return problem(src, at, CodeSyntax, `"~" is no operator: write "matches" for a regular expression`)
	default:
		return problem(src, at, CodeSyntax, "%q does not belong into an expression: put a text into quotes", part)
	}
}

// openString returns the stretch of the first string that does not end.
func openString(text string) span {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\'' || c == '`' {
			end := skipString(text, i)
			line := strings.IndexByte(text[i:end+1], '\n')
			switch {
			case line >= 0 && c != '`': // a quoted string ends on its line
				return span{From: i, To: i + line}
			case end == i || text[end] != c:
				return span{From: i, To: len(text)}
			}
			i = end
		}
	}
	return span{From: 0, To: len(text)}
}

// slips are tokens that other languages have, with what to write here.
var slips = map[string]string{
	"=":      `write "==" to compare`,
	"&":      `write "&&" for "and"`,
	"|":      `write "||" for "or"`,
	"AND":    `write "&&"`,
	"OR":     `write "||"`,
	"NOT":    `write "!"`,
	"IN":     `write "in"`,
	"is":     `write "==" to compare`,
	"equals": `write "==" to compare`,
	"eq":     `write "==" to compare`,
	"ne":     `write "!=" to compare`,
	"gt":     `write ">" to compare`,
	"lt":     `write "<" to compare`,
	"ge":     `write ">=" to compare`,
	"le":     `write "<=" to compare`,
	"then":   `write c ? a : b to choose`,
	"like":   `write "matches" for a regular expression`,
	"has":    `write "contains" for a text, "in" for a list`,
	"++":     `write + 1`,
	"!":      `write "!" before what it negates, "!=" to compare`,
	";":      "write one expression alone",
	":":      "it belongs to c ? a : b and to objects; an object as the second argument of map needs brackets, ({a: 1})",
	"#":      "it is the element that filter, map and the like look at, and stands inside their brackets",
	"*":      `write a number on both sides of "*"`,
	">":      `write "!=" for "not equal"`,
}

// tokenProblem explains a token that stands where it can't.
func tokenProblem(src source.Scalar, off offsets, tokens []lexer.Token, at span, msg string) diag.Diagnostic {
	i := 0
	for i < len(tokens)-1 && off.at(tokens[i].From) < at.From {
		i++
	}
	tok := tokens[i]
	if strings.Contains(msg, "EOF") || strings.Contains(msg, "unexpected end") { // its place is that of the last character
		tok, i = tokens[len(tokens)-1], len(tokens)-1
	}
	if strings.Contains(msg, "cannot be mixed") {
		return problem(src, at, CodeSyntax, `"??" beside %q needs brackets: write (a ?? b) %s c`, tok.Value, tok.Value)
	}
	if strings.Contains(msg, "literal") {
		return numberProblem(src, off, tokens)
	}
	if isSlip(tokens, i) {
		return problem(src, at, CodeSyntax, "%q can't stand here: %s", tok.Value, slips[tok.Value])
	}
	if isSentence(tokens, i) {
		d := problem(src, wholeOf(src), CodeNotExpression, "want an expression, got a sentence: %q", clip(src.Text))
		d.Help = `write what must hold, such as outputs.report != "" or len(outputs.items) > 0`
		return d
	}
	if tok.Kind == lexer.EOF {
		return endProblem(src, tokens)
	}
	if strings.Contains(msg, "expected at least") {
		return problem(src, at, CodeSyntax, `a predicate is missing: write what must hold for an element, such as all(list, # != "")`)
	}
	if tok.Kind == lexer.Bracket && strings.Contains(")]}", tok.Value) && len(stillOpen(tokens[:i])) == 0 {
		return problem(src, at, CodeSyntax, "%q closes no bracket: remove it, or open one before", tok.Value)
	}
	if tok.Is(lexer.Operator, "=") && (tokens[i+1].Is(lexer.Operator, ">") || tokens[i+1].Is(lexer.Operator, "<")) {
		return problem(src, span{From: at.From, To: at.To + 1}, CodeSyntax, `"=%s" is no operator: write "%s="`, tokens[i+1].Value, tokens[i+1].Value)
	}
	if hint, ok := slips[tok.Value]; ok && tok.Kind != lexer.String {
		return problem(src, at, CodeSyntax, "%q can't stand here: %s", tok.Value, hint)
	}
	if i > 0 && isOperand(tok) && isOperand(tokens[i-1]) {
		if hint, ok := slips[tokens[i-1].Value]; ok && tokens[i-1].Kind == lexer.Identifier {
			return problem(src, at, CodeSyntax, "%q can't stand here: %s", tokens[i-1].Value, hint)
		}
		return problem(src, at, CodeSyntax, `want an operator between %s and %s, such as "==" or "&&"`, show(tokens[i-1]), show(tok))
	}
	return problem(src, at, CodeSyntax, "%s can't stand here: check the brackets and operators before it", show(tok))
}

// numberProblem names the number that the parser could not read: it gives the place behind it.
func numberProblem(src source.Scalar, off offsets, tokens []lexer.Token) diag.Diagnostic {
	for _, t := range tokens {
		if t.Kind != lexer.Number {
			continue
		}
		digits := strings.ReplaceAll(t.Value, "_", "")
		_, intErr := strconv.ParseInt(digits, 0, 64)
		_, floatErr := strconv.ParseFloat(digits, 64)
		if intErr != nil && (floatErr != nil || !strings.ContainsAny(digits, ".eE")) {
			return problem(src, span{From: off.at(t.From), To: off.at(t.To)}, CodeSyntax, "number %q can't be read, or does not fit 64 bits", clip(t.Value))
		}
	}
	return problem(src, wholeOf(src), CodeSyntax, "a number can't be read, or does not fit 64 bits")
}

// isSlip reports whether the token at i is a word for an operator in another language. "is" and "has" are
// before a literal, as in x is 3; elsewhere they belong to a sentence.
func isSlip(tokens []lexer.Token, i int) bool {
	t := tokens[i]
	if _, ok := slips[t.Value]; !ok || t.Kind != lexer.Identifier || i+1 >= len(tokens) {
		return false
	}
	if t.Value != "is" && t.Value != "has" {
		return true
	}
	next := tokens[i+1]
	return next.Kind == lexer.Number || next.Kind == lexer.String ||
		next.Is(lexer.Identifier, "true", "false", "nil", "null")
}

// endProblem explains an expression that stops too early.
func endProblem(src source.Scalar, tokens []lexer.Token) diag.Diagnostic {
	whole := wholeOf(src)
	at := span{From: max(whole.To-1, whole.From), To: whole.To}
	if open := stillOpen(tokens); len(open) > 0 {
		return problem(src, at, CodeSyntax, "%q is not closed: the expression ends before its bracket", open[len(open)-1])
	}
	if len(tokens) < 2 {
		return problem(src, whole, CodeSyntax, "want an expression, got a comment")
	}
	return problem(src, at, CodeSyntax, "the expression ends after %s: something must follow it", show(tokens[len(tokens)-2]))
}

// stillOpen returns the brackets that the tokens open and do not close.
func stillOpen(tokens []lexer.Token) []string {
	var open []string
	for _, t := range tokens {
		switch {
		case t.Kind != lexer.Bracket:
		case strings.Contains("([{", t.Value):
			open = append(open, t.Value)
		case len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return open
}

func show(t lexer.Token) string {
	if t.Kind == lexer.String {
		return "the string " + fmt.Sprintf("%q", clip(t.Value))
	}
	return fmt.Sprintf("%q", clip(t.Value))
}

func isOperand(t lexer.Token) bool {
	return t.Kind == lexer.Identifier || t.Kind == lexer.String || t.Kind == lexer.Number
}

// isSentence reports whether the tokens read like plain English: the token at i follows a word without an
// operator, there are three words or more, and nothing compares or calls.
func isSentence(tokens []lexer.Token, i int) bool {
	if i == 0 || !isOperand(tokens[i]) && tokens[i].Kind != lexer.Operator {
		return false
	}
	words, adjacent := 0, false
	for k, t := range tokens {
		switch {
		case t.Kind == lexer.Identifier:
			words++
			adjacent = adjacent || k > 0 && tokens[k-1].Kind == lexer.Identifier
		case t.Kind == lexer.Operator && isWord(t.Value):
			words++
		case t.Kind == lexer.Operator && strings.ContainsAny(t.Value, "=<>!&|?") || t.Is(lexer.Bracket, "("):
			return false
		}
	}
	return words >= 3 && adjacent
}

func isWord(s string) bool { return s != "" && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z' }
