// Package derived writes the files of a run that follow from its records: run.json, status.json, feedback.log, the
// state files of feedback loops and the lists of attempts in session.current, and the feedback files of refine loops
// in the workspace.
//
// The contract, in order: Apply for each step of an earlier process, then Rebuild once, which writes all files anew;
// then Step for each step that is durable, before its effects are carried out: what a process may read is written then.
// run.json and status.json are written at most twice a second, by Step or Tick, and by Flush at the end. What is in the
// files depends on the records and the times of their steps alone, so that a resume writes the same bytes.
//
// Files is used by one goroutine. It decides nothing, and nothing is decided from what it writes. What the files show is
// package view's and the feedback packages', the records are package driver's to make durable.
package derived

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// The names of the derived files, in the run's folder.
const (
	RunFile     = "run.json"
	StatusFile  = "status.json"
	FeedbackLog = "feedback.log"
	SessionDir  = "session.current"
)

// writePause is the shortest time between two writings of run.json while the run goes on.
const writePause = 500 * time.Millisecond

// Options is what the files are made of.
type Options struct {
	Plan      *plan.Plan
	Dir       string // of the run, absolute
	Workspace string // absolute
	// Own is where the try of a validation leaves a copy of the feedback file if it wrote that itself, absolute.
	Own  func(stage string, iteration, attempt int) string
	Warn func(format string, args ...any)
}

// Files writes the files of one run.
type Files struct {
	dir  string
	view *view.Run
	task string

	pairs map[string]*pairState // by source; only looked up
	order []string              // of sources, as they came up
	log   bytes.Buffer          // lines that are not written yet

	touched []string // sources whose state file is to be written
	refine  *refining

	built   bool // the files are this process's own
	dirty   bool
	written time.Time      // when run.json was last written
	status  step.RunStatus // that it tells
}

// pairState is what a state file holds beside the counter and the items.
type pairState struct {
	at     step.Instant
	action feedback.Action
}

// New returns the files of a run without any record.
func New(opt Options) *Files {
	return &Files{dir: opt.Dir, view: view.New(opt.Plan), pairs: map[string]*pairState{}, refine: newRefining(opt)}
}

// Escalation gives an escalation as JSON shows it.
func (w *Files) Escalation(e feedback.Escalation) ([]byte, error) { return w.view.EscalationJSON(e) }

// Apply folds the records of a step.
func (w *Files) Apply(at step.Instant, recs []step.Record) {
	w.refine.begin()
	for _, r := range recs {
		w.view.Apply(at, r)
		w.follow(at, r)
		w.refine.apply(at, r)
	}
	w.dirty = w.dirty || len(recs) > 0
}

// follow takes note of what a record means for the log and for the state files.
func (w *Files) follow(at step.Instant, rec step.Record) {
	switch r := rec.(type) {
	case step.RunStarted:
		w.task = r.Run.TaskID
	case step.FeedbackReceived:
		w.line(feedback.LogParsed(r.Items, r.Source))
		for _, line := range r.Advisory {
			w.line(line)
		}
		w.line(feedback.LogCounts(r.Blocking, len(r.Advisory)))
		if r.Target != "" {
			w.line(feedback.LogItems(w.task, feedback.Pair{Source: r.Source, Target: r.Target}, r.Items, r.Blocking))
			w.touch(at, r.Source)
		}
	case step.FeedbackRouted:
		switch r.Action {
		case feedback.Accept:
			w.line(feedback.LogAccepting())
		case feedback.ReImplement:
			w.line(feedback.LogTriggering(r.Iteration))
		case feedback.Escalate:
			if r.Rule == "" || r.Rule == feedback.ReasonIterationCap {
				w.line(feedback.LogCapReached(r.Iteration, r.MaxIterations))
			}
		case feedback.UnknownAction:
		}
		w.line(feedback.LogAction(w.task, r.Action, r.Iteration, r.MaxIterations))
		w.touch(at, r.Source)
		w.pairs[r.Source].action = r.Action
	case step.EscalationRaised:
		w.line(feedback.LogEscalated(w.task, r.Escalation.Reason))
		w.touchAll(at, r.Escalation.Sources)
	case step.EscalationDecided:
		w.touchAll(at, w.order) // a decision may waive items and raise caps of several loops
	case step.RollbackFinished:
		w.forget(at, r.Stage)
	case step.ItemOpened:
		w.touchAll(at, r.Item.Sources)
	case step.ItemChanged:
		w.touchAll(at, r.Item.Sources)
	}
}

func (w *Files) line(s string) {
	w.log.WriteString(s)
	w.log.WriteByte('\n')
}

// touchAll marks the state files of those sources that have one, or whose loop the plan knows.
func (w *Files) touchAll(at step.Instant, sources []string) {
	for _, s := range sources {
		if _, ok := w.view.Loop(s); ok {
			w.touch(at, s)
		}
	}
}

func (w *Files) touch(at step.Instant, source string) {
	p, ok := w.pairs[source]
	if !ok {
		p = &pairState{}
		w.pairs[source] = p
		w.order = append(w.order, source)
	}
	p.at = at
	if !slices.Contains(w.touched, source) {
		w.touched = append(w.touched, source)
	}
}

// Rebuild writes all derived files anew. What lay in their place is gone. Once is enough: a process that
// takes an answer and then carries the run on keeps what it wrote.
func (w *Files) Rebuild() error {
	if w.built {
		return nil
	}
	w.built = true
	for _, name := range []string{RunFile, StatusFile, FeedbackLog, SessionDir} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			return w.failed(name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(w.dir, SessionDir), 0o700); err != nil {
		return w.failed(SessionDir, err)
	}
	if err := w.writeFeedback(); err != nil {
		return err
	}
	return w.Flush()
}

// Step folds the records of a step that is durable, and writes what a process may read before the next
// effect is carried out: state files and log lines.
func (w *Files) Step(at step.Instant, recs []step.Record, now time.Time) error {
	w.Apply(at, recs)
	if err := w.writeFeedback(); err != nil {
		return err
	}
	return w.Tick(now)
}

// writeFeedback writes the log lines and state files that are due.
func (w *Files) writeFeedback() error {
	if w.log.Len() > 0 {
		if err := appendFile(filepath.Join(w.dir, FeedbackLog), w.log.Bytes()); err != nil {
			return w.failed(FeedbackLog, err)
		}
		w.log.Reset()
	}
	if len(w.touched) > 0 || w.refine.hasTodo() {
		if err := ownFolder(filepath.Join(w.dir, SessionDir)); err != nil {
			return w.failed(SessionDir, err)
		}
	}
	for _, source := range w.touched {
		l, ok := w.view.Loop(source)
		if !ok {
			continue
		}
		p := w.pairs[source]
		name := feedback.StateFileName(w.task, l.Pair)
		if w.view.Forgotten(l.Source) || w.view.Forgotten(l.Target) {
			if err := os.RemoveAll(filepath.Join(w.dir, SessionDir, name)); err != nil {
				return w.failed(filepath.Join(SessionDir, name), err)
			}
			continue
		}
		text := feedback.StateFile(feedback.State{
			TaskID: w.task, Pair: l.Pair, Iteration: l.Iteration, Max: l.Cap, LastAction: p.action,
			UpdatedAt: p.at.Time(), Items: w.view.ItemsOf(source),
		})
		if err := journal.WriteFile(filepath.Join(w.dir, SessionDir, name), []byte(text), false); err != nil {
			return w.failed(filepath.Join(SessionDir, name), err)
		}
	}
	w.touched = w.touched[:0]
	if name, err := w.refine.writeTodo(w.view.Forgotten); err != nil {
		return w.failed(name, err)
	}
	return w.refine.writeFiles()
}

// DueAt says when run.json is to be written next, if it is.
func (w *Files) DueAt() (time.Time, bool) { return w.written.Add(writePause), w.dirty }

// Tick writes run.json and status.json if they are due. A new status of the run is told at once: who lists
// runs believes a file that says "paused". So is what is entered in a list of attempts.
func (w *Files) Tick(now time.Time) error {
	if at, dirty := w.DueAt(); !dirty || now.Before(at) && w.status == w.view.Status() && !w.refine.entered {
		return nil
	}
	w.written = now
	return w.Flush()
}

// Flush writes run.json and status.json if anything changed since they were written.
func (w *Files) Flush() error {
	if !w.dirty {
		return nil
	}
	b, err := w.view.JSON()
	if err != nil {
		return w.failed(RunFile, err)
	}
	if err := journal.WriteFile(filepath.Join(w.dir, RunFile), append(bytes.TrimRight(b, "\n"), '\n'), false); err != nil {
		return w.failed(RunFile, err)
	}
	b, err = w.statusFile()
	if err != nil {
		return w.failed(StatusFile, err)
	}
	if err := journal.WriteFile(filepath.Join(w.dir, StatusFile), b, false); err != nil {
		return w.failed(StatusFile, err)
	}
	w.dirty, w.status, w.refine.entered = false, w.view.Status(), false
	return nil
}

// forget marks the state files of a stage's loops, where its rollback cleared away what the run remembered of it:
// they are removed, and not written again.
func (w *Files) forget(at step.Instant, stage string) {
	if !w.view.Forgotten(stage) {
		return
	}
	for _, source := range w.order {
		if l, ok := w.view.Loop(source); ok && (l.Source == stage || l.Target == stage) {
			w.touch(at, source)
		}
	}
}

// storage says what the disk refused.
func storage(op, path string, err error) error {
	if e := (*journal.StorageError)(nil); errors.As(err, &e) {
		return err
	}
	return &journal.StorageError{Op: op, Path: path, Err: err}
}

// failed names the file whole: who makes space must find the disk.
func (w *Files) failed(name string, err error) error {
	return storage("write", filepath.Join(w.dir, name), err)
}

// appendFile adds to the end of a file. The files it is for are made anew at a resume. What a stage put in its place,
// a link to a file elsewhere or a pipe, gives way to a new file: nothing is written there, or waited for.
func appendFile(name string, data []byte) error {
	f, err := openOwn(name)
	if errors.Is(err, errNotOurs) {
		if err = os.Remove(name); err == nil {
			f, err = openOwn(name)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// ownFolder makes a folder anew that a stage has cleared away, or put something else in the place of, a link to a folder
// elsewhere: neither is a reason to stop the run, nor to write there.
func ownFolder(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Mkdir(name, 0o700)
}

// errNotOurs says that a file is not one that was made under its name.
var errNotOurs = errors.New("it is a link or no regular file")

func openOwn(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) { // a symbolic link, or a pipe that nobody reads
		return nil, errNotOurs
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		if of, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && of.Nlink > 1 {
			err = errNotOurs
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
