package report

import (
	"io"

	"example.com/pipe/engine/feedback"
)

// Text gives what a stage, a tool or a person wrote as part of a line of Markdown that shows it and nothing else: no
// mark, link, mention or HTML of it is one. A line must not begin with it.
func Text(s string) string { return text(s) }

// WriteItem writes one item as an entry of a list of Markdown, with what is known of it below. The writer keeps its
// error.
func WriteItem(w io.Writer, i *feedback.Item) { writeItem(w, i) }
