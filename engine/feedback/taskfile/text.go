package taskfile

import (
	"strings"
	"unicode/utf8"
)

// codeSpans finds inline code in a line of Markdown.
type codeSpans struct {
	s    string
	last map[int]int // where the last run of so many backticks begins; it bounds the search for an end
}

func newCodeSpans(s string) *codeSpans {
	c := &codeSpans{s: s, last: map[int]int{}}
	for at := 0; at < len(s); {
		if s[at] != '`' {
			at++
			continue
		}
		n := run(s[at:])
		c.last[n] = at
		at += n
	}
	return c
}

// run counts the backticks that s begins with.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// at gives where the code that begins with the backtick at i stands, and where the span ends; without code the
// text between i and end is backticks and nothing more.
func (c *codeSpans) at(i int) (from, to, end int, code bool) {
	n := run(c.s[i:])
	from = i + n
	if c.last[n] < from {
		return 0, 0, from, false
	}
	for j := from; j < len(c.s); {
		if c.s[j] != '`' {
			j++
			continue
		}
		m := run(c.s[j:])
		if m == n {
			return from, j, j + m, true
		}
		j += m
	}
	return 0, 0, from, false
}

// isPunct reports whether a backslash before c is an escape.
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}

// unescape gives the text that Markdown stands for, as far as backslashes go: those in code are the text's own.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	spans := newCodeSpans(s)
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
		case s[i] == '`':
			_, _, end, _ := spans.at(i)
			b.WriteString(s[i:end])
			i = end
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// escape writes a line of text so that unescape gives it back and nothing in it opens a comment. Code stays as it
// is where that is safe; beside a backslash, or where a backtick is left over, every mark is escaped.
func escape(s string) string {
	if strings.Contains(s, `\`) || strings.HasPrefix(s, "```") {
		return escapeAll(s)
	}
	var b strings.Builder
	spans := newCodeSpans(s)
	for i := 0; i < len(s); {
		switch {
		case s[i] == '`':
			_, _, end, code := spans.at(i)
			if !code {
				return escapeAll(s)
			}
			b.WriteString(s[i:end])
			i = end
		case strings.HasPrefix(s[i:], "<!--"):
			b.WriteString(`\<`)
			i++
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// escapeAll leaves no mark that could begin anything.
func escapeAll(s string) string { return escapeMarks(s, "\\`<") }

// escapeMarks puts a backslash before each of these marks.
func escapeMarks(s, marks string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(marks, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeName writes a name into a heading, where stars at both ends or hashes at the end are not part of it.
func escapeName(s string) string { return escapeMarks(s, "\\`<#*_{~") }

// escapeLine writes text that begins a line or an entry of a list, so that its first mark begins nothing else.
func escapeLine(s string) string {
	out := escape(s)
	if out == "" {
		return out
	}
	if strings.IndexByte("#>-*+~=|<[_{:", out[0]) >= 0 {
		return `\` + out
	}
	digits := len(out) - len(strings.TrimLeft(out, "0123456789"))
	if digits > 0 && digits < len(out) && (out[digits] == '.' || out[digits] == ')') {
		return out[:digits] + `\` + out[digits:]
	}
	return out
}

// collapse makes white space of any kind one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain takes marks for bold and slanted text, or for code, off a text that stands in them as a whole.
func plain(s string) string {
	for {
		s = strings.TrimSpace(s)
		before := s
		for _, mark := range []string{"**", "__", "*", "_", "`"} {
			if inner, ok := strings.CutPrefix(s, mark); ok && len(inner) > len(mark) && strings.HasSuffix(inner, mark) &&
				!strings.HasSuffix(inner, `\`+mark) {
				s = strings.TrimSuffix(inner, mark)
				break
			}
		}
		if s == before {
			return s
		}
	}
}

// clip cuts s for a message.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
