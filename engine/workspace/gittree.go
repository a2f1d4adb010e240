package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// gitPrefix begins the hash of a tree that git read; the rest is an object's name.
const gitPrefix = "git:"

// readTries is how often a tree is read anew because files changed while git read them.
const readTries = 3

// view is git with an index and an object folder of our own.
type view struct {
	*repository
	root  string
	env   []string
	index string
}

// view makes a folder for one reading; done removes it.
func (w *Workspace) view() (v *view, done func(), err error) {
	objects := filepath.Join(w.Store, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the store of trees: %w", err)
	}
	dir, err := os.MkdirTemp(w.Store, "reading-*")
	if err != nil {
		return nil, nil, fmt.Errorf("make the store of trees: %w", err)
	}
	v = &view{repository: w.git, root: w.Root, index: filepath.Join(dir, "index")}
	v.env = []string{
		"GIT_INDEX_FILE=" + v.index,
		"GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted(w.git.objects),
	}
	// What stays behind of a folder that can't be removed does no harm.
	return v, func() { _ = os.RemoveAll(dir) }, nil
}

// quoted writes a path for a list that is separated by colons, in git's form for such paths.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

func (v *view) git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return v.run(ctx, v.root, v.env, stdin, args...)
}

// readGit reads the tree. Git refuses a file that vanishes or grows while it reads it: read again then.
func (w *Workspace) readGit(ctx context.Context, out *exclusion) (Tree, error) {
	for try := 1; ; try++ {
		tree, err := w.readGitOnce(ctx, out)
		var refused *gitError
		if err == nil || try == readTries || !errors.As(err, &refused) {
			if err != nil {
				err = fmt.Errorf("read the workspace's tree: %w", err)
			}
			return tree, err
		}
	}
}

func (w *Workspace) readGitOnce(ctx context.Context, out *exclusion) (Tree, error) {
	v, done, err := w.view()
	if err != nil {
		return Tree{}, err
	}
	defer done()
	return v.read(ctx, out)
}

// read reads the tree into our index, which is made anew.
func (v *view) read(ctx context.Context, out *exclusion) (Tree, error) {
	if err := v.prime(); err != nil {
		return Tree{}, err
	}
	args := append([]string{"rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--"}, out.paths...)
	if _, err := v.git(ctx, nil, args...); err != nil {
		return Tree{}, err
	}
	if _, err := v.git(ctx, nil, "add", "-u", "--", "."); err != nil {
		return Tree{}, err
	}
	tracked, err := v.writeTree(ctx)
	if err != nil {
		return Tree{}, err
	}
	names, err := v.untracked(ctx, out)
	if err != nil {
		return Tree{}, err
	}
	if len(names) == 0 {
		return Tree{Hash: tracked, Tracked: tracked}, nil
	}
	list := strings.NewReader(strings.Join(names, "\x00") + "\x00")
	if _, err := v.git(ctx, list, "update-index", "--add", "--replace", "--remove", "-z", "--stdin"); err != nil {
		return Tree{}, err
	}
	all, err := v.writeTree(ctx)
	return Tree{Hash: all, Tracked: tracked}, err
}

// prime copies the user's index, so that files that it knows need not be read again. The copy keeps the
// time of the original: git takes a file that was written in the same moment as the index for changed.
func (v *view) prime() error {
	// Without O_NONBLOCK a pipe in its place would wait for a writer.
	from, err := os.OpenFile(v.repository.index, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy git's index: %w", err)
	}
	defer from.Close()
	info, err := from.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return fmt.Errorf("copy git's index: %w", err)
	}
	to, err := os.OpenFile(v.index, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy git's index: %w", err)
	}
	_, err = io.Copy(to, from)
	if closing := to.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chtimes(v.index, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return fmt.Errorf("copy git's index: %w", err)
	}
	return nil
}

// writeTree writes what our index holds below the root.
func (v *view) writeTree(ctx context.Context) (string, error) {
	args := []string{"write-tree"}
	if v.prefix != "" {
		args = append(args, "--prefix="+v.prefix)
	}
	id, err := v.git(ctx, nil, args...)
	var refused *gitError
	if v.prefix != "" && errors.As(err, &refused) && strings.Contains(refused.stderr, "not found") {
		id, err = v.git(ctx, strings.NewReader(""), "mktree") // nothing below the root: the empty tree
	}
	if err != nil {
		return "", err
	}
	return gitPrefix + strings.TrimSpace(string(id)), nil
}

// untracked lists the files that are neither in our index nor ignored, and those of repositories inside.
func (v *view) untracked(ctx context.Context, out *exclusion) ([]string, error) {
	list, err := v.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range splitNames(list) {
		if out.path(strings.TrimSuffix(name, "/")) {
			continue
		}
		if strings.HasSuffix(name, "/") {
			inner, err := v.nested(ctx, name, out)
			if err != nil {
				return nil, err
			}
			names = append(names, inner...)
			continue
		}
		if len(out.files) > 0 {
			if info, err := os.Lstat(filepath.Join(v.root, name)); err == nil && out.ourOutput(info) {
				continue
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// nested lists the files of another repository, tracked there or not ignored there. It may have no commit,
// and further ones inside. Its own configuration may name another folder for its files, or none: a stage could
// hide there what it changes.
func (v *view) nested(ctx context.Context, dir string, out *exclusion) ([]string, error) {
	at := filepath.Join(v.root, dir)
	list, err := v.run(ctx, at, foreign(at), nil, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, inner := range splitNames(list) {
		name := dir + inner
		info, err := os.Lstat(filepath.Join(v.root, name))
		if out.path(strings.TrimSuffix(name, "/")) || err != nil || out.ourOutput(info) {
			continue // excluded, or tracked there and deleted
		}
		if !info.IsDir() {
			names = append(names, name)
			continue
		}
		if !exists(filepath.Join(v.root, name, ".git")) {
			continue // a submodule that is not checked out
		}
		deeper, err := v.nested(ctx, strings.TrimSuffix(name, "/")+"/", out)
		if err != nil {
			return nil, err
		}
		names = append(names, deeper...)
	}
	return names, nil
}

func splitNames(list []byte) []string {
	var names []string
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}

// changedGit compares two trees; "" is the empty one.
func (w *Workspace) changedGit(ctx context.Context, from, to string) ([]string, error) {
	if w.git == nil {
		return nil, fmt.Errorf("compare trees: %w: %q was read by git, and %q is in no git work tree any more", ErrUnknownTree, from+to, w.Root)
	}
	v, done, err := w.view()
	if err != nil {
		return nil, err
	}
	defer done()
	ids := make([]string, 0, 2)
	for _, tree := range []string{from, to} {
		id := strings.TrimPrefix(tree, gitPrefix)
		if tree == "" {
			empty, err := v.git(ctx, strings.NewReader(""), "mktree")
			if err != nil {
				return nil, fmt.Errorf("compare trees: %w", err)
			}
			id = strings.TrimSpace(string(empty))
		} else if !isObject(id) {
			return nil, fmt.Errorf("compare trees: %w: %q is no name of a tree", ErrUnknownTree, tree)
		}
		ids = append(ids, id)
	}
	list, err := v.git(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", ids[0], ids[1], "--")
	var refused *gitError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("compare trees: %w in %q: %w", ErrUnknownTree, w.Store, err)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	return splitNames(list), nil
}

// isObject says whether a text is a git object's name in hex, and not a word that git would look up.
func isObject(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}
