package diag

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/pipe/engine/source"
)

const (
	maxWidth = 100 // columns of a document's line that are shown
	context  = 30  // columns kept before the span where a line is cut
	tabStop  = 4
)

// writeSnippet writes the line on which a span starts, and an underline.
func writeSnippet(b *strings.Builder, f *source.File, s source.Span) {
	if f == nil || !s.IsValid() || s.Start.Line > f.Lines() {
		return
	}
	line, from, to := cut(cells(f, s))
	number := strconv.Itoa(s.Start.Line)
	gutter := strings.Repeat(" ", max(len(number), 4))
	fmt.Fprintf(b, " %*s | %s\n", len(gutter), number, strings.TrimRight(line, " "))
	fmt.Fprintf(b, " %s | %s%s\n", gutter, strings.Repeat(" ", from), strings.Repeat("^", to-from))
}

// cell is one character of a line as shown: what is printed for it and how many columns that takes.
type cell struct {
	text   string
	width  int
	marked bool
}

// cells turns the part of a line that may be shown into cells. The span's characters are marked; at least
// one cell is, also at the end of the line.
func cells(f *source.File, s source.Span) []cell {
	var out []cell
	line, start := f.Line(s.Start.Line), f.LineStart(s.Start.Line)
	col, width := max(s.Start.Col-maxWidth, 1), 0 // a line of megabytes is not laid out whole
	line = line[min(f.Offset(source.Pos{Line: s.Start.Line, Col: col})-start, len(line)):]
	for len(line) > 0 && col <= s.Start.Col+2*maxWidth {
		r, size := utf8.DecodeRuneInString(line)
		c := show(line[:size], r, width)
		c.marked = covers(s, col)
		width += c.width
		out = append(out, c)
		line = line[size:]
		col++
	}
	if len(out) == 0 || s.Start.Col >= col {
		out = append(out, cell{text: " ", width: 1, marked: true})
	}
	return out
}

func covers(s source.Span, col int) bool {
	if s.End.Line > s.Start.Line {
		return col >= s.Start.Col
	}
	return col >= s.Start.Col && (col < s.End.Col || col == s.Start.Col)
}

// show returns what is printed for one character of a line.
func show(raw string, r rune, at int) cell {
	if r == '\t' {
		n := tabStop - at%tabStop
		return cell{text: strings.Repeat(" ", n), width: n}
	}
	text := Escape(raw)
	if text != raw {
		return cell{text: text, width: len(text)}
	}
	return cell{text: text, width: columns(r)}
}

// cut takes the stretch of cells around the marked ones that fits, and returns it as text with the columns
// from..to of the mark.
func cut(cs []cell) (line string, from, to int) {
	first, total := -1, 0
	for i, c := range cs {
		if c.marked && first < 0 {
			first = i
		}
		total += c.width
	}
	start := 0
	if total > maxWidth {
		for start = first; start > 0 && span(cs[start-1:first]) <= context; start-- {
		}
	}
	var b strings.Builder
	width := 0
	if start > 0 {
		b.WriteString("…")
		width = 1
	}
	from = -1
	for i := start; i < len(cs); i++ {
		if width+cs[i].width > maxWidth && i > first {
			b.WriteString("…")
			break
		}
		if cs[i].marked && from < 0 {
			from = width
		}
		b.WriteString(cs[i].text)
		width += cs[i].width
		if cs[i].marked {
			to = width
		}
	}
	return b.String(), from, max(to, from+1)
}

func span(cs []cell) int {
	n := 0
	for _, c := range cs {
		n += c.width
	}
	return n
}

// Escape returns s with each character that could steer a terminal or hide text (control characters,
// escapes, direction marks, bytes that are not UTF-8) written as an escape such as \x1b. A tab stays.
func Escape(s string) string {
	clean := true
	for _, r := range s {
		if !printable(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case printable(r):
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

func printable(r rune) bool {
	return r == '\t' || r >= ' ' && r < 0x7f || r > 0x7f && (unicode.IsPrint(r) || r == '\u00a0' || r == '\u3000')
}

// columns returns how many columns of a terminal a printable character takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		r >= 0x3000 && r <= 0x303f, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
