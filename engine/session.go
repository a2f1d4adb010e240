package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
)

// Stopped is the error of a run that was ended from outside, by its context. It can be resumed.
type Stopped = driver.Stopped

// Follow says how the process that carries a run on follows it.
type Follow struct {
	Stay    bool                                               // while the run waits for a person, wait for the answer
	Begun   func(Begun)                                        // called once, before the first step; may be nil
	Observe func(seq int64, at step.Instant, rs []step.Record) // steps that are durable, in order; may be nil
	Warn    func(text string)                                  // something odd that is no error; may be nil
}

// Begun is what is known before the first step of this process.
type Begun struct {
	Run     step.RunInfo
	Dir     string             // of the run
	Loops   []feedback.Counter // of a run that goes on with those of an earlier run of the task
	From    string             // that run's id
	Changes []Change           // of a resume: files of the project that the run does not follow any more
	Ended   int                // of a resume: processes of the run that were left over and were ended
}

// Result is where a run stands when a command is done with it.
type Result struct {
	Run    step.RunInfo
	Dir    string
	Status step.RunStatus
}

// session is a run that this process may write: it holds the run's lock.
type session struct {
	p      *Project
	id     string
	dir    string
	plan   *plan.Plan
	index  *index
	follow Follow

	lock    *journal.Lock
	space   *journal.Lock       // of the workspace; nil: not held, or shared with the run around this one
	tree    *workspace.Worktree // nil: the run works in place
	lost    bool                // the worktree was gone, and was made again
	writer  *journal.Writer
	machine *machine.Machine
	driver  *driver.Driver
	seen    func(journal.Line) // steps of this process, before observers get them; may be nil
}

// openRun takes the lock of a run and folds its journal.
func (p *Project) openRun(id string, f Follow) (*session, error) {
	s := &session{p: p, id: id, dir: p.RunDir(id), follow: f}
	if _, err := os.Stat(s.dir); err != nil {
		return nil, &NotFoundError{What: "run", Ref: id}
	}
	var err error
	if s.lock, err = p.acquire(filepath.Join(s.dir, runLock), id); err != nil {
		return nil, err
	}
	if lost := p.Lost(id); lost != "" {
		return nil, s.end(&DamagedError{id, lost})
	}
	if err := s.fold(); err != nil {
		return nil, s.end(err)
	}
	return s, nil
}

func (p *Project) acquire(path, run string) (*journal.Lock, error) {
	return journal.Acquire(path, journal.Holder{Run: run, Command: p.opt.Command, At: p.now()})
}

// fold reads the frozen plan and the journal, and brings machine and driver to where the run stands.
func (s *session) fold() error {
	var err error
	if s.plan, s.index, err = thaw(s.dir); err != nil {
		return err
	}
	w, log, err := journal.Open(s.dir)
	if err != nil {
		return err
	}
	s.writer = w
	if log.Header.PlanDigest != s.index.Plan {
		return fmt.Errorf("the frozen plan of run %s is not the one that its journal names: %s, expected %s",
			s.id, s.index.Plan, log.Header.PlanDigest)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	for line, err := range log.Lines() {
		if err != nil {
			return err
		}
		for _, r := range line.Records {
			s.machine.Apply(r)
		}
		s.driver.Fold(line)
	}
	return nil
}

// prepare makes machine and driver.
func (s *session) prepare() error {
	ws, err := s.openSpace()
	if err != nil {
		return err
	}
	if err := ws.Sweep(); err != nil {
		return err
	}
	s.machine = machine.New(s.plan, compile.NewEvaluator(), s.p.tokens)
	s.driver = driver.New(driver.Options{
		Plan: s.plan, Machine: s.machine, Journal: s.writer,
		Dir: s.dir, Workspace: ws, Exclude: s.p.stateExcluded(),
		Kinds: s.p.opt.Kinds, Environ: s.environ(), CleanEnv: s.index.CleanEnv,
		Cache: filepath.Join(s.p.State, cacheDir),
		Now:   s.p.opt.Now, Stay: s.follow.Stay, Notify: s.notify, Warn: s.follow.Warn,
	})
	return nil
}

func (s *session) notify(l journal.Line) {
	if s.seen != nil {
		s.seen(l)
	}
	if s.follow.Observe != nil {
		s.follow.Observe(l.Seq, l.At, l.Records)
	}
}

// takeWorkspace takes the lock of the workspace, unless a run that this process is part of holds it. A run in
// a worktree of its own is in nobody's way.
func (s *session) takeWorkspace() error {
	if s.plan.Workspace == plan.Worktree {
		return s.p.prepareState()
	}
	lock, err := s.p.lockWorkspace(s.id)
	s.space = lock
	return err
}

// lockWorkspace takes the lock of the workspace. The lock is nil if a run that we were started by holds it:
// it waits for us, so nobody gets into anybody's way.
func (p *Project) lockWorkspace(run string) (*journal.Lock, error) {
	if err := p.prepareState(); err != nil {
		return nil, err
	}
	lock, err := p.acquire(filepath.Join(p.Root, workspace.StateDir, workspaceLock), run)
	var held *journal.HeldError
	if !errors.As(err, &held) || held.Holder.Run == "" {
		return lock, err
	}
	inside, insideErr := p.isInside(held.Holder.Run)
	if insideErr != nil || !inside {
		return nil, errors.Join(err, insideErr)
	}
	return nil, nil
}

// isInside reports whether this process was started by a stage of the run.
func (p *Project) isInside(run string) (bool, error) {
	if p.getenv(proc.RunVar) == run {
		return true, nil
	}
	return proc.CarriesRun(run)
}

// info names the run, also before its first step.
func (s *session) info() (step.RunInfo, error) {
	start, err := s.index.start()
	return start.Run, err
}

// resume carries the run on from where its journal ends, after what an earlier process of the run left is
// gone. A run that only ends is not kept from it by a worktree that is gone.
func (s *session) resume(ctx context.Context, b Begun, ends bool) (Result, error) {
	ended, err := proc.EndRun(s.id, nil)
	if err != nil {
		return Result{}, fmt.Errorf("ending what is left of run %s: %w", s.id, err)
	}
	if err := s.findTree(ctx, ends); err != nil {
		return Result{}, err
	}
	start, err := s.index.start()
	if err != nil {
		return Result{}, err
	}
	b.Run, b.Dir, b.Ended, b.Changes = start.Run, s.dir, ended, s.p.changes(s.index)
	if s.follow.Begun != nil {
		s.follow.Begun(b)
	}
	var first step.Event = step.Resumed{At: s.driver.Now(), Ended: ended}
	if s.machine.Status() == step.UnknownRunStatus {
		start.At = s.driver.Now() // it died between the journal's header and the first step
		first = start
	}
	return s.run(ctx, first, start.Run)
}

func (s *session) run(ctx context.Context, first step.Event, info step.RunInfo) (Result, error) {
	status, err := s.driver.Run(ctx, first)
	if s.tree != nil && (status == step.RunIsPaused || status == step.RunIsWaiting) {
		s.warn("the run works in the git worktree %q, which stays until it is over", s.tree.Path)
	}
	return Result{Run: info, Dir: s.dir, Status: status}, err
}

// end gives everything back and returns err, with what went wrong on the way if that is something else.
func (s *session) end(err error) error {
	closing := []error{s.leaveTree()}
	if s.writer != nil {
		closing = append(closing, s.writer.Close())
	}
	for _, lock := range []*journal.Lock{s.space, s.lock} {
		if lock != nil {
			closing = append(closing, lock.Release())
		}
	}
	if _, err := os.Stat(s.dir); err == nil { // a stage may have cleaned away what hides the state from git
		closing = append(closing, s.p.prepareState())
	}
	for _, c := range closing {
		if c != nil && !errors.Is(err, c) { // a journal that failed fails again when it is closed
			err = errors.Join(err, c)
		}
	}
	return err
}
