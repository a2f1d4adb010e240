package driver

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/rollback"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/engine/workspace/undo"
)

// Journal takes the steps of the machine. Append is durable when it returns.
type Journal interface {
	Append(journal.Line) error
}

// Options is what a driver is made of.
type Options struct {
	Plan    *plan.Plan
	Machine *machine.Machine // new, or with all records of the journal applied
	Journal Journal

	Dir       string               // of the run, absolute and without symbolic links
	Workspace *workspace.Workspace // where the stages work; its store is in the run's folder
	Exclude   []string             // what is no part of the tree, beside the reports of stages
	Kinds     []stage.Kind         // by which the nodes of the plan run
	Environ   []string             // our own environment
	CleanEnv  bool                 // "environment: clean"
	Cache     string               // the folder that keeps what stages with "cache" gave, absolute; "": none is

	Now    func() time.Time
	Stay   bool               // while the run waits for a person, wait too
	Notify func(journal.Line) // steps that are durable, in order; may be nil
	Warn   func(text string)  // something odd that is no error; may be nil
}

// Driver carries one run out. It is used by one goroutine and for one Run or Take.
type Driver struct {
	opt     Options
	info    step.RunInfo // from the first record
	env     []string     // what every process gets of our own environment
	kinds   map[string]stage.Kind
	derived *derived.Files
	parents *parents
	reports atomic.Pointer[[]string] // paths of reports, which are no part of the tree; workers read it

	seq     int64        // of the last line
	last    step.Instant // of the last step: time does not run backwards within a run
	ahead   step.Instant // how much the run's clock is ahead of ours, which was set back
	timers  []timer      // due first
	running map[string]context.CancelCauseFunc
	taken   map[string]bool // ids of answers that the journal holds
	asking  bool            // an answer is being prepared

	crew crew
}

// crew are the workers, one for each effect that is carried out. Their contexts come from one that Run makes
// and ends.
type crew struct {
	sync.WaitGroup
	outcomes chan outcome
	heads    *undo.Heads   // for rollbacks that revert commits; nil: there are none
	telling  int           // scripts that tell of an escalation and have not ended; the loop's
	quit     chan struct{} // closed when outcomes are read no more
}

// outcome is what a worker brings back: an event to step, or an error of ours. After, if there is one, is
// called when the event is durable.
type outcome struct {
	event  func(at step.Instant) step.Event // nil: none
	effect string
	after  func() error
	answer bool
	told   bool // a script that tells of an escalation has ended

	warning string // for people
	err     error
}

type timer struct {
	effect string
	until  step.Instant
}

// New returns a driver.
func New(opt Options) *Driver {
	d := &Driver{
		opt:     opt,
		env:     append(baseEnviron(opt.Environ, opt.CleanEnv), outerRuns(opt.Environ)...),
		kinds:   make(map[string]stage.Kind, len(opt.Kinds)),
		running: map[string]context.CancelCauseFunc{},
		taken:   map[string]bool{},
		crew:    crew{outcomes: make(chan outcome), quit: make(chan struct{})},
	}
	for _, k := range opt.Kinds {
		d.kinds[k.Name] = k
	}
	d.parents = newParents(opt.Dir, &opt.Plan.Graph)
	d.derived = derived.New(derived.Options{
		Plan: opt.Plan, Dir: opt.Dir, Workspace: opt.Workspace.Root, Warn: d.warn,
		Own: func(stage string, iteration, attempt int) string {
			return filepath.Join(opt.Dir, FolderOf(stage, iteration, attempt), ownFileName)
		},
	})
	if opt.Workspace.Git() && hasRollback(&opt.Plan.Graph, plan.GitRevert) {
		d.crew.heads = undo.NewHeads(undo.In(opt.Workspace), filepath.Join(opt.Dir, rollback.RecoveryDir))
	}
	d.leaveOut(append(reportPaths(&opt.Plan.Graph), opt.Exclude...))
	return d
}

// Fold takes note of a step that was made before, whose records the machine has applied. A resume folds all
// of them, in order, before Run or TakeAnswers; derived files are made anew from them.
func (d *Driver) Fold(l journal.Line) {
	d.last = max(d.last, l.At)
	d.seq = l.Seq
	if a, ok := l.Event.(step.Answer); ok {
		d.taken[a.ID] = true
	}
	d.note(l.Records)
	d.derived.Apply(l.At, l.Records)
}

// note takes from the records what workers must know: the run's names, and what is no part of the tree.
func (d *Driver) note(recs []step.Record) {
	for _, r := range recs {
		switch r := r.(type) {
		case step.RunStarted:
			d.info = r.Run
		case step.StageStarted:
			if r.FeedbackFile != "" {
				d.leaveOut([]string{path.Clean(r.FeedbackFile)})
			}
		}
	}
}

// leaveOut makes files no part of the tree.
func (d *Driver) leaveOut(files []string) {
	out := d.Excluded()
	for _, f := range files {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	d.reports.Store(&out)
}

// Stopped says that Run was ended from outside before the run was over or waited. The run can be resumed.
type Stopped struct{ Cause error }

// Error implements error.
func (e *Stopped) Error() string { return fmt.Sprintf("stopped: %v", e.Cause) }

// Unwrap gives the cause of the context's end.
func (e *Stopped) Unwrap() error { return e.Cause }

// Now is the time for an event that Run is given: never before that of an earlier step.
func (d *Driver) Now() step.Instant { return d.now() }

// now is the time of a step: never before that of an earlier one. Where the clock was set back, by another
// machine's process or meanwhile, the run's goes on from where it stood, so that what it waits for does not
// wait longer.
func (d *Driver) now() step.Instant {
	at := step.At(d.opt.Now()) + d.ahead
	if at < d.last {
		d.ahead += d.last - at
		at = d.last
	}
	d.last = at
	return at
}

func (d *Driver) warn(format string, args ...any) {
	if d.opt.Warn != nil {
		d.opt.Warn(fmt.Sprintf(format, args...))
	}
}

// Excluded gives the files and folders of the workspace that are no part of the tree, relative to its root.
func (d *Driver) Excluded() []string {
	if out := d.reports.Load(); out != nil {
		return slices.Clone(*out)
	}
	return nil
}

// sessionDir holds the state files of the feedback loops.
func (d *Driver) sessionDir() string { return filepath.Join(d.opt.Dir, derived.SessionDir) }
