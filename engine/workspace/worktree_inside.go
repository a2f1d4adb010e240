package workspace

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// foreign is the environment for git in a repository inside of the workspace, whose configuration may be anybody's:
// it came with an archive, say. Its files are those of its folder, whatever it names, and it fetches nothing, for
// which it could name a program. What runs filters (git status, add, diff-files) must not be called there.
func foreign(dir string) []string {
	return []string{"GIT_WORK_TREE=" + dir, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"}
}

// unsavedInside says what the removal of the worktree would lose of the repositories in it that the index names.
func (s *saving) unsavedInside(ctx context.Context, v *view, below string) ([]string, error) {
	staged, err := v.git(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, entry := range splitNames(staged) {
		_, name, _ := strings.Cut(entry, "\t")
		at := filepath.Join(v.root, name)
		if !strings.HasPrefix(entry, "160000 ") || !exists(filepath.Join(at, ".git")) {
			continue
		}
		name = path.Join(below, name)
		if lone, err := s.says(ctx, at, "rev-list", "-n", "1", "HEAD", "--branches", "--not", "--remotes"); err != nil {
			return nil, err
		} else if lone {
			lost = append(lost, fmt.Sprintf("the repository %q in it has commits that no other has", name))
			continue
		}
		changed, err := s.says(ctx, at, "diff-index", "--cached", "--name-only", "--ignore-submodules=dirty", "-z", "HEAD", "--")
		if err != nil {
			return nil, err
		}
		inner, err := s.inside(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, args := range [...][]string{
			{"diff-files", "--name-only", "--ignore-submodules=dirty", "-z"},
			{"ls-files", "--others", "--exclude-standard", "-z"},
		} {
			out, err := inner.git(ctx, nil, args...)
			if err != nil && !refused(err) {
				return nil, err
			}
			changed = changed || err != nil || len(out) > 0
		}
		if changed {
			lost = append(lost, fmt.Sprintf("%q can't be committed", name))
			continue
		}
		deeper, err := s.unsavedInside(ctx, inner, name)
		if err != nil {
			return nil, err
		}
		lost = append(lost, deeper...)
	}
	return lost, nil
}

// says asks git in a repository inside, and reports whether it lists anything, or can't.
func (s *saving) says(ctx context.Context, at string, args ...string) (bool, error) {
	out, err := s.run(ctx, at, append(s.t.env(), foreign(at)...), nil, args...)
	if err != nil && !refused(err) {
		return false, err
	}
	return err != nil || len(out) > 0, nil
}

// inside is a repository inside with a copy of its index and with our own repository's configuration.
func (s *saving) inside(ctx context.Context, at string) (*view, error) {
	index, err := s.run(ctx, at, append(s.t.env(), foreign(at)...), nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(s.index), "inside-*") // goes with the folder
	if err != nil {
		return nil, err
	}
	v := &view{
		repository: &repository{program: s.program, index: absolute(at, strings.TrimSuffix(string(index), "\n"))},
		root:       at, index: filepath.Join(dir, "index"),
	}
	v.env = append(s.t.env(), "GIT_DIR="+s.admin, "GIT_WORK_TREE="+at, "GIT_INDEX_FILE="+v.index)
	return v, v.prime()
}
