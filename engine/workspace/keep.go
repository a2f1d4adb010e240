package workspace

import (
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
)

// keepLimit is how much a project without git may hold for its files to be copied, where KeepLimit does not say.
const keepLimit = 1 << 30

// ErrNotKept is the error of ReadKept where the files can't be kept. It says why, and what to do.
var ErrNotKept = errors.New("the files can't be kept")

// baseRefs is where the refs lie that keep trees from being collected by git.
const baseRefs = "refs/pipe/base/"

// ReadKept is Read, and keeps what the files hold until Release, so that Restore can go back to it: in git by a
// ref of the run and the stage, elsewhere by a copy of each file in the store.
func (w *Workspace) ReadKept(ctx context.Context, opt ReadOptions, run, stage string) (Tree, error) {
	out, err := w.excluded(opt.Exclude)
	if err != nil {
		return Tree{}, err
	}
	if err := os.MkdirAll(w.Store, 0o700); err != nil {
		return Tree{}, fmt.Errorf("read the workspace's tree: %w", err)
	}
	var tree Tree
	keep := func() error { return w.keepWalk(ctx, out, &tree) }
	again := errChangedMeanwhile
	if w.git != nil {
		keep = func() error { return w.keepGit(ctx, out, run, stage, &tree) }
	}
	for try := 1; ; try++ {
		err := keep()
		if err == nil || try == readTries || !refused(err) && !errors.Is(err, again) {
			if err != nil {
				err = fmt.Errorf("keep the workspace's tree: %w", err)
			}
			return tree, err
		}
	}
}

// errChangedMeanwhile says that a file was changed while it was copied.
var errChangedMeanwhile = errors.New("the files change while they are read")

// keepGit reads the tree into the user's own objects, and makes a ref that names it.
func (w *Workspace) keepGit(ctx context.Context, out *exclusion, run, stage string, tree *Tree) error {
	v, done, err := w.shared(run)
	if err != nil {
		return err
	}
	defer done()
	if *tree, err = v.read(ctx, out); err != nil {
		return err
	}
	id := strings.TrimPrefix(tree.Hash, gitPrefix)
	commit, err := v.commitTree(ctx, id, nil, fmt.Sprintf("what the workspace held before stage %s of run %s", stage, run))
	if err != nil {
		return err
	}
	_, err = v.git(ctx, nil, "update-ref", baseRefs+run+"/"+refName(stage), commit)
	return err
}

// Release lets go of all that ReadKept kept for a run.
func (w *Workspace) Release(ctx context.Context, run string) error {
	if w.git == nil {
		if err := os.RemoveAll(filepath.Join(w.Store, "files")); err != nil {
			return fmt.Errorf("let go of kept files: %w", err)
		}
		return nil
	}
	list, err := w.git.run(ctx, w.Root, nil, nil, "for-each-ref", "--format=delete %(refname)", baseRefs+run)
	if err == nil && len(list) > 0 {
		_, err = w.git.run(ctx, w.Root, nil, strings.NewReader(string(list)), "update-ref", "--stdin")
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
func (w *Workspace) keepWalk(ctx context.Context, out *exclusion, tree *Tree) error {
	var err error
	if *tree, err = w.readWalk(ctx, out); err != nil {
		return err
	}
	files, err := w.manifest(tree.Hash)
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
func (w *Workspace) mayKeep(root *os.Root, files map[string]string) error {
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

func entrySum(entry string) string { return strings.TrimSpace(entry[len(modeFile)+1:]) }

func entryMode(entry string) string { return entry[:len(modeFile)] }

func (w *Workspace) keepFile(ctx context.Context, root *os.Root, name, entry string) error {
	sum := entrySum(entry)
	if isFile(w.keptPath(sum)) {
		return nil
	}
	var from io.Reader
	if path := filepath.FromSlash(name); entryMode(entry) == modeLink {
		target, err := root.Readlink(path)
		if err != nil {
			return changedMeanwhile(err)
		}
		from = strings.NewReader(target)
	} else {
		f, err := openRegular(root, path)
		if err != nil {
			return changedMeanwhile(err)
		}
		defer f.Close()
		from = &reader{ctx: ctx, r: f}
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
	if err == nil && hex.EncodeToString(h.Sum(nil)) != sum {
		err = errChangedMeanwhile
	}
	if err == nil {
		err = os.Rename(to.Name(), w.keptPath(sum))
	}
	if err != nil {
		os.Remove(to.Name()) // the error that matters is the first
	}
	return err
}

// changedMeanwhile makes of a file that is gone, or is something else by now, a reason to read the tree anew.
func changedMeanwhile(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotRegular) || errors.Is(err, ErrOutside) {
		return errChangedMeanwhile
	}
	return err
}
