package main

import (
	"bytes"
	"io"
	"unicode/utf8"

	"example.com/pipe/engine/view"
)

// safeWriter passes text on with everything spelt out that a terminal would obey. It holds back at most one
// character that is not whole yet; Flush passes that on too.
type safeWriter struct {
	w    io.Writer
	rest []byte
}

// Write implements io.Writer.
func (s *safeWriter) Write(p []byte) (int, error) {
	text := p
	if len(s.rest) > 0 {
		text = append(s.rest, p...)
		s.rest = nil
	}
	if n := unfinished(text); n > 0 {
		s.rest = bytes.Clone(text[len(text)-n:])
		text = text[:len(text)-n]
	}
	// A carriage return before a line feed ends a line; alone it would write over the line.
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if _, err := io.WriteString(s.w, view.Escape(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on what was held back.
func (s *safeWriter) Flush() error {
	rest := s.rest
	s.rest = nil
	_, err := io.WriteString(s.w, view.Escape(string(rest)))
	return err
}

// unfinished counts the bytes at the end of p that may be the beginning of a character, or of "\r\n".
func unfinished(p []byte) int {
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return 1
	}
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
