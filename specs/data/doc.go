// Package data reads JSON and YAML bytes into values: what stages leave in their output and feedback files.
//
// A document is read within budgets of bytes, depth and values, whoever wrote it. Whole numbers are int64,
// other numbers float64; a whole number beyond 64 bits, a name that stands twice in one object, and text
// that is not UTF-8 are errors, since a guess would go unseen. Every error says where: line and column,
// both from 1, the column in characters.
//
// It knows nothing of pipelines (package specs) nor of what a value should be (package value's types), and
// opens no files.
package data

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"example.com/pipe/engine/source"
)

// The budgets of one document.
const (
	MaxJSON   = 8 << 20 // bytes of JSON
	MaxYAML   = 1 << 20 // bytes of YAML, whose nodes cost more
	MaxDepth  = 100     // lists and objects inside one another
	MaxValues = 500_000 // values, those that aliases stand for counted each time
)

// Error says what is wrong with a document, and where.
type Error struct {
	Pos     source.Pos // not valid: the document as a whole
	Message string
}

// Error returns "line:col: message".
func (e *Error) Error() string {
	if !e.Pos.IsValid() {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Col, e.Message)
}

// check refuses what is too large or no text.
func check(b []byte, most int) error {
	if len(b) > most {
		return &Error{Message: fmt.Sprintf("the document has %d bytes, more than the %d allowed", len(b), most)}
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return &Error{source.Pos{Line: 1, Col: 1}, "the document is UTF-16 text, expected UTF-8"}
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{place(b, i), "the document holds a byte that is not UTF-8"}
		}
		i += size
	}
	return nil
}

// place returns the line and column of an offset.
func place(b []byte, offset int) source.Pos {
	offset = min(max(offset, 0), len(b))
	p := source.Pos{Line: 1}
	start := 0
	for i, c := range b[:offset] {
		if c == '\n' {
			p.Line++
			start = i + 1
		}
	}
	p.Col = 1 + utf8.RuneCount(b[start:offset])
	return p
}

// short cuts a name that a message quotes.
func short(s string) string {
	const most = 60
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}
