package diag

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/pipe/engine/source"
)

// Text returns the sorted list for people: for each diagnostic its first line
// `file:line:col: error: message [code]`, the line of the document with the span underlined, the related
// places, and the help. A file that is not among files is shown without its line. Nothing that stands in a
// document reaches the screen as a control character.
func (l List) Text(files ...*source.File) string {
	var b strings.Builder
	for _, d := range l.Sorted() {
		b.WriteString(d.Line())
		b.WriteByte('\n')
		writeSnippet(&b, lookup(files, d.Span.File), d.Span)
		for _, r := range d.Related {
			fmt.Fprintf(&b, "  %s%s\n", place(r.Span), Escape(r.Message))
			writeSnippet(&b, lookup(files, r.Span.File), r.Span)
		}
		writeHelp(&b, d.Help)
	}
	return b.String()
}

// Short returns the sorted list with one line for each diagnostic.
func (l List) Short() string {
	var b strings.Builder
	for _, d := range l.Sorted() {
		b.WriteString(d.Line())
		b.WriteByte('\n')
	}
	return b.String()
}

// Line returns the diagnostic's first line, without a line end.
func (d Diagnostic) Line() string {
	s := place(d.Span) + d.Severity.String() + ": " + Escape(d.Message)
	if d.Code != "" {
		s += " [" + string(d.Code) + "]"
	}
	return s
}

// place returns "file:line:col: ", or as much of it as is known.
func place(s source.Span) string {
	var b strings.Builder
	if s.File != "" {
		b.WriteString(Escape(s.File))
		b.WriteByte(':')
	}
	if s.IsValid() {
		b.WriteString(strconv.Itoa(s.Start.Line) + ":" + strconv.Itoa(s.Start.Col) + ":")
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	return b.String()
}

func writeHelp(b *strings.Builder, help string) {
	if help == "" {
		return
	}
	for i, line := range strings.Split(strings.TrimRight(help, "\n"), "\n") {
		lead := "  help: "
		if i > 0 {
			lead = "        "
		}
		b.WriteString(strings.TrimRight(lead+Escape(line), " "))
		b.WriteByte('\n')
	}
}

func lookup(files []*source.File, name string) *source.File {
	for _, f := range files {
		if f != nil && f.Name == name {
			return f
		}
	}
	return nil
}
