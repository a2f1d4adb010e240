package derived

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/attempts"
	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
)

// refining writes what people, and the stages of refine loops, read of such a loop: the list of its attempts in
// session.current, and its feedback file in the workspace. Both follow from the records.
//
// The list is written whenever it changes, before an effect of the step is carried out, and again at a resume.
//
// The feedback file is written after the record of what was found is durable, and before what follows from it starts:
// never does it say what the journal does not. A process that dies between the two leaves that record in the last line
// of its journal, and the next process writes the file then, with the same bytes. It writes no other: what lies there
// was written before, and whoever has ticked a box since, while the run waited, finds it again.
type refining struct {
	dir  string // of the run
	root string // the workspace
	warn func(format string, args ...any)
	own  func(stage string, iteration, attempt int) string

	book    *attempts.Book
	pairs   *attempts.Pairs
	outputs map[string]string // by path of a stage: what it gave last, where that is one text

	todo    []string          // sources whose list is to be written
	entered bool              // something was entered in a list since status.json was written
	files   map[string]string // by source: its feedback file, relative to the workspace
	tries   map[string]string // by source: the copy that the validation of the present attempt leaves of its own file
	task    string
	found   []found // of this step: what is to be written
}

// found is a feedback file that is to be written.
type found struct {
	name string // relative to the workspace
	own  string // the copy that lies in the folder of a validation that wrote the file itself; "": there was none
	file taskfile.File
}

func newRefining(opt Options) *refining {
	g := &opt.Plan.Graph
	return &refining{dir: opt.Dir, root: opt.Workspace, warn: opt.Warn, own: opt.Own,
		book: attempts.NewBook(g), pairs: attempts.NewPairs(g),
		outputs: map[string]string{}, files: map[string]string{}, tries: map[string]string{}}
}

// begin begins a step: what was found in an earlier one was written by whoever made it.
func (w *refining) begin() { w.found = w.found[:0] }

// apply takes in a record.
func (w *refining) apply(at step.Instant, rec step.Record) {
	for _, source := range w.book.Apply(rec) {
		w.entered = true
		w.due(source)
	}
	switch r := rec.(type) {
	case step.RunStarted:
		w.task = r.Run.TaskID
	case step.StageStarted:
		w.started(&r)
	case step.StageSucceeded:
		w.keepOutput(&r)
	case step.RollbackFinished: // it may have cleared away what the run remembers of the stage
		if source, ok := w.pairs.Source(r.Stage); ok {
			w.due(source)
		}
	case step.FeedbackReceived:
		if l, ok := w.book.Ledger(r.Source); ok && w.files[r.Source] != "" {
			w.found = append(w.found, found{w.files[r.Source], w.tries[r.Source], w.file(l, &r, at)})
		}
	}
}

// due makes the list of a loop one that is to be written.
func (w *refining) due(source string) {
	if !slices.Contains(w.todo, source) {
		w.todo = append(w.todo, source)
	}
}

// started takes note of where the findings of a loop are kept, and of where what it validates with works.
func (w *refining) started(r *step.StageStarted) {
	if source, ok := w.pairs.Source(r.Stage); ok {
		w.files[source] = r.FeedbackFile
		delete(w.tries, source)
		return
	}
	if r.FeedbackFile != "" {
		w.files[r.Stage], w.tries[r.Stage] = r.FeedbackFile, w.own(r.Stage, r.Iteration, r.Attempt)
	}
}

// maxOutputText is the most bytes of an output that status.json shows.
const maxOutputText = 1000

// keepOutput keeps the output of a stage that gives a single one, a line of text: a path, most often.
func (w *refining) keepOutput(r *step.StageSucceeded) {
	delete(w.outputs, r.Stage)
	if r.Outputs.Len() != 1 {
		return
	}
	for _, v := range r.Outputs.All() {
		if text, ok := v.(string); ok && text != "" && len(text) <= maxOutputText && !strings.ContainsAny(text, "\r\n") {
			w.outputs[r.Stage] = text
		}
	}
}

// hasTodo reports whether a list is to be written.
func (w *refining) hasTodo() bool { return len(w.todo) > 0 }

// writeTodo writes the lists that are due, and removes those of stages that the run was made to forget; the name is
// that of the one that can't be.
func (w *refining) writeTodo(forgotten func(stage string) bool) (name string, err error) {
	for _, source := range w.todo {
		target, _ := w.pairs.Target(source)
		name = filepath.Join(SessionDir, feedback.TodoFileName(target))
		l, ok := w.book.Ledger(source)
		if !ok || forgotten(target) { // without a ledger the loop begins anew
			err = os.Remove(filepath.Join(w.dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else {
			err = journal.WriteFile(filepath.Join(w.dir, name), []byte(l.Todo()), false)
		}
		if err != nil {
			return name, err
		}
	}
	w.todo = w.todo[:0]
	return "", nil
}

// writeFiles writes the feedback files of what was found in this step. One that can't be written for what lies in its
// place is no reason to stop the run: items and brief say the same.
func (w *refining) writeFiles() error {
	for i := range w.found {
		f := &w.found[i]
		if f.isThere(w.root) {
			continue
		}
		err := workspace.WriteInside(w.root, path.Clean(f.name), taskfile.Write(f.file))
		switch {
		case err == nil:
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO):
			return storage("write", filepath.Join(w.root, f.name), err)
		default:
			w.warn("the feedback file can't be written: %v", err)
		}
	}
	w.found = w.found[:0]
	return nil
}

// isThere reports whether the file is there already: the validation wrote it itself, or an earlier process of ours
// did, be it that somebody ticked a box since.
func (f *found) isThere(root string) bool {
	if f.own != "" {
		if _, err := os.Lstat(f.own); err == nil {
			return true
		}
	}
	b, err := workspace.ReadInside(root, path.Clean(f.name), taskfile.MaxSize)
	if err != nil {
		return false
	}
	there, _ := taskfile.Read(b)
	want := f.file.Clean()
	return there.Task == want.Task && there.Attempt == want.Attempt && there.MaxAttempts == want.MaxAttempts &&
		there.Status == want.Status && there.Timestamp.Equal(want.Timestamp)
}

// file is what a feedback file is to say: what is open after the attempt.
func (w *refining) file(l *attempts.Ledger, r *step.FeedbackReceived, at step.Instant) taskfile.File {
	open := feedback.Result{Summary: r.Summary}
	for _, item := range w.book.Items(r.Source) {
		if item.IsOpen() {
			open.Items = append(open.Items, item)
		}
	}
	out := taskfile.FromItems(open)
	out.Task, out.Attempt, out.MaxAttempts, out.Timestamp = w.task, l.Number(), l.Max(), at.Time()
	out.SignedOff = out.Status == taskfile.Pass
	switch {
	case out.Summary != "":
	case out.SignedOff:
		out.Summary = fmt.Sprintf("attempt %d passed", out.Attempt)
	default:
		out.Summary = fmt.Sprintf("attempt %d failed: %d critical, %d warnings", out.Attempt, len(out.Critical), len(out.Warnings))
	}
	return out
}
