package proc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// drainDelay is how long a stream is read after all processes that are known have ended.
const drainDelay = 500 * time.Millisecond

// pipeCapacity is the most that a pipe can be made to hold without privileges. So much is read after
// drainDelay, if it waits there because a slow disk held us up; more can only come from one who still writes.
const pipeCapacity = 1 << 20

// watch waits, in the goroutine of Run, for all that a Run waits for: the end of the process, its output, the
// end of the context. So nothing has to be handed between goroutines.
type watch struct {
	exit    int // becomes readable when the process has ended
	wake    int // becomes readable when the context has ended; -1: never
	streams []*stream
	buf     []byte
	fds     []unix.PollFd // used anew by each look

	exited, woken bool
}

// look waits until something happens, at most for d (negative: for as long as it takes), and copies what
// there is to copy: it returns how much.
func (w *watch) look(d time.Duration) (int, error) {
	w.fds = w.fds[:0]
	add := func(fd int, wanted bool) {
		if !wanted {
			fd = -1 // which poll leaves out
		}
		w.fds = append(w.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	add(w.exit, !w.exited)
	add(w.wake, !w.woken)
	for _, s := range w.streams {
		add(s.r, true)
	}
	if _, err := unix.Poll(w.fds, milliseconds(d)); err != nil {
		if errors.Is(err, unix.EINTR) {
			return 0, nil
		}
		return 0, fmt.Errorf("waiting for a process: %w", err)
	}
	w.exited = w.exited || w.fds[0].Revents != 0
	w.woken = w.woken || w.fds[1].Revents != 0
	copied := 0
	for i, s := range w.streams {
		if s.r >= 0 && w.fds[2+i].Revents != 0 {
			copied += s.read(w.buf)
		}
	}
	return copied, nil
}

// milliseconds rounds up, so that waiting for a while never becomes a busy loop.
func milliseconds(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}

// until looks until done says so, or the time d (negative: no limit) is over: then it returns false.
func (w *watch) until(d time.Duration, done func() bool) (bool, error) {
	var end time.Time
	if d >= 0 {
		end = time.Now().Add(d)
	}
	for !done() {
		if d >= 0 {
			if d = time.Until(end); d <= 0 {
				return false, nil
			}
		}
		if _, err := w.look(d); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pause copies for a while.
func (w *watch) pause(d time.Duration) error {
	_, err := w.until(d, func() bool { return false })
	return err
}

// drain reads the streams to their ends, or for drainDelay if somebody unknown still holds them.
func (w *watch) drain() error {
	ended := func() bool {
		for _, s := range w.streams {
			if s.r >= 0 {
				return false
			}
		}
		return true
	}
	if ok, err := w.until(drainDelay, ended); ok || err != nil {
		return err
	}
	for late := 0; late < pipeCapacity; {
		n, err := w.look(0)
		if n == 0 || err != nil {
			return err
		}
		late += n
	}
	return nil
}

// wakeAt makes a descriptor that becomes readable when ctx ends, and what frees it.
func wakeAt(ctx context.Context) (fd int, free func(), err error) {
	if ctx.Done() == nil {
		return -1, func() {}, nil
	}
	r, w, err := newPipe()
	if err != nil {
		return -1, nil, fmt.Errorf("making a pipe to be woken by: %w", err)
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		closeFD(&w)
	})
	return r, func() {
		if stop() {
			closeFD(&w)
		} else {
			<-done
		}
		closeFD(&r)
	}, nil
}

// exitPipe makes a descriptor that becomes readable when a child has ended, where the system gives none, and
// what frees it when it has.
func exitPipe(pid int) (fd int, free func(), err error) {
	r, w, err := newPipe()
	if err != nil {
		return -1, nil, fmt.Errorf("making a pipe for the end of a process: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = awaitExit(pid) // an error here is one of reaping as well, which is told
		closeFD(&w)
	}()
	return r, func() {
		<-done
		closeFD(&r)
	}, nil
}

// openFile opens a file for a child or a log.
func openFile(name string, flags int) (int, error) {
	for {
		fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o600)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// closeFD closes a descriptor once.
func closeFD(fd *int) error {
	if *fd < 0 {
		return nil
	}
	err := unix.Close(*fd)
	*fd = -1
	if errors.Is(err, unix.EINTR) {
		return nil // it is closed all the same
	}
	return err
}
