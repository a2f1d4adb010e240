package undo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/pipe/engine/workspace"
)

// ErrConflict is the error of Revert where it would overwrite what is not committed, or where the commits are not
// on the branch any more. Nothing was changed.
var ErrConflict = errors.New("the commits can't be reverted")

// Reverted says what Revert did.
type Reverted struct {
	Commits  int    // that were reverted; 0: there were none
	Commit   string // that reverts them, in short
	Recovery Recovery
}

// Revert reverts all commits that were made on what is checked out since a commit was, "" for none, by one new
// commit: its tree is that of the old one, so that nothing can go wrong between the commits, merges included. Files
// that are not committed stay as they are; where the reverted commits touch one of them, nothing is done
// (ErrConflict); and so it is where commits among them were not made while something of the run worked, see Heads. What
// is not committed is saved first in any case. No hook runs, no editor, and nothing is signed.
func (w *Workspace) Revert(ctx context.Context, since string, opt Options) (Reverted, error) {
	if !w.Git() {
		return Reverted{}, fmt.Errorf("%w: %q is no git work tree", ErrConflict, w.Root)
	}
	x := w.UserIndex(opt.Run)
	r, err := w.revert(ctx, x, since, opt)
	if err != nil {
		return r, fmt.Errorf("revert commits: %w", err)
	}
	return r, nil
}

func (w *Workspace) revert(ctx context.Context, x *workspace.Index, since string, opt Options) (Reverted, error) {
	var r Reverted
	head, headTree, err := headOf(ctx, x)
	if err != nil {
		return r, err
	}
	if r.Recovery, err = w.recovery(ctx, opt); err != nil {
		return r, err
	}
	was, err := w.history(ctx, opt.Copies)
	if err == nil {
		err = was.sameBranch(since)
	}
	if err != nil || head == since {
		return r, err
	}
	tree, commits, err := between(ctx, x, since, head)
	if err != nil || tree == headTree {
		return r, err // it was done before
	}
	if err := was.ownCommits(ctx, x, since, head); err != nil {
		return r, err
	}
	if r.Recovery, err = w.Save(ctx, opt); err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx) // a git that is killed leaves its lock on the index
	if _, err := x.Git(ctx, nil, "update-index", "-q", "--refresh"); err != nil && !refused(err) {
		return r, err // it refuses where something is changed
	}
	if _, err := x.Git(ctx, nil, "read-tree", "-m", "-u", head, tree); err != nil {
		if refused(err) {
			err = fmt.Errorf("%w, since they touch what is not committed: %s; commit that or put it aside, then use git revert%s",
				ErrConflict, strings.TrimPrefix(err.Error(), "git read-tree: "), span(since))
		}
		return r, err
	}
	first := head
	if since != "" {
		first = since + ".." + head
	}
	message := fmt.Sprintf("Revert what came of stage %q\n\nIt was undone at the end of the pipeline run %s.\nThis reverts the commits %s.\n", opt.Stage, opt.Run, first)
	commit, err := x.CommitTree(ctx, tree, []string{"-p", head}, message)
	if err != nil {
		return r, err
	}
	if _, err := x.Git(ctx, nil, "update-ref", "-m", "pipe: revert", "HEAD", commit, head); err != nil {
		return r, err
	}
	r.Commits = commits
	r.Commit, err = x.Line(ctx, "rev-parse", "--short", commit)
	return r, err
}

// span is what a person gives to "git revert" for the commits since one.
func span(since string) string {
	if since == "" {
		return ""
	}
	return " --no-edit " + since + "..HEAD"
}

// between gives the tree of a commit, and how many there are from it to a later one.
func between(ctx context.Context, x *workspace.Index, since, head string) (tree string, commits int, err error) {
	if head == "" {
		return "", 0, fmt.Errorf("%w: a branch without a commit is checked out, and it was %.12s before the stage", ErrConflict, since)
	}
	commitsOf := head
	if since == "" {
		out, err := x.Git(ctx, strings.NewReader(""), "mktree")
		if err != nil {
			return "", 0, err
		}
		tree = strings.TrimSpace(string(out))
	} else {
		if _, ok := (workspace.Tree{Hash: "git:" + since}).Object(); !ok {
			return "", 0, fmt.Errorf("%w: %q is no name of a commit", ErrConflict, since)
		}
		_, err := x.Git(ctx, nil, "merge-base", "--is-ancestor", since, head)
		if refused(err) {
			return "", 0, fmt.Errorf("%w: %.12s, which was checked out before the stage, is no ancestor of %.12s, which is now: the branch was changed or rewritten", ErrConflict, since, head)
		}
		if err != nil {
			return "", 0, err
		}
		if tree, err = x.Line(ctx, "rev-parse", "--verify", since+"^{tree}"); err != nil {
			return "", 0, err
		}
		commitsOf = since + ".." + head
	}
	n, err := x.Line(ctx, "rev-list", "--count", commitsOf)
	if err == nil {
		_, err = fmt.Sscan(n, &commits)
	}
	return tree, commits, err
}
