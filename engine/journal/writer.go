package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Writer appends to a journal. It is for one goroutine, of the process that holds the run's lock.
type Writer struct {
	dir  string
	path string
	f    *os.File
	info fs.FileInfo // of f, to see whether the path still leads to it
	pos  Position
	buf  []byte
	err  error // the first; final
}

// Create begins the journal of a run in its folder, which must exist, and refuses (fs.ErrExist) where there
// is one already. When it returns, file, header and name are on the disk.
func Create(dir string, h Header) (*Writer, error) {
	path := filepath.Join(dir, FileName)
	line, err := encodeHeader(h)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, storage("create", path, err)
	}
	w := &Writer{dir: dir, path: path, f: f}
	if err := w.begin(line); err != nil {
		f.Close()
		os.Remove(path) // a journal without its header is none; the error that matters is the first
		return nil, err
	}
	return w, nil
}

func (w *Writer) begin(line []byte) error {
	if err := w.put(line); err != nil {
		return err
	}
	w.pos.Line = 1
	if err := SyncDir(w.dir); err != nil {
		return err
	}
	return w.stat()
}

func (w *Writer) stat() error {
	info, err := w.f.Stat()
	if err != nil {
		return storage("look at", w.path, err)
	}
	w.info = info
	return nil
}

// Open goes on with the journal in a run's folder: it checks every line, cuts a torn last line, durably, and
// removes what a killed WriteFile left beside it. Log.Lines then gives the steps. Errors are those of Read,
// and a StorageError.
func Open(dir string) (*Writer, *Log, error) {
	path := filepath.Join(dir, FileName)
	log, err := Read(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, storage("open", path, err)
	}
	w := &Writer{dir: dir, path: path, f: f, pos: log.Last}
	if err := w.repair(log); err != nil {
		f.Close()
		return nil, nil, err
	}
	return w, log, nil
}

// repair cuts the torn tail. It syncs in any case: the last line may be one whose fsync the killed process
// did not live to see, and this process is about to act on it.
func (w *Writer) repair(log *Log) error {
	if log.Torn > 0 {
		if err := w.f.Truncate(log.Last.Offset); err != nil {
			return storage("cut the torn last line of", w.path, err)
		}
	}
	if err := w.f.Sync(); err != nil {
		return storage("sync", w.path, err)
	}
	for _, dir := range []string{w.dir, filepath.Join(w.dir, BlobDir)} {
		if err := sweep(dir); err != nil {
			return err
		}
	}
	if err := SyncDir(w.dir); err != nil {
		return err
	}
	return w.stat()
}

// Position returns the place behind the last line.
func (w *Writer) Position() Position { return w.pos }

// Append writes one step, in one write and one fsync; l.Seq must follow the last one. A step whose line
// would be longer than 256 KiB goes into a blob first, synced before the line names it. When Append returns
// nil, the step is on the disk. After the first error every later call returns that error: the driver stops.
func (w *Writer) Append(l Line) error {
	if w.err == nil {
		w.err = w.append(l)
	}
	return w.err
}

func (w *Writer) append(l Line) error {
	if l.Seq != w.pos.Seq+1 {
		return fmt.Errorf("append to the journal %q: seq %d, and %d must follow", w.path, l.Seq, w.pos.Seq+1)
	}
	b, err := w.encode(l)
	if err != nil {
		return err
	}
	w.buf = b
	if err := w.put(b); err != nil {
		return err
	}
	w.pos.Seq++
	w.pos.Line++
	return w.inPlace()
}

// encode returns the line, in the Writer's buffer; a blob that it names is on the disk by then.
func (w *Writer) encode(l Line) ([]byte, error) {
	b := append(appendHead(w.buf[:0], l), ',')
	start := len(b)
	b, err := appendBody(b, l)
	if err != nil {
		return nil, fmt.Errorf("append step %d to the journal %q: %w", l.Seq, w.path, err)
	}
	if len(b)+sumTail < maxLine {
		return seal(b), nil
	}
	blob := append(append([]byte{'{'}, b[start:]...), '}')
	sum, err := writeBlob(w.dir, blob)
	if err != nil {
		return nil, err
	}
	b = append(b[:start], `"blob":"`...)
	b = append(b, sum...)
	b = append(b, `","size":`...)
	b = strconv.AppendInt(b, int64(len(blob)), 10)
	// The next steps are small again: don't keep a buffer of this one's size.
	return seal(append(make([]byte, 0, len(b)+sumTail+1), b...)), nil
}

// put writes and syncs. What a short write left is the next Open's to cut.
func (w *Writer) put(line []byte) error {
	n, err := w.f.Write(line)
	if err != nil {
		return storage("write", w.path, err)
	}
	if err := w.f.Sync(); err != nil {
		return storage("sync", w.path, err)
	}
	w.pos.Offset += int64(n)
	return nil
}

// inPlace sees whether the path still leads to the open file, and that nobody else wrote to it. It is asked
// after the write, so that the copy that is made otherwise holds the step, too.
func (w *Writer) inPlace() error {
	info, err := os.Stat(w.path)
	if err == nil && os.SameFile(info, w.info) {
		if info.Size() == w.pos.Offset {
			return nil
		}
		return &DamageError{Path: w.path, Offset: min(info.Size(), w.pos.Offset), Line: w.pos.Line,
			Why: fmt.Sprintf("another program wrote to it while the run did: it holds %d bytes, and %d were written", info.Size(), w.pos.Offset)}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return storage("look at", w.path, err)
	}
	lost := &ReplacedError{Path: w.path}
	if lost.Copy, lost.Err = w.rescue(); lost.Err != nil {
		lost.Copy = ""
		return lost
	}
	lost.Blobs = missingBlobs(lost.Copy, w.dir)
	return lost
}

// rescue writes the whole journal back to where it was, or next to what is there now.
func (w *Writer) rescue() (string, error) {
	if err := os.MkdirAll(w.dir, dirMode); err != nil {
		return "", storage("create", w.dir, err)
	}
	path := w.path
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	for n := 1; errors.Is(err, fs.ErrExist); n++ {
		path = w.path + ".copy-" + strconv.Itoa(n)
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	}
	if err != nil {
		return "", storage("create", path, err)
	}
	_, err = io.Copy(f, io.NewSectionReader(w.f, 0, w.pos.Offset))
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", storage("write", path, err)
	}
	return path, SyncDir(w.dir)
}

// Close closes the file and returns ErrReplaced if it is no longer in its place. A second call returns
// ErrClosed, as Append does then.
func (w *Writer) Close() error {
	if w.f == nil {
		return ErrClosed
	}
	err := w.err
	if err == nil {
		err = w.inPlace()
	}
	if closing := w.f.Close(); err == nil && closing != nil {
		err = storage("close", w.path, closing)
	}
	w.f = nil
	if w.err == nil {
		w.err = ErrClosed
	}
	return err
}
