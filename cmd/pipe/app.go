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
	width       func() int // of the terminal that out is; 0: not one

	signals func() (<-chan os.Signal, func()) // catches SIGINT and SIGTERM, until the func is called
	kill    func(status int)                  // ends this process at once
}

// runMain runs the command line of this process and returns its exit status.
func runMain() int {
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
		signals: catchSignals, kill: os.Exit,
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

// catchSignals keeps SIGINT and SIGTERM from ending the process.
func catchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
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

// output writes to a stream whose reader may go away: from then on what is written is dropped.
type output struct {
	w      io.Writer
	closed bool
	failed error // the first error that is not a closed pipe
}

// Write implements io.Writer. It never fails: what a command does is not undone by nobody reading about it.
// Failure gives what went wrong.
func (o *output) Write(p []byte) (int, error) {
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
