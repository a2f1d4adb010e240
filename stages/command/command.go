// Package command is the stage kind "command": a shell script, the run key of a stage. One shell is executed a
// try; how it gets its script, and what of it is checked at author time, is stages/script.
//
// What is in the script is not evaluated here: that ${{ }} has no place in it is engine/compile's rule, and
// files that the script leaves are read by the driver.
package command

import (
	"context"
	"fmt"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/script"
)

// Name is the kind's name.
const Name = "command"

// The keys of the config.
const (
	keyScript = "script"
	keyShell  = "shell"
)

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := runner{script.NewRunner(starter)}
	checker := script.NewChecker()
	return stage.Kind{
		Name: Name,
		Doc:  "Runs a shell script in the workspace. It succeeds when the script exits with status 0.",
		Config: []stage.Field{
			{Name: keyScript, Type: value.Of(value.String), Required: true,
				Doc: "the script", Example: "go test ./..."},
			{Name: keyShell, Type: value.Of(value.String),
				Doc: "the shell and its options, separated by blanks; by default " + script.DefaultShell +
					" where there is bash, else " + script.FallbackShell + ". A path with a slash is relative to the workspace. " +
					"A program that is no shell gets the script as a file, its last argument",
				Example: "python3 -u"},
		},
		Check: func(p *stage.CheckPass) { check(checker, p) },
		Run:   r.run,
	}
}

type runner struct{ scripts *script.Runner }

// check parses the script of a stage, if its shell is bash or sh.
func check(c *script.Checker, p *stage.CheckPass) {
	config, _ := p.Config.Get(keyScript)
	text, ok := config.(string)
	if !ok {
		return // its type is checked by its declaration
	}
	at, ok := p.Scalars[keyScript]
	if !ok {
		at = source.NewScalar(text, p.Span, nil)
	}
	shell, _ := p.Config.Get(keyShell)
	words, _ := shell.(string)
	c.Check(script.Written{Key: "run", Text: text, Shell: words, At: at}, p.Report)
}

func (r runner) run(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	config, _ := call.Config.Get(keyScript)
	text, ok := config.(string)
	if !ok {
		return stage.Outcome{}, fmt.Errorf("stage %q: its config has no script", call.Stage)
	}
	shell, _ := call.Config.Get(keyShell)
	words, _ := shell.(string)
	res, err := r.scripts.Run(ctx, call, script.Script{Text: text, Shell: words})
	return process.Outcome(&res, err)
}
