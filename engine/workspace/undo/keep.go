package undo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/workspace"
)

// The modes of files, as git writes them.
const (
	modeExec   = "100755"
	modeLink   = "120000"
	modeModule = "160000" // of a submodule
)

// keepLimit is how much a project without git may hold for its files to be copied, where KeepLimit does not say.
const keepLimit = 1 << 30

// ErrNotKept is the error of Keep where the files can't be kept. It says why, and what to do.
var ErrNotKept = errors.New("the files can't be kept")

// baseRefs is where the refs lie that keep trees from being collected by git.
const baseRefs = "refs/pipe/base/"

// Keep reads the tree, as Read does, and keeps what the files hold.
func (w *Workspace) Keep(ctx context.Context, opt workspace.ReadOptions, run, stage string) (workspace.Tree, error) {
	var tree workspace.Tree
	keep := func() error { return w.keepWalk(ctx, opt, &tree) }
	if w.Git() {
		keep = func() error { return w.keepGit(ctx, opt, run, stage, &tree) }
	}
	err := retry(keep)
	if err != nil {
		err = fmt.Errorf("keep the workspace's tree: %w", err)
	}
	return tree, err
}

// tries is how often something is done anew because files changed while it was done.
const tries = 3

// retry does something again where git refuses it, or a file was changed: git does so too where one vanishes or grows
// while it reads it.
func retry(do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == tries || !refused(err) && !errors.Is(err, errChangedMeanwhile) {
			return err
		}
	}
}

func refused(err error) bool {
	_, ok := workspace.Refused(err)
	return ok
}

// errChangedMeanwhile says that a file was changed while it was copied.
var errChangedMeanwhile = errors.New("the files change while they are read")

// keepGit reads the tree into the user's own objects, and makes a ref that names it.
func (w *Workspace) keepGit(ctx context.Context, opt workspace.ReadOptions, run, stage string, tree *workspace.Tree) error {
	x, done, err := w.SharedIndex(run)
	if err != nil {
		return err
	}
	defer done()
	if *tree, err = x.Read(ctx, w.Workspace, opt); err != nil {
		return err
	}
	id, _ := tree.Object()
	commit, err := x.CommitTree(ctx, id, nil, fmt.Sprintf("what the workspace held before stage %s of run %s", stage, run))
	if err != nil {
		return err
	}
	_, err = x.Git(ctx, nil, "update-ref", baseRefs+run+"/"+refName(stage), commit)
	return err
}

// Release lets go of all that Keep kept for a run.
func (w *Workspace) Release(ctx context.Context, run string) error {
	if !w.Git() {
		if err := os.RemoveAll(filepath.Join(w.Store, "files")); err != nil {
			return fmt.Errorf("let go of kept files: %w", err)
		}
		return nil
	}
	x := w.UserIndex(run)
	list, err := x.Git(ctx, nil, "for-each-ref", "--format=delete %(refname)", baseRefs+run)
	if err == nil && len(list) > 0 {
		_, err = x.Git(ctx, bytes.NewReader(list), "update-ref", "--stdin")
	}
	if err != nil {
		return fmt.Errorf("let go of kept trees: %w", err)
	}
	return nil
}

// refName makes a component of a ref, and of a path, of a stage's path. Ids hold letters, digits, "-" and "_", so
// that no two stages have the same, and none ends in ".lock".
func refName(stage string) string {
	name := strings.NewReplacer("/", "+", "[", ".", "]", "").Replace(stage)
	const most = 150
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(stage))
	return name[:most] + "-" + hex.EncodeToString(sum[:6])
}

// keepWalk reads the tree and copies each file into the store, under the sum of what it holds.
func (w *Workspace) keepWalk(ctx context.Context, opt workspace.ReadOptions, tree *workspace.Tree) error {
	var err error
	if *tree, err = w.Read(ctx, opt); err != nil {
		return err
	}
	files, err := w.Entries(*tree)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(w.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := w.mayKeep(root, files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(w.Store, "files"), 0o700); err != nil {
		return err
	}
	for name, entry := range files {
		if err := w.keepFile(ctx, root, name, entry); err != nil {
			return err
		}
	}
	return nil
}

// mayKeep holds the size of all files against the limit, before any is copied.
func (w *Workspace) mayKeep(root *os.Root, files map[string]workspace.Entry) error {
	limit := w.KeepLimit
	if limit == 0 {
		limit = keepLimit
	}
	var size int64
	for name := range files {
		if info, err := root.Lstat(filepath.FromSlash(name)); err == nil {
			size += info.Size()
		}
	}
	if size > limit {
		return fmt.Errorf("%w: the project is no git work tree and holds %d MiB, more than the %d MiB that are copied; put it under git, or keep what is large outside",
			ErrNotKept, size>>20, limit>>20)
	}
	return nil
}

// keptPath is where a file with a sum is kept.
func (w *Workspace) keptPath(sum string) string { return filepath.Join(w.Store, "files", sum) }

func (w *Workspace) hasKept(sum string) bool {
	_, err := os.Lstat(w.keptPath(sum))
	return err == nil
}

func (w *Workspace) keepFile(ctx context.Context, root *os.Root, name string, entry workspace.Entry) error {
	if w.hasKept(entry.Sum) {
		return nil
	}
	var from io.Reader
	if entry.Mode == modeLink {
		target, err := root.Readlink(filepath.FromSlash(name))
		if err != nil {
			return changedMeanwhile(err)
		}
		from = strings.NewReader(target)
	} else {
		f, err := workspace.OpenIn(root, name)
		if err != nil {
			return changedMeanwhile(err)
		}
		defer f.Close()
		from = workspace.Until(ctx, f)
	}
	to, err := os.CreateTemp(filepath.Join(w.Store, "files"), ".manifest-*") // a name that Sweep knows
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, h), from)
	if closing := to.Close(); err == nil {
		err = closing
	}
	if err == nil && hex.EncodeToString(h.Sum(nil)) != entry.Sum {
		err = errChangedMeanwhile
	}
	if err == nil {
		err = os.Rename(to.Name(), w.keptPath(entry.Sum))
	}
	if err != nil {
		os.Remove(to.Name()) // the error that matters is the first
	}
	return err
}

// changedMeanwhile makes of a file that is gone, or is something else by now, a reason to read the tree anew.
func changedMeanwhile(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotRegular) || errors.Is(err, workspace.ErrOutside) {
		return errChangedMeanwhile
	}
	return err
}
