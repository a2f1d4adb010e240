package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/rollback"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/engine/workspace/undo"
)

// RollbackDir is the folder of a run in which each script of a rollback has a folder of its own, named by its effect.
const RollbackDir = "rollback"

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
		out.Tree, err = d.readCompared(ctx, e.Since)
	}
	switch {
	case err != nil || !e.Head:
	case ws.Git():
		out.Tree.Head, err = ws.Head(ctx)
	default: // what is refused at the end leaves behind what cannot be undone
		out.Refused = "git_revert reverts commits, and the project is no git work tree; put it under git, or use the strategy file_restore"
	}
	if err != nil {
		return out, fmt.Errorf("reading the workspace before stage %q: %w", e.Stage, err)
	}
	return out, nil
}

// rollBack starts the worker of a Rollback. Whatever comes of it is an outcome, but for a full disk: once there is
// room, the run is resumed and it is done again.
func (d *Driver) rollBack(work context.Context, e step.Rollback) {
	r := &rollback.Rollback{
		Run: d.info, Node: d.opt.Machine.Node(e.Started.Stage), Started: e.Started,
		Workspace: d.opt.Workspace, Exclude: d.Excluded(),
		Dir: d.opt.Dir, Tries: filepath.Dir(filepath.Join(d.opt.Dir, FolderOf(e.Started.Stage, 1, 1))),
		Folder: filepath.Join(d.opt.Dir, RollbackDir, e.Started.Effect),
		Script: d.kinds[scriptKind], Environ: d.env,
	}
	d.start(work, e.Started.Effect, "it undid stage "+e.Started.Stage, func(ctx context.Context) outcome {
		var out step.RolledBack
		err := d.crew.heads.Around(work, func() (err error) {
			out, err = undoStage(ctx, r)
			return err
		})
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

func undoStage(ctx context.Context, r *rollback.Rollback) (out step.RolledBack, err error) {
	if r.Node == nil || r.Node.Rollback == nil {
		return out, errors.New("the plan has no rollback for it")
	}
	if r.Node.Rollback.Strategy == plan.RunScript {
		if r.Script.Run == nil {
			return out, fmt.Errorf("this program has no stage kind %q", scriptKind)
		}
		if err = newFolder(r.Folder); err == nil {
			err = os.Mkdir(filepath.Join(r.Folder, rollback.Scratch), 0o700)
		}
	}
	if err == nil {
		out, err = r.Undo(ctx)
	}
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), ctx.Err() == nil && isFull(r.Dir):
		return out, storage("undo what a stage did in", r.Workspace.Root, err)
	default:
		out = rollback.Failed(ctx, out, err)
	}
	return out, nil
}

// letGo gives up what was kept for rollbacks, once the run is over.
func (d *Driver) letGo(ctx context.Context) {
	if !hasRollback(&d.opt.Plan.Graph, plan.FileRestore) || !d.opt.Machine.Status().Ended() {
		return
	}
	if err := undo.In(d.opt.Workspace).Release(ctx, d.info.Run); err != nil {
		d.warn("%v", err)
	}
}

// hasRollback reports whether a stage of a graph has a rollback with this strategy.
func hasRollback(g *plan.Graph, s plan.RollbackStrategy) bool {
	return slices.ContainsFunc(g.Nodes, func(n plan.Node) bool {
		return n.Rollback != nil && n.Rollback.Strategy == s || n.Body != nil && hasRollback(n.Body, s)
	})
}
