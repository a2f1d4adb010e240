package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/pipe/engine/workspace"
)

// Options says whose work is undone.
type Options struct {
	Run, Stage string   // the stage by its path
	Exclude    []string // as in workspace.ReadOptions
	Copies     string   // absolute: below it is noted which files are put back, and, where there is no git, saved what is overwritten
}

// Recovery is what the workspace held before something was undone. The zero value is nothing at all.
type Recovery struct {
	Name    string   // the ref, or the folder
	Command string   // puts all of it back, whatever folder it is typed in
	Later   []string // further ones: what came up, or was changed, between two tries of the same
}

// recoveryRefs is where the refs lie that hold what was there before something was undone.
const recoveryRefs = "refs/pipe/recovery/"

// numbered gives the name of the n-th recovery of a stage, from 1.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s@%d", name, n)
}

// Save saves what is in the workspace and not in the last commit under a recovery ref; without git it does
// nothing. Nothing to save is the zero Recovery. The same state is not saved twice.
func (w *Workspace) Save(ctx context.Context, opt Options) (Recovery, error) {
	if !w.Git() {
		return Recovery{}, nil
	}
	return w.saveGit(ctx, nil, true, opt)
}

// saveGit makes a commit of all files, and also of those that are named and ignored; if asked for, only where it
// differs from the last commit.
func (w *Workspace) saveGit(ctx context.Context, names []string, ifDirty bool, opt Options) (r Recovery, err error) {
	err = retry(func() error {
		r, err = w.saveGitOnce(ctx, names, ifDirty, opt)
		return err
	})
	if err != nil {
		err = fmt.Errorf("save what is in the workspace: %w", err)
	}
	return r, err
}

func (w *Workspace) saveGitOnce(ctx context.Context, names []string, ifDirty bool, opt Options) (Recovery, error) {
	x, done, err := w.SharedIndex(opt.Run)
	if err != nil {
		return Recovery{}, err
	}
	defer done()
	head, headTree, err := headOf(ctx, x)
	if err != nil {
		return Recovery{}, err
	}
	tree, left, err := w.whole(ctx, x, head, names, opt)
	if err != nil {
		return Recovery{}, err
	}
	base := recoveryRef(opt)
	r := Recovery{Name: base}
	if r.Command, err = x.RestoreCommand(ctx, base, left); err != nil {
		return Recovery{}, err
	}
	if tree == headTree && ifDirty {
		if _, err := x.Line(ctx, "rev-parse", "--quiet", "--verify", base); refused(err) {
			return Recovery{}, nil
		} else if err != nil {
			return Recovery{}, err
		}
		return r, nil // of an earlier try
	}
	for n := 1; ; n++ {
		ref := numbered(base, n)
		if n > 1 {
			r.Later = append(r.Later, ref)
		}
		held, err := x.Line(ctx, "rev-parse", "--quiet", "--verify", ref+"^{tree}")
		if err != nil && !refused(err) {
			return Recovery{}, err
		}
		if err != nil {
			return r, saveAs(ctx, x, ref, tree, head, opt)
		}
		if held == tree {
			return r, nil
		}
	}
}

// whole reads all files into the index, and gives their tree from the top of the repository; and which of the excluded
// names the last commit has, as which they are in it.
func (w *Workspace) whole(ctx context.Context, x *workspace.Index, head string, names []string, opt Options) (tree string, left []string, err error) {
	if _, err := x.Read(ctx, w.Workspace, workspace.ReadOptions{Exclude: opt.Exclude}); err != nil {
		return "", nil, err
	}
	if len(names) > 0 {
		list := strings.NewReader(strings.Join(names, "\x00") + "\x00")
		if _, err := x.Git(ctx, list, "update-index", "--add", "--replace", "--remove", "-z", "--stdin"); err != nil {
			return "", nil, err
		}
	}
	out, err := w.Excluded(opt.Exclude)
	if err != nil {
		return "", nil, err
	}
	left, list, err := committed(ctx, x, head, out)
	if err == nil && len(list) > 0 {
		_, err = x.Git(ctx, strings.NewReader(list), "update-index", "-z", "--index-info")
	}
	if err == nil {
		tree, err = x.Line(ctx, "write-tree")
	}
	return tree, left, err
}

// saveAs makes a commit of a tree, and a ref that names it.
func saveAs(ctx context.Context, x *workspace.Index, ref, tree, head string, opt Options) error {
	var parents []string
	if head != "" {
		parents = []string{"-p", head}
	}
	commit, err := x.CommitTree(ctx, tree, parents, fmt.Sprintf("what the workspace held before the rollback of stage %s of run %s", opt.Stage, opt.Run))
	if err == nil {
		_, err = x.Git(ctx, nil, "update-ref", "-m", "pipe: save what is in the workspace", ref, commit, "")
	}
	return err
}

func recoveryRef(opt Options) string { return recoveryRefs + opt.Run + "/" + refName(opt.Stage) }

// headOf gives the commit that is checked out, and its tree; both "" where there is none yet.
func headOf(ctx context.Context, x *workspace.Index) (commit, tree string, err error) {
	commit, err = x.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if refused(err) {
		return "", "", nil
	}
	if err == nil {
		tree, err = x.Line(ctx, "rev-parse", "--verify", commit+"^{tree}")
	}
	return commit, tree, err
}

// committed lists what a commit has of the files that are excluded, and gives the names below which it has any.
func committed(ctx context.Context, x *workspace.Index, head string, out workspace.Excluded) (names []string, list string, err error) {
	if head == "" {
		return nil, "", nil
	}
	for _, name := range out {
		some, err := x.Git(ctx, nil, "ls-tree", "-r", "-z", "--full-name", head, "--", name)
		if err != nil {
			return nil, "", err
		}
		if len(some) > 0 {
			names, list = append(names, name), list+string(some)
		}
	}
	return names, list, nil
}

// recovery finds what was saved by an earlier try of the same rollback.
func (w *Workspace) recovery(ctx context.Context, opt Options) (Recovery, error) {
	if !w.Git() {
		dir := filepath.Join(opt.Copies, refName(opt.Stage))
		if !isDir(dir) {
			return Recovery{}, nil
		}
		return w.copied(dir), nil
	}
	x, ref := w.UserIndex(opt.Run), recoveryRef(opt)
	commit, err := x.Line(ctx, "rev-parse", "--quiet", "--verify", ref)
	if refused(err) {
		return Recovery{}, nil
	}
	if err != nil {
		return Recovery{}, err
	}
	out, err := w.Excluded(opt.Exclude)
	if err != nil {
		return Recovery{}, err
	}
	left, _, err := committed(ctx, x, commit, out)
	if err != nil {
		return Recovery{}, err
	}
	command, err := x.RestoreCommand(ctx, ref, left)
	return Recovery{Name: ref, Command: command}, err
}

// copied names a folder of copies.
func (w *Workspace) copied(dir string) Recovery {
	return Recovery{Name: dir, Command: "cp -a " + workspace.ShellWord(dir+"/.") + " " + workspace.ShellWord(w.Root+"/.")}
}

// saveCopies copies the files that are named and there to a folder of their own; state names the tree that
// they belong to.
func (w *Workspace) saveCopies(ctx context.Context, root *os.Root, names []string, state string, opt Options) (Recovery, error) {
	first := filepath.Join(opt.Copies, refName(opt.Stage))
	r := w.copied(first)
	for n := 1; ; n++ {
		dir := numbered(first, n)
		if n > 1 {
			r.Later = append(r.Later, dir)
		}
		held, err := os.ReadFile(dir + ".tree")
		if err == nil && isDir(dir) {
			if string(held) == state {
				return r, nil
			}
			continue
		}
		if err := os.MkdirAll(opt.Copies, 0o700); err != nil {
			return Recovery{}, err
		}
		part := dir + ".part"
		if err := os.RemoveAll(part); err != nil { // of a process that was killed
			return Recovery{}, err
		}
		some, err := copyFiles(ctx, root, names, part)
		if err == nil {
			err = os.WriteFile(dir+".tree", []byte(state), 0o600)
		}
		if err == nil {
			err = os.Rename(part, dir)
		}
		if err == nil {
			err = workspace.SyncFolder(opt.Copies)
		}
		if !some && n == 1 {
			r = Recovery{}
		}
		return r, err
	}
}

// copyFiles copies files and links, and reports whether there were any.
func copyFiles(ctx context.Context, root *os.Root, names []string, to string) (bool, error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return false, err
	}
	some := false
	for _, name := range names {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		path := filepath.FromSlash(name)
		info, err := root.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return false, err
		}
		if info.IsDir() {
			continue // it is in the way of a file, and stays
		}
		some = true
		at := filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return false, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := root.Readlink(path)
			if err == nil {
				err = os.Symlink(target, at)
			}
			if err != nil {
				return false, err
			}
			continue
		}
		if err := copyFile(ctx, root, path, at, info.Mode().Perm()); err != nil {
			return false, err
		}
	}
	return some, nil
}

func copyFile(ctx context.Context, root *os.Root, path, at string, perm fs.FileMode) error {
	from, err := workspace.OpenIn(root, filepath.ToSlash(path))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, workspace.Until(ctx, from))
	if err == nil {
		err = to.Sync()
	}
	if closing := to.Close(); err == nil {
		err = closing
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
