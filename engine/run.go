package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// UsageError says that what was asked for can't be done as it was asked.
type UsageError struct{ Why string }

// Error implements error.
func (e *UsageError) Error() string { return e.Why }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// taskID is what an explicit task id looks like.
var taskID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// maxNested is how many runs may be under way around a run, each started by a stage of the one before: a pipeline
// whose stage starts it again would never end.
const maxNested = 16

// RunOptions says how a run is started.
type RunOptions struct {
	Follow
	Inputs *value.Object // of their declared types; defaults are filled in
	TaskID string        // ""; a new one
	Fresh  bool          // with a TaskID: all loops start at 1
	Jobs   int           // how many stages may run at once; 0: as many as there are processors, at least 2
}

// Run starts a run of a pipeline and carries it out until it is over or, unless it stays, waits for a
// person. Errors: *UsageError, *journal.HeldError, *Stopped, and failures of ours; a pipeline that fails is
// no error but Result.Status.
func (p *Project) Run(ctx context.Context, l *Loaded, o RunOptions) (Result, error) {
	if l.Plan == nil || l.Diags.HasErrors() {
		return Result{}, usagef("pipeline %q has errors and can't be run", l.Name)
	}
	if around := strings.Fields(proc.Getenv(p.opt.Environ, proc.OuterVar) + " " + proc.Getenv(p.opt.Environ, proc.RunVar)); len(around) > maxNested {
		return Result{}, usagef("pipeline %q would run inside %d other runs, each started by a stage of the one before, and at most %d are allowed; does a stage start its own pipeline? The innermost is run %s",
			l.Name, len(around), maxNested, around[len(around)-1])
	}
	start, b, err := p.plan(l, o)
	if err != nil {
		return Result{}, err
	}
	s := &session{p: p, id: start.Run.Run, dir: p.RunDir(start.Run.Run), follow: o.Follow, plan: l.Plan}
	if err := s.takeWorkspace(); err != nil {
		return Result{}, err
	}
	if err := s.usable(ctx); err != nil {
		return Result{}, s.end(err)
	}
	if err := s.create(ctx, l, start); err != nil {
		return Result{}, s.end(err)
	}
	b.Dir = s.dir
	if o.Begun != nil {
		o.Begun(b)
	}
	start.At = s.driver.Now()
	res, err := s.run(ctx, start, start.Run)
	return res, s.end(err)
}

// plan makes the event with which the run starts.
func (p *Project) plan(l *Loaded, o RunOptions) (step.Start, Begun, error) {
	if err := checkInputs(l.Plan, o.Inputs); err != nil {
		return step.Start{}, Begun{}, err
	}
	id := p.opt.NewID()
	info := step.RunInfo{Run: id, TaskID: o.TaskID, Pipeline: l.Plan.Name, Jobs: o.Jobs,
		Unattended: l.Plan.Unattended}
	if info.Jobs <= 0 {
		info.Jobs = max(2, runtime.NumCPU())
	}
	b, from := Begun{}, handedOn{}
	if o.TaskID == "" {
		info.TaskID = fmt.Sprintf("task-%s-%s", strings.ToLower(id[len(id)-6:]), l.Plan.Name)
	} else {
		if !taskID.MatchString(o.TaskID) {
			return step.Start{}, Begun{}, usagef("the task id %q must be 1 to 100 letters, digits, dots, dashes and underscores, the first a letter or digit", o.TaskID)
		}
		var err error
		if from, err = p.earlier(info, o.Fresh); err != nil {
			return step.Start{}, Begun{}, err
		}
		b.Loops, b.From = from.loops, from.from
	}
	b.Run = info
	issue, err := p.issue(l.Plan, o.Inputs)
	return step.Start{At: p.now(), Run: info, Inputs: o.Inputs, Loops: from.loops, Task: issue, Prior: from.prior}, b, err
}

// create makes the run's folder: everything in it is durable before the journal's header is. A worktree comes
// last, so that one that is there always belongs to a run.
func (s *session) create(ctx context.Context, l *Loaded, start step.Start) error {
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the run's folder: %w", err)
	}
	err := s.fill(l, start)
	if err == nil {
		if err = s.makeTree(ctx); err == nil {
			return nil
		}
		err = errors.Join(err, s.undoTree())
	}
	if e := (*journal.StorageError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("the run did not begin: %s %q: %w%s", e.Op, e.Path, e.Err, beginAgain(e.Err))
	}
	if s.writer != nil {
		err = errors.Join(err, s.writer.Close()) // it must not miss its file
		s.writer = nil
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// beginAgain says what to do where the disk has no room for a run that is to begin: there is nothing to resume.
func beginAgain(err error) string {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return "; make space, then start the run again"
	}
	return ""
}

func (s *session) fill(l *Loaded, start step.Start) error {
	var err error
	if s.lock, err = s.p.acquire(filepath.Join(s.dir, runLock), s.id); err != nil {
		return err
	}
	env := s.p.Config.Environment
	clean := env != nil && env.Value == "clean"
	if err := freeze(s.dir, l, clean, start); err != nil {
		return err
	}
	if s.plan, s.index, err = thaw(s.dir); err != nil { // a run goes by what a resume will read
		return err
	}
	if err := journal.SyncDir(s.p.runsPath()); err != nil {
		return err
	}
	s.writer, err = journal.Create(s.dir, journal.Header{
		Run: s.id, Engine: s.p.opt.Version, PlanDigest: s.index.Plan, Pipeline: l.Plan.Name, At: start.At,
	})
	if err != nil {
		return err
	}
	return s.prepare()
}

// checkInputs refuses inputs that the plan does not declare, of the wrong type, or that are missing.
func checkInputs(p *plan.Plan, given *value.Object) error {
	declared := make(map[string]bool, len(p.Inputs))
	for i := range p.Inputs {
		in := &p.Inputs[i]
		declared[in.Name] = true
		v, ok := given.Get(in.Name)
		switch {
		case !ok && in.Required && in.Default == nil:
			return usagef("input %q (%s) is required", in.Name, plan.TypeText(in.Type))
		case !ok || v == nil && !in.Required:
		default:
			if err := in.Type.CheckAt(in.Name, v); err != nil {
				return usagef("input %v", err)
			}
		}
	}
	for name := range given.All() {
		if !declared[name] {
			return usagef("the pipeline has no input %q", name)
		}
	}
	return nil
}

// Resume carries a run on, from where its journal ends. Of a run that is over only the derived files are
// written again.
func (p *Project) Resume(ctx context.Context, id string, f Follow) (Result, error) {
	s, err := p.openRun(id, f)
	if err != nil {
		return Result{}, err
	}
	res, err := s.goOn(ctx)
	return res, s.end(err)
}

func (s *session) goOn(ctx context.Context) (Result, error) {
	if s.machine.Status().Ended() {
		// Its process may have died before it wrote what follows from the last step; and who answered it
		// too late gets to know.
		err := s.driver.TakeAnswers(ctx)
		info, infoErr := s.info()
		return Result{Run: info, Dir: s.dir, Status: s.machine.Status()}, errors.Join(err, infoErr)
	}
	if err := s.takeWorkspace(); err != nil {
		return Result{}, err
	}
	return s.resume(ctx, Begun{}, false)
}
