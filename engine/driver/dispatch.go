package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
)

// try is one try of a stage, carried out by a worker.
type try struct {
	d    *Driver
	node *plan.Node
	s    *step.StageStarted
	f    *folder
	key  string // of what it gives, in the cache; "": it is not kept there
	dir  string // where it works, relative to the workspace; "" is the workspace
}

func (d *Driver) folder(s *step.StageStarted) *folder {
	return &folder{run: d.opt.Dir, rel: FolderOf(s.Stage, s.Iteration, s.Attempt)}
}

// dispatch starts the worker of a try.
func (d *Driver) dispatch(work context.Context, s *step.StageStarted) {
	t := &try{d: d, node: d.opt.Machine.Node(s.Stage), s: s, f: d.folder(s)}
	d.start(work, s.Effect, "it carried out stage "+s.Stage, func(ctx context.Context) outcome {
		began := d.opt.Now()
		defer t.f.close()
		var ended step.StageEnded
		var warning string
		err := d.crew.heads.Around(work, func() (err error) {
			ended, warning, err = t.carryOut(ctx, work)
			return err
		})
		if err == nil {
			err = t.changedLines(work, &ended)
		}
		if err != nil {
			return outcome{err: fmt.Errorf("stage %q: %w", s.Stage, err)}
		}
		ended.Effect = s.Effect
		ended.DurationMS = max(0, d.opt.Now().Sub(began).Milliseconds())
		return outcome{warning: warning, event: func(at step.Instant) step.Event {
			ended.At = at
			return ended
		}}
	})
}

// carryOut gives what the cache has of the try, or runs it. The warning is for people.
func (t *try) carryOut(ctx, work context.Context) (ended step.StageEnded, warning string, err error) {
	if cached, err := t.recall(ctx, work); err != nil || cached != nil {
		if err != nil {
			return ended, "", err
		}
		return *cached, "", nil
	}
	ended, err = t.run(ctx)
	if err != nil || !t.s.WantTree {
		return ended, "", err
	}
	if ended.Tree, err = t.tree(work); err != nil {
		return ended, "", err
	}
	t.keepInside(&ended)
	return ended, t.keep(&ended), nil
}

// tree reads the workspace after the try, also when the try was stopped.
func (t *try) tree(work context.Context) (*step.Tree, error) {
	tree, err := t.d.readTree(work, t.s.Base)
	if err != nil {
		return nil, err
	}
	return &tree, nil
}

// run prepares the try, has its kind carry it out, and reads what it left. An error is a failure of ours:
// what the stage did wrong is in the event.
func (t *try) run(ctx context.Context) (step.StageEnded, error) {
	if ctx.Err() != nil {
		return failed(stage.Cancelled, "stopped before it started"), nil
	}
	if t.node == nil {
		return step.StageEnded{}, errors.New("the plan has no such stage")
	}
	kind, ok := t.d.kinds[t.node.Kind]
	if !ok {
		return step.StageEnded{}, fmt.Errorf("this program has no stage kind %q", t.node.Kind)
	}
	if why := badGlob(t.s.AllowedPaths); why != "" {
		return failed(stage.FailedCheck, "%s", why), nil
	}
	var deadline time.Time
	if limit := time.Duration(t.node.Timeout); limit > 0 {
		deadline = t.d.opt.Now().Add(limit)
	}
	config := t.config()
	if err := t.f.prepare(t.d.parents, show(kind, config), t.s, deadline); err != nil {
		return step.StageEnded{}, storage("preparing the stage's folder", t.f.path(""), err)
	}
	if path := t.reportPath(); path != "" {
		if err := removeInside(t.d.opt.Workspace.Root, path); err != nil {
			return failed(stage.PermissionDenied, "the report %q of an earlier try can't be removed: %v", path, err), nil
		}
	}
	if refused, err := t.clearFeedbackFile(); refused != nil || err != nil {
		if refused == nil {
			refused = &step.StageEnded{}
		}
		return *refused, err
	}
	dir, refused := t.resolveDir()
	if refused != nil {
		return *refused, nil
	}
	out, err := t.call(ctx, kind, config, dir, deadline)
	if err != nil {
		return step.StageEnded{}, err
	}
	ended := t.read(&out)
	if ended.Class != "" && ctx.Err() == nil && isFull(t.f.run) {
		// What the stage could not write may be what it failed for: it is not its fault, and once there is
		// room it runs again.
		return ended, &journal.StorageError{Op: "carry out the stage in", Path: t.f.path(""), Err: syscall.ENOSPC}
	}
	return ended, nil
}

// call hands the try to its kind.
func (t *try) call(ctx context.Context, kind stage.Kind, config *value.Object, dir string, deadline time.Time) (stage.Outcome, error) {
	if limit := time.Duration(t.node.Timeout); limit > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, limit, &proc.LimitError{Limit: limit})
		defer cancel()
		ctx = timed
	}
	out, err := kind.Run(ctx, &stage.Call{
		Run: t.d.info.Run, TaskID: t.d.info.TaskID, Pipeline: t.d.info.Pipeline,
		Effect: t.s.Effect, Stage: t.s.Stage, Kind: t.node.Kind,
		Iteration: t.s.Iteration, Attempt: t.s.Attempt, Key: t.s.Key,
		Config: config, Inputs: orEmpty(t.s.Inputs),
		Prompt: t.s.Prompt, Brief: t.s.Brief, Items: t.s.OpenItems,
		Envelope: t.s.Envelope, Discovery: t.s.Discovery, Validates: t.isValidation(),
		Env: t.d.environ(t.s, t.f), Dir: dir, Workspace: t.d.opt.Workspace.Root,
		StageDir: filepath.Join(t.f.run, t.f.rel), Deadline: deadline,
	})
	var log *proc.LogError
	if errors.As(err, &log) {
		return out, storage("write", log.Path, log.Err)
	}
	return out, err
}

// config is what the kind goes by: what the plan holds, and over it what was evaluated for this try.
func (t *try) config() *value.Object {
	if t.s.With.Len() == 0 {
		return orEmpty(t.node.Config)
	}
	out := value.NewObject()
	for _, part := range []*value.Object{t.node.Config, t.s.With} {
		for name, v := range part.All() {
			out.Set(name, v)
		}
	}
	return out
}

// show gives what a process finds of its kind: all of it, or what the kind gives away.
func show(kind stage.Kind, config *value.Object) shown {
	out := shown{kind.Name, config}
	if v, ok := config.Get(kind.Called); ok {
		out.kind, _ = v.(string)
	}
	if kind.Given != "" {
		v, _ := config.Get(kind.Given)
		part, _ := v.(*value.Object)
		out.config = orEmpty(part)
	}
	return out
}

// resolveDir gives the folder in which the stage works, absolute and without symbolic links, so that a link
// that is changed later leads nowhere else. One outside the workspace is refused.
func (t *try) resolveDir() (string, *step.StageEnded) {
	ws := t.d.opt.Workspace
	if t.s.Dir == "" {
		return ws.Root, nil
	}
	dir, err := ws.Resolve(t.s.Dir)
	switch {
	case errors.Is(err, workspace.ErrOutside):
		return "", refuse(stage.PermissionDenied, "dir %q must lie in the workspace: %v", t.s.Dir, workspace.ErrOutside)
	case err != nil:
		return "", refuse(stage.Unavailable, "dir %q can't be used: %v", t.s.Dir, err)
	}
	rel, err := filepath.Rel(ws.Root, dir)
	if err != nil {
		return "", refuse(stage.Unavailable, "dir %q can't be used: %v", t.s.Dir, err)
	}
	if rel != "." {
		t.dir = filepath.ToSlash(rel)
	}
	return dir, nil
}

// reportPath is where the stage leaves its report, relative to the workspace; "" where it has none there.
func (t *try) reportPath() string { return inWorkspace(t.node.Feedback) }

func failed(class stage.Class, format string, args ...any) step.StageEnded {
	return step.StageEnded{Class: string(class), Message: fmt.Sprintf(format, args...)}
}

func refuse(class stage.Class, format string, args ...any) *step.StageEnded {
	ended := failed(class, format, args...)
	return &ended
}

// storage says what the disk refused, and what to do about it.
func storage(op, path string, err error) error {
	if e := (*journal.StorageError)(nil); errors.As(err, &e) {
		return err
	}
	return &journal.StorageError{Op: op, Path: path, Err: err}
}
