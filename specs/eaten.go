package specs

import (
	"regexp"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
)

// The five ways in which YAML eats an expression, and one code for each.
const (
	codeTag        diag.Code = "expr-tag"         // "!" makes what follows a tag
	codeComment    diag.Code = "expr-comment"     // " #" starts a comment
	codeAfterQuote diag.Code = "expr-after-quote" // a quoted scalar ends at its quote; more text follows
	codeColon      diag.Code = "expr-colon"       // ": " makes what precedes it a key
	codeIndicator  diag.Code = "expr-indicator"   // the first character (or a bracket inside { }) means something to YAML
)

// eaten is a value that YAML did not read as the text it was meant to be.
type eaten struct {
	code     diag.Code
	key      string
	raw      string // the value as written, on its first line
	whole    string // the value with its further lines, for the rewrite; "" is raw
	from, to int    // offsets of what has to be blanked; raw starts at from
	expr     bool   // the value is an expression or holds one
}

// report adds the diagnostic for e, with the quoted rewrite as help.
func (doc *document) report(e eaten, diags *diag.List) {
	span := doc.text.Span(e.from, e.from+len(e.raw))
	code, what := e.code, "this expression"
	if !e.expr {
		code, what = codeSyntax, "this text"
	}
	whole := e.whole
	if whole == "" {
		whole = e.raw
	}
	diags.Errorf(code, span, "%s", eatenMessage(e.code, what, e.raw)).Help = rewrite(e.key, whole)
}

func eatenMessage(code diag.Code, what, raw string) string {
	switch code {
	case codeTag:
		return "YAML takes the \"!\" that starts " + what + " for a tag; it must be quoted"
	case codeComment:
		return "YAML takes the rest of " + what + " from \" #\" on for a comment; it must be quoted"
	case codeAfterQuote:
		return "YAML ends " + what + " at its second quote, and more text follows; the whole must be quoted"
	case codeColon:
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

const indicators = "{[*&@`%|>-?#!,]}"

// rewrite returns the key and its value as they should be written.
func rewrite(key, raw string) string {
	raw = strings.TrimSpace(raw)
	// A template in double quotes that holds double quotes is one scalar in the author's mind.
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' && strings.HasPrefix(raw, `"${{`) {
		raw = raw[1 : n-1]
	}
	if key == "-" { // an entry of a list
		return "write - " + quote(raw)
	}
	return "write " + key + ": " + quote(raw)
}

// joinLines returns the lines of a value as one.
func joinLines(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// quote returns text as a YAML scalar that stands for exactly that text.
func quote(text string) string {
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

// findEaten looks for the eaten value that made the parser give up, from the line that it had reached
// upwards: a scalar is only complete when the next line has been looked at.
func (doc *document) findEaten(at fault) (eaten, bool) {
	low := max(at.line-2, 1)
	if at.opened > 0 && at.opened <= at.line {
		low = max(low, at.opened-1)
	}
	for line := min(at.line, doc.text.Lines()); line >= low; line-- {
		if e, ok := doc.eatenIn(line); ok {
			return e, true
		}
		if strings.TrimSpace(doc.text.Line(line)) != "" && line < at.line {
			break
		}
	}
	return eaten{}, false
}

// eatenIn looks at the values of one line.
func (doc *document) eatenIn(line int) (eaten, bool) {
	text, start := doc.text.Line(line), doc.text.LineStart(line)
	if len(text) > maxLook {
		return eaten{}, false
	}
	if m := keyValue.FindStringSubmatchIndex(text); m != nil && !collection(text[m[4]:m[5]], text[m[6]:]) {
		e := eaten{key: text[m[4]:m[5]], raw: strings.TrimRight(text[m[6]:m[7]], " \t"), from: start + m[6]}
		flow := flowValue(e.raw)
		inside := closes(e.raw[len(flow):]) // the last line of a { } or [ ] of several lines
		if inside {
			e.raw = flow
		}
		e.expr = isExpr(e.key, e.raw)
		if e.code = classify(e.raw, e.expr); e.code != "" {
			if e.to = e.from + len(e.raw); !inside {
				e.to = doc.valueEnd(line, m[4])
			}
			e.whole = joinLines(doc.text.Text()[e.from:e.to])
			return e, true
		}
	}
	if m := listItem.FindStringSubmatchIndex(text); m != nil && strings.Contains(text, "${{") && keyValue.FindString(text) == "" {
		e := eaten{key: "-", raw: strings.TrimRight(text[m[4]:m[5]], " \t"), from: start + m[4], expr: true}
		if e.code = classify(e.raw, true); e.code != "" && !collection("", e.raw) {
			e.to = doc.valueEnd(line, m[3]-2)
			e.whole = joinLines(doc.text.Text()[e.from:e.to])
			return e, true
		}
	}
	if strings.Contains(text, "{") {
		for _, m := range flowKey.FindAllStringSubmatchIndex(text, -1) {
			raw := flowValue(text[m[1]:])
			if raw == "" || collection(text[m[2]:m[3]], raw) {
				continue
			}
			e := eaten{key: text[m[2]:m[3]], raw: raw, from: start + m[1], to: start + m[1] + len(raw)}
			e.expr = isExpr(e.key, raw)
			if e.code = classify(raw, e.expr); e.code == "" && e.expr && !quoted(raw) && strings.ContainsAny(raw, "[]{}?,") {
				e.code = codeIndicator
			}
			if !e.expr && !quoted(raw) && strings.ContainsRune(raw, '?') {
				e.code = codeIndicator // the parser ends plain text there
			}
			if e.code != "" && (e.expr || e.code == codeIndicator) {
				return e, true
			}
		}
	}
	return eaten{}, false
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
		return codeTag
	case '"', '\'':
		if rest, closed := afterQuote(raw); closed && rest != "" && rest[0] != '#' {
			return codeAfterQuote
		}
		return ""
	case '|', '>':
		if blockStart.MatchString(raw) {
			return ""
		}
		return codeIndicator
	case '{', '[':
		return codeIndicator
	case '*', '&':
		_, rest, more := strings.Cut(raw, " ")
		if !expr && (raw[0] == '&' || !more || strings.HasPrefix(strings.TrimSpace(rest), "#")) {
			return ""
		}
		return codeIndicator
	case '@', '`', '%':
		return codeIndicator
	case '-', '?':
		if len(raw) == 1 || raw[1] == ' ' {
			return codeIndicator
		}
	}
	if strings.Contains(raw, ": ") || strings.HasSuffix(raw, ":") {
		return codeColon
	}
	return ""
}

// afterQuote returns what follows the closing quote of the quoted scalar that raw starts with.
func afterQuote(raw string) (rest string, closed bool) {
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

// flowValue returns the value at the start of s inside a flow mapping: up to the comma or bracket that
// ends it, brackets and quotes inside the value skipped.
func flowValue(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			if rest, closed := afterQuote(s[i:]); closed {
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
func (doc *document) valueEnd(line, keyColumn int) int {
	end := doc.text.LineStart(line) + len(doc.text.Line(line))
	for next := line + 1; next <= doc.text.Lines(); next++ {
		text := doc.text.Line(next)
		trimmed := strings.TrimLeft(text, " ")
		if strings.TrimSpace(trimmed) == "" {
			continue
		}
		if len(text)-len(trimmed) <= keyColumn {
			break
		}
		end = doc.text.LineStart(next) + len(text)
	}
	return end
}
