// Package agent is the stage kind "agent": a program that is given a prompt, as pipe.yaml's agents name it.
//
// The prompt is the program's stdin, a file that ends, and never an argument, where others could read it and
// its length would be bounded. What stdout means is the agent's "output": "json" is one object with
// outputs, summary, feedback_items, replies and prior; "text" is the output "text"; without it, stdout is
// only a log, and the program gives its outputs and items by files, as scripts do.
//
// The text of the prompt is engine/driver's and the machine's work; files that the program leaves are read
// by the driver.
package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
)

// Name is the kind's name.
const Name = "agent"

// The keys of the config.
const (
	keyName    = "name"
	keyCommand = "command"
	keyOutput  = "output"
)

// What an agent's stdout means.
const (
	outputJSON = "json"
	outputText = "text"
)

// CodeCommand is the code of the diagnostic for an agent without a command.
const CodeCommand diag.Code = "agent-command"

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := runner{starter}
	return stage.Kind{
		Name: Name,
		Doc:  "Runs a program with a prompt on its stdin. It succeeds when the program exits with status 0 and says what its output promises.",
		Config: []stage.Field{
			{Name: keyName, Type: value.Of(value.String), Required: true,
				Doc: "the agent's name in pipe.yaml", Example: "reviewer"},
			{Name: keyCommand, Type: value.ListOf(value.Of(value.String)), Required: true,
				Doc: "the program and its arguments; a path with a slash is relative to the workspace", Example: "[./bin/reviewer]"},
			{Name: keyOutput, Type: value.OneOf(outputJSON, outputText),
				Doc:     "what stdout means: json (one object with outputs, summary, feedback_items, replies, prior), text (the output text); without it, stdout is only a log",
				Example: outputJSON},
		},
		Check: check,
		Run:   r.run,
	}
}

// check asks for a command that names a program.
func check(p *stage.CheckPass) {
	config, _ := p.Config.Get(keyCommand)
	list, ok := config.(value.List)
	if !ok {
		return // its type is checked by its declaration
	}
	first := ""
	if len(list) > 0 {
		first, _ = list[0].(string)
	}
	if strings.TrimSpace(first) != "" {
		return
	}
	name, _ := p.Config.Get(keyName)
	span := p.Span
	if at, ok := p.Scalars[keyCommand]; ok {
		span = at.Span
	}
	p.Report(diag.Diagnostic{Severity: diag.Error, Code: CodeCommand, Span: span,
		Message: fmt.Sprintf(`agent "%v" has no command, expected a program and its arguments`, name),
		Help:    "write it in pipe.yaml, such as \"command: [./bin/reviewer]\""})
}

type runner struct{ starter *proc.Starter }

func (r runner) run(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	argv, err := process.Argv(call, keyCommand)
	if err != nil {
		return stage.Outcome{}, err
	}
	prompt := filepath.Join(call.StageDir, "prompt")
	if err := os.WriteFile(prompt, []byte(call.Prompt), 0o600); err != nil {
		return stage.Outcome{}, fmt.Errorf("writing the prompt of stage %q: %w", call.Stage, err)
	}
	log := filepath.Join(call.StageDir, "stdout.log")
	res, err := r.starter.Run(ctx, proc.Spec{
		Path: argv[0], Args: argv[1:], Env: call.Env, Dir: call.Dir,
		Stdin: prompt, Stdout: log, Stderr: filepath.Join(call.StageDir, "stderr.log"),
		Effect: call.Effect, Run: call.Run,
	})
	out, err := process.Outcome(&res, err)
	if err != nil || out.Class != stage.OK && out.Class != stage.Exit {
		return out, err
	}
	stdout := process.Stdout{Output: &res.Stdout, Log: log, Who: "the agent", Stage: call.Stage, Validates: call.Validates}
	mode, _ := call.Config.Get(keyOutput)
	var said stage.Outcome
	switch mode {
	case outputJSON:
		said, err = stdout.Answer()
	case outputText:
		said, err = stdout.Text()
	default:
		return out, nil
	}
	if err != nil {
		return stage.Outcome{}, err
	}
	return process.With(out, said), nil
}
