package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/engine/workspace/undo"
)

// The folders of a run that rollbacks use: of the scripts, each in one of its own, and of copies of what was
// overwritten, where there is no git.
const (
	RollbackDir = "rollback"
	RecoveryDir = "recovery"
)

// readFor reads the tree that an effect asks for, with what a rollback needs to go back to it.
func (d *Driver) readFor(ctx context.Context, e step.ReadTree) (step.TreeRead, error) {
	out := step.TreeRead{Effect: e.Effect}
	ws := d.opt.Workspace
	var err error
	if e.Keep {
		var tree workspace.Tree
		tree, err = undo.In(ws).Keep(ctx, workspace.ReadOptions{Exclude: d.Excluded()}, d.info.Run, e.Stage)
		out.Tree = step.Tree{Hash: tree.Hash, Tracked: tree.Tracked}
		if errors.Is(err, undo.ErrNotKept) {
			out.Refused, err = diag.Escape(err.Error()), nil
		}
	} else {
		out.Tree, err = d.readTree(ctx, e.Since)
	}
	if err == nil && e.Head {
		out.Tree.Head, err = ws.Head(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("reading the workspace before stage %q: %w", e.Stage, err)
	}
	return out, nil
}

// rollBack starts the worker of a Rollback. Whatever comes of it is an outcome, but for a full disk: once there is
// room, the run is resumed and it is done again.
func (d *Driver) rollBack(work context.Context, e step.Rollback) {
	u := &undoing{d: d, node: d.opt.Machine.Node(e.Started.Stage), s: e.Started}
	d.start(work, e.Started.Effect, "it undid stage "+e.Started.Stage, func(ctx context.Context) outcome {
		out, err := u.carryOut(ctx)
		if err != nil {
			return outcome{err: fmt.Errorf("undoing stage %q: %w", e.Started.Stage, err)}
		}
		out.Effect, out.Message = e.Started.Effect, diag.Escape(out.Message)
		return outcome{event: func(at step.Instant) step.Event {
			out.At = at
			return out
		}}
	})
}

// undoing is one rollback, carried out by a worker.
type undoing struct {
	d    *Driver
	node *plan.Node
	s    *step.RollbackStarted
}

func (u *undoing) carryOut(ctx context.Context) (step.RolledBack, error) {
	out, err := u.undo(ctx)
	if err == nil {
		return out, nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || ctx.Err() == nil && isFull(u.d.opt.Dir) {
		return out, storage("undo what a stage did in", u.d.opt.Workspace.Root, err)
	}
	class := stage.Unavailable
	switch {
	case ctx.Err() != nil:
		class = stage.Cancelled
	case errors.Is(err, undo.ErrConflict):
		class = stage.FailedCheck
	case errors.Is(err, fs.ErrPermission):
		class = stage.PermissionDenied
	}
	text := err.Error()
	if out.Message != "" {
		text += "; " + out.Message
	}
	out.Class, out.Message = string(class), text
	return out, nil
}

// undo does it. An error comes with what is to be told all the same.
func (u *undoing) undo(ctx context.Context) (step.RolledBack, error) {
	if u.node == nil || u.node.Rollback == nil {
		return step.RolledBack{}, errors.New("the plan has no rollback for it")
	}
	switch u.node.Rollback.Strategy {
	case plan.FileRestore:
		return u.restore(ctx)
	case plan.GitRevert:
		return u.revert(ctx)
	case plan.MemoryCleanup:
		return u.forget(ctx)
	case plan.RunScript:
		return u.run(ctx)
	case plan.Manual, plan.UnknownRollback:
	}
	return step.RolledBack{Message: "to be done by hand: " + u.node.Rollback.Description}, nil
}

func (u *undoing) options() undo.Options {
	return undo.Options{Run: u.d.info.Run, Stage: u.s.Stage, Exclude: u.d.Excluded(),
		Copies: filepath.Join(u.d.opt.Dir, RecoveryDir)}
}

// recovered says where what was there before is, and how to have it back.
func recovered(r *undo.Recovery) string {
	if r.Name == "" {
		return ""
	}
	text := "; what was there before is in " + r.Name + ", and comes back with: " + r.Command
	if len(r.Later) > 0 {
		text += "; it was changed between two tries of the rollback, see also " + strings.Join(r.Later, ", ")
	}
	return text
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + several
}

// restore puts files back as they were before the stage.
func (u *undoing) restore(ctx context.Context) (step.RolledBack, error) {
	undone, err := undo.In(u.d.opt.Workspace).Restore(ctx, u.s.Base, u.options())
	out := step.RolledBack{Files: undone.Files, Recovery: undone.Recovery.Name}
	if err != nil {
		out.Message = strings.TrimPrefix(recovered(&undone.Recovery), "; ")
		return out, err
	}
	out.Message = "no file differs from what it was before the stage"
	if n := len(undone.Files); n > 0 {
		out.Message = counted(n, "file is as it was before the stage", "files are as they were before the stage")
	}
	if n := len(undone.Left); n > 0 {
		const most = 5
		left := undone.Left[:min(n, most)]
		if n > most {
			left = append(left[:most:most], fmt.Sprintf("and %d more", n-most))
		}
		out.Class = string(stage.FailedCheck)
		out.Message += "; " + counted(n, "file could not be put back", "files could not be put back") + ": " + strings.Join(left, "; ")
	}
	if n := len(undone.Ignored); n > 0 {
		out.Message += "; " + counted(n, "file that is ignored again was left", "files that are ignored again were left") +
			fmt.Sprintf(", as %q", undone.Ignored[0])
	}
	out.Message += recovered(&undone.Recovery)
	return out, nil
}

// revert reverts the commits that were made since the stage started.
func (u *undoing) revert(ctx context.Context) (step.RolledBack, error) {
	r, err := undo.In(u.d.opt.Workspace).Revert(ctx, u.s.Head, u.options())
	out := step.RolledBack{Recovery: r.Recovery.Name}
	saved := ""
	if r.Recovery.Name != "" {
		saved = "what is not committed was left as it is, and is also in " + r.Recovery.Name
	}
	switch {
	case err != nil:
		out.Message = saved
		if errors.Is(err, undo.ErrConflict) {
			out.Message = strings.TrimPrefix(saved+"; nothing was changed", "; ")
		}
		return out, err
	case r.Commits == 0:
		out.Message = "no commit is left to revert since the stage started"
	default:
		out.Message = counted(r.Commits, "commit was reverted by ", "commits were reverted by ") + r.Commit
	}
	if saved != "" {
		out.Message += "; " + saved
	}
	return out, nil
}

// tryName is how the folder of a try is called, also of one that was lost.
var tryName = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.lost-[0-9]+)?$`)

// forget removes the scratch folders of all tries of the stage. Its state files go when this is recorded, since
// they follow from the records.
func (u *undoing) forget(ctx context.Context) (step.RolledBack, error) {
	dir := filepath.Dir(filepath.Join(u.d.opt.Dir, FolderOf(u.s.Stage, 1, 1)))
	tries, err := os.ReadDir(dir)
	if err != nil && !isMissing(err) {
		return step.RolledBack{}, err
	}
	n := 0
	for _, try := range tries {
		if ctx.Err() != nil {
			return step.RolledBack{}, context.Cause(ctx)
		}
		if !try.IsDir() || !tryName.MatchString(try.Name()) {
			continue
		}
		scratch := filepath.Join(dir, try.Name(), scratchName)
		if _, err := os.Lstat(scratch); err != nil {
			continue
		}
		if err := os.RemoveAll(scratch); err != nil {
			return step.RolledBack{}, err
		}
		n++
	}
	return step.RolledBack{Message: "the state files of its loops and " +
		counted(n, "scratch folder", "scratch folders") + " were removed; the journal and the logs stay"}, nil
}

// run runs the script, in a folder of its own; after a crash once more, in a new one.
func (u *undoing) run(ctx context.Context) (step.RolledBack, error) {
	kind, ok := u.d.kinds[scriptKind]
	if !ok {
		return step.RolledBack{}, fmt.Errorf("this program has no stage kind %q", scriptKind)
	}
	saved, err := undo.In(u.d.opt.Workspace).Save(ctx, u.options())
	if err != nil {
		return step.RolledBack{}, err
	}
	out := step.RolledBack{Recovery: saved.Name}
	dir := filepath.Join(u.d.opt.Dir, RollbackDir, u.s.Effect)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return out, err
	}
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if err = moveAside(dir); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, scratchName), 0o700)
	}
	if err != nil {
		return out, err
	}
	var deadline time.Time
	if limit := time.Duration(u.node.Timeout); limit > 0 {
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = timed
		deadline, _ = timed.Deadline()
	}
	ended, err := kind.Run(ctx, u.call(dir, deadline))
	if err != nil {
		return out, err
	}
	out.Class, out.Message = string(ended.Class), "the script has ended well"
	if ended.Class != stage.OK {
		out.Message = fmt.Sprintf("%s; its logs are in %s of the run's folder", ended.Message, filepath.Join(RollbackDir, u.s.Effect))
	}
	out.Message += recovered(&saved)
	return out, nil
}

func (u *undoing) call(dir string, deadline time.Time) *stage.Call {
	d := u.d
	key := d.info.Run + "/" + u.s.Stage + "/" + RollbackDir
	return &stage.Call{
		Run: d.info.Run, TaskID: d.info.TaskID, Pipeline: d.info.Pipeline,
		Effect: u.s.Effect, Stage: u.s.Stage, Kind: scriptKind, Iteration: 1, Attempt: 1, Key: key,
		Config: value.NewObject(value.Field{Name: scriptKey, Value: u.node.Rollback.Run}), Inputs: value.NewObject(),
		Env: u.environ(dir, key),
		Dir: d.opt.Workspace.Root, Workspace: d.opt.Workspace.Root, StageDir: dir, Deadline: deadline,
	}
}

// environ is the environment of the script: ours, what the rollback sets over it, and the PIPE_ variables.
func (u *undoing) environ(dir, key string) []string {
	d := u.d
	out := make([]string, 0, len(d.env)+u.s.Env.Len()+8)
	for _, kv := range d.env {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := u.s.Env.Get(name); !set {
			out = append(out, kv)
		}
	}
	for name, v := range u.s.Env.All() {
		if !strings.HasPrefix(name, "PIPE_") {
			out = append(out, name+"="+text(v))
		}
	}
	return append(out,
		"PIPE_RUN_ID="+d.info.Run,
		"PIPE_EFFECT="+u.s.Effect,
		"PIPE_TASK_ID="+d.info.TaskID,
		"PIPE_PIPELINE="+d.info.Pipeline,
		"PIPE_STAGE="+u.s.Stage,
		"PIPE_WORKSPACE="+d.opt.Workspace.Root,
		"PIPE_IDEMPOTENCY_KEY="+key,
		"PIPE_STAGE_DIR="+filepath.Join(dir, scratchName),
	)
}

// forget marks the state files of a stage's loops, where its rollback cleared away what the run remembered of it:
// they are removed, and not written again.
func (w *derived) forget(at step.Instant, stage string) {
	if !w.view.Forgotten(stage) {
		return
	}
	for _, source := range w.order {
		if l, ok := w.view.Loop(source); ok && (l.Source == stage || l.Target == stage) {
			w.touch(at, source)
		}
	}
}

// letGo gives up what was kept for rollbacks, once the run is over.
func (d *Driver) letGo(ctx context.Context) {
	if !keepsTrees(&d.opt.Plan.Graph) || !d.opt.Machine.Status().Ended() {
		return
	}
	if err := undo.In(d.opt.Workspace).Release(ctx, d.info.Run); err != nil {
		d.warn("%v", err)
	}
}

// keepsTrees reports whether a stage of a graph has a rollback that goes back to a tree.
func keepsTrees(g *plan.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n plan.Node) bool {
		return n.Rollback != nil && n.Rollback.Strategy == plan.FileRestore || n.Body != nil && keepsTrees(n.Body)
	})
}
