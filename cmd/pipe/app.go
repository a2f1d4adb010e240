package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// app is what commands get from outside.
type app struct {
	in  io.Reader
	out *output // results
	err *output // errors and remarks

	args []string // of the command line
	env  []string
	dir  string // the current folder
	now  func() time.Time
	pid  int

	inTerminal  bool
	outTerminal bool
	errTerminal bool
	width       func() int // of the terminal that out is; 0: not one

	signals func() (<-chan os.Signal, func()) // catches SIGINT, SIGTERM and SIGHUP, until the func is called
	kill    func(status int)                  // ends this process at once
	atKill  hook                              // comes before
}

// runMain runs the command line of this process and returns its exit status.
func runMain() int {
	growHeap(heapOfCommand)
	// A closed pipe is an error of the write and not the end of the process: a run goes on without a reader.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	a := &app{
		args: os.Args[1:], in: os.Stdin, out: &output{w: os.Stdout}, err: &output{w: os.Stderr},
		env: os.Environ(), dir: dir, now: time.Now, pid: os.Getpid(),
		inTerminal: term.IsTerminal(int(os.Stdin.Fd())), outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		signals:     catchSignals, kill: os.Exit,
	}
	a.width = func() int {
		if !a.outTerminal {
			return 0
		}
		w, _, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil {
			return 0
		}
		return w
	}
	return a.execute(context.Background(), a.args)
}

// catchSignals keeps SIGINT, SIGTERM and SIGHUP, which comes when the terminal goes, from ending the process.
// What whoever started us ignores stays ignored: a shell ignores SIGINT for what a script puts into the
// background, nohup ignores SIGHUP.
func catchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGTERM)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

// getenv gives the value of a variable of our environment; the last one counts.
func (a *app) getenv(name string) string {
	for _, kv := range slices.Backward(a.env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// who names the person who runs the command, and the host.
func (a *app) who() string {
	host := a.getenv("HOSTNAME")
	if host == "" {
		host, _ = os.Hostname() // without a name the person is all there is to say
	}
	if host == "" {
		return a.user()
	}
	return a.user() + "@" + host
}

// user names the person who runs the command.
func (a *app) user() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := a.getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// interactive reports whether a person sits before the command.
func (a *app) interactive() bool { return a.inTerminal && a.outTerminal }

// output writes to a stream whose reader may go away: from then on what is written is dropped. Several
// goroutines may write: who follows a run, and who waits for signals.
type output struct {
	w io.Writer

	mu     sync.Mutex
	closed bool
	failed error // the first error that is not a closed pipe
}

// through lets what is written go through another writer, which gets the one that it leads to, until the func is
// called.
func (o *output) through(wrap func(io.Writer) io.Writer) func() {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.w
	o.w = wrap(before)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.w = before
	}
}

// gone reports whether nobody reads any more.
func (o *output) gone() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// failure is why not all could be written, nil if all was or if nobody reads any more.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// Write implements io.Writer. It never fails: what a command does is not undone by nobody reading about it.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.failed != nil {
		return len(p), nil
	}
	if _, err := o.w.Write(p); err != nil {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			o.closed = true
		} else {
			o.failed = err
		}
	}
	return len(p), nil
}
