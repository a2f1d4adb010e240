package workspace

import (
	"errors"
	"strings"
)

// LineText gives lines of files below a root, of one goroutine: the evidence of items. "" stands for a line that is not
// there. The last file is kept, since items of one file follow each other.
func LineText(root string) func(file string, line int) string {
	return (&lineText{root: root, left: maxLineText}).line
}

// How much is read for it: of a file, and of all of them, since items that jump from one large file to another have them
// read each time. What is not read has no lines.
const (
	maxLineFile = 8 << 20
	maxLineText = 1 << 30
)

type lineText struct {
	root  string
	left  int      // bytes that may still be read
	name  string   // of the last file
	lines []string // of the last file; nil: there is none yet
}

func (t *lineText) line(file string, line int) string {
	if file != t.name || t.lines == nil {
		t.name, t.lines = file, []string{}
		if t.left > 0 {
			if b, err := ReadInside(t.root, file, maxLineFile); err == nil {
				t.lines = strings.Split(string(b), "\n")
				t.left -= len(b)
			} else if errors.Is(err, ErrTooLarge) {
				t.left -= maxLineFile
			}
		}
	}
	if line < 1 || line > len(t.lines) {
		return ""
	}
	return t.lines[line-1]
}
