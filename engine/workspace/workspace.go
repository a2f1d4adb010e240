package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnknownTree is returned by Changed for a tree that the store does not hold.
var ErrUnknownTree = errors.New("no such tree is recorded")

// StateDir is the folder of our own state, at the root.
const StateDir = ".pipe"

// ours are the folders at the root that are never part of the tree.
var ours = [...]string{StateDir, ".artifacts", ".tot-docs"}

// Workspace is a project's folder. Its fields may be changed before the first Read.
type Workspace struct {
	Root  string // absolute, without symbolic links
	Store string // where trees are kept: one folder a run, made when needed; Open sets .pipe/trees

	git *repository // nil: not in a git work tree
}

// Tree names a state of the workspace. Both are opaque, and never empty.
type Tree struct {
	Hash    string // of all files
	Tracked string // of the tracked files alone
}

// ReadOptions says what a reading leaves out.
type ReadOptions struct {
	Exclude []string // files or folders, relative to the root, with slashes
}

// Open finds out what kind of workspace root is. It must be a folder.
func Open(root string) (*Workspace, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %q: %w", root, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("open the workspace %q: %w", root, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %q: %w", root, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open the workspace %q: it is not a folder", root)
	}
	w := &Workspace{Root: abs, Store: filepath.Join(abs, StateDir, "trees")}
	if w.git, err = discover(context.Background(), abs); err != nil {
		return nil, err
	}
	return w, nil
}

// Git says whether the root lies in a git work tree.
func (w *Workspace) Git() bool { return w.git != nil }

// FindRoot returns the project's root for a folder: the nearest one from start upwards that holds pipe.yaml
// or .pipe, but no farther up than the top of the git work tree; else that top; else start.
func FindRoot(start string) (string, error) {
	abs, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("find the project of %q: %w", start, err)
	}
	for dir := abs; ; {
		if isNoFolder(filepath.Join(dir, "pipe.yaml")) || isDir(filepath.Join(dir, StateDir)) || exists(filepath.Join(dir, ".git")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return abs, nil
		}
		dir = parent
	}
}

// isNoFolder reports whether there is something, though it may be none that can be read: a pipe.yaml that is
// a pipe or a broken link is to be reported, not passed by.
func isNoFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Read returns the tree of the workspace as it is now, and keeps it in the store for Changed.
func (w *Workspace) Read(ctx context.Context, opt ReadOptions) (Tree, error) {
	out, err := w.excluded(opt.Exclude)
	if err != nil {
		return Tree{}, err
	}
	if err := os.MkdirAll(w.Store, 0o700); err != nil {
		return Tree{}, fmt.Errorf("read the workspace's tree: %w", err)
	}
	if w.git != nil {
		return w.readGit(ctx, out)
	}
	return w.readWalk(ctx, out)
}

// Changed returns the files that differ between two trees of the store, relative to the root, with slashes,
// sorted by bytes. "" is the empty tree. If the workspace became a git work tree in between, all files of
// both trees count as changed. A tree that the store does not hold gives ErrUnknownTree.
func (w *Workspace) Changed(ctx context.Context, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	fromGit, toGit := strings.HasPrefix(from, gitPrefix), strings.HasPrefix(to, gitPrefix)
	var names []string
	var err error
	switch {
	case (fromGit || from == "") && (toGit || to == ""):
		names, err = w.changedGit(ctx, from, to)
	case !fromGit && !toGit:
		names, err = w.changedWalk(from, to)
	default:
		for _, tree := range []string{from, to} {
			all, allErr := w.Changed(ctx, "", tree)
			if allErr != nil {
				return nil, allErr
			}
			names = append(names, all...)
		}
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // sorted: they reach the journal
	return slices.Compact(names), nil
}

// exclusion is what a reading leaves out.
type exclusion struct {
	paths []string      // relative to the root, clean, with slashes
	files []fs.FileInfo // what our stdout and stderr go to
}

// excluded gathers what does not count. A path that leads out of the root excludes nothing.
func (w *Workspace) excluded(extra []string) (*exclusion, error) {
	out := &exclusion{paths: slices.Clone(ours[:])}
	for _, path := range extra {
		if filepath.IsLocal(path) && filepath.Clean(path) != "." {
			out.paths = append(out.paths, filepath.ToSlash(filepath.Clean(path)))
		}
	}
	// The store may lie in the root under another name than .pipe ("state" in pipe.yaml).
	store := w.Store
	if resolved, err := filepath.EvalSymlinks(store); err == nil {
		store = resolved
	}
	if rel, err := filepath.Rel(w.Root, store); err == nil && filepath.IsLocal(rel) {
		if rel == "." {
			return nil, fmt.Errorf("read the workspace's tree: the store of trees %q is the workspace itself", w.Store)
		}
		out.paths = append(out.paths, filepath.ToSlash(rel))
	}
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			out.files = append(out.files, info)
		}
	}
	return out, nil
}

// path says whether a path, relative to the root, is left out by its name or a folder's above it.
func (x *exclusion) path(rel string) bool {
	for _, p := range x.paths {
		if rest, ok := strings.CutPrefix(rel, p); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// ourOutput says whether a file is one that we write to by our stdout or stderr.
func (x *exclusion) ourOutput(info fs.FileInfo) bool {
	return slices.ContainsFunc(x.files, func(f fs.FileInfo) bool { return os.SameFile(f, info) })
}
