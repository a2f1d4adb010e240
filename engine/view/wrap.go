package view

import "strings"

// wrapIndent is what the lines after the first one begin with.
const wrapIndent = "    "

// Wrap breaks a line of text at blanks into lines of at most width columns, the later ones indented; a word
// that is longer than a line is left whole. 0 breaks nothing. It is for reading: nothing that is copied and
// run goes through it.
func Wrap(line string, width int) string {
	if width <= 2*len(wrapIndent) || columns(line) <= width {
		return line
	}
	var b strings.Builder
	used, first := 0, true // columns of the line that is being written
	for word := range strings.SplitSeq(line, " ") {
		n := columns(word)
		switch {
		case first:
		case used+1+n > width:
			b.WriteString("\n" + wrapIndent)
			used = len(wrapIndent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used, first = used+n, false
	}
	return b.String()
}
