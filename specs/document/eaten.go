package document

import (
	"regexp"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
)

// The five ways in which YAML eats an expression, and one code for each.
const (
	CodeTag        diag.Code = "expr-tag"         // "!" makes what follows a tag
	CodeComment    diag.Code = "expr-comment"     // " #" starts a comment
	CodeAfterQuote diag.Code = "expr-after-quote" // a quoted scalar ends at its quote; more text follows
	CodeColon      diag.Code = "expr-colon"       // ": " makes what precedes it a key
	CodeIndicator  diag.Code = "expr-indicator"   // the first character (or a bracket inside { }) means something to YAML
)

// Eaten is a value that YAML did not read as the text it was meant to be.
type Eaten struct {
	Code     diag.Code
	Key      string
	Raw      string // the value as written, on its first line
	Whole    string // the value with its further lines, for the rewrite; "" is Raw
	From, To int    // offsets of what has to be blanked; Raw starts at From
	Expr     bool   // the value is an expression or holds one
}

// Report adds the diagnostic for e, with the quoted rewrite as help.
func (doc *Document) Report(e Eaten, diags *diag.List) {
	span := doc.Text.Span(e.From, e.From+len(e.Raw))
	code, what := e.Code, "this expression"
	if !e.Expr {
		code, what = CodeSyntax, "this text"
	}
	whole := e.Whole
	if whole == "" {
		whole = e.Raw
	}
	diags.Errorf(code, span, "%s", eatenMessage(e.Code, what, e.Raw)).Help = rewrite(e.Key, whole)
}

func eatenMessage(code diag.Code, what, raw string) string {
	switch code {
	case CodeTag:
		return "YAML takes the \"!\" that starts " + what + " for a tag; it must be quoted"
	case CodeComment:
		return "YAML takes the rest of " + what + " from \" #\" on for a comment; it must be quoted"
	case CodeAfterQuote:
		return "YAML ends " + what + " at its second quote, and more text follows; the whole must be quoted"
	case CodeColon:
		return "YAML takes the \": \" inside " + what + " for a key and its value; it must be quoted"
	}
	first := raw
	if len(first) > 1 {
		first = first[:1]
	}
	if !strings.Contains(indicators, first) {
		return "inside { } and [ ] YAML splits " + what + " at its brackets, commas and question marks; it must be quoted"
	}
	return "YAML gives the \"" + first + "\" that starts " + what + " a meaning of its own; it must be quoted"
}

// MaxLook is how far around a value its line is looked at: documents of one endless line stay linear.
const MaxLook = 4 << 10

const indicators = "{[*&@`%|>-?#!,]}"

// rewrite returns the key and its value as they should be written.
func rewrite(key, raw string) string {
	raw = strings.TrimSpace(raw)
	// A template in double quotes that holds double quotes is one scalar in the author's mind.
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && strings.HasPrefix(raw, `"${{`) {
		raw = raw[1 : n-1]
	}
	if key == "-" { // an entry of a list
		return "write - " + Quote(raw)
	}
	return "write " + key + ": " + Quote(raw)
}

// joinLines returns the lines of a value as one.
func joinLines(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// Quote returns text as a YAML scalar that stands for exactly that text.
func Quote(text string) string {
	if strings.Contains(text, "'") && !strings.ContainsAny(text, "\"\\") {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

var (
	keyValue   = regexp.MustCompile(`^(\s*(?:- +)*)([A-Za-z_][A-Za-z0-9_-]*):[ \t]+(\S.*)$`)
	listItem   = regexp.MustCompile(`^(\s*(?:- +)+)(\S.*)$`)
	flowKey    = regexp.MustCompile(`[{,]\s*([A-Za-z_][A-Za-z0-9_-]*):[ \t]+`)
	celForm    = regexp.MustCompile(`^\{\s*cel\s*:`) // the expression is what stands in it
	blockStart = regexp.MustCompile(`^[|>][+-]?[1-9]?[+-]?[ \t]*(#.*)?$`)
)

// findEaten looks for the Eaten value that made the parser give up, from the line that it had reached
// upwards: a scalar is only complete when the next line has been looked at.
func (doc *Document) findEaten(at fault) (Eaten, bool) {
	low := max(at.line-2, 1)
	if at.opened > 0 && at.opened <= at.line {
		low = max(low, at.opened-1)
	}
	for line := min(at.line, doc.Text.Lines()); line >= low; line-- {
		if e, ok := doc.eatenIn(line); ok {
			return e, true
		}
		if strings.TrimSpace(doc.Text.Line(line)) != "" && line < at.line {
			break
		}
	}
	return Eaten{}, false
}

// eatenIn looks at the values of one line.
func (doc *Document) eatenIn(line int) (Eaten, bool) {
	text, start := doc.Text.Line(line), doc.Text.LineStart(line)
	if len(text) > MaxLook {
		return Eaten{}, false
	}
	if m := keyValue.FindStringSubmatchIndex(text); m != nil && !collection(text[m[4]:m[5]], text[m[6]:]) {
		e := Eaten{Key: text[m[4]:m[5]], Raw: strings.TrimRight(text[m[6]:m[7]], " \t"), From: start + m[6]}
		flow := FlowValue(e.Raw)
		inside := closes(e.Raw[len(flow):]) // the last line of a { } or [ ] of several lines
		if inside {
			e.Raw = flow
		}
		e.Expr = isExpr(e.Key, e.Raw)
		if e.Code = classify(e.Raw, e.Expr); e.Code != "" {
			if e.To = e.From + len(e.Raw); !inside {
				e.To = doc.valueEnd(line, m[4])
			}
			e.Whole = joinLines(doc.Text.Text()[e.From:e.To])
			return e, true
		}
	}
	if m := listItem.FindStringSubmatchIndex(text); m != nil && strings.Contains(text, "${{") && keyValue.FindString(text) == "" {
		e := Eaten{Key: "-", Raw: strings.TrimRight(text[m[4]:m[5]], " \t"), From: start + m[4], Expr: true}
		if e.Code = classify(e.Raw, true); e.Code != "" && !collection("", e.Raw) {
			e.To = doc.valueEnd(line, m[3]-2)
			e.Whole = joinLines(doc.Text.Text()[e.From:e.To])
			return e, true
		}
	}
	if strings.Contains(text, "{") {
		for _, m := range flowKey.FindAllStringSubmatchIndex(text, -1) {
			raw := FlowValue(text[m[1]:])
			if raw == "" || collection(text[m[2]:m[3]], raw) {
				continue
			}
			e := Eaten{Key: text[m[2]:m[3]], Raw: raw, From: start + m[1], To: start + m[1] + len(raw)}
			e.Expr = isExpr(e.Key, raw)
			if e.Code = classify(raw, e.Expr); e.Code == "" && e.Expr && !quoted(raw) && strings.ContainsAny(raw, "[]{}?,") {
				e.Code = CodeIndicator
			}
			if !e.Expr && !quoted(raw) && strings.ContainsRune(raw, '?') {
				e.Code = CodeIndicator // the parser ends plain text there
			}
			if e.Code != "" && (e.Expr || e.Code == CodeIndicator) {
				return e, true
			}
		}
	}
	return Eaten{}, false
}

// exprKeys are the keys whose values are expressions. The value of the last may be a list as well.
var exprKeys = [...]string{"when", "validation", "cel", "items"}

// closes reports whether s starts with a bracket that closes one of an earlier line.
func closes(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return s != "" && (s[0] == '}' || s[0] == ']')
}

// collection reports whether a value is a { } or [ ] of YAML's rather than an expression.
func collection(key, raw string) bool {
	return (raw[0] == '{' || raw[0] == '[') && !slices.Contains(exprKeys[:3], key) || celForm.MatchString(raw)
}

// isExpr reports whether the value of a key is an expression or holds one.
func isExpr(key, raw string) bool {
	return slices.Contains(exprKeys[:], key) || strings.Contains(raw, "${{")
}

// classify says how YAML eats a value, or "".
func classify(raw string, expr bool) diag.Code {
	if raw == "" {
		return ""
	}
	switch raw[0] {
	case '!':
		if !expr {
			return ""
		}
		return CodeTag
	case '"', '\'':
		if rest, closed := AfterQuote(raw); closed && rest != "" && rest[0] != '#' {
			return CodeAfterQuote
		}
		return ""
	case '|', '>':
		if blockStart.MatchString(raw) {
			return ""
		}
		return CodeIndicator
	case '{', '[':
		return CodeIndicator
	case '*', '&':
		_, rest, more := strings.Cut(raw, " ")
		if !expr && (raw[0] == '&' || !more || strings.HasPrefix(strings.TrimSpace(rest), "#")) {
			return ""
		}
		return CodeIndicator
	case '@', '`', '%':
		return CodeIndicator
	case '-', '?':
		if len(raw) == 1 || raw[1] == ' ' {
			return CodeIndicator
		}
	}
	if strings.Contains(raw, ": ") || strings.HasSuffix(raw, ":") {
		return CodeColon
	}
	return ""
}

// AfterQuote returns what follows the closing quote of the quoted scalar that raw starts with.
func AfterQuote(raw string) (rest string, closed bool) {
	q := raw[0]
	for i := 1; i < len(raw); i++ {
		switch {
		case q == '"' && raw[i] == '\\':
			i++
		case raw[i] == q && q == '\'' && i+1 < len(raw) && raw[i+1] == q:
			i++
		case raw[i] == q:
			return strings.TrimLeft(raw[i+1:], " \t"), true
		}
	}
	return "", false
}

func quoted(raw string) bool { return raw != "" && (raw[0] == '"' || raw[0] == '\'') }

// FlowValue returns the value at the start of s inside a flow mapping: up to the comma or bracket that
// ends it, brackets and quotes inside the value skipped.
func FlowValue(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			if rest, closed := AfterQuote(s[i:]); closed {
				i = len(s) - len(rest) - 1
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return strings.TrimRight(s[:i], " \t")
			}
		case ',':
			if depth == 0 {
				return strings.TrimRight(s[:i], " \t")
			}
		}
	}
	return strings.TrimRight(s, " \t")
}

// valueEnd returns the offset at which the value of a key on the given line ends: lines that are indented
// more than the key belong to it.
func (doc *Document) valueEnd(line, keyColumn int) int {
	end := doc.Text.LineStart(line) + len(doc.Text.Line(line))
	for next := line + 1; next <= doc.Text.Lines(); next++ {
		text := doc.Text.Line(next)
		trimmed := strings.TrimLeft(text, " ")
		if strings.TrimSpace(trimmed) == "" {
			continue
		}
		if len(text)-len(trimmed) <= keyColumn {
			break
		}
		end = doc.Text.LineStart(next) + len(text)
	}
	return end
}
