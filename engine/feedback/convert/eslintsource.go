package convert

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// source is the text of a file in which places are found that are given in units of UTF-16, as JavaScript counts.
type source struct {
	text  string
	marks []mark // one for each so many bytes, so that no place is far from one
}

// mark is a place in a text, before a character.
type mark struct {
	at        int // bytes
	units     int
	line      int // from 1
	lineUnits int // of the beginning of the line
}

const markEvery = 1 << 10

func newSource(text string) *source {
	s := &source{text: strings.TrimPrefix(text, "\uFEFF")}
	m := mark{line: 1}
	for m.at < len(s.text) {
		if len(s.marks) == 0 || m.at >= s.marks[len(s.marks)-1].at+markEvery {
			s.marks = append(s.marks, m)
		}
		m = s.after(m)
	}
	return s
}

// after is the place behind one character.
func (s *source) after(m mark) mark {
	r, size := utf8.DecodeRuneInString(s.text[m.at:])
	m.at += size
	m.units++
	if r > 0xFFFF {
		m.units++
	}
	if r == '\n' || r == '\r' && !strings.HasPrefix(s.text[m.at:], "\n") || r == '\u2028' || r == '\u2029' {
		m.line, m.lineUnits = m.line+1, m.units
	}
	return m
}

// find gives the place with so many units before it; ok is false where the text does not reach so far.
func (s *source) find(units int) (m mark, ok bool) {
	n := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].units > units })
	if n == 0 {
		return mark{line: 1}, units == 0
	}
	m = s.marks[n-1]
	for m.units < units && m.at < len(s.text) {
		m = s.after(m)
	}
	return m, m.units == units
}

// part gives a part of the text, and where it stands; nothing where the text does not reach so far.
func (s *source) part(from, to int) (at region, text string) {
	begin, ok := s.find(from)
	end, there := s.find(to)
	if !ok || !there || from < 0 || to < from || s.text == "" || end.at > maxSource-8 { // of a longer text the end is cut off
		return region{}, ""
	}
	at = region{line: begin.line, column: begin.units - begin.lineUnits + 1, endLine: end.line, endColumn: end.units - end.lineUnits + 1}
	return at, clip(s.text[begin.at:end.at], maxEdit)
}
