// Package plugin is the stage kind "plugin": a program of somebody else that carries out a stage, one process a
// try (a one-shot plugin).
//
// The program is named in pipe.yaml's plugins, or is pipe-stage-NAME of the PATH; which one it is was decided
// when the pipeline was compiled and stands in the config. It gets the files and the environment of a script,
// with what the stage says in "with" as "config" of PIPE_INPUT, and gives its outputs and items by files, as
// scripts do: stdout is its log. Only with "result: stdout" stdout is its answer, one JSON object.
//
// Finding the program is the work of engine/compile and engine; files that the program leaves are read by the
// driver.
package plugin

import (
	"context"
	"path/filepath"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
)

// Name is the kind's name.
const Name = "plugin"

// The keys of the config.
const (
	keyName    = "name"
	keyCommand = "command"
	keyResult  = "result"
	keyWith    = "with"
)

// resultStdout says that stdout is the answer.
const resultStdout = "stdout"

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := runner{starter}
	return stage.Kind{
		Name: Name,
		Doc: "Runs a program that pipe.yaml's plugins name, or pipe-stage-NAME of the PATH. It succeeds when the program exits with " +
			"status 0 and, with result: stdout, its stdout is one JSON object.",
		Config: []stage.Field{
			{Name: keyName, Type: value.Of(value.String), Required: true,
				Doc: "what the stage uses", Example: "deploy"},
			{Name: keyCommand, Type: value.ListOf(value.Of(value.String)), Required: true,
				Doc: "the program and its arguments; a path with a slash is relative to the workspace", Example: "[python3, plugins/deploy.py]"},
			{Name: keyResult, Type: value.OneOf(resultStdout),
				Doc:     "stdout: it is one JSON object with outputs, summary, feedback_items, replies, prior; without it, stdout is only a log",
				Example: resultStdout},
			{Name: keyWith, Type: value.Of(value.ObjectKind),
				Doc: "what the stage gives it, any keys: it is the config of PIPE_INPUT", Example: "{target: staging}"},
		},
		Given:  keyWith,
		Called: keyName,
		Run:    r.run,
	}
}

type runner struct{ starter *proc.Starter }

func (r runner) run(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	argv, err := process.Argv(call, keyCommand)
	if err != nil {
		return stage.Outcome{}, err
	}
	log := filepath.Join(call.StageDir, "stdout.log")
	res, err := r.starter.Run(ctx, proc.Spec{
		Path: argv[0], Args: argv[1:], Env: call.Env, Dir: call.Dir,
		Stdout: log, Stderr: filepath.Join(call.StageDir, "stderr.log"),
		Effect: call.Effect, Run: call.Run,
	})
	out, err := process.Outcome(&res, err)
	if err != nil || out.Class != stage.OK && out.Class != stage.Exit {
		return out, err
	}
	if result, _ := call.Config.Get(keyResult); result != resultStdout {
		return out, nil
	}
	said, err := process.Stdout{Output: &res.Stdout, Log: log, Who: "the plugin", Stage: call.Stage, Validates: call.Validates}.Answer()
	if err != nil {
		return stage.Outcome{}, err
	}
	return process.With(out, said), nil
}
