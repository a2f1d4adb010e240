package workspace

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// oldestGit is the oldest git with which worktrees are known to work.
var oldestGit = [2]int{2, 20}

// Usable says whether the main workspace can have a worktree; if not, the error is a *NoWorktreeError.
func (t *Worktree) Usable(ctx context.Context) error {
	if t.main.git == nil {
		return t.whyNoGit(ctx)
	}
	out, err := t.git(ctx, "--version")
	if err != nil {
		return err
	}
	if version := strings.TrimSpace(string(out)); isOld(version) {
		return noWorktree("%q is %s, and a worktree needs git %d.%d or later", t.main.git.program, version, oldestGit[0], oldestGit[1])
	}
	if _, ok, err := t.commit(ctx, "HEAD"); err != nil {
		return err
	} else if !ok {
		return noWorktree("the git repository of %q has no commit, and a worktree holds what the last commit holds; commit first", t.main.Root)
	}
	if folder := strings.TrimSuffix(t.main.git.prefix, "/"); folder != "" {
		_, err := t.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD:"+folder)
		if refused(err) {
			return noWorktree("the project's folder %q is not in the last commit of its git repository, and so in no worktree; commit it first", folder)
		}
		if err != nil {
			return err
		}
	}
	space, _, _ := strings.Cut(t.Branch, "/")
	if _, ok, err := t.commit(ctx, "refs/heads/"+space); err != nil || !ok {
		return err
	}
	return noWorktree("a git branch is named %q, so that there can be no branch %q; rename it: git branch -m %s NAME", space, t.Branch, space)
}

// whyNoGit says why git knows no work tree here.
func (t *Worktree) whyNoGit(ctx context.Context) error {
	program, err := exec.LookPath("git")
	if err != nil {
		return noWorktree("a worktree needs git, and there is no program \"git\" in PATH")
	}
	root := t.main.Root
	out, err := (&repository{program: program}).run(ctx, root, nil, nil, "rev-parse", "--is-inside-work-tree")
	switch {
	case err == nil && strings.TrimSpace(string(out)) == "true":
		return noWorktree("%q lies in a git repository that ignores it, so that no worktree can hold it", root)
	case err == nil:
		return noWorktree("%q lies in a bare git repository, which has no files of its own; run the pipeline in a clone of it", root)
	}
	return noWorktree("%q lies in no git repository, and a worktree is one of a repository; make one with \"git init\" and a first commit", root)
}

// isOld reports whether "git version 2.39.5 (…)" is too old. A version that can't be read is not.
func isOld(version string) bool {
	words := strings.Fields(version)
	if len(words) < 3 {
		return false
	}
	var got [2]int
	for i, number := range strings.SplitN(words[2], ".", 3)[:min(2, strings.Count(words[2], ".")+1)] {
		n, err := strconv.Atoi(number)
		if err != nil {
			return false
		}
		got[i] = n
	}
	return got[0] < oldestGit[0] || got[0] == oldestGit[0] && got[1] < oldestGit[1]
}
