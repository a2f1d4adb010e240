package merge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/stages/repository"
	"example.com/pipe/stages/script"
)

// branch is a branch and the commit that it stood at when the stage began.
type branch struct{ name, ref, commit string }

// trial is the worktree in which branches are merged.
type trial struct {
	repo   *repository.Repository
	call   *stage.Call
	common string // the folder that all worktrees of the repository share
	name   string // by which git knows the worktree: that of the stage in this run
	dir    string // absolute; has name as its last element
	gitDir string // what git keeps of the worktree: named in each command, since a script may remove what leads there
	into   branch
	here   string // the worktree that has into checked out, absolute; "": none
	head   string // the commit that was made last
}

// newTrial looks at the branch to merge into, and refuses what would not end well. Nothing is done yet.
func newTrial(ctx context.Context, repo *repository.Repository, call *stage.Call, into string) (*trial, error) {
	common, err := repo.Common(ctx)
	if err != nil {
		return nil, err
	}
	stages := sha256.Sum256([]byte(call.Stage))
	own := *call
	own.Env = repository.Environment(call)
	t := &trial{repo: repo, call: &own, common: common, name: fmt.Sprintf("merge-%s-%s", plain(call.Run), hex.EncodeToString(stages[:4]))}
	t.dir = filepath.Join(call.StageDir, t.name)
	if t.into, err = t.branch(ctx, keyInto, into); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(t.into.ref, localBranches) {
		return nil, refuse("%q is a branch of a remote, expected a branch of this repository to merge into; make one with git branch", into)
	}
	t.head = t.into.commit
	return t, t.isFree(ctx)
}

const localBranches, remoteBranches = "refs/heads/", "refs/remotes/"

// branch finds a branch: one of this repository, else what is known of one of a remote.
func (t *trial) branch(ctx context.Context, key, name string) (branch, error) {
	if name == "" {
		return branch{}, refuse("%q is empty, expected the name of a branch", key)
	}
	if _, err := t.repo.Git(ctx, "check-ref-format", localBranches+name); repository.Status(err) == 1 {
		return branch{}, refuse("%q is %q, which can be no branch's name", key, name)
	} else if err != nil {
		return branch{}, err
	}
	for _, kind := range []string{localBranches, remoteBranches} {
		out, err := t.repo.Git(ctx, "rev-parse", "--quiet", "--verify", kind+name+"^{commit}")
		if err == nil {
			return branch{name, kind + name, strings.TrimSpace(out)}, nil
		}
		if repository.Status(err) != 1 {
			return branch{}, err
		}
	}
	return branch{}, refuse("%q: the repository has no branch %q", key, name)
}

// isFree refuses a branch that could not be moved at the end.
func (t *trial) isFree(ctx context.Context) error {
	out, err := t.repo.Git(ctx, "for-each-ref", "--format=%(worktreepath)", t.into.ref)
	if err != nil {
		return err
	}
	t.here = strings.TrimSuffix(out, "\n")
	if t.here == "" {
		return nil
	}
	top, err := t.repo.Git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if !sameFolder(t.here, strings.TrimSuffix(top, "\n")) {
		return refuse("the branch %q is checked out in %q, whose files would not follow; check out another there", t.into.name, t.here)
	}
	changed, err := t.repo.Git(ctx, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return err
	}
	if changed == "" {
		return nil
	}
	first, _, _ := strings.Cut(changed, "\x00")
	return refuse("the branch %q is checked out, and %q and maybe more has changes that are not committed; commit them before the merge, or merge into a branch that is not checked out",
		t.into.name, first[min(len("XY "), len(first)):])
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// plain is a name of which nothing means anything to git or a file system.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// makeTries is how often git is asked to make a worktree: it looks through all of them, and fails where somebody
// else is just making one.
const makeTries = 3

// begin makes the worktree, in place of what a killed try of the stage left.
func (t *trial) begin(ctx context.Context) error {
	t.remove()
	var err error
	for range makeTries {
		_, err = t.repo.Git(ctx, "worktree", "add", "--quiet", "--force", "--detach", t.dir, t.into.commit)
		if err == nil {
			dir, err := t.repo.Run(ctx, repository.Command{Args: []string{"rev-parse", "--absolute-git-dir"}, Dir: t.dir})
			t.gitDir = strings.TrimSuffix(dir, "\n")
			return err
		}
		if repository.Status(err) == 0 {
			return err
		}
		t.remove()
	}
	return err
}

// remove removes the worktree, whatever is left of it: its folder, and what git knows of it, which is what git
// itself removes of a worktree. It needs no process, so that it works where the stage was stopped.
func (t *trial) remove() {
	// What can't be removed now is removed with the run's folder.
	_ = os.RemoveAll(t.dir)
	admins := filepath.Join(t.common, "worktrees")
	entries, err := os.ReadDir(admins)
	if err != nil {
		return
	}
	for _, e := range entries {
		if number, ours := strings.CutPrefix(e.Name(), t.name); ours && strings.Trim(number, "0123456789") == "" {
			_ = os.RemoveAll(filepath.Join(admins, e.Name()))
		}
	}
	_ = os.Remove(admins) // which only goes where it is empty
}

// in runs git in the worktree.
func (t *trial) in(ctx context.Context, args ...string) (string, error) {
	return t.run(ctx, repository.Command{Args: args})
}

func (t *trial) run(ctx context.Context, c repository.Command) (string, error) {
	c.Dir, c.GitDir = t.dir, t.gitDir
	return t.repo.Run(ctx, c)
}

// environment is what the scripts of a stage get over its own: without what leads git to another repository.
func (t *trial) environment() []string {
	return []string{"GIT_CEILING_DIRECTORIES=" + t.call.StageDir, "LC_ALL=C"}
}

// note writes into the stage's log what follows in it.
func (t *trial) note(format string, args ...any) error {
	return script.Note(t.call, script.StdoutLog, "==> "+fmt.Sprintf(format, args...)+"\n")
}

// squash merges a branch into the worktree, where it is not committed. A conflict is returned, not resolved.
func (t *trial) squash(ctx context.Context, from branch) (*conflict, error) {
	if from.ref == t.into.ref {
		return nil, refuse("the branch %q can't be merged into itself", from.name)
	}
	if err := t.note("merging %q into %q", from.name, t.into.name); err != nil {
		return nil, err
	}
	_, err := t.run(ctx, repository.Command{
		Args:   []string{"merge", "--squash", "--no-progress", "--", from.commit},
		Stdout: filepath.Join(t.call.StageDir, script.StdoutLog), Stderr: filepath.Join(t.call.StageDir, script.StderrLog),
	})
	if repository.Status(err) != 1 {
		return nil, err // merged, or refused
	}
	c, looking := t.conflict(ctx)
	if looking != nil || c == nil {
		return nil, errors.Join(looking, err)
	}
	return c, nil
}

// commit commits what was merged of a branch. A branch that brings nothing makes no commit.
func (t *trial) commit(ctx context.Context, from branch, message string) error {
	_, err := t.in(ctx, "diff", "--cached", "--quiet", "--no-ext-diff")
	if err == nil {
		return t.note("%q brings nothing that %q does not have", from.name, t.into.name)
	}
	if repository.Status(err) != 1 {
		return err
	}
	if strings.TrimSpace(message) == "" {
		message = fmt.Sprintf("Merge branch '%s' into %s", from.name, t.into.name)
	}
	file, err := writeFile(t.call, "message", message+"\n")
	if err != nil {
		return err
	}
	if _, err := t.in(ctx, "commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--file="+file); err != nil {
		return err
	}
	head, err := t.in(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	t.head = strings.TrimSpace(head)
	return err
}

// land moves the branch to what was made. A stop does not reach this step: git would leave files half followed.
func (t *trial) land(ctx context.Context) error {
	if err := ctx.Err(); err != nil || t.head == t.into.commit {
		if err != nil {
			return &refusal{stopped(ctx)}
		}
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	now, err := t.repo.Git(ctx, "rev-parse", "--verify", t.into.ref+"^{commit}")
	if err != nil {
		return err
	}
	if strings.TrimSpace(now) != t.into.commit {
		return refuse("the branch %q moved while it was merged into; run the stage again", t.into.name)
	}
	if t.here == "" {
		_, err = t.repo.Git(ctx, "update-ref", "-m", "merge", t.into.ref, t.head, t.into.commit)
		return err
	}
	// A user's mergeOptions of the branch may say --squash, which would leave it where it is.
	_, err = t.repo.Run(ctx, repository.Command{Args: []string{"merge", "--ff-only", "--no-squash", "--quiet", "--no-progress", t.head}, Dir: t.here})
	return err
}

// stopped is the outcome of a stage that was stopped between two commands.
func stopped(ctx context.Context) stage.Outcome {
	res := proc.Result{ExitCode: -1, Stopped: context.Cause(ctx)}
	out := stage.Outcome{Class: stage.Cancelled, ExitCode: -1, Message: res.Explain()}
	if res.Ending() == proc.TimedOut {
		out.Class = stage.Timeout
	}
	return out
}
