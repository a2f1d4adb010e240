// Package repository is the git repository that a stage works in, for the kinds of stages that need it: its name,
// and git commands in it.
//
// Git is started like all that a stage starts, so that it ends with the stage. It runs none of the programs that
// the repository itself may name (hooks, monitors), asks nothing, speaks English, takes paths literally, and is
// not led elsewhere by variables of the environment. Filters and merge drivers that the user configured do run.
// What is merged, and how, is stages/merge.
package repository

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/stages/script"
)

// Repository is the repository that the folder of a call lies in.
type Repository struct {
	starter *proc.Starter
	call    *stage.Call
	env     []string
}

// Open returns the repository of a call. Nothing is looked at yet.
func Open(starter *proc.Starter, call *stage.Call) *Repository {
	return &Repository{starter, call, script.WithEnv(Environment(call),
		"GIT_LITERAL_PATHSPECS=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_EDITOR=:", "GIT_MERGE_AUTOEDIT=no", "LC_ALL=C")}
}

// Environment is that of a call, without what leads git to another repository than that of its folder.
func Environment(call *stage.Call) []string { return workspace.WithoutRepository(call.Env) }

// settings keep git from running what it need not, from asking, and from what a user's settings would make of a
// merge.
var settings = [...]string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.safecrlf=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"safe.directory=*", // the stage runs commands from this folder in any case
	"submodule.recurse=false",
	"advice.detachedHead=false",
	"commit.gpgSign=false", // it could ask for a password
	"merge.ff=true",        // the contrary does not go with --squash
	"merge.conflictStyle=merge",
	"rerere.enabled=false",
}

// Command is a git command.
type Command struct {
	Args   []string
	Dir    string // "": the call's
	GitDir string // of the worktree Dir; "": the one that git finds from Dir
	Stdout string // a file for its stdout, absolute; "": the answer alone
	Stderr string // a file for its stderr, absolute; "": only in errors
}

// Error is a git command that did not succeed.
type Error struct {
	Command string        // "merge"
	Status  int           // -1: it did not end by itself
	Outcome stage.Outcome // what the stage has of it
}

// Error says what git said.
func (e *Error) Error() string { return "git " + e.Command + ": " + e.Outcome.Message }

// Status is the exit status of a git that ran and said no; 0 for any other error.
func Status(err error) int {
	var e *Error
	if errors.As(err, &e) && e.Status > 0 {
		return e.Status
	}
	return 0
}

// Git runs a command in the folder of the call and returns what it wrote.
func (r *Repository) Git(ctx context.Context, args ...string) (string, error) {
	return r.Run(ctx, Command{Args: args})
}

// Run runs a command and returns what it wrote to stdout, where that is no file. A git that could not be started,
// was stopped, or said no gives an *Error; any other error is a failure of ours.
func (r *Repository) Run(ctx context.Context, c Command) (string, error) {
	args := []string{"--no-pager"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	if c.GitDir != "" {
		args = append(args, "--git-dir="+c.GitDir, "--work-tree="+c.Dir)
	}
	dir := c.Dir
	if dir == "" {
		dir = r.call.Dir
	}
	res, err := r.starter.Run(ctx, proc.Spec{
		Path: "git", Args: append(args, c.Args...), Env: r.env, Dir: dir, Stdout: c.Stdout, Stderr: c.Stderr,
		Effect: r.call.Effect, Run: r.call.Run,
	})
	out, err := process.Outcome(&res, err)
	if err != nil {
		return "", err
	}
	if out.Class != stage.OK {
		if said := strings.TrimSpace(string(res.Stderr.Head)); out.Class == stage.Exit && said != "" {
			out.Message = diag.Escape(strings.Join(strings.Fields(script.Cut(script.Clean(said), 500)), " "))
		}
		return "", &Error{c.Args[0], out.ExitCode, out}
	}
	if c.Stdout != "" {
		return "", nil
	}
	if int64(len(res.Stdout.Head)+len(res.Stdout.Tail)) != res.Stdout.Size {
		return "", fmt.Errorf("git %s wrote %d bytes, more than are kept", c.Args[0], res.Stdout.Size)
	}
	return string(res.Stdout.Head) + string(res.Stdout.Tail), nil
}

// Common is the folder of the repository that all its worktrees share.
func (r *Repository) Common(ctx context.Context) (string, error) {
	out, err := r.Git(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", err
	}
	dir := strings.TrimSuffix(out, "\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.call.Dir, dir)
	}
	return dir, nil
}

// Slug names the repository: by the path of its remote ("shop/backend"), else by its folder. Where there is no
// repository, it is the name of the workspace.
func (r *Repository) Slug(ctx context.Context) string {
	if slug := r.remote(ctx); slug != "" {
		return slug
	}
	folder := r.call.Workspace
	if common, err := r.Common(ctx); err == nil {
		folder = common
		if filepath.Base(common) == ".git" {
			folder = filepath.Dir(common)
		}
	}
	return strings.TrimSuffix(filepath.Base(folder), ".git")
}

// remote is what names the remote "origin", else the first one; "" without a remote.
func (r *Repository) remote(ctx context.Context) string {
	out, err := r.Git(ctx, "config", "--get-regexp", "-z", `^remote\..*\.url$`)
	if err != nil {
		return ""
	}
	first := ""
	for entry := range strings.SplitSeq(out, "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		slug := slugOf(url)
		if key == "remote.origin.url" && slug != "" {
			return slug
		}
		if first == "" {
			first = slug
		}
	}
	return first
}

// slugOf gives the path of an address as a host of repositories shows it, without host, user and password; of a
// folder of this machine its name alone.
func slugOf(url string) string {
	url = script.Clean(url)
	local := false
	if _, rest, ok := strings.Cut(url, "://"); ok {
		local = strings.HasPrefix(url, "file:")
		_, url, _ = strings.Cut(rest, "/")
	} else if host, rest, ok := strings.Cut(url, ":"); ok && !strings.Contains(host, "/") {
		url = rest
	} else {
		local = true
	}
	url = strings.TrimSuffix(strings.Trim(url, "/"), ".git")
	if local {
		url = path.Base(url)
	}
	if url == "." || url == ".." {
		return ""
	}
	return strings.Trim(url, "/")
}
