package cel

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/antlr4-go/antlr/v4"
	"github.com/google/cel-go/parser/gen"
)

// scanned is a text and its tokens.
type scanned struct {
	text   string
	bytes  []int         // byte offsets of its characters, and its length
	tokens []antlr.Token // without white space, comments and the end
	stream *antlr.CommonTokenStream
}

// at leads from the parser's places, which count characters, to bytes.
func (s *scanned) at(char int) int { return s.bytes[min(max(char, 0), len(s.bytes)-1)] }

// span returns the stretch of a token.
func (s *scanned) span(t antlr.Token) Span {
	return Span{From: s.at(t.GetStart()), To: s.at(t.GetStop() + 1)}
}

// whole returns the stretch of the text without the white space around it.
func (s *scanned) whole() Span {
	to := len(strings.TrimRight(s.text, " \t\r\n"))
	from := len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
	return Span{From: min(from, to), To: to}
}

// stopped ends scanning or parsing at the first mistake: there is nothing to recover for.
type stopped struct{}

// watch notes the first mistake of the scanner or the parser.
type watch struct {
	*antlr.DefaultErrorListener
	lexer *gen.CELLexer
	from  int         // where the token begins that can't be read, in characters
	token antlr.Token // that can't stand where it stands
}

// SyntaxError implements antlr.ErrorListener.
func (w *watch) SyntaxError(_ antlr.Recognizer, symbol any, _, _ int, _ string, _ antlr.RecognitionException) {
	w.token, _ = symbol.(antlr.Token)
	if w.lexer != nil {
		w.from = w.lexer.TokenStartCharIndex
	}
	panic(stopped{})
}

// guarded runs f and reports whether it came to its end.
func guarded(f func()) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stopped); !ok {
				panic(r)
			}
		}
	}()
	f()
	return true
}

// scan cuts a text into tokens.
func scan(text string) (*scanned, *Problem) {
	s := &scanned{text: text}
	for i := range text {
		s.bytes = append(s.bytes, i)
	}
	s.bytes = append(s.bytes, len(text))
	lexer := gen.NewCELLexer(antlr.NewInputStream(text))
	w := &watch{lexer: lexer}
	lexer.RemoveErrorListeners()
	lexer.AddErrorListener(w)
	s.stream = antlr.NewCommonTokenStream(lexer, antlr.TokenDefaultChannel)
	done := guarded(s.stream.Fill)
	for _, t := range s.stream.GetAllTokens() {
		if t.GetChannel() == antlr.TokenDefaultChannel && t.GetTokenType() != antlr.TokenEOF {
			s.tokens = append(s.tokens, t)
		}
	}
	if !done {
		return nil, s.unreadable(s.at(w.from))
	}
	if len(s.tokens) == 0 {
		return nil, &Problem{At: s.whole(), Kind: Syntax, Message: "want an expression, got a comment"}
	}
	return s, nil
}

// unreadable explains a text that holds something that is no token.
func (s *scanned) unreadable(from int) *Problem {
	if i := strings.Index(s.text, "${{"); i >= 0 {
		return inTemplate(i)
	}
	r, size := utf8.DecodeRuneInString(s.text[from:])
	part := s.text[from : from+size]
	at := Span{From: from, To: from + size}
	problem := func(format string, args ...any) *Problem {
		return &Problem{At: at, Kind: Syntax, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case strings.ContainsRune("rRbB", r) && from+1 < len(s.text) && strings.IndexByte(`"'`, s.text[from+1]) >= 0:
		from++
		fallthrough
	case part == `"` || part == `'`:
		return s.badString(from)
	case part == "`":
		return problem("backquotes stand around the name of a field behind a dot, such as x.`a-b`: put a text into quotes")
	case part == "=":
		return problem(`"=" can't stand here: write "==" to compare`)
	case part == "&":
		return problem(`"&" can't stand here: write "&&" for "and"`)
	case part == "|":
		return problem(`"|" can't stand here: write "||" for "or"`)
	case part == "#":
		return problem(`"#" is no part of CEL: name the element, such as list.filter(x, x > 1)`)
	case part == "~":
		return problem(`"~" is no operator: write x.matches("pattern") for a regular expression`)
	case part == ";":
		return problem(`";" can't stand here: write one expression alone`)
	case strings.ContainsAny(part, "“”„‘’«»"):
		return problem(`%q is a typographic quote: write " or '`, part)
	case s.sentence():
		return s.sentenceProblem()
	}
	return problem("%q does not belong into an expression: put a text into quotes", part)
}

// inTemplate answers "${{" at a place inside of an expression.
func inTemplate(at int) *Problem {
	return &Problem{At: Span{From: at, To: at + 3}, Kind: Sentence,
		Message: `"${{" stands inside an expression: what is here is one already, write it without "${{ }}"`}
}

// badString explains a string that begins at from and can't be read: it does not end, or an escape in it is
// none.
func (s *scanned) badString(from int) *Problem {
	quote := s.text[from]
	for i := from + 1; i < len(s.text) && s.text[i] != '\n'; i++ {
		switch s.text[i] {
		case '\\':
			if i+1 >= len(s.text) {
				break
			}
			if size := escapeSize(s.text[i:]); size == 0 {
				_, n := utf8.DecodeRuneInString(s.text[i+1:])
				return &Problem{At: Span{From: i, To: i + 1 + n}, Kind: Syntax,
					Message: `a string has a "\" that begins no escape: write "\\", or an r before the string`}
			}
			i++
		case quote:
			return &Problem{At: Span{From: from, To: i + 1}, Kind: Syntax, Message: "the string can't be read: write it with \" at both ends"}
		}
	}
	line := strings.IndexByte(s.text[from:], '\n')
	to := len(s.text)
	if line >= 0 {
		to = from + line
	}
	return &Problem{At: Span{From: from, To: to}, Kind: Syntax, Message: "a string is not closed: write the quote that ends it"}
}

// tooDeep answers what the parser, which calls itself for each bracket, should not see.
func (s *scanned) tooDeep(most int) *Problem {
	depth := 0
	for _, t := range s.tokens {
		switch t.GetTokenType() {
		case gen.CELLexerLPAREN, gen.CELLexerLBRACKET, gen.CELLexerLBRACE:
			if depth++; depth > most {
				return &Problem{At: s.span(t), Kind: TooLarge, Message: fmt.Sprintf("brackets nest deeper than %d: split the expression", most)}
			}
		case gen.CELLexerRPAREN, gen.CELLexerRPRACKET, gen.CELLexerRBRACE:
			depth--
		}
	}
	return nil
}

// Plain returns a text of the same length in which strings, optional members and quoted names stand as in
// the other language, and comments are blanks, so that who looks for names need not know CEL. A text that is
// no CEL comes back as it is.
func Plain(text string) string {
	s, p := scan(text)
	if p != nil {
		return text
	}
	out := []byte(strings.Repeat(" ", len(text)))
	for i, t := range s.tokens {
		at := s.span(t)
		copy(out[at.From:at.To], text[at.From:at.To])
		switch t.GetTokenType() {
		case gen.CELLexerSTRING:
			plainString(out[at.From:at.To])
		case gen.CELLexerQUESTIONMARK:
			if i == 0 {
				break
			}
			switch before := s.span(s.tokens[i-1]); text[before.From] {
			case '.':
				out[before.From], out[at.From] = ' ', '.'
			case '[':
				out[at.From] = ' '
			}
		}
	}
	return string(out)
}

// plainString writes a string token as one in double quotes without escapes; what needed one is no name.
func plainString(token []byte) {
	if token[0] == 'r' || token[0] == 'R' {
		token[0] = ' '
		token = token[1:]
	}
	if n := len(token); n >= 6 && token[0] == token[1] && token[0] == token[2] {
		for i := range 2 {
			token[i], token[n-1-i] = ' ', ' '
		}
		token = token[2 : n-2]
	}
	last := len(token) - 1
	for i, c := range token {
		if i == 0 || i == last || c == '"' || c == '\\' {
			token[i] = '"'
			if i > 0 && i < last {
				token[i] = '_'
			}
		}
	}
}
