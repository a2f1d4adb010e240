package cel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antlr4-go/antlr/v4"
	"github.com/google/cel-go/parser/gen"
)

// parse reads the tokens with the grammar of CEL.
func (s *scanned) parse() (antlr.ParseTree, *Problem) {
	p := gen.NewCELParser(s.stream)
	w := &watch{}
	p.RemoveErrorListeners()
	p.AddErrorListener(w)
	var tree antlr.ParseTree
	if guarded(func() { tree = p.Start_() }) {
		return tree, nil
	}
	return nil, s.misplaced(w.token)
}

// slips are tokens that other languages have, or the other language of a pipeline, with what to write here.
var slips = map[string]string{
	"and":        `write "&&"`,
	"or":         `write "||"`,
	"not":        `write "!" before what it negates`,
	"AND":        `write "&&"`,
	"OR":         `write "||"`,
	"NOT":        `write "!"`,
	"IN":         `write "in"`,
	"is":         `write "==" to compare`,
	"equals":     `write "==" to compare`,
	"eq":         `write "==" to compare`,
	"ne":         `write "!=" to compare`,
	"gt":         `write ">" to compare`,
	"lt":         `write "<" to compare`,
	"ge":         `write ">=" to compare`,
	"le":         `write "<=" to compare`,
	"then":       `write c ? a : b to choose`,
	"like":       `write text.matches("pattern")`,
	"matches":    `write text.matches("pattern")`,
	"contains":   `write text.contains(part), or element in list`,
	"startsWith": `write text.startsWith(part)`,
	"endsWith":   `write text.endsWith(part)`,
	"?":          "a choice within a choice needs brackets: write c ? (d ? a : b) : e",
	"!":          `write "!" before what it negates, "!=" to compare, !(x in list) for "not in"`,
	":":          "it belongs to c ? a : b and to objects, such as {\"a\": 1}",
	"in":         `write x in list, and !(x in list) for "not in"`,
	"let":        "write the value where it is used",
}

// misplaced explains a token that stands where it can't.
func (s *scanned) misplaced(tok antlr.Token) *Problem {
	if i := strings.Index(s.text, "${{"); i >= 0 {
		return inTemplate(i)
	}
	if p := s.foreign(); p != nil {
		return p
	}
	if tok == nil || tok.GetTokenType() == antlr.TokenEOF {
		return s.early()
	}
	at := s.span(tok)
	text := clip(s.text[at.From:at.To])
	i := 0
	for i < len(s.tokens)-1 && s.tokens[i].GetTokenIndex() < tok.GetTokenIndex() {
		i++
	}
	problem := func(format string, args ...any) *Problem {
		return &Problem{At: at, Kind: Syntax, Message: fmt.Sprintf(format, args...)}
	}
	if i > 0 && s.tokens[i-1].GetTokenType() == gen.CELLexerDOT && slices.Contains([]string{"true", "false", "null", "in"}, text) {
		owner := "x"
		if i > 1 && s.tokens[i-2].GetTokenType() == gen.CELLexerIDENTIFIER {
			before := s.span(s.tokens[i-2])
			owner = clip(s.text[before.From:before.To])
		}
		return problem("%q behind a dot is a word of CEL and no name: write %s[%q]", text, owner, text)
	}
	if s.sentence() && !isLogic(text) && s.wordsAround(i) >= 3 {
		return s.sentenceProblem()
	}
	if hint, ok := slips[text]; ok && s.isSlip(i) {
		return problem("%q can't stand here: %s", text, hint)
	}
	if i > 0 {
		before := s.span(s.tokens[i-1])
		word := clip(s.text[before.From:before.To])
		if hint, ok := slips[word]; ok && s.isSlip(i-1) {
			at = before
			return problem("%q can't stand here: %s", word, hint)
		}
		if s.sentence() {
			return s.sentenceProblem()
		}
		return problem("%q can't stand behind %q: an operator or a comma is missing, or one is too many", text, word)
	}
	return problem("an expression can't begin with %q", text)
}

// isLogic reports whether a word joins conditions, in English and in the other language of a pipeline.
func isLogic(word string) bool {
	return slices.Contains([]string{"and", "or", "not"}, strings.ToLower(word))
}

// wordsAround counts the words without anything between them of which the token at i is one. The logic of
// another language is not what makes a sentence.
func (s *scanned) wordsAround(i int) int {
	isWord := func(k int) bool {
		return k >= 0 && k < len(s.tokens) && s.tokens[k].GetTokenType() == gen.CELLexerIDENTIFIER
	}
	from, to := i, i
	for isWord(from - 1) {
		from--
	}
	for isWord(to + 1) {
		to++
	}
	if !isWord(i) || isLogic(s.tokens[from].GetText()) {
		return 0
	}
	return to - from + 1
}

// foreign finds operators of the other language of a pipeline.
func (s *scanned) foreign() *Problem {
	for i, t := range s.tokens[:len(s.tokens)-1] {
		at, next := s.span(t), s.span(s.tokens[i+1])
		if at.To != next.From {
			continue
		}
		pair := s.text[at.From:next.To]
		var hint string
		switch {
		case pair == "??":
			hint = "write x.orValue(other)"
		case pair == "?.":
			hint = `write ".?", such as x.?y.orValue(other)`
		case pair == "<>":
			hint = `write "!="`
		case pair == "/*":
			hint = `a comment begins with "//" and ends with its line`
		case pair == "**":
			hint = "write x * x"
		case pair == "++":
			hint = "write + 1"
		default:
			continue
		}
		return &Problem{At: Span{From: at.From, To: next.To}, Kind: Syntax, Message: fmt.Sprintf("%q is not part of CEL: %s", pair, hint)}
	}
	return nil
}

// isSlip reports whether the token at i is used as an operator, and not as a name.
func (s *scanned) isSlip(i int) bool {
	if s.tokens[i].GetTokenType() != gen.CELLexerIDENTIFIER {
		return true
	}
	return i == 0 && len(s.tokens) > 1 && isOperand(s.tokens[1]) || i > 0 && endsOperand(s.tokens[i-1])
}

func isOperand(t antlr.Token) bool {
	switch t.GetTokenType() {
	case gen.CELLexerIDENTIFIER, gen.CELLexerSTRING, gen.CELLexerNUM_INT, gen.CELLexerNUM_FLOAT, gen.CELLexerCEL_TRUE, gen.CELLexerCEL_FALSE, gen.CELLexerNUL:
		return true
	}
	return false
}

func endsOperand(t antlr.Token) bool {
	switch t.GetTokenType() {
	case gen.CELLexerRPAREN, gen.CELLexerRPRACKET, gen.CELLexerRBRACE:
		return true
	}
	return isOperand(t)
}

// early explains an expression that ends too early.
func (s *scanned) early() *Problem {
	whole := s.whole()
	at := Span{From: max(whole.To-1, whole.From), To: whole.To}
	var open []string
	for _, t := range s.tokens {
		switch t.GetTokenType() {
		case gen.CELLexerLPAREN, gen.CELLexerLBRACKET, gen.CELLexerLBRACE:
			open = append(open, t.GetText())
		case gen.CELLexerRPAREN, gen.CELLexerRPRACKET, gen.CELLexerRBRACE:
			open = open[:max(len(open)-1, 0)]
		}
	}
	if len(open) > 0 {
		return &Problem{At: at, Kind: Syntax, Message: fmt.Sprintf("%q is not closed: the expression ends before its bracket", open[len(open)-1])}
	}
	return &Problem{At: at, Kind: Syntax, Message: fmt.Sprintf("the expression ends after %q: something must follow it",
		clip(s.tokens[len(s.tokens)-1].GetText()))}
}

// sentence reports whether the tokens read like plain English: there are three words or more, two of them
// side by side, and nothing compares or calls.
func (s *scanned) sentence() bool {
	words, adjacent, before := 0, false, false
	for _, t := range s.tokens {
		switch t.GetTokenType() {
		case gen.CELLexerIDENTIFIER, gen.CELLexerIN:
			words++
			adjacent = adjacent || before
			before = true
			continue
		case gen.CELLexerEQUALS, gen.CELLexerNOT_EQUALS, gen.CELLexerLESS, gen.CELLexerLESS_EQUALS, gen.CELLexerGREATER,
			gen.CELLexerGREATER_EQUALS, gen.CELLexerLOGICAL_AND, gen.CELLexerLOGICAL_OR, gen.CELLexerQUESTIONMARK, gen.CELLexerLPAREN:
			return false
		}
		before = false
	}
	return words >= 3 && adjacent
}

func (s *scanned) sentenceProblem() *Problem {
	return &Problem{At: s.whole(), Kind: Sentence, Message: fmt.Sprintf("want an expression, got a sentence: %q", clip(s.text)),
		Help: `write what must hold, such as outputs.report != "" or size(outputs.items) > 0`}
}

// clip shortens a text for a message and puts it on one line.
func clip(s string) string {
	const most = 60
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
