package convert

import (
	"fmt"
	"strconv"
	"strings"
)

// region is a part of a file: lines and columns count from 1, 0 says that it was not given.
type region struct {
	line, column, endLine, endColumn int
	toEnd                            bool // without an end column it goes to the end of its last line; else it is empty
}

// edit is what a report suggests: the text of a region becomes another one.
type edit struct {
	file string // empty: that of the finding
	region
	text string
	old  string // what is there now, if the report says so
}

// maxEdit is how much of the text of an edit is kept, maxEdits how many of one finding.
const maxEdit, maxEdits = 500, 10

// String says it for the one who makes the change: `replace "13" at 6:5-6:7 with "14"`.
func (e edit) String() string {
	where, empty := e.where()
	if e.file != "" {
		where += " of " + e.file
	}
	if e.old != "" && !empty {
		where = strconv.Quote(e.old) + " at " + where
	}
	switch {
	case empty:
		return fmt.Sprintf("insert %s at %s", strconv.Quote(e.text), where)
	case e.text == "":
		return "delete " + where
	}
	return fmt.Sprintf("replace %s with %s", where, strconv.Quote(e.text))
}

func (r region) where() (words string, empty bool) {
	last := max(r.endLine, r.line)
	switch {
	case r.line <= 0:
		return "the part named in the report", false
	case r.column <= 1 && r.endColumn <= 0 && (r.toEnd || r.column <= 0):
		if last > r.line {
			return fmt.Sprintf("lines %d-%d", r.line, last), false
		}
		return fmt.Sprintf("line %d", r.line), false
	case r.endColumn <= 0 && r.toEnd:
		return fmt.Sprintf("%d:%d to the end of line %d", r.line, r.column, last), false
	case r.endColumn <= 0, last == r.line && r.endColumn == max(r.column, 1):
		return fmt.Sprintf("%d:%d", r.line, max(r.column, 1)), true
	}
	return fmt.Sprintf("%d:%d-%d:%d", r.line, max(r.column, 1), last, r.endColumn), false
}

// suggestion joins what is to be done, after the words of the report for it. Edits of the same region are
// ways to do the same.
func suggestion(words string, edits []edit) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(words))
	for i, e := range edits {
		switch {
		case i > 0 && e.region == edits[i-1].region && e.file == edits[i-1].file:
			b.WriteString(" or ")
		case b.Len() > 0:
			b.WriteString("; ")
		}
		b.WriteString(e.String())
	}
	return clip(b.String(), maxText)
}
