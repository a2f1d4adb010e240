package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Why pipes and not the log files themselves as stdout and stderr: "> /dev/stderr" in a script opens the
// file behind the descriptor anew and truncates it, so that a log file would lose what was written before;
// and secrets have to be masked before they reach a disk. The pipes cost about 20 µs a process more (see
// BenchmarkRun), and no memory beyond a shared buffer, head and tail.

// drainDelay is how long a stream is read after all processes that are known have ended.
const drainDelay = 500 * time.Millisecond

// After it, what waits in the pipe is read; nothing waits if lastLook passes.
const (
	lastLook     = 10 * time.Millisecond
	pipeCapacity = 1 << 20 // the most that a pipe can be made to hold without privileges
)

// copyBuffers are shared by all streams, since most processes write little.
type copyBuffers struct{ pool sync.Pool }

const copySize = 32 << 10

func (c *copyBuffers) get() *[copySize]byte {
	if b, ok := c.pool.Get().(*[copySize]byte); ok {
		return b
	}
	return new([copySize]byte)
}

// stream copies one pipe into a log file and keeps head and tail. Its goroutine runs from start to finish.
type stream struct {
	name string   // of the log file; "" for none
	log  *os.File // nil: none
	r    *os.File
	w    *os.File // the child's end; closed in our process once the child has it

	head []byte
	tail ring
	size int64
	err  error // the first of reading or writing
	done chan struct{}
}

// openStream opens the log file and the pipe.
func openStream(name string) (*stream, error) {
	s := &stream{name: name, done: make(chan struct{})}
	var err error
	if name != "" {
		if s.log, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return nil, &LogError{Path: name, Err: err}
		}
	}
	if s.r, s.w, err = os.Pipe(); err != nil {
		s.closeLog()
		return nil, fmt.Errorf("making a pipe for a process: %w", err)
	}
	return s, nil
}

// discard closes all that openStream opened, for a process that did not start.
func (s *stream) discard() {
	s.r.Close()
	s.w.Close()
	s.closeLog()
}

func (s *stream) closeLog() {
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil && s.err == nil {
		s.err = &LogError{Path: s.name, Err: err}
	}
}

// start begins to copy. The child has its end of the pipe by now, and our copy of it is closed.
func (s *stream) start(buffers *copyBuffers) {
	s.w.Close()
	go func() {
		defer close(s.done)
		buf := buffers.get()
		defer buffers.pool.Put(buf)
		if err := s.copy(buf[:]); err != nil && !errors.Is(err, io.EOF) && s.err == nil {
			s.err = fmt.Errorf("reading what a process writes: %w", err)
		}
	}()
}

// copy reads to the end of the pipe, or to the deadline that finish sets. A deadline makes a read fail even
// where bytes are waiting, as they are when a slow disk held us up, so what the pipe itself can hold is
// still read after it; more can only come from somebody who still writes.
func (s *stream) copy(buf []byte) error {
	for late := 0; late <= pipeCapacity; {
		n, err := s.r.Read(buf)
		s.take(buf[:n])
		if late > 0 {
			late += n
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && late == 0:
			late = 1
			if err := s.r.SetReadDeadline(time.Now().Add(lastLook)); err != nil {
				return err
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		default:
			return err
		}
	}
	return nil
}

// take keeps a piece. A log that can't be written (a full disk) is no reason to stop reading: the process
// would hang on its pipe. The error is told when it has ended.
func (s *stream) take(p []byte) {
	if s.log != nil && s.err == nil && len(p) > 0 {
		if _, err := s.log.Write(p); err != nil {
			s.err = &LogError{Path: s.name, Err: err}
		}
	}
	s.size += int64(len(p))
	if room := HeadTail - len(s.head); room > 0 {
		n := min(room, len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	s.tail.write(p)
}

// finish reads on until the pipe ends, or for drainDelay if somebody unknown still holds it, and returns
// what was kept.
func (s *stream) finish() (Output, error) {
	// Setting the deadline first and waiting for the goroutine needs no timer of our own. A pipe always
	// takes deadlines; were it ever otherwise, the error is better than to wait for ever.
	if err := s.r.SetReadDeadline(time.Now().Add(drainDelay)); err != nil {
		s.r.Close()
	}
	<-s.done
	s.r.Close()
	s.closeLog()
	return Output{Head: s.head, Tail: s.tail.bytes(), Size: s.size}, s.err
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
