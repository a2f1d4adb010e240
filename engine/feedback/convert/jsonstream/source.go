// Package jsonstream reads a JSON text piece by piece, in bounded memory: what is not wanted is looked through and
// never kept, however long it is, and of a text no more is kept than is asked for. A json.Decoder holds each text,
// and each value that it skips, as a whole.
//
// A Reader hands the members of an object and the entries of a list to functions, each of which must read one
// value. The first error stays and ends each loop; all that is read after it is empty, so that callers ask Err
// once, at the end. Errors are for people, with the offset in bytes, and speak of a report. Null stands for a
// value that is not there. Text that is not UTF-8, and values in each other without end, are errors.
package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// source is the text that is being read.
type source struct {
	in       io.Reader
	buf      []byte
	pos, end int   // what is not yet read: buf[pos:end], whole characters of UTF-8
	more     int   // bytes beyond end, that begin a character
	base     int64 // offset of buf[0] in the report
	ended    bool
	err      error

	depth int    // of lists and objects that are open
	name  string // of the last member
}

const (
	jsonBuffer = 64 << 10
	maxDepth   = 200 // lists and objects in each other
	maxNames   = 256 // kept in names
	maxName    = 1 << 10
	maxNumber  = 400
)

// New gives a reader of a text. A mark of UTF-8 at its beginning is no part of it.
func New(in io.Reader) *Reader {
	j := &Reader{source: source{buf: make([]byte, jsonBuffer)}, names: make(map[string]string)}
	var head [4]byte
	n, err := io.ReadFull(in, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		j.err = fmt.Errorf("read report: %w", err)
	}
	start := head[:n]
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")): // what says that UTF-8 follows is no part of the text
		start, j.base = start[3:], 3
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), slices.Contains(start, 0):
		j.Fail("the report is not encoded in UTF-8, at byte 0: it looks like UTF-16 or UTF-32; have the tool write UTF-8")
	}
	j.in = io.MultiReader(bytes.NewReader(slices.Clone(start)), in)
	return j
}

// Fail ends the reading with an error of the caller, unless there is one.
func (j *source) Fail(why string, args ...any) {
	if j.err == nil {
		j.err = fmt.Errorf(why, args...)
	}
}

// Err gives what ended the reading; nil while all is well.
func (j *source) Err() error { return j.err }

// Offset is where in the text the reading stands, in bytes from 0.
func (j *source) Offset() int64 { return j.base + int64(j.pos) }

// fill reads on when all is read; false at the end and after an error.
func (j *source) fill() bool {
	if j.err != nil || j.ended {
		return false
	}
	n := copy(j.buf, j.buf[j.end:j.end+j.more])
	j.base += int64(j.end)
	j.pos, j.end, j.more = 0, 0, 0
	for range 100 {
		got, err := j.in.Read(j.buf[n:])
		n += got
		if err != nil && !errors.Is(err, io.EOF) {
			j.err = fmt.Errorf("read report: %w", err)
			return false
		}
		whole := wholeCharacters(j.buf[:n])
		switch {
		case whole < 0:
			j.Fail("the report is not encoded in UTF-8, at byte %d", j.base+int64(firstBad(j.buf[:n])))
			return false
		case err != nil && whole == 0 && n > 0:
			j.Fail("the report ends in the middle, at byte %d", j.base+int64(n))
			return false
		}
		j.ended = err != nil && whole == 0
		if whole > 0 || j.ended {
			j.end, j.more = whole, n-whole
			return whole > 0
		}
	}
	j.err = fmt.Errorf("read report: %w", io.ErrNoProgress)
	return false
}

// wholeCharacters gives the length of b without a character that is cut off at its end; -1: not UTF-8.
func wholeCharacters(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) && utf8.Valid(b[:i]) {
				return i
			}
			break
		}
	}
	return -1
}

func firstBad(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// Peek gives the first byte of what comes next; 0 at the end and after an error.
func (j *source) Peek() byte {
	for j.err == nil {
		for j.pos < j.end {
			switch c := j.buf[j.pos]; c {
			case ' ', '\t', '\n', '\r':
				j.pos++
			default:
				return c
			}
		}
		if !j.fill() {
			break
		}
	}
	return 0
}

// End reports whether nothing follows any more, be it for an error.
func (j *source) End() bool { return j.Peek() == 0 && (j.err != nil || j.pos >= j.end) }

// Unexpected ends the reading: what is there is not what was expected.
func (j *source) Unexpected(expected string) {
	if j.err != nil {
		return
	}
	if j.pos >= j.end {
		if j.Offset() == 0 || j.depth == 0 && j.name == "" {
			j.Fail("the report is empty, expected JSON")
			return
		}
		j.Fail("the report ends in the middle, at byte %d", j.Offset())
		return
	}
	r, _ := utf8.DecodeRune(j.buf[j.pos:j.end])
	at := ""
	if j.name != "" {
		at = fmt.Sprintf(" at or after %q", cut(j.name, 100))
	}
	j.Fail("the report can't be read at byte %d%s: expected %s, found %q", j.Offset(), at, expected, string(r))
}

// cut cuts text to at most limit bytes at a character's border.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:max(end, 0)] + "…"
}
