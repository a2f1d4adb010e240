package proc

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// Starter starts processes. There is one in a program; its methods may be called by several goroutines.
type Starter struct {
	requests chan startRequest
	stopped  chan struct{} // closed when the starting goroutine has ended
	buffers  copyBuffers

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

type startRequest struct {
	program string
	argv    []string
	attr    *syscall.ProcAttr
	reply   chan<- startReply
}

type startReply struct {
	pid int
	err error
}

// NewStarter starts the goroutine that starts processes.
func NewStarter() *Starter {
	s := &Starter{requests: make(chan startRequest), stopped: make(chan struct{})}
	go s.loop()
	return s
}

// Close waits until every Run has returned (ending their contexts is the caller's work), and ends the
// starting goroutine. A later Run returns ErrClosed.
func (s *Starter) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.runs.Wait()
	if first {
		close(s.requests)
	}
	<-s.stopped
}

// enter counts a Run in, so that Close waits for it.
func (s *Starter) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.runs.Add(1)
	return true
}

// loop starts what it is asked to, on one thread for ever. It stays away from the program's first thread:
// that is where the kernel hands orphans to, and the two kinds of children must not be mixed up.
func (s *Starter) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if onFirstThread() {
		done := make(chan struct{})
		go func() { // cannot get the thread that we hold
			defer close(done)
			s.loop()
		}()
		<-done
		return
	}
	defer close(s.stopped)
	for r := range s.requests {
		pid, err := syscall.ForkExec(r.program, r.argv, r.attr)
		r.reply <- startReply{pid, err}
	}
}

// Run starts a process, waits for its end, ends what it left behind and returns what happened. The result is
// complete also beside an error, as far as it came. The error is a *StartError, a *LogError, a *LeftError,
// ErrClosed, or one of ours. That the context ended is no error but Result.Stopped.
func (s *Starter) Run(ctx context.Context, spec Spec) (Result, error) {
	res := Result{ExitCode: -1}
	if !s.enter() {
		return res, ErrClosed
	}
	defer s.runs.Done()
	if ctx.Err() != nil {
		res.Stopped = context.Cause(ctx)
		return res, nil
	}
	if spec.Grace <= 0 {
		spec.Grace = DefaultGrace
	}
	stdin, err := openStdin(&spec)
	if err != nil {
		return res, err
	}
	defer stdin.Close()
	stdout, stderr, err := openStreams(&spec)
	if err != nil {
		return res, err
	}
	pid, err := s.start(&spec, []uintptr{stdin.Fd(), stdout.w.Fd(), stderr.w.Fd()})
	if err != nil {
		stdout.discard()
		if stderr != stdout {
			stderr.discard()
		}
		return res, err
	}
	res.Started = true
	stdout.start(&s.buffers)
	if stderr != stdout {
		stderr.start(&s.buffers)
	}

	c := newChild(pid, &spec)
	err = c.await(ctx, &res)
	out, outErr := stdout.finish()
	res.Stdout = out
	if stderr != stdout {
		errOut, errErr := stderr.finish()
		res.Stderr = errOut
		if outErr == nil {
			outErr = errErr
		}
	}
	if err == nil {
		err = outErr
	}
	return res, err
}

// start has the starting goroutine start the process.
func (s *Starter) start(spec *Spec, files []uintptr) (int, error) {
	program, err := LookPath(spec.Path, spec.Dir, spec.Env)
	if err != nil {
		return 0, err
	}
	env := spec.Env
	if env == nil {
		env = []string{} // nil would mean our own environment
	}
	attr := &syscall.ProcAttr{Dir: spec.Dir, Env: env, Files: files, Sys: groupOfItsOwn()}
	reply := make(chan startReply, 1)
	s.requests <- startRequest{program, append([]string{spec.Path}, spec.Args...), attr, reply}
	r := <-reply
	if r.err != nil {
		return 0, startError(spec, program, r.err)
	}
	return r.pid, nil
}

func openStdin(spec *Spec) (*os.File, error) {
	name := spec.Stdin
	if name == "" {
		name = os.DevNull
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &StartError{Path: spec.Path, Reason: NoStdin, Err: err,
			Detail: fmt.Sprintf("cannot start %q: its stdin can't be opened: %v", spec.Path, err)}
	}
	return f, nil
}

// openStreams opens stdout and stderr, which are one stream if they go to the same file.
func openStreams(spec *Spec) (stdout, stderr *stream, err error) {
	if stdout, err = openStream(spec.Stdout); err != nil {
		return nil, nil, err
	}
	if spec.Stderr == spec.Stdout && spec.Stdout != "" {
		return stdout, stdout, nil
	}
	if stderr, err = openStream(spec.Stderr); err != nil {
		stdout.discard()
		return nil, nil, err
	}
	return stdout, stderr, nil
}
