package undo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func commitAll(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", message)
}

func head(t *testing.T, w *Workspace) string {
	t.Helper()
	id, err := w.Head(t.Context())
	must(t, err)
	return id
}

func TestRevert(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	hook := filepath.Join(dir, ".git/hooks/pre-commit")
	write(t, hook, "#!/bin/sh\nexit 1\n")
	since, was := head(t, w), git(t, dir, "rev-parse", "HEAD^{tree}")
	must(t, os.Chmod(hook, 0o644))
	write(t, filepath.Join(dir, "a.txt"), "one\n")
	commitAll(t, dir, "one")
	git(t, dir, "checkout", "-q", "-b", "side", since)
	write(t, filepath.Join(dir, "side.txt"), "side\n")
	commitAll(t, dir, "side")
	git(t, dir, "checkout", "-q", "-")
	git(t, dir, "merge", "-q", "--no-edit", "side")
	must(t, os.Chmod(hook, 0o755))
	tip := head(t, w)
	write(t, filepath.Join(dir, "dir/b.txt"), "not committed\n")
	write(t, filepath.Join(dir, "new.txt"), "not known\n")

	r, err := w.Revert(t.Context(), since, options(dir))
	must(t, err)
	if r.Commits != 3 || r.Recovery.Name == "" {
		t.Errorf("reverted %+v, want 3 commits and a recovery", r)
	}
	if got := git(t, dir, "rev-parse", "HEAD^{tree}"); got != was {
		t.Errorf("the tree of the new commit is %s, want %s", got, was)
	}
	if got := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD^")); got != tip || strings.Contains(git(t, dir, "branch", "--show-current"), "side") {
		t.Errorf("the new commit stands on %s, want %s", got, tip)
	}
	if got := git(t, dir, "status", "--porcelain"); got != " M dir/b.txt\n?? new.txt\n" {
		t.Errorf("git status says\n%s", got)
	}
	if got := git(t, dir, "log", "-1", "--format=%s"); got != "Revert what came of stage \"p/build[1]\"\n" {
		t.Errorf("subject %q", got)
	}
	if got := git(t, dir, "show", r.Recovery.Name+":new.txt"); got != "not known\n" {
		t.Errorf("the recovery holds %q", got)
	}
	now := head(t, w)
	again, err := w.Revert(t.Context(), since, options(dir))
	must(t, err)
	if again.Commits != 0 || head(t, w) != now || again.Recovery.Name != r.Recovery.Name {
		t.Errorf("the second time: %+v", again)
	}
}

// TestRevertConflict leaves everything as it is where a reverted commit touches what is not committed, or is not
// there.
func TestRevertConflict(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"a file is changed", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a.txt"), "mine\n") }, "a.txt"},
		{"a file is in the place of one that comes back", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "dir/b.txt"), "mine\n") }, "dir/b.txt"},
		{"something is staged", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a.txt"), "mine\n")
			git(t, dir, "add", "a.txt")
		}, "a.txt"},
		{"the commit is not on the branch", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "-q", "--orphan", "other")
			git(t, dir, "commit", "-q", "-m", "other")
		}, "the branch was changed or rewritten"},
		{"the branch has no commit", func(t *testing.T, dir string) { git(t, dir, "checkout", "-q", "--orphan", "other") }, "without a commit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := repo(t)
			w := open(t, dir)
			since := head(t, w)
			write(t, filepath.Join(dir, "a.txt"), "one\n")
			must(t, os.Remove(filepath.Join(dir, "dir/b.txt")))
			commitAll(t, dir, "one")
			c.change(t, dir)
			was, tip, status := held(t, dir), head(t, w), git(t, dir, "status", "--porcelain")
			_, err := w.Revert(t.Context(), since, options(dir))
			if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
			if held(t, dir) != was || head(t, w) != tip || git(t, dir, "status", "--porcelain") != status {
				t.Error("something was changed")
			}
		})
	}
}

// TestRevertCutOff cuts it off between its steps, and does it again.
func TestRevertCutOff(t *testing.T) {
	for n := range 12 {
		dir := repo(t)
		w := open(t, dir)
		since, was := head(t, w), git(t, dir, "rev-parse", "HEAD^{tree}")
		write(t, filepath.Join(dir, "a.txt"), "one\n")
		must(t, os.Remove(filepath.Join(dir, "dir/b.txt")))
		write(t, filepath.Join(dir, "new.txt"), "new\n")
		commitAll(t, dir, "one")
		_, cut := w.Revert(&countdown{Context: t.Context(), left: n}, since, options(dir))
		_, err := w.Revert(t.Context(), since, options(dir))
		must(t, err)
		if git(t, dir, "rev-parse", "HEAD^{tree}") != was || git(t, dir, "status", "--porcelain") != "" {
			t.Errorf("cut off after %d: it is not reverted", n)
		}
		if cut == nil {
			return
		}
	}
}

func TestRevertFirstCommit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	w := open(t, dir)
	if since := head(t, w); since != "" {
		t.Fatalf("head %q", since)
	}
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	commitAll(t, dir, "first")
	r, err := w.Revert(t.Context(), "", options(dir))
	must(t, err)
	if r.Commits != 1 || git(t, dir, "ls-tree", "HEAD") != "" {
		t.Errorf("reverted %+v", r)
	}
	_, err = open(t, projects["walk"](t)).Revert(t.Context(), "", options(dir))
	if !errors.Is(err, ErrConflict) {
		t.Errorf("without git: %v", err)
	}
}
