// Package process is what kinds of stages share whose work is a process: which program a config names, what the
// end of a process means (it puts what engine/proc reports into the failure classes of engine/stage), and what a
// program says on stdout where that is its answer.
//
// It starts nothing: a kind runs the process, the driver reads the files that it left.
package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

// Argv gives the program and its arguments that the key of a call's config names. A program with a slash is
// relative to the workspace.
func Argv(call *stage.Call, key string) ([]string, error) {
	config, _ := call.Config.Get(key)
	list, _ := config.(value.List)
	argv := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("stage %q: %q holds %s, expected strings", call.Stage, key, value.Describe(v))
		}
		argv = append(argv, s)
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("stage %q: it has no %q to run", call.Stage, key)
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(call.Workspace, argv[0])
	}
	return argv, nil
}

// Outcome gives the outcome of a try from what Run of a proc.Starter returned. An error is a failure of ours; a
// process that could not be started, or not be ended, is the stage's.
func Outcome(res *proc.Result, err error) (stage.Outcome, error) {
	out := stage.Outcome{ExitCode: res.ExitCode, Message: diag.Escape(res.Explain())}
	var start *proc.StartError
	var left *proc.LeftError
	switch {
	case errors.As(err, &start):
		out.Class, out.Message = stage.Unavailable, diag.Escape(start.Error())
		if start.Reason == proc.NotPermitted {
			out.Class = stage.PermissionDenied
		}
		return out, nil
	case errors.As(err, &left):
		out.Class, out.Message = stage.Unavailable, left.Error()
		return out, nil
	case err != nil:
		return stage.Outcome{}, err
	}
	switch res.Ending() {
	case proc.Exited:
		out.Class = stage.OK
	case proc.ExitedNonZero:
		out.Class = stage.Exit
	case proc.Signalled:
		out.Class = stage.Signal
	case proc.TimedOut:
		out.Class = stage.Timeout
	case proc.Cancelled:
		out.Class = stage.Cancelled
	case proc.UnknownEnding:
		return stage.Outcome{}, errors.New("a process came back without an end")
	}
	return out, nil
}
