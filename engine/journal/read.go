package journal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"syscall"
)

// Log says what a journal held when it was read.
type Log struct {
	Header Header
	Last   Position // behind the last whole line
	Torn   int64    // bytes of a torn last line: dropped by readers, cut by Open

	dir string
}

// Position is a place between two lines: a derived file keeps it, so that a reader goes on from there.
type Position struct {
	Offset int64 `json:"offset"` // of the first byte behind the last line that was read; 0: nothing was
	Seq    int64 `json:"seq"`    // of that line
	Line   int64 `json:"line"`   // its number in the file
}

// Read gives fn every step of the journal in a run's folder, in order, and returns what it saw; it stops at
// the first error of fn and returns it as it is. It takes no lock. A torn last line is left out. The error
// is ErrNoHeader, a DamageError, fs.ErrNotExist, or of reading.
func Read(dir string, fn func(Line) error) (*Log, error) {
	t := NewTail(dir)
	torn, err := t.next(fn)
	if err != nil {
		return nil, err
	}
	return &Log{Header: t.header, Last: t.pos, Torn: torn, dir: dir}, nil
}

// Lines gives every step that the journal held when the Log was made. It reads the file again, a line in
// memory at a time, and ends after the first error.
func (l *Log) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		stop := errors.New("stopped")
		_, err := NewTail(l.dir).next(func(line Line) error {
			if line.Seq > l.Last.Seq || !yield(line, nil) {
				return stop
			}
			return nil
		})
		if err != nil && err != stop { //nolint:errorlint // its own value, never wrapped
			yield(Line{}, err)
		}
	}
}

// Tail reads a journal that may still grow. Its user calls Next as often as it likes; nothing is open in
// between. It is for one goroutine.
type Tail struct {
	dir    string
	pos    Position
	header Header
	buf    []byte
	types  *Types // nil: every record is given, and the events
}

// NewTail returns a Tail that begins with the first step.
func NewTail(dir string) *Tail { return &Tail{dir: dir} }

// NewTailAt returns a Tail that begins behind a place where a reader was.
func NewTailAt(dir string, pos Position) *Tail { return &Tail{dir: dir, pos: pos} }

// Position returns where the Tail is.
func (t *Tail) Position() Position { return t.pos }

// Header returns the journal's first line, once Next came by it: not for a NewTailAt behind it.
func (t *Tail) Header() Header { return t.header }

// Next gives fn the steps that are whole now and were not given yet. Errors are those of Read. After an
// error of fn the line that it refused counts as given.
func (t *Tail) Next(fn func(Line) error) error {
	_, err := t.next(fn)
	return err
}

func (t *Tail) next(fn func(Line) error) (torn int64, err error) {
	path := filepath.Join(t.dir, FileName)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // what is no file, a pipe say, is not waited for
	if err != nil {
		return 0, fmt.Errorf("open the journal %q: %w", path, bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return 0, fmt.Errorf("open the journal %q: %w", path, bare(err))
	}
	s := &scanner{r: f, path: path, pos: t.pos.Offset, line: t.pos.Line, seq: t.pos.Seq, head: t.pos.Offset > 0, buf: t.buf}
	if s.buf == nil { // most journals are small, and who lists runs reads many
		s.buf = make([]byte, min(max(info.Size()-t.pos.Offset, 0)+1, firstHeld))
	}
	if info.Size() < t.pos.Offset {
		return 0, s.damage(info.Size(), "it ends before what was read of it earlier", nil)
	}
	defer func() { t.buf = s.buf }()
	return t.scan(s, fn)
}

func (t *Tail) scan(s *scanner, fn func(Line) error) (torn int64, err error) {
	for {
		start := s.pos
		body, frame, err := s.next()
		if errors.Is(err, io.EOF) {
			if !s.head {
				return s.torn, fmt.Errorf("read the journal %q: %w", s.path, ErrNoHeader)
			}
			return s.torn, nil
		}
		if err != nil {
			return 0, err
		}
		now := Position{Offset: s.pos, Seq: s.seq, Line: s.line}
		if frame.header {
			if t.header, err = decodeHeader(body); err != nil {
				return 0, unreadable(s, start, err)
			}
			t.pos = now
			continue
		}
		if fn == nil || !t.types.wants(body) {
			t.pos = now
			continue
		}
		line, err := t.decode(body)
		if err != nil {
			return 0, unreadable(s, start, err)
		}
		if t.pos = now; t.types != nil && line.Records == nil {
			continue
		}
		if err := fn(line); err != nil {
			return 0, err
		}
	}
}

func (t *Tail) decode(body []byte) (Line, error) {
	blob := func(sum string, size int64) ([]byte, error) { return readBlob(t.dir, sum, size) }
	if t.types != nil {
		return decodeTypes(body, t.types, blob)
	}
	return decode(body, blob)
}

// unreadable tells a blob that is damaged from a line that was written as it is, by a newer version or by
// somebody else: there is nothing to save about that one.
func unreadable(s *scanner, start int64, err error) error {
	var blob *blobError
	if errors.As(err, &blob) {
		return &DamageError{Path: s.path, Offset: start, Line: s.line, Why: blob.Error(), Err: blob.err}
	}
	return fmt.Errorf("read line %d of the journal %q, at byte %d: %w", s.line, s.path, start, err)
}
