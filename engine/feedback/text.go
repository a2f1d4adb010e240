package feedback

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clip cuts s to at most limit characters, the last of them an ellipsis when something was cut off.
func clip(s string, limit int) string {
	if limit <= 0 {
		return ""
	}
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
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

// OneLine is text of a stage as one line of at most limit characters, safe to print.
func OneLine(s string, limit int) string { return clip(oneLine(s), limit) }

// oneLine makes text safe to print in a line: white space of any kind becomes one space, what is not UTF-8
// the replacement character, and control characters and marks that turn the direction of text are spelt
// out, so that nothing a stage wrote moves a cursor or hides what it says.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		switch {
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r) || IsHidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsHidden reports whether r is an invisible mark that reorders or hides text. The joiners stay: emoji and
// several scripts need them.
func IsHidden(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r == 0x061c, r == 0x2060, r == 0xfeff:
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags: text that no screen shows
		return true
	}
	return false
}

// markdownText is text of a stage as one line of Markdown: its leading marks are escaped, so that it can't
// pass for a heading, a list, a quote, a fence or a line of ours.
func markdownText(s string) string {
	s = oneLine(s)
	if s == "" {
		return s
	}
	if strings.ContainsRune("#>-*+`~=|<", rune(s[0])) {
		return `\` + s
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// markdownName is a name or path as it stands between "**": a star in it must not end the bold text, nor a backslash
// take the escape off one, and nothing in it begins code, which would hide the end, or HTML.
func markdownName(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "`", "\\`", "<", `\<`).Replace(oneLine(s))
}

// Place is where the item is, for people: "file:line", "file", "(no file)", or, of an item with a line alone,
// "(no file):4".
func (i *Item) Place() string { return place(i.File, i.Line) }

func place(file string, line int) string {
	if file == "" {
		file = "(no file)"
	}
	if line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// unique keeps the first of equal strings and drops empty ones; the order stays.
func unique(in []string) []string {
	var out []string
	seen := make(map[string]bool, len(in))
	for _, s := range in {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
