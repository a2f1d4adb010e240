// Package command is the stage kind "command": a shell script, the run key of a stage.
//
// The script is handed to the shell as an argument, or as a file of the stage's folder where it is too long
// for that or the shell is no POSIX shell; never through stdin, which belongs to the script. One shell is
// executed a try. At author time scripts for bash and sh must parse.
//
// What is in the script is not evaluated here: that ${{ }} has no place in it is engine/compile's rule, and
// files that the script leaves are read by the driver.
package command

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
)

// Name is the kind's name.
const Name = "command"

// The keys of the config.
const (
	keyScript = "script"
	keyShell  = "shell"
)

// The shells that run a script when the stage names none: bash, where there is one, since a failure in the
// middle of a pipeline of commands must not pass unseen, and sh elsewhere.
const (
	defaultShell  = defaultName + " -euo pipefail"
	defaultName   = "bash"
	fallbackShell = "sh -eu"
)

// argumentLimit is the greatest length of a script that is handed over as an argument. Linux takes
// arguments of up to 128 KiB; a longer script goes into a file.
const argumentLimit = 64 << 10

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := &runner{starter: starter}
	return stage.Kind{
		Name: Name,
		Doc:  "Runs a shell script in the workspace. It succeeds when the script exits with status 0.",
		Config: []stage.Field{
			{Name: keyScript, Type: value.Of(value.String), Required: true,
				Doc: "the script", Example: "go test ./..."},
			{Name: keyShell, Type: value.Of(value.String),
				Doc: "the shell and its options, separated by blanks; by default " + defaultShell +
					" where there is bash, else " + fallbackShell + ". A path with a slash is relative to the workspace. " +
					"A program that is no shell gets the script as a file, its last argument",
				Example: "python3 -u"},
		},
		Check: new(checker).check,
		Run:   r.run,
	}
}

type runner struct {
	starter *proc.Starter
	shell   found
}

// found keeps where the default shell was found: to look through a long PATH costs as much as to make a
// file, and it seldom changes from stage to stage. A shell that is gone is looked for anew; one that comes to
// lie before it in PATH is seen by the next command.
type found struct {
	mu        sync.Mutex
	path, dir string // what it was looked for with: PATH, and the folder that its entries may be relative to
	file      string // "": nothing was found yet
}

func (f *found) lookUp(dir string, env []string) (string, error) {
	path := proc.Getenv(env, "PATH")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != "" && f.path == path && f.dir == dir {
		if info, err := os.Stat(f.file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return f.file, nil
		}
	}
	file, err := proc.LookPath(defaultName, dir, env)
	if err != nil {
		return "", err
	}
	f.path, f.dir, f.file = path, dir, file
	return file, nil
}

func (r *runner) run(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	script, _ := call.Config.Get(keyScript)
	text, ok := script.(string)
	if !ok {
		return stage.Outcome{}, fmt.Errorf("stage %q: its config has no script", call.Stage)
	}
	shell, _ := call.Config.Get(keyShell)
	words, _ := shell.(string)
	argv := r.shellOf(words, call)
	if takesScript(argv[0]) && len(text) <= argumentLimit {
		// The word after the script is what the shell calls itself in its messages.
		argv = append(argv, "-c", text, call.Stage)
	} else {
		file := filepath.Join(call.StageDir, "script")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return stage.Outcome{}, fmt.Errorf("writing the script of stage %q: %w", call.Stage, err)
		}
		argv = append(argv, file)
	}
	res, err := r.starter.Run(ctx, proc.Spec{
		Path: argv[0], Args: argv[1:], Env: call.Env, Dir: call.Dir,
		Stdout: filepath.Join(call.StageDir, "stdout.log"),
		Stderr: filepath.Join(call.StageDir, "stderr.log"),
		Effect: call.Effect, Run: call.Run,
	})
	return process.Outcome(&res, err)
}

// shellOf returns the words of the shell to run.
func (r *runner) shellOf(words string, call *stage.Call) []string {
	argv := strings.Fields(words)
	if len(argv) == 0 {
		argv = strings.Fields(defaultShell)
		if file, err := r.shell.lookUp(call.Dir, call.Env); err == nil {
			argv[0] = file
		} else {
			argv = strings.Fields(fallbackShell)
		}
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(call.Workspace, argv[0])
	}
	return argv
}

// takesScript reports whether a program takes a script by -c, with the name to go by after it.
func takesScript(shell string) bool {
	switch path.Base(shell) {
	case "bash", "sh", "dash", "ash", "ksh", "mksh", "zsh":
		return true
	}
	return false
}
