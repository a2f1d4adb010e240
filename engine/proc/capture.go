package proc

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Why pipes and not the log files themselves as stdout and stderr: "> /dev/stderr" in a script opens the
// file behind the descriptor anew and truncates it, so that a log file would lose what was written before;
// and secrets have to be masked before they reach a disk. Both pipes together cost 15 µs a process, of the
// 100 to 150 that Run adds to exec itself (BenchmarkRun): the goroutine of Run copies them itself, with plain
// descriptors and one poll for all it waits for. A goroutine for each of these cost 100 µs more.

// copySize is the size of the buffer that a Run copies with.
const copySize = 32 << 10

// stream copies one pipe into a log file and keeps head and tail. The file is made when there is something to
// write: most processes leave at least one stream silent, and making a file is dear on many disks. Its folder
// is opened before the process starts, so that a log that can't be written is known then, and a process that
// moves folders about leads the log nowhere else.
type stream struct {
	name    string // of the log file; "" for none
	heading string // what the log file is told first
	dir     int    // descriptors; -1: none, or closed
	log     int    // of the file, once it is made
	r       int
	w       int // the child's end; closed in our process once the child has it

	head []byte
	tail ring
	size int64
	err  error // the first of reading or writing
}

// openStream opens the folder of the log file, and the pipe.
func openStream(name, heading string) (*stream, error) {
	s := &stream{name: name, heading: heading, dir: -1, log: -1}
	var err error
	if name != "" {
		if s.dir, err = openFile(filepath.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
			return nil, &LogError{Path: name, Err: err}
		}
	}
	if s.r, s.w, err = newPipe(); err != nil {
		closeFD(&s.dir)
		return nil, fmt.Errorf("making a pipe for a process: %w", err)
	}
	return s, nil
}

// close closes what is open, and keeps the error of a log that could not be written to its end.
func (s *stream) close() {
	closeFD(&s.r)
	closeFD(&s.w)
	closeFD(&s.dir)
	if s.log < 0 {
		return
	}
	if err := closeFD(&s.log); err != nil && s.err == nil {
		s.err = &LogError{Path: s.name, Err: err}
	}
}

// read takes what waits in the pipe, and closes our end if nothing more can come.
func (s *stream) read(buf []byte) int {
	n, err := unix.Read(s.r, buf)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0
	case err != nil && s.err == nil:
		s.err = fmt.Errorf("reading what a process writes: %w", err)
	}
	if n <= 0 {
		closeFD(&s.r)
		return 0
	}
	s.take(buf[:n])
	return n
}

// take keeps a piece. A log that can't be written (a full disk) is no reason to stop reading: the process
// would hang on its pipe. The error is told when it has ended.
func (s *stream) take(p []byte) {
	if s.dir >= 0 {
		s.openLog()
		s.write([]byte(s.heading))
	}
	s.write(p)
	s.size += int64(len(p))
	if room := HeadTail - len(s.head); room > 0 {
		n := min(room, len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	s.tail.write(p)
}

// write writes to the log file, where there is one and nothing was wrong with it so far.
func (s *stream) write(p []byte) {
	for s.log >= 0 && s.err == nil && len(p) > 0 {
		n, err := unix.Write(s.log, p)
		if err != nil && !errors.Is(err, unix.EINTR) {
			s.err = &LogError{Path: s.name, Err: err}
		}
		p = p[max(n, 0):]
	}
}

// openLog makes the log file, or opens the one that is there, and is done with its folder. Where the process
// removed the folder, or put something in the place of the file that is none, it has no log: nothing is
// written through a link, and nobody waits for the reader of a named pipe.
func (s *stream) openLog() {
	defer closeFD(&s.dir)
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		s.log, err = unix.Openat(s.dir, filepath.Base(s.name), flags, 0o600)
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO), errors.Is(err, unix.EISDIR):
	case err != nil && s.err == nil:
		s.err = &LogError{Path: s.name, Err: err}
	case err == nil && isPipe(s.log):
		closeFD(&s.log)
	}
}

// isPipe reports whether a descriptor is that of a named pipe.
func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

func (s *stream) output() Output {
	return Output{Head: s.head, Tail: s.tail.bytes(), Size: s.size}
}

// ring keeps the last HeadTail bytes written to it. It grows with what is written.
type ring struct {
	buf  []byte
	next int // where the next byte goes, once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) >= HeadTail {
		r.buf = append(r.buf[:0], p[len(p)-HeadTail:]...)
		r.next = 0
		return
	}
	if room := HeadTail - len(r.buf); room > 0 {
		n := min(room, len(p))
		r.buf = append(r.buf, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		r.next = (r.next + n) % HeadTail
		p = p[n:]
	}
}

func (r *ring) bytes() []byte {
	if len(r.buf) < HeadTail || r.next == 0 {
		return r.buf
	}
	return append(append(make([]byte, 0, HeadTail), r.buf[r.next:]...), r.buf[:r.next]...)
}
