package report

import (
	"fmt"
	"strings"
	"unicode"

	"example.com/pipe/engine/feedback"
)

// marks are the characters that mean something within a line of Markdown.
const marks = "\\`*_[]<>&~|$#"

// text gives what a stage or a tool wrote as one line of Markdown that shows it and nothing else: marks are escaped,
// what would become a link, a mention or an emoji of its own accord is code, and control characters are spelt out.
// A line must not begin with it.
func text(s string) string {
	var b strings.Builder
	for i, word := range strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), unicode.IsSpace) {
		if i > 0 {
			b.WriteByte(' ')
		}
		word = visible(word)
		if becomesLink(word) {
			b.WriteString(code(word))
			continue
		}
		for _, r := range word {
			if strings.ContainsRune(marks, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible spells out what a screen would obey or not show.
func visible(word string) string {
	if strings.IndexFunc(word, isHidden) < 0 {
		return word
	}
	var b strings.Builder
	for _, r := range word {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isHidden(r rune) bool { return unicode.IsControl(r) || feedback.IsHidden(r) }

// becomesLink reports whether Markdown as it is written on the web makes more of a word than text: an address, a
// mention of somebody, an emoji by its name.
func becomesLink(word string) bool {
	lower := strings.ToLower(word)
	if strings.Contains(word, "@") || strings.Contains(word, "://") || strings.Contains(lower, "www.") {
		return true
	}
	_, rest, ok := strings.Cut(word, ":")
	return ok && strings.Contains(rest, ":")
}

// code is a word between as many backticks as it takes.
func code(word string) string {
	run, longest := 0, 0
	for _, r := range word {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(word, "`") || strings.HasSuffix(word, "`") {
		word = " " + word + " "
	}
	return fence + word + fence
}
