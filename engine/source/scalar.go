package source

import (
	"sort"
	"unicode/utf8"
)

// Mark ties an offset in a scalar's decoded text to the place in the file where that byte came from.
// Between two marks the columns advance by one for each character.
type Mark struct {
	Offset int // byte offset in the decoded text
	Pos    Pos
}

// Scalar is a decoded scalar of a document: its text, the span it takes in the file (quotes and block
// indicator included), and the marks that lead from the text back into the file.
type Scalar struct {
	Text string
	Span Span

	marks []Mark // sorted by Offset; nil: the text starts at Span.Start and stands in the file as it is
}

// NewScalar returns a scalar with the given marks, which must be sorted by offset.
func NewScalar(text string, span Span, marks []Mark) Scalar {
	return Scalar{Text: text, Span: span, marks: marks}
}

// At returns the span in the file of the bytes from..to of the decoded text, both clamped to it. The end is
// the place just behind the last character taken, so that it stays on that character's line; an empty
// stretch is the place of the byte at from.
func (s Scalar) At(from, to int) Span {
	from = min(max(from, 0), len(s.Text))
	to = min(max(to, from), len(s.Text))
	sp := Span{File: s.Span.File, Start: s.Pos(from)}
	if from == to {
		sp.End = sp.Start
		return sp
	}
	_, size := utf8.DecodeLastRuneInString(s.Text[from:to])
	sp.End = s.Pos(to - size)
	sp.End.Col++
	if next := s.Pos(to); to < len(s.Text) && next.Line == sp.End.Line && sp.End.Before(next) {
		sp.End = next // an escape such as \u0041 is one character of the text and six of the file
	}
	return sp
}

// Pos returns the place in the file of the byte at offset of the decoded text, clamped to it.
func (s Scalar) Pos(offset int) Pos {
	offset = min(max(offset, 0), len(s.Text))
	base := Mark{Pos: s.Span.Start}
	if i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].Offset > offset }); i > 0 {
		base = s.marks[i-1]
	}
	if !base.Pos.IsValid() {
		return base.Pos
	}
	base.Pos.Col += utf8.RuneCountInString(s.Text[min(base.Offset, offset):offset])
	return base.Pos
}
