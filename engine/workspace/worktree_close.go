package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Close commits all that is in the worktree on its branch, as far as it is not ignored or excluded, and removes
// the worktree; the branch stays. A worktree that holds what no commit can keep stays as well: why says what
// that is. Close of one that is gone removes what is left of it.
func (t *Worktree) Close(ctx context.Context, message string, exclude []string) (why string, err error) {
	if t.main.git == nil {
		if t.Exists() {
			return "", fmt.Errorf("close the worktree %q: %w", t.Path, t.whyNoGit(ctx))
		}
		return "", nil
	}
	if t.Exists() {
		if why, err = t.save(ctx, message, exclude); err != nil {
			return "", fmt.Errorf("commit what is in the worktree %q: %w", t.Path, err)
		}
		if why != "" {
			return why, nil
		}
	}
	release, err := t.alone(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if err := t.clear(ctx); err != nil {
		return "", fmt.Errorf("remove the worktree %q: %w", t.Path, err)
	}
	return "", nil
}

// clear removes folder and administration of the worktree, however little is left of them. The folder goes
// under another name first: half of it must not be taken for what the run left.
func (t *Worktree) clear(ctx context.Context) error {
	admin, err := t.admin(ctx)
	if err != nil {
		return err
	}
	old := filepath.Join(filepath.Dir(t.Path), "."+filepath.Base(t.Path)+".old")
	if err := removeAll(old); err != nil {
		return err
	}
	switch err := os.Rename(t.Path, old); {
	case err == nil:
		if err := SyncFolder(filepath.Dir(old)); err != nil {
			return err
		}
		if err := removeAll(old); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := t.unlock(ctx, admin); err != nil || admin == "" {
		return err
	}
	// As "git worktree remove" does with a worktree whose folder is gone. Without this file, a git that looks
	// through all worktrees at this moment passes it over.
	if err := os.Remove(filepath.Join(admin, "gitdir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeAll(admin)
}

// removeAll is os.RemoveAll that also removes what lies in folders that can't be written to, as those of
// Go's module cache.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(name, 0o700) // before it is listed
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// SyncFolder makes the names in a folder durable, where the file system can.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// saving is one commit of what is in a worktree. Git is told which repository it is: a stage may have changed
// the file of the worktree that says so. The index is a copy, so that a lock that a killed git left is in
// nobody's way.
type saving struct {
	*view
	t     *Worktree
	admin string
	out   *exclusion
}

// save commits what is in the worktree. The text says what could not be committed.
func (t *Worktree) save(ctx context.Context, message string, exclude []string) (string, error) {
	admin, err := t.admin(ctx)
	if err != nil {
		return "", err
	}
	if admin == "" {
		return "", noWorktree("the repository of %q does not know it any more; copy what you need out of it, then delete it", t.main.Root)
	}
	if err := t.unlock(ctx, admin); err != nil {
		return "", err
	}
	if err := os.MkdirAll(t.space.Store, 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(t.space.Store, "commit-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	s := &saving{t: t, admin: admin, out: &exclusion{}, view: &view{
		repository: &repository{program: t.main.git.program, index: filepath.Join(admin, "index")},
		root:       t.Path, index: filepath.Join(dir, "index"),
	}}
	s.env = append(t.env(), "GIT_DIR="+admin, "GIT_WORK_TREE="+t.Path, "GIT_INDEX_FILE="+s.index)
	for _, name := range append(ours[:], exclude...) {
		s.out.paths = append(s.out.paths, path.Join(t.main.git.prefix, name))
	}
	if err := s.prime(); err != nil {
		return "", err
	}
	return s.save(ctx, message)
}

func (s *saving) save(ctx context.Context, message string) (string, error) {
	head, err := s.line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	var left []string
	if _, err := s.git(ctx, nil, "add", "--all", "--ignore-errors", "--", "."); refused(err) {
		left = append(left, err.Error()) // of all that it can't add; the rest it has added
	} else if err != nil {
		return "", err
	}
	if err := s.leaveOut(ctx, head); err != nil {
		return "", err
	}
	tree, err := s.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	if err := s.advance(ctx, head, tree, message); err != nil {
		return "", err
	}
	more, err := s.unsaved(ctx)
	return strings.Join(append(left, more...), "; "), err
}

// leaveOut takes what is excluded out of the index, but for what the last commit has.
func (s *saving) leaveOut(ctx context.Context, head string) error {
	args := []string{"diff-index", "--cached", "--diff-filter=A", "--no-renames", "--name-only", "-z", head, "--"}
	added, err := s.git(ctx, nil, append(args, s.out.paths...)...)
	if err != nil || len(added) == 0 {
		return err
	}
	_, err = s.git(ctx, bytes.NewReader(added), "update-index", "--force-remove", "-z", "--stdin")
	return err
}

// advance moves the branch to a commit of the tree. A stage may have committed by itself, and on another
// branch: nothing that it did is lost.
func (s *saving) advance(ctx context.Context, head, tree, message string) error {
	tip, found, err := s.t.commit(ctx, s.t.ref())
	if err != nil {
		return err
	}
	parents := []string{"-p", head}
	if found && tip != head {
		_, err := s.git(ctx, nil, "merge-base", "--is-ancestor", tip, head)
		if refused(err) {
			parents = append(parents, "-p", tip)
		} else if err != nil {
			return err
		}
	}
	committed, err := s.line(ctx, "rev-parse", "--verify", head+"^{tree}")
	if err != nil {
		return err
	}
	next := head
	if committed != tree || len(parents) > 2 {
		if next, err = s.commitTree(ctx, tree, parents, message); err != nil {
			return err
		}
	}
	if next == tip {
		return nil
	}
	_, err = s.git(ctx, nil, "update-ref", "-m", "pipe: commit what the run changed", s.t.ref(), next, tip)
	return err
}

// unsaved says what the removal of the worktree would lose although it is not ignored: files that git could
// not add, and commits of repositories inside that are nowhere else.
func (s *saving) unsaved(ctx context.Context) ([]string, error) {
	var lost []string
	if info, err := os.Lstat(filepath.Join(s.root, ".git")); err == nil && info.IsDir() {
		lost = append(lost, "a stage made it a repository of its own")
	}
	for _, args := range [][]string{
		{"diff-files", "--name-only", "--ignore-submodules=dirty", "-z"},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		list, err := s.git(ctx, nil, args...)
		if err != nil {
			return nil, err
		}
		for _, name := range splitNames(list) {
			if !s.out.path(strings.TrimSuffix(name, "/")) {
				lost = append(lost, fmt.Sprintf("%q can't be committed", name))
			}
		}
	}
	inside, err := s.unsavedInside(ctx, s.view, "")
	if err != nil {
		return nil, err
	}
	lost = append(lost, inside...)
	const most = 5
	if n := len(lost) - most; n > 0 {
		lost = append(lost[:most], fmt.Sprintf("and %d more", n))
	}
	return lost, nil
}
