package cel

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unquote returns the text that a string token stands for. The scanner has seen that it is one; false: it
// names a character that there is not.
func unquote(token string) (string, bool) {
	token = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(token)
	raw := token[0] == 'r' || token[0] == 'R'
	body := token
	if raw {
		body = token[1:]
	}
	mark := body[:1]
	if len(body) >= 6 && strings.HasPrefix(body, strings.Repeat(mark, 3)) {
		mark = strings.Repeat(mark, 3)
	}
	body = body[len(mark) : len(body)-len(mark)]
	if raw || !strings.Contains(body, `\`) {
		return body, true
	}
	var b strings.Builder
	for body != "" {
		size := 0
		if body[0] == '\\' {
			size = escapeSize(body)
		}
		if size == 0 {
			_, size = utf8.DecodeRuneInString(body)
			b.WriteString(body[:size])
			body = body[size:]
			continue
		}
		r, ok := escaped(body[1:size])
		if !ok {
			return "", false
		}
		b.WriteRune(r)
		body = body[size:]
	}
	return b.String(), true
}

const simpleEscapes, simpleValues = "abfnrtv\"'\\?`", "\a\b\f\n\r\t\v\"'\\?`"

// escapeSize returns the length of the escape that a text begins with, 0 if it begins with none.
func escapeSize(s string) int {
	if len(s) < 2 {
		return 0
	}
	digits := 0
	switch c := s[1]; {
	case strings.IndexByte(simpleEscapes, c) >= 0:
		return 2
	case c == 'x' || c == 'X':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	case '0' <= c && c <= '3':
		if len(s) < 4 {
			return 0
		}
		if _, err := strconv.ParseUint(s[1:4], 8, 32); err != nil {
			return 0
		}
		return 4
	default:
		return 0
	}
	if len(s) < 2+digits {
		return 0
	}
	if _, err := strconv.ParseUint(s[2:2+digits], 16, 64); err != nil {
		return 0
	}
	return 2 + digits
}

// escaped returns the character that an escape, without its backslash, stands for.
func escaped(esc string) (rune, bool) {
	if i := strings.IndexByte(simpleEscapes, esc[0]); i >= 0 {
		return rune(simpleValues[i]), true
	}
	digits, base := esc[1:], 16
	if esc[0] <= '3' {
		digits, base = esc, 8
	}
	n, err := strconv.ParseUint(digits, base, 32)
	r := rune(n)
	return r, err == nil && utf8.ValidRune(r)
}
