package undo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// worked lets something of the run work.
func worked(t *testing.T, h *Heads, do func()) {
	t.Helper()
	must(t, h.Around(t.Context(), func() error {
		do()
		return nil
	}))
}

// TestRevertOwnCommits reverts what the run made, and refuses where somebody else's commits would go with it.
func TestRevertOwnCommits(t *testing.T) {
	commit := func(t *testing.T, dir, name string) {
		t.Helper()
		write(t, filepath.Join(dir, name), name+"\n")
		commitAll(t, dir, name)
	}
	for name, c := range map[string]struct {
		between func(t *testing.T, dir string) // somebody else, after the stage
		again   bool                           // another stage works after that
		want    string                         // in the error; "": it is reverted
	}{
		"nothing":        {between: func(*testing.T, string) {}},
		"another stage":  {between: func(*testing.T, string) {}, again: true},
		"on top":         {between: func(t *testing.T, dir string) { commit(t, dir, "mine.txt") }, want: "nothing of the run worked when"},
		"between stages": {between: func(t *testing.T, dir string) { commit(t, dir, "mine.txt") }, again: true, want: "nothing of the run worked when"},
		"amended":        {between: func(t *testing.T, dir string) { git(t, dir, "commit", "-q", "--amend", "-m", "mine") }, want: "nothing of the run worked when"},
		"taken back": {between: func(t *testing.T, dir string) {
			commit(t, dir, "mine.txt")
			git(t, dir, "reset", "-q", "--hard", "HEAD^")
		}},
		"another branch":        {between: func(t *testing.T, dir string) { git(t, dir, "switch", "-q", "-c", "mine") }, want: `the branch "mine" is checked out`},
		"without a branch":      {between: func(t *testing.T, dir string) { git(t, dir, "switch", "-q", "--detach") }, want: "without a branch is checked out"},
		"back before the stage": {between: func(t *testing.T, dir string) { git(t, dir, "switch", "-q", "-c", "mine", "HEAD^") }, want: `the branch "mine" is checked out`},
		"another branch with commits": {between: func(t *testing.T, dir string) {
			git(t, dir, "switch", "-q", "-c", "mine", "HEAD^")
			commit(t, dir, "mine.txt")
		}, again: true, want: `the branch "mine" is checked out`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			w := open(t, dir)
			opt := options(dir)
			opt.Copies = filepath.Join(t.TempDir(), "recovery")
			h := NewHeads(w, opt.Copies)
			since := head(t, w)
			worked(t, h, func() { commit(t, dir, "stage.txt") })
			c.between(t, dir)
			if c.again {
				worked(t, h, func() { commit(t, dir, "later.txt") })
			}
			tip, branch := head(t, w), git(t, dir, "branch", "--show-current")
			var r Reverted
			err := h.Around(t.Context(), func() (err error) {
				r, err = w.Revert(t.Context(), since, opt)
				return err
			})
			if c.want == "" {
				if err != nil || r.Commits == 0 {
					t.Fatalf("%+v, %v", r, err)
				}
				// The commit that reverts is the run's own: what an earlier stage did can be reverted after it.
				worked(t, h, func() { commit(t, dir, "finally.txt") })
				if _, err := w.Revert(t.Context(), since, opt); err != nil {
					t.Error("then:", err)
				}
				return
			}
			if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want %q", r, err, c.want)
			}
			if head(t, w) != tip || git(t, dir, "branch", "--show-current") != branch || git(t, dir, "status", "--porcelain") != "" {
				t.Error("something was changed")
			}
		})
	}
}

// TestRevertAfterKill takes nothing for the run's that came when nobody looked.
func TestRevertAfterKill(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	opt := options(dir)
	opt.Copies = filepath.Join(t.TempDir(), "recovery")
	since := head(t, w)
	must(t, NewHeads(w, opt.Copies).count(t.Context(), 1)) // and the engine is killed
	f, err := os.OpenFile(filepath.Join(opt.Copies, headsFile), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"ends":true,"bra`)
	must(t, errors.Join(err, f.Close()))
	write(t, filepath.Join(dir, "mine.txt"), "mine\n")
	commitAll(t, dir, "mine")
	worked(t, NewHeads(w, opt.Copies), func() {})
	if _, err := w.Revert(t.Context(), since, opt); !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
}
