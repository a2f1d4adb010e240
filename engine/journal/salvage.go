package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Report says how far a journal is whole, and what can be saved behind the place where it is not.
type Report struct {
	Header  Header // zero if it can't be read
	Whole   Position
	Size    int64        // of the file
	Torn    int64        // bytes of a torn last line
	Damage  *DamageError // nil: none, and the rest of the report is empty
	Unknown error        // a line that is as it was written and that this version can't read
	Stretch []Stretch    // whole lines behind the damage
	Blobs   []string     // sums that the whole lines name and whose blobs are missing or wrong
}

// Stretch is a run of whole lines, numbered without gaps.
type Stretch struct {
	Offset, End int64 // bytes [Offset, End)
	First, Last int64 // seq
}

// Salvage examines the journal in a run's folder and changes nothing. All lines up to Whole can be folded:
// the run stood there once, and cutting the file at Whole.Offset gives that state back. What follows in
// stretches can be read by people only, since a step between is missing. The error is of reading the file.
func Salvage(dir string) (Report, error) {
	path := filepath.Join(dir, FileName)
	f, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("open the journal %q: %w", path, bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Report{}, fmt.Errorf("open the journal %q: %w", path, bare(err))
	}
	r := Report{Size: info.Size()}
	s := &scanner{r: f, path: path}
	if err := r.front(s, dir); err != nil {
		return r, err
	}
	if r.Damage == nil {
		return r, nil
	}
	return r, r.behind(s)
}

// front walks up to the damage.
func (r *Report) front(s *scanner, dir string) error {
	for {
		start := s.pos
		body, frame, err := s.next()
		if errors.Is(err, io.EOF) {
			r.Torn = s.torn
			return nil
		}
		if errors.As(err, &r.Damage) {
			s.seek(start)
			return nil
		}
		if err != nil {
			return err
		}
		if frame.header {
			r.Header, err = decodeHeader(body)
		} else {
			_, err = decode(body, func(sum string, size int64) ([]byte, error) { return readBlob(dir, sum, size) })
		}
		var blob *blobError
		switch {
		case errors.As(err, &blob):
			r.Blobs = append(r.Blobs, blob.sum)
			if r.Damage == nil {
				errors.As(unreadable(s, start, err), &r.Damage)
				s.seek(start)
				return nil
			}
		case err != nil && r.Unknown == nil:
			r.Unknown = unreadable(s, start, err)
		}
		r.Whole = Position{Offset: s.pos, Seq: s.seq, Line: s.line}
	}
}

// behind looks for whole lines after the damage.
func (r *Report) behind(s *scanner) error {
	for {
		start := s.pos
		line, why, err := s.raw()
		if errors.Is(err, io.EOF) {
			r.Torn = s.torn
			return nil
		}
		if err != nil {
			return err
		}
		if why != "" {
			s.skip(line)
			continue
		}
		body, ok := unsealed(line)
		if !ok {
			continue
		}
		f, ok := parseFrame(body)
		if !ok || f.header || f.v != Version {
			continue
		}
		last := len(r.Stretch) - 1
		if last >= 0 && r.Stretch[last].End == start && r.Stretch[last].Last+1 == f.seq {
			r.Stretch[last].End, r.Stretch[last].Last = s.pos, f.seq
			continue
		}
		r.Stretch = append(r.Stretch, Stretch{Offset: start, End: s.pos, First: f.seq, Last: f.seq})
	}
}

// skip goes behind a piece that raw refused to pass: up to a line feed, if it holds one, else all of it.
func (s *scanner) skip(piece []byte) {
	n := len(piece)
	if i := bytes.IndexByte(piece, '\n'); i >= 0 {
		n = i + 1
	}
	s.seek(s.pos + int64(n))
}

// missingBlobs lists the blobs that a journal names and that can't be read.
func missingBlobs(path, dir string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var missing []string
	s := &scanner{r: f, path: path}
	for {
		body, frame, err := s.next()
		if err != nil {
			return missing
		}
		if frame.header {
			continue
		}
		var blob *blobError
		_, err = decode(body, func(sum string, size int64) ([]byte, error) { return readBlob(dir, sum, size) })
		if errors.As(err, &blob) {
			missing = append(missing, blob.sum)
		}
	}
}
