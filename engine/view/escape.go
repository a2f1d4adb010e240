package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/pipe/engine/feedback"
)

// maxText is how many characters of a stage's or a person's text a line shows.
const maxText = 200

// Escape makes text safe to print: what is not UTF-8, control characters and marks that reorder or hide
// text are spelt out as \xNN, \uNNNN or \UNNNNNNNN; line ends and tabs stay.
func Escape(s string) string {
	if !needsEscape(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\t' || !isUnsafe(r):
			b.WriteString(s[:size])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

func needsEscape(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return true
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || isUnsafe(r) {
			return true
		}
		i += size
	}
	return false
}

// isUnsafe reports whether a character could move a cursor, change a terminal, or reorder or hide text.
func isUnsafe(r rune) bool {
	switch {
	case unicode.IsControl(r), feedback.IsHidden(r):
		return true
	case r == 0x2028, r == 0x2029: // ends of lines and paragraphs
		return true
	}
	return false
}

// OneLine gives text as it stands in a line: safe to print, white space of any kind as one space, and cut
// where it is long.
func OneLine(s string) string { return oneLine(s, maxText) }

// oneLine gives text as it stands in a line: runs of white space are one space, at most limit characters,
// the last of them an ellipsis when something was cut off.
func oneLine(s string, limit int) string {
	if len(s) > 8*limit {
		s = cutBytes(s, 8*limit) // a text of megabytes is not looked through for its first words
	}
	return clip(Escape(strings.Join(strings.Fields(s), " ")), limit)
}

// cutBytes cuts s to at most n bytes at the start of a character.
func cutBytes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clip cuts s to at most limit characters.
func clip(s string, limit int) string {
	if limit <= 0 || len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		n++
	}
	return s
}

// word gives text as the value of a key in a line: as it is where it is one plain word, else quoted.
func word(s string) string { return wordOf(s, maxText) }

func wordOf(s string, most int) string {
	s = oneLine(s, most)
	if s == "" || strings.ContainsAny(s, " \"'=\\") {
		return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	}
	return s
}

// safeJSON spells out what encoding/json leaves as it is and a terminal would obey. Such characters stand
// only inside strings, so the document stays the same document.
func safeJSON(b []byte) []byte {
	if !needsEscape(string(b)) {
		return b
	}
	var out bytes.Buffer
	out.Grow(len(b) + 64)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '\n' || !isUnsafe(r):
			out.Write(b[:size])
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		}
		b = b[size:]
	}
	return out.Bytes()
}

// Duration gives a number of milliseconds for people: "0ms", "12ms", "1.2s", "3m04s", "2h05m".
func Duration(ms int64) string {
	switch {
	case ms < 0:
		return "0ms"
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + "ms"
	case ms < 60_000:
		return fmt.Sprintf("%d.%ds", ms/1000, ms%1000/100)
	case ms < 3_600_000:
		return fmt.Sprintf("%dm%02ds", ms/60_000, ms%60_000/1000)
	}
	return fmt.Sprintf("%dh%02dm", ms/3_600_000, ms%3_600_000/60_000)
}

// columns is how many characters s has; tables are laid out by it.
func columns(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, width int) string {
	if n := width - columns(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Shorten cuts text of one line to at most limit columns, the last of them an ellipsis; 0 cuts nothing.
func Shorten(s string, limit int) string { return clip(s, limit) }
