package proc

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Starter starts processes. There is one in a program; its methods may be called by several goroutines.
type Starter struct {
	buffers sync.Pool // of *[copySize]byte

	mu     sync.Mutex
	closed bool
	active map[string]int // how many Runs there are of each run
	runs   sync.WaitGroup
}

// NewStarter returns a starter.
func NewStarter() *Starter { return new(Starter) }

// Close waits until every Run has returned; ending their contexts is the caller's work. A later Run returns
// ErrClosed.
func (s *Starter) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.runs.Wait()
}

// enter counts a Run in, so that Close waits for it.
func (s *Starter) enter(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.active == nil {
		s.active = make(map[string]int)
	}
	s.active[run]++
	s.runs.Add(1)
	return true
}

func (s *Starter) leave(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[run]--; s.active[run] == 0 {
		delete(s.active, run)
	}
	s.runs.Done()
}

// isOurs reports whether a run is one that this program carries out, or that it is itself a part of.
func (s *Starter) isOurs(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[run] > 0 || run == os.Getenv(RunVar)
}

// Run starts a process, waits for its end, ends what it left behind and returns what happened. The result is
// complete also beside an error, as far as it came. The error is a *StartError, a *LogError, a *LeftError,
// ErrClosed, or one of ours. That the context ended is no error but Result.Stopped.
//
// All of it happens on one thread, which is not given to anybody else before the process is reaped: the
// kernel's death signal for a process follows the thread that started it.
func (s *Starter) Run(ctx context.Context, spec Spec) (res Result, err error) {
	if !s.enter(spec.Run) {
		return Result{ExitCode: -1}, ErrClosed
	}
	defer s.leave(spec.Run)
	OffFirstThread(func() { res, err = s.run(ctx, spec) })
	return res, err
}

func (s *Starter) run(ctx context.Context, spec Spec) (Result, error) {
	res := Result{ExitCode: -1}
	if ctx.Err() != nil {
		res.Stopped = context.Cause(ctx)
		return res, nil
	}
	if spec.Grace <= 0 {
		spec.Grace = DefaultGrace
	}
	streams, err := openStreams(&spec)
	if err != nil {
		return res, err
	}
	defer func() {
		for _, s := range streams {
			s.close()
		}
	}()
	wake, free, err := wakeAt(ctx)
	if err != nil {
		return res, err
	}
	defer free()
	pid, exit, freeExit, err := s.start(&spec, streams)
	if err != nil {
		return res, err
	}
	res.Started = true

	buf := s.buffer()
	defer s.buffers.Put(buf)
	c := child{pid: pid, spec: &spec, family: family{group: pid, marks: effectMarks(&spec), isOurs: s.isOurs},
		watch: &watch{exit: exit, wake: wake, streams: streams, buf: buf[:], fds: make([]unix.PollFd, 0, 4)}}
	err = c.await(ctx, &res)
	if ended := res.ExitCode >= 0 || res.Signal != ""; ended {
		freeExit() // else it may wait for the end of a process that hangs
	}
	for _, s := range streams {
		s.close()
		if err == nil {
			err = s.err
		}
	}
	res.Stdout = streams[0].output()
	if len(streams) > 1 {
		res.Stderr = streams[1].output()
	}
	return res, err
}

func (s *Starter) buffer() *[copySize]byte {
	if b, ok := s.buffers.Get().(*[copySize]byte); ok {
		return b
	}
	return new([copySize]byte)
}

// start starts the process. The descriptor exit becomes readable at its end.
func (s *Starter) start(spec *Spec, streams []*stream) (pid, exit int, freeExit func(), err error) {
	program, err := LookPath(spec.Path, spec.Dir, spec.Env)
	if err != nil {
		return 0, -1, nil, err
	}
	stdin, err := openStdin(spec)
	if err != nil {
		return 0, -1, nil, err
	}
	defer closeFD(&stdin)
	env := spec.Env
	if env == nil {
		env = []string{} // nil would mean our own environment
	}
	pidfd := -1
	stdout, stderr := streams[0].w, streams[len(streams)-1].w
	attr := &syscall.ProcAttr{Dir: spec.Dir, Env: env, Sys: groupOfItsOwn(&pidfd),
		Files: []uintptr{uintptr(stdin), uintptr(stdout), uintptr(stderr)}}
	pid, err = syscall.ForkExec(program, append([]string{spec.Path}, spec.Args...), attr)
	if err != nil {
		return 0, -1, nil, startError(spec, program, err)
	}
	for _, s := range streams {
		closeFD(&s.w)
	}
	if pidfd >= 0 {
		return pid, pidfd, func() { closeFD(&pidfd) }, nil
	}
	exit, freeExit, err = exitPipe(pid)
	if err != nil {
		signalGroup(pid, syscall.SIGKILL) // nobody would watch it
		_, _ = reap(pid)
	}
	return pid, exit, freeExit, err
}

func openStdin(spec *Spec) (int, error) {
	name := spec.Stdin
	if name == "" {
		name = os.DevNull
	}
	fd, err := openFile(name, unix.O_RDONLY)
	if err != nil {
		return -1, &StartError{Path: spec.Path, Reason: NoStdin, Err: err,
			Detail: fmt.Sprintf("cannot start %q: its stdin %q can't be opened: %v", spec.Path, name, err)}
	}
	return fd, nil
}

// openStreams opens stdout and stderr, which are one stream if they go to the same file.
func openStreams(spec *Spec) ([]*stream, error) {
	stdout, err := openStream(spec.Stdout, spec.Heading)
	if err != nil {
		return nil, err
	}
	if spec.Stderr == spec.Stdout && spec.Stdout != "" {
		return []*stream{stdout}, nil
	}
	stderr, err := openStream(spec.Stderr, spec.Heading)
	if err != nil {
		stdout.close()
		return nil, err
	}
	return []*stream{stdout, stderr}, nil
}
