package undo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/pipe/engine/workspace"
)

// differencesWalk compares two trees that were walked.
func (w *Workspace) differencesWalk(ctx context.Context, base, now workspace.Tree) ([]difference, error) {
	was, err := w.Entries(base)
	if err != nil {
		return nil, err
	}
	is, err := w.Entries(now)
	if err != nil {
		return nil, err
	}
	names, err := w.Changed(ctx, base.Hash, now.Hash)
	if err != nil {
		return nil, err
	}
	out := make([]difference, 0, len(names))
	for _, name := range names {
		out = append(out, difference{name: name, was: was[name].Mode, is: is[name].Mode, sum: was[name].Sum})
	}
	return out, nil
}

// copyBack writes the files from their copies in the store.
func (t *restoring) copyBack(ctx context.Context, diffs []difference) error {
	for _, d := range diffs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.copyOne(ctx, d); err != nil {
			return fmt.Errorf("write %q: %w", d.name, err)
		}
	}
	return nil
}

// copyOne puts one file in its place by a rename, so that it is never there by half. A file that is there keeps
// who may read it.
func (t *restoring) copyOne(ctx context.Context, d difference) error {
	at := filepath.FromSlash(d.name)
	if dir := filepath.Dir(at); dir != "." {
		if err := t.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	perm := fs.FileMode(0o666)
	info, err := t.root.Lstat(at)
	there := err == nil && info.Mode().IsRegular()
	if there {
		perm = info.Mode().Perm()
	}
	part := filepath.Join(filepath.Dir(at), ".pipe-restore."+filepath.Base(at))
	if err := t.root.RemoveAll(part); err != nil { // of a process that was killed
		return err
	}
	if d.was == modeLink {
		target, err := os.ReadFile(t.w.keptPath(d.sum))
		if err == nil {
			err = t.root.Symlink(string(target), part)
		}
		if err != nil {
			return err
		}
		return t.root.Rename(part, at)
	}
	if d.was == modeExec {
		perm |= perm & 0o444 >> 2
	} else {
		perm &^= 0o111
	}
	to, err := t.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	from, err := os.Open(t.w.keptPath(d.sum))
	if err == nil {
		_, err = io.Copy(to, workspace.Until(ctx, from))
		from.Close()
	}
	if err == nil && there { // what the umask took away it had
		err = to.Chmod(perm)
	}
	if closing := to.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = t.root.Rename(part, at)
	}
	if err != nil {
		_ = t.root.Remove(part) // the error that matters is the first
	}
	return err
}
