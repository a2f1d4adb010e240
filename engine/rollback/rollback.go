// Package rollback carries out one rollback: it undoes what a stage did, as its rollback says, and tells in a line what
// became of it, what is left to a person, and how what was there before comes back.
//
// Undo can be cut off anywhere and done again; a script must bear that. What is put back, saved and reverted is package
// undo's affair; when a rollback is due that of engine/machine; folders and environments are engine/driver's.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/engine/workspace/undo"
)

// Scratch is the name of the scratch folder in the folder of a try, and of a script.
const Scratch = "scratch"

// RecoveryDir is the name of the folder of a run in which is noted what rollbacks must know, and where there is no git,
// what they overwrote.
const RecoveryDir = "recovery"

// Rollback is one that is to be carried out.
type Rollback struct {
	Run     step.RunInfo
	Node    *plan.Node
	Started *step.RollbackStarted

	Workspace *workspace.Workspace
	Exclude   []string // of the workspace, what is no part of the tree

	Dir    string // of the run
	Tries  string // holds the folders of the stage's tries
	Folder string // of the script, new, with a scratch folder in it

	Script  stage.Kind // runs scripts
	Environ []string   // what every process gets of our own environment
}

// Failed makes of an error of Undo what is told, with the class that says whose fault it is.
func Failed(ctx context.Context, out step.RolledBack, err error) step.RolledBack {
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
	return out
}

// Undo does it. An error comes with what is to be told all the same.
func (u *Rollback) Undo(ctx context.Context) (step.RolledBack, error) {
	if u.Node == nil || u.Node.Rollback == nil {
		return step.RolledBack{}, errors.New("the plan has no rollback for it")
	}
	switch u.Node.Rollback.Strategy {
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
	return step.RolledBack{Message: "to be done by hand: " + u.Node.Rollback.Description}, nil
}

func (u *Rollback) options() undo.Options {
	return undo.Options{Run: u.Run.Run, Stage: u.Started.Stage, Exclude: u.Exclude,
		Copies: filepath.Join(u.Dir, RecoveryDir)}
}

// recovered says where what was there before is, and how to have it back.
func recovered(r *undo.Recovery) string {
	if r.Name == "" {
		return ""
	}
	text := "; what was there before is in " + r.Name + ", and comes back with: " + r.Command
	if len(r.Later) > 0 {
		text += "; what came up or was changed while it was rolled back is in " + strings.Join(r.Later, ", ")
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
func (u *Rollback) restore(ctx context.Context) (step.RolledBack, error) {
	undone, err := undo.In(u.Workspace).Restore(ctx, u.Started.Base, u.options())
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
func (u *Rollback) revert(ctx context.Context) (step.RolledBack, error) {
	r, err := undo.In(u.Workspace).Revert(ctx, u.Started.Head, u.options())
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
func (u *Rollback) forget(ctx context.Context) (step.RolledBack, error) {
	tries, err := os.ReadDir(u.Tries)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
		scratch := filepath.Join(u.Tries, try.Name(), Scratch)
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

// run runs the script.
func (u *Rollback) run(ctx context.Context) (step.RolledBack, error) {
	saved, err := undo.In(u.Workspace).Save(ctx, u.options())
	if err != nil {
		return step.RolledBack{}, err
	}
	out := step.RolledBack{Recovery: saved.Name}
	var deadline time.Time
	if limit := time.Duration(u.Node.Timeout); limit > 0 {
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = timed
		deadline, _ = timed.Deadline()
	}
	ended, err := u.Script.Run(ctx, u.call(deadline))
	if err != nil {
		return out, err
	}
	out.Class, out.Message = string(ended.Class), "the script has ended well"
	if ended.Class != stage.OK {
		out.Message = fmt.Sprintf("%s; its logs are in %s of the run's folder", ended.Message, u.inRun(u.Folder))
	}
	out.Message += recovered(&saved)
	return out, nil
}

// inRun names a folder as it is in the run's.
func (u *Rollback) inRun(dir string) string {
	if rel, err := filepath.Rel(u.Dir, dir); err == nil {
		return rel
	}
	return dir
}

func (u *Rollback) call(deadline time.Time) *stage.Call {
	key := u.Run.Run + "/" + u.Started.Stage + "/rollback"
	return &stage.Call{
		Run: u.Run.Run, TaskID: u.Run.TaskID, Pipeline: u.Run.Pipeline,
		Effect: u.Started.Effect, Stage: u.Started.Stage, Kind: u.Script.Name, Iteration: 1, Attempt: 1, Key: key,
		Config: value.NewObject(value.Field{Name: "script", Value: u.Node.Rollback.Run}), Inputs: value.NewObject(),
		Env: u.environ(key),
		Dir: u.Workspace.Root, Workspace: u.Workspace.Root, StageDir: u.Folder, Deadline: deadline,
	}
}

// environ is the environment of the script: ours, what the rollback sets over it, and the PIPE_ variables.
func (u *Rollback) environ(key string) []string {
	out := make([]string, 0, len(u.Environ)+u.Started.Env.Len()+8)
	for _, kv := range u.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := u.Started.Env.Get(name); !set {
			out = append(out, kv)
		}
	}
	for name, v := range u.Started.Env.All() {
		if text, ok := v.(string); ok && !strings.HasPrefix(name, "PIPE_") {
			out = append(out, name+"="+text)
		}
	}
	return append(out,
		"PIPE_RUN_ID="+u.Run.Run,
		"PIPE_EFFECT="+u.Started.Effect,
		"PIPE_TASK_ID="+u.Run.TaskID,
		"PIPE_PIPELINE="+u.Run.Pipeline,
		"PIPE_STAGE="+u.Started.Stage,
		"PIPE_WORKSPACE="+u.Workspace.Root,
		"PIPE_IDEMPOTENCY_KEY="+key,
		"PIPE_STAGE_DIR="+filepath.Join(u.Folder, Scratch),
	)
}
