package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// File is a named text with an index of its lines. It does not change once made.
//
// Lines end at LF, CR LF or a lone CR, as editors and YAML count them. A byte order mark at the start is
// no part of the text, and of no column.
type File struct {
	Name string // as diagnostics print it; usually a path as the user gave it

	text  string
	lines []int // byte offset of each line's first character; lines[0] is 0
	runes []int // runes[i] is the number of characters before byte i*stride; nil: every character is a byte
}

// stride is how many bytes lie between two entries of File.runes. It bounds what Pos and Offset read, also
// where a whole document stands on one line.
const stride = 1 << 10

// NewFile returns a file with the given text. The text may hold anything; bytes that are not UTF-8 count as
// one character each.
func NewFile(name, text string) *File {
	text = strings.TrimPrefix(text, "\ufeff")
	f := &File{Name: name, text: text, lines: make([]int, 1, 1+strings.Count(text, "\n"))}
	ascii := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			f.lines = append(f.lines, i+1)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii {
		f.indexRunes()
	}
	return f
}

// indexRunes fills f.runes. A character that lies across the border of two strides counts for the first.
func (f *File) indexRunes() {
	f.runes = make([]int, 0, len(f.text)/stride+2)
	n := 0
	for i := range f.text {
		for len(f.runes)*stride <= i {
			f.runes = append(f.runes, n)
		}
		n++
	}
	for len(f.runes)*stride <= len(f.text) {
		f.runes = append(f.runes, n)
	}
}

// Text returns the whole text, without a byte order mark.
func (f *File) Text() string { return f.text }

// Lines returns the number of lines. A text that ends in a line end has an empty last line.
func (f *File) Lines() int { return len(f.lines) }

// Line returns line n (1-based) without its line end; "" where there is no such line.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := len(f.text)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return strings.TrimRight(f.text[f.lines[n-1]:end], "\r\n")
}

// LineStart returns the byte offset of the first character of line n, clamped to the text.
func (f *File) LineStart(n int) int {
	switch {
	case n < 1:
		return 0
	case n > len(f.lines):
		return len(f.text)
	}
	return f.lines[n-1]
}

// Pos returns the place of the byte at offset, clamped to the text. The offset just behind the last byte is
// the end of the file. An offset inside a character is that character's place.
func (f *File) Pos(offset int) Pos {
	offset = min(max(offset, 0), len(f.text))
	for offset > 0 && offset < len(f.text) && inside(f.text, offset) {
		offset--
	}
	line := sort.SearchInts(f.lines, offset+1)
	start := f.lines[line-1]
	return Pos{Line: line, Col: 1 + f.count(start, offset)}
}

// Offset returns the byte offset of p. A column beyond the line's characters is the line's end (its line
// end characters count), a line beyond the last is the end of the text, a place before the first is 0.
func (f *File) Offset(p Pos) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(f.lines) {
		return len(f.text)
	}
	start, end := f.lines[p.Line-1], len(f.text)
	if p.Line < len(f.lines) {
		end = f.lines[p.Line]
	}
	ahead := max(p.Col-1, 0)
	if f.runes == nil {
		return min(start+ahead, end)
	}
	at := start
	if ahead > stride {
		at, ahead = f.jump(start, ahead)
	}
	for at < end && ahead > 0 {
		_, size := utf8.DecodeRuneInString(f.text[at:])
		at += size
		ahead--
	}
	return min(at, end)
}

// Span returns the stretch between two byte offsets.
func (f *File) Span(from, to int) Span {
	return Span{File: f.Name, Start: f.Pos(from), End: f.Pos(max(from, to))}
}

// jump moves from byte start over ahead characters in strides, and returns where it came to and how many
// characters are left.
func (f *File) jump(start, ahead int) (at, left int) {
	target := f.before(start) + ahead
	i := sort.Search(len(f.runes), func(i int) bool { return f.runes[i] > target }) - 1
	at = i * stride
	left = target - f.runes[i]
	for at < len(f.text) && inside(f.text, at) {
		at++ // the character across the border is counted in runes[i] already
	}
	if at < start {
		return start, ahead
	}
	return at, left
}

// count returns the number of characters between two offsets that both stand at a character's start.
func (f *File) count(from, to int) int {
	switch {
	case f.runes == nil:
		return to - from
	case to-from <= stride:
		return utf8.RuneCountInString(f.text[from:to])
	}
	return f.before(to) - f.before(from)
}

// before returns the number of characters before offset.
func (f *File) before(offset int) int {
	i := offset / stride
	at := i * stride
	for at < offset && inside(f.text, at) {
		at++
	}
	return f.runes[i] + utf8.RuneCountInString(f.text[at:offset])
}

// inside reports whether offset lies within a character of more than one byte.
func inside(text string, offset int) bool {
	if offset <= 0 || offset >= len(text) || utf8.RuneStart(text[offset]) {
		return false
	}
	for start := offset - 1; start >= 0 && start > offset-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			_, size := utf8.DecodeRuneInString(text[start:])
			return start+size > offset
		}
	}
	return false
}
