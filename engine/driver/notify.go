package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// NotifyDir is the folder of a run in which each script that tells of an escalation has a folder of its own,
// named by its effect.
const NotifyDir = "notify"

// escalationName is what PIPE_ESCALATION names, in that folder.
const escalationName = "escalation.json"

// notifyLimit is how long such a script may take.
const notifyLimit = time.Minute

// scriptKind is the kind that runs scripts, and scriptKey the key of its config that holds one.
const (
	scriptKind = "command"
	scriptKey  = "script"
)

// tell starts the worker of a Notify. Whatever comes of it is an outcome: nothing depends on it.
func (d *Driver) tell(work context.Context, e step.Notify) {
	// Made here: the view is this goroutine's.
	doc, err := d.derived.Escalation(e.Escalation)
	d.crew.telling++
	d.start(work, e.Effect, "it told of an escalation", func(ctx context.Context) outcome {
		var out stage.Outcome
		if err == nil {
			out, err = d.notify(ctx, e, doc)
		}
		if err != nil {
			out = stage.Outcome{Class: stage.Unavailable, Message: err.Error()}
		}
		return outcome{told: true, event: func(at step.Instant) step.Event {
			return step.Notified{At: at, Effect: e.Effect, Class: string(out.Class), Message: out.Message}
		}}
	})
}

// notify runs the script. After a crash it runs again, in a folder of its own.
func (d *Driver) notify(ctx context.Context, e step.Notify, doc []byte) (stage.Outcome, error) {
	kind, ok := d.kinds[scriptKind]
	if !ok {
		return stage.Outcome{}, fmt.Errorf("this program has no stage kind %q", scriptKind)
	}
	dir := filepath.Join(d.opt.Dir, NotifyDir, e.Effect)
	if err := newFolder(dir); err != nil {
		return stage.Outcome{}, err
	}
	file := filepath.Join(dir, escalationName)
	if err := writeNew(file, doc); err != nil {
		return stage.Outcome{}, err
	}
	timed, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	deadline, _ := timed.Deadline()
	return kind.Run(timed, &stage.Call{
		Run: d.info.Run, TaskID: d.info.TaskID, Pipeline: d.info.Pipeline,
		Effect: e.Effect, Stage: NotifyDir, Kind: scriptKind, Iteration: 1, Attempt: 1, Key: e.Effect,
		Config: value.NewObject(value.Field{Name: scriptKey, Value: e.Run}), Inputs: value.NewObject(),
		Env: append(d.env[:len(d.env):len(d.env)],
			"PIPE_RUN_ID="+d.info.Run,
			"PIPE_EFFECT="+e.Effect,
			"PIPE_TASK_ID="+d.info.TaskID,
			"PIPE_PIPELINE="+d.info.Pipeline,
			"PIPE_WORKSPACE="+d.opt.Workspace.Root,
			"PIPE_ESCALATION="+file,
		),
		Dir: d.opt.Workspace.Root, Workspace: d.opt.Workspace.Root, StageDir: dir, Deadline: deadline,
	})
}

// newFolder makes a folder for a script; one that a process which was killed has left goes out of its way.
func newFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if err = moveAside(dir); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	return err
}
