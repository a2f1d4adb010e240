// Package script runs the shell scripts that kinds of stages are given, and checks them at author time.
//
// A script is handed to its shell as an argument, or as a file of the stage's folder where it is too long for
// that or the shell is no POSIX shell; never through stdin, which belongs to the script. At author time scripts
// for bash and sh must parse.
//
// What the end of a script means for a stage is the kind's matter.
package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
)

// The shells that run a script which names none: bash, where there is one, since a failure in the
// middle of a pipeline of commands must not pass unseen, and sh elsewhere.
const (
	DefaultShell  = defaultName + " -euo pipefail"
	defaultName   = "bash"
	FallbackShell = "sh -eu"
)

// argumentLimit is the greatest length of a script that is handed over as an argument. Linux takes
// arguments of up to 128 KiB; a longer script goes into a file.
const argumentLimit = 64 << 10

// The names of the logs in a stage's folder.
const (
	StdoutLog = "stdout.log"
	StderrLog = "stderr.log"
)

// Script is what to run, and how it differs from the script of a stage of kind command.
type Script struct {
	Text  string
	Shell string // its words; "": the default
	Name  string // what it calls itself in messages; "": the stage

	Dir   string   // "": the call's
	Env   []string // set over the call's
	Stdin string   // a file; "": empty

	Stdout string // its log, absolute; "": StdoutLog of the stage's folder
	Stderr string // its log, absolute; "": StderrLog of the stage's folder

	Heading string // stands in each log before what the script writes there, if it does
}

// Runner runs scripts.
type Runner struct {
	starter *proc.Starter
	shell   found
}

// NewRunner returns a runner whose processes are started by starter.
func NewRunner(starter *proc.Starter) *Runner { return &Runner{starter: starter} }

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

// Run runs a script for a call and returns as Run of a proc.Starter does.
func (r *Runner) Run(ctx context.Context, call *stage.Call, s Script) (proc.Result, error) {
	argv := r.shellOf(s.Shell, call)
	if takesScript(argv[0]) && len(s.Text) <= argumentLimit {
		// The word after the script is what the shell calls itself in its messages.
		argv = append(argv, "-c", s.Text, orElse(s.Name, call.Stage))
	} else {
		file := filepath.Join(call.StageDir, "script")
		if err := writeNew(file, s.Text); err != nil {
			return proc.Result{}, fmt.Errorf("writing the script of stage %q: %w", call.Stage, err)
		}
		argv = append(argv, file)
	}
	env := call.Env
	if len(s.Env) > 0 {
		env = WithEnv(env, s.Env...)
	}
	return r.starter.Run(ctx, proc.Spec{
		Path: argv[0], Args: argv[1:], Env: env, Dir: orElse(s.Dir, call.Dir),
		Stdin:   s.Stdin,
		Stdout:  orElse(s.Stdout, filepath.Join(call.StageDir, StdoutLog)),
		Stderr:  orElse(s.Stderr, filepath.Join(call.StageDir, StderrLog)),
		Heading: s.Heading,
		Effect:  call.Effect, Run: call.Run,
	})
}

// writeNew writes a file in place of what is there: a script that ran before may have put a link there.
func writeNew(name, text string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// shellOf returns the words of the shell to run.
func (r *Runner) shellOf(words string, call *stage.Call) []string {
	argv := strings.Fields(words)
	if len(argv) == 0 {
		argv = strings.Fields(DefaultShell)
		if file, err := r.shell.lookUp(call.Dir, call.Env); err == nil {
			argv[0] = file
		} else {
			argv = strings.Fields(FallbackShell)
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
