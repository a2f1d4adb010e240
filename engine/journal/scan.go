package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// firstHeld is how much of a long journal is read at once, until a line needs more.
const firstHeld = 64 << 10

// maxRereads bounds how often a line that looks damaged is read again.
const maxRereads = 16

// scanner walks over the lines of a journal, one in memory at a time, and checks each against its sum and
// its number. It reads by offset, so that a line can be read again.
type scanner struct {
	r    io.ReaderAt
	path string // for messages

	pos  int64  // offset of the first byte that was not given
	buf  []byte // [at:end] was read from pos on
	at   int
	end  int
	line int64 // number of the last line that was given
	seq  int64 // of the last step
	head bool  // the header was given
	torn int64 // bytes after the last line; known at the end
}

// next returns the next whole line without its sum and closing brace, and whether it is the header. The
// slice holds until the next call. io.EOF: no whole line is left. Other errors: a DamageError, or reading
// went wrong.
func (s *scanner) next() ([]byte, frame, error) {
	var before []byte // the line as it was when it looked damaged
	for try := 0; ; try++ {
		start := s.pos
		line, why, err := s.raw()
		if err != nil {
			return nil, frame{}, err
		}
		if why == "" {
			if body, ok := unsealed(line); ok {
				f, err := s.place(start, body)
				return body, f, err
			}
			why = "its sum is wrong"
		}
		// A resume may cut a torn tail and write on while it is being read here: half a line of then and
		// half of now. Read again, until the same bytes are found twice.
		if (before != nil && bytes.Equal(before, line)) || try == maxRereads {
			return nil, frame{}, s.damage(start, why, nil)
		}
		before = append(make([]byte, 0, len(line)+1), line...)
		s.seek(start)
	}
}

// place checks that a line whose sum is right stands where it must.
func (s *scanner) place(start int64, body []byte) (frame, error) {
	f, ok := parseFrame(body)
	switch {
	case !ok:
		return f, s.damage(start, "it is no line of a journal", nil)
	case f.v != Version:
		return f, s.damage(start, fmt.Sprintf("its version is %d, and this pipe knows %d", f.v, Version), ErrVersion)
	case f.header && s.head:
		return f, s.damage(start, "it is a second header", nil)
	case !f.header && !s.head:
		return f, s.damage(start, "the header is missing", nil)
	case !f.header && f.seq != s.seq+1:
		return f, s.damage(start, fmt.Sprintf("its seq is %d, and %d must follow", f.seq, s.seq+1), nil)
	}
	s.line++
	if f.header {
		s.head = true
	} else {
		s.seq = f.seq
	}
	return f, nil
}

// raw returns what stands up to the next line feed, and moves behind it. Why is not empty if it is damaged
// for sure; then the position does not move. io.EOF: there is no line feed any more.
func (s *scanner) raw() (line []byte, why string, err error) {
	searched := 0
	for {
		held := s.buf[s.at:s.end]
		if i := bytes.IndexByte(held[searched:], '\n'); i >= 0 {
			n := searched + i
			s.at += n + 1
			s.pos += int64(n) + 1
			return held[:n], "", nil
		}
		if searched = len(held); searched > maxHeld {
			return held, "it is longer than any line that is written", nil
		}
		more, err := s.fill()
		if err != nil {
			return nil, "", fmt.Errorf("read the journal %q: %w", s.path, err)
		}
		if !more {
			tail := s.buf[s.at:s.end]
			if hasWholeLine(tail) {
				return tail, "its line feed is gone", nil
			}
			s.torn = int64(len(tail))
			return nil, "", io.EOF
		}
	}
}

// fill reads more bytes behind those that are held; false at the end of the file.
func (s *scanner) fill() (bool, error) {
	copy(s.buf, s.buf[s.at:s.end])
	s.at, s.end = 0, s.end-s.at
	if s.end == len(s.buf) {
		grown := make([]byte, max(2*len(s.buf), firstHeld))
		copy(grown, s.buf[:s.end])
		s.buf = grown
	}
	n, err := s.r.ReadAt(s.buf[s.end:], s.pos+int64(s.end))
	s.end += n
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n > 0, nil
}

// seek goes to an offset and forgets what was held.
func (s *scanner) seek(pos int64) {
	s.pos, s.at, s.end = pos, 0, 0
}

func (s *scanner) damage(offset int64, why string, err error) error {
	return &DamageError{Path: s.path, Offset: offset, Line: s.line + 1, Why: why, Err: err}
}
