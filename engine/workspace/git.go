package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/pipe/engine/proc"
)

// repository is the git work tree that the root lies in.
type repository struct {
	program string // git's path
	prefix  string // of the root in the work tree: "" or "sub/dir/"
	index   string // the user's, absolute; need not exist
	objects string // the user's, absolute
}

// waitDelay is how long git's output is read after it was killed.
const waitDelay = 2 * time.Second

// discover returns nil if root does not lie in a git work tree, or is ignored by the one around it.
func discover(ctx context.Context, root string) (*repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		if top := gitAbove(root); top != "" {
			return nil, fmt.Errorf("%q is a git work tree, and there is no program \"git\" in PATH to read it with", top)
		}
		return nil, nil
	}
	r := &repository{program: program}
	out, err := r.run(ctx, root, nil, nil, "rev-parse", "--is-inside-work-tree", "--git-path", "index", "--git-path", "objects", "--show-prefix")
	var failed *gitError
	if errors.As(err, &failed) {
		if top := gitAbove(root); top != "" && !failed.noRepository() {
			return nil, err
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// The last line is the prefix, which may hold line feeds itself.
	lines := strings.SplitN(string(out), "\n", 4)
	if len(lines) < 4 || lines[0] != "true" {
		return nil, nil // a bare repository, or the inside of .git
	}
	r.index, r.objects = absolute(root, lines[1]), absolute(root, lines[2])
	r.prefix = strings.TrimSuffix(lines[3], "\n")
	if r.prefix == "" {
		return r, nil
	}
	// This command refuses to take paths literally; "." is the same either way.
	_, err = r.run(ctx, root, []string{"GIT_LITERAL_PATHSPECS=0"}, nil, "check-ignore", "-q", ".")
	if err == nil {
		return nil, nil // git sees nothing of it
	}
	if errors.As(err, &failed) && failed.status == 1 {
		return r, nil
	}
	return nil, err
}

func absolute(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// gitAbove returns the nearest folder from dir upwards that holds ".git", or "".
func gitAbove(dir string) string {
	for {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitError is git's refusal.
type gitError struct {
	command string
	status  int // -1: ended by a signal
	stderr  string
}

func (e *gitError) Error() string {
	text := strings.TrimSpace(e.stderr)
	if text == "" {
		text = fmt.Sprintf("it ended with status %d", e.status)
	}
	return fmt.Sprintf("git %s: %s", e.command, strings.ReplaceAll(text, "\n", "; "))
}

func (e *gitError) noRepository() bool { return strings.Contains(e.stderr, "not a git repository") }

// settings keep git from running what it need not, and from minding what does not matter here.
var settings = [...]string{
	"core.fsmonitor=false",     // a program that the repository may name
	"core.hooksPath=/dev/null", // so are hooks
	"core.splitIndex=false",    // it would write beside the user's index
	"core.safecrlf=false",      // mixed line ends are no error here
	"core.untrackedCache=false",
	"gc.auto=0",
	"safe.directory=*", // the run executes commands from this folder in any case
}

// keptVars are the variables of git that stay: where its configuration lies. All others (GIT_DIR in a hook,
// GIT_INDEX_FILE in a commit) would lead it elsewhere.
var keptVars = [...]string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

func gitEnv(extra []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && !kept(name) {
			continue
		}
		env = append(env, kv)
	}
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C")
	return append(env, extra...)
}

// repositoryVars are the variables that lead git to a repository, or to parts of one, whatever folder it is
// called in.
var repositoryVars = [...]string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH", "GIT_CONFIG",
}

// WithoutRepository gives an environment in which git finds the repository of the folder that it is called in.
func WithoutRepository(env []string) []string {
	out := make([]string, 0, len(env))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(repositoryVars[:], name) {
			out = append(out, kv)
		}
	}
	return out
}

func kept(name string) bool {
	for _, k := range keptVars {
		if k == name {
			return true
		}
	}
	return false
}

// run runs git in dir and returns its stdout. A git that ran and refused gives a gitError.
func (r *repository) run(ctx context.Context, dir string, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	full := []string{"--no-pager"}
	for _, s := range settings {
		full = append(full, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.program, append(full, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, gitEnv(env), stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A group of its own: Ctrl-C reaches us alone, and filters that git started end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = waitDelay
	var err error
	proc.OffFirstThread(func() { err = cmd.Run() }) // a process in a group of its own is started there
	if cause := context.Cause(ctx); cause != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], cause)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &gitError{command: args[0], status: exit.ExitCode(), stderr: stderr.String()}
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.Bytes(), nil
}
