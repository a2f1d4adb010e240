package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"example.com/pipe/cmd/pipe/live"
	"example.com/pipe/engine"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// follower shows a run that this process carries on: a line for each event and, when the run waits for a
// person, what is asked; on a terminal, below them, where the run stands. Its methods are called from one
// goroutine at a time.
type follower struct {
	*app
	p      *engine.Project
	json   bool // the lines are remarks, on stderr; the result is one document at the end
	stay   bool
	live   bool // where there is a terminal, the run is shown on it while it goes on
	asked  bool // what is asked now was shown
	unsaid bool // only on the screen: it has to be written when that goes

	mu   sync.Mutex // over the view: a screen looks at it from its own goroutine
	view *view.Run  // nil before the run began

	screen *live.Screen // nil: the run is not shown
	lower  func()       // ends the screen; nil: there is none
}

// follow gives the engine who is told about the run.
func (f *follower) follow() engine.Follow {
	return engine.Follow{Stay: f.stay, Begun: f.begun, Observe: f.observe, Warn: f.warn}
}

func (f *follower) lines() *output {
	if f.json {
		return f.err
	}
	return f.out
}

func (f *follower) warn(text string) { fmt.Fprintf(f.err, "pipe: %s\n", view.OneLine(text)) }

// begun is called with the run's lock held, so that the journal holds just what came before.
func (f *follower) begun(b engine.Begun) {
	v, err := f.p.View(b.Run.Run)
	if err != nil {
		f.warn(err.Error())
	} else {
		f.view = v
		f.view.SetHeld(true)
		f.raise(b.Run.Run)
	}
	for _, l := range b.Loops {
		f.warn(fmt.Sprintf("the loop %s -> %s goes on at iteration %d of %d, where run %s of this task left it; --fresh starts at 1",
			l.Source, l.Target, l.Iteration, l.Cap, b.From))
	}
	for _, c := range b.Changes {
		f.warn(fmt.Sprintf("%s was %s since the run started; the run goes on with what it froze", c.File, c.How))
	}
}

func (f *follower) observe(_ int64, at step.Instant, recs []step.Record) {
	width := f.width()
	if f.screen != nil {
		width-- // above a region no line reaches the edge, where terminals differ in what comes next
	}
	var lines strings.Builder // of one step, written at once
	for _, rec := range recs {
		if line, ok := view.Line(at, rec); ok {
			lines.WriteString(view.Wrap(line, width) + "\n")
		}
	}
	if lines.Len() > 0 {
		fmt.Fprint(f.lines(), lines.String())
	}
	for _, rec := range recs {
		if f.view == nil {
			continue
		}
		f.mu.Lock()
		f.view.Apply(at, rec)
		f.mu.Unlock()
		switch rec.(type) {
		case step.RunWaiting, step.RunPaused:
			f.ask()
		case step.RunResumed:
			f.asked, f.unsaid = false, false
		}
	}
	if f.screen != nil {
		f.screen.Changed()
	}
}

// ask shows what a person is asked, once.
func (f *follower) ask() {
	if f.asked || f.view == nil || f.json && !f.stay {
		return
	}
	f.asked = true
	if f.screen != nil && f.lower != nil && f.screen.Shows() {
		f.unsaid = true
		return
	}
	fmt.Fprint(f.lines(), f.view.Asks())
	if f.stay {
		fmt.Fprintln(f.err, "pipe: waiting for the answer, given from another terminal")
	}
}

// end shows where the run stands and gives the exit status that says so.
func (f *follower) end(res engine.Result, err error) error {
	f.leave()
	if err != nil {
		return f.failed(err)
	}
	v := f.view // of the run since it began here: the journal need not be read once more
	if v == nil {
		if v, err = f.p.View(res.Run.Run); err != nil {
			return err
		}
	} else {
		v.SetHeld(false)
	}
	if f.json {
		b, err := v.JSON()
		if err != nil {
			return err
		}
		if _, err := f.out.Write(b); err != nil {
			return err
		}
		return withStatus(statusOfRun(res.Status))
	}
	switch res.Status {
	case step.RunIsPaused, step.RunIsWaiting:
		f.view = v
		f.ask()
	case step.RunSucceeded:
		f.outputs(v)
	case step.RunFailed:
		fmt.Fprintf(f.err, "pipe: the run failed; see `pipe why %s` and `pipe logs %s`\n", res.Run.Run, res.Run.Run)
		f.byHand(v)
	case step.RunCancelled:
		f.byHand(v)
	case step.RunRunning, step.RunRollingBack, step.UnknownRunStatus:
	}
	return withStatus(statusOfRun(res.Status))
}

// byHand says what of the rollbacks is left to a person, last, where it is seen.
func (f *follower) byHand(v *view.Run) {
	for _, text := range v.ByHand() {
		fmt.Fprintf(f.err, "pipe: rollback of %s\n", text) // whole: it may hold a command
	}
}

// outputs shows what the run gave.
func (f *follower) outputs(v *view.Run) {
	for name, val := range v.Outputs().All() {
		b, err := view.Marshal(val)
		if err != nil {
			f.warn(err.Error())
			continue
		}
		line := fmt.Sprintf("output %s=%s", view.OneLine(name), strings.TrimSuffix(string(b), "\n"))
		fmt.Fprintln(f.out, view.Wrap(line, f.width()))
	}
}

func (f *follower) failed(err error) error {
	var stopped *engine.Stopped
	if errors.As(err, &stopped) {
		status := exitInterrupted
		var by *signalError
		if errors.As(err, &by) {
			status = signalStatus(by.signal)
		}
		text := "stopped"
		if f.view != nil {
			text += fmt.Sprintf("; `pipe resume %s` goes on", f.view.Info().Run)
		}
		return &statusError{status, errors.New(text)}
	}
	return asStatus(err)
}

// asStatus gives an error of the engine its exit status.
func asStatus(err error) error {
	var (
		usage   *engine.UsageError
		missing *engine.NotFoundError
		inside  *engine.InsideError
	)
	var held *journal.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return &statusError{exitHeld, heldText(held)}
	case errors.Is(err, journal.ErrHeld):
		return &statusError{exitHeld, err}
	case errors.As(err, &usage), errors.As(err, &missing), errors.As(err, &inside):
		return &statusError{exitUsage, err}
	}
	return err
}

// heldText says who holds a run or the workspace, and what to do.
func heldText(e *journal.HeldError) error {
	run := e.Holder.Run
	if filepath.Base(e.Path) == "workspace.lock" {
		return fmt.Errorf("the workspace is held by %s; wait for that run, or stop it with `pipe cancel %s`", e.Holder, run)
	}
	return fmt.Errorf("the run is held by %s, which carries it on; look at it with `pipe show %s`", e.Holder, run)
}

func statusOfRun(s step.RunStatus) int {
	switch s {
	case step.RunSucceeded:
		return exitOK
	case step.RunFailed, step.RunCancelled:
		return exitFailed
	case step.RunIsPaused, step.RunIsWaiting:
		return exitWaiting
	case step.RunRunning, step.RunRollingBack, step.UnknownRunStatus:
	}
	return exitOurs // a run that neither ended nor waits and that nobody carries on
}

// signalError is why a run was stopped from outside.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return e.signal.String() }

// untilSignal runs fn with a context that the first signal ends. A second one ends this process:
// on Linux its children are killed with it, and a resume ends what is left.
func (a *app) untilSignal(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals, release := a.signals()
	defer release()
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		stopping := false
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if stopping && s == syscall.SIGHUP {
					continue // the shell and the kernel both send it when a terminal goes
				}
				if stopping {
					a.atKill.run()
					fmt.Fprintln(a.err, "pipe: killed; a run that was going on goes on with `pipe resume`")
					a.kill(signalStatus(s))
				}
				stopping = true
				fmt.Fprintln(a.err, "pipe: stopping; once more kills")
				cancel(&signalError{s})
			}
		}
	})
	err := fn(ctx)
	close(done)
	watcher.Wait()
	return err
}

func signalStatus(s os.Signal) int {
	if s == syscall.SIGINT {
		return exitInterrupted
	}
	return exitTerminated
}

// folderOf is the folder of a try, absolute.
func folderOf(p *engine.Project, run string, t view.Try) string {
	return filepath.Join(p.RunDir(run), driver.FolderOf(t.Stage, t.Iteration, t.Attempt))
}
