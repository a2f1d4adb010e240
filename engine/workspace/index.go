package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Index is git with an index that is not the user's, or with the user's own, for package undo.
type Index struct{ v *view }

// PrivateIndex makes an empty index of our own; what is written with it goes to the store. done removes it.
func (w *Workspace) PrivateIndex(run string) (x *Index, done func(), err error) {
	v, done, err := w.view()
	if err != nil {
		return nil, nil, err
	}
	v.env = append(v.env, "PIPE_RUN_ID="+run)
	return &Index{v}, done, nil
}

// SharedIndex makes an empty index of our own; what is written with it goes to the user's objects: what a ref of
// ours is to keep. done removes it.
func (w *Workspace) SharedIndex(run string) (x *Index, done func(), err error) {
	v, done, err := w.view()
	if err != nil {
		return nil, nil, err
	}
	v.env = []string{"GIT_INDEX_FILE=" + v.index, "PIPE_RUN_ID=" + run}
	return &Index{v}, done, nil
}

// UserIndex is git as the user would call it, but for what it does not run (hooks, monitors). The processes of all
// three carry the run's id, so that a later process can end them.
func (w *Workspace) UserIndex(run string) *Index {
	return &Index{&view{repository: w.git, root: w.Root, env: []string{"PIPE_RUN_ID=" + run}}}
}

// Git runs git in the root and returns its stdout.
func (x *Index) Git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return x.v.git(ctx, stdin, args...)
}

// GitWith is Git with variables that hold for this call.
func (x *Index) GitWith(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	return x.v.run(ctx, x.v.root, append(x.v.env[:len(x.v.env):len(x.v.env)], env...), stdin, args...)
}

// Line gives the one line that a git command writes.
func (x *Index) Line(ctx context.Context, args ...string) (string, error) {
	return x.v.line(ctx, args...)
}

// Read reads the tree into the index, as Workspace.Read does.
func (x *Index) Read(ctx context.Context, w *Workspace, opt ReadOptions) (Tree, error) {
	out, err := w.excluded(opt.Exclude)
	if err != nil {
		return Tree{}, err
	}
	return x.v.read(ctx, out)
}

// CommitTree makes a commit of a tree, with git's configured author if there is one, and gives its name.
func (x *Index) CommitTree(ctx context.Context, tree string, parents []string, message string) (string, error) {
	return x.v.commitTree(ctx, tree, parents, message)
}

// Prefix is where the root lies in the git work tree: "" or "sub/dir/".
func (x *Index) Prefix() string { return x.v.prefix }

// RestoreCommand is what a person types, in whatever folder, to have all files again as a ref holds them. A linked
// worktree may be gone by then, as that of a run is when it is over: of one, it is typed in any folder of another.
func (x *Index) RestoreCommand(ctx context.Context, ref string, left []string) (string, error) {
	dir, err := x.Line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", err
	}
	command, magic, prefix := "git -C "+ShellWord(x.v.root)+" restore", "", ""
	where := "."
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil { // which only a linked one has
		command, magic, prefix = "git restore", "top,", x.v.prefix
		where = ":/"
		if prefix != "" {
			where = ":(top,literal)" + strings.TrimSuffix(prefix, "/")
		}
	}
	command += " --source=" + ShellWord(ref) + " -- " + ShellWord(where)
	for _, name := range left {
		command += " " + ShellWord(":("+magic+"exclude,literal)"+prefix+name)
	}
	return command, nil
}

// Refused reports whether an error is git's, which ran and said no, and the status that it ended with.
func Refused(err error) (status int, ok bool) {
	e, ok := errors.AsType[*gitError](err)
	if !ok {
		return 0, false
	}
	return e.status, true
}

// Object gives the name of the git object that a tree is; false for one that was walked.
func (t Tree) Object() (id string, ok bool) {
	id, ok = strings.CutPrefix(t.Hash, gitPrefix)
	return id, ok && isObject(id)
}

// Excluded gives the names, files and folders, that are no part of the tree: ours, and those that are given.
func (w *Workspace) Excluded(extra []string) (Excluded, error) {
	out, err := w.excluded(extra)
	if err != nil {
		return nil, err
	}
	return out.paths, nil
}

// Excluded are names relative to the root, clean, with slashes.
type Excluded []string

// Has reports whether a path is left out by its name or a folder's above it.
func (x Excluded) Has(path string) bool { return (&exclusion{paths: x}).path(path) }

// Entry is a file of a tree that was walked: its mode as git writes it, and the SHA-256 of what it holds.
type Entry struct{ Mode, Sum string }

// Entries gives the files of a tree that was walked, by name.
func (w *Workspace) Entries(tree Tree) (map[string]Entry, error) {
	files, err := w.manifest(tree.Hash)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Entry, len(files))
	for name, entry := range files {
		mode, sum, _ := strings.Cut(strings.TrimSpace(entry), " ")
		out[name] = Entry{mode, sum}
	}
	return out, nil
}
