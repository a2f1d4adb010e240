package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.com/pipe/engine/workspace"
)

// Undone says what became of an attempt to undo something.
type Undone struct {
	Files    []string // that were put back, or removed since they had been added; sorted
	Left     []string // what could not be, each with the reason
	Ignored  []string // that are not there in the tree, and that its .gitignore leaves out: they stay
	Recovery Recovery // what was there before
}

// difference is a file that two trees hold differently; the mode is "" where a tree does not hold it, sum the name
// of what the first holds.
type difference struct {
	name, was, is, sum string
}

// Restore puts the files of the workspace back as a base holds them: contents, modes and links; what
// was added is removed, with the folders that are empty then. Ignored and excluded files are left alone, no symbolic
// link is followed, and git's index is not written. What was there before is saved first. Doing it again goes on
// where it was cut off. What was ignored by rules that came after the base, and is not by those of the base, was added:
// it is seen once they are back, saved as a further recovery, and removed.
func (w *Workspace) Restore(ctx context.Context, base string, opt Options) (Undone, error) {
	u, more, err := w.restore(ctx, base, opt, true)
	if err == nil && more {
		u, _, err = w.restore(ctx, base, opt, false)
	}
	return u, err
}

// restore is Restore without what comes up when the rules are back, and reports whether there is any of that if asked to.
func (w *Workspace) restore(ctx context.Context, base string, opt Options, look bool) (u Undone, more bool, err error) {
	now, err := w.Read(ctx, workspace.ReadOptions{Exclude: opt.Exclude})
	if err != nil {
		return Undone{}, false, err
	}
	diffs, err := w.differences(ctx, workspace.Tree{Hash: base}, now, opt.Exclude)
	if err != nil {
		return Undone{}, false, fmt.Errorf("restore files: %w", err)
	}
	if len(diffs) == 0 {
		r, err := w.recovery(ctx, opt)
		if err != nil {
			return Undone{}, false, err
		}
		due, err := note(nil, opt)
		return Undone{Files: due, Recovery: r}, false, err
	}
	root, err := os.OpenRoot(w.Root)
	if err != nil {
		return Undone{}, false, fmt.Errorf("restore files: %w", err)
	}
	defer root.Close()
	t := &restoring{w: w, root: root, base: workspace.Tree{Hash: base}, run: opt.Run}
	if err := t.held(ctx, diffs); err != nil {
		return Undone{}, false, fmt.Errorf("restore files: %w", err)
	}
	due, err := note(diffs, opt)
	if err != nil {
		return Undone{}, false, fmt.Errorf("restore files: %w", err)
	}
	t.undone.Files = slices.DeleteFunc(due, func(name string) bool { // those of a try that was cut off
		return slices.ContainsFunc(diffs, func(d difference) bool { return d.name == name })
	})
	if t.undone.Recovery, err = t.save(ctx, diffs, now.Hash, opt); err != nil {
		return Undone{}, false, fmt.Errorf("restore files: %w", err)
	}
	if err := t.restore(ctx, diffs); err != nil {
		return t.undone, false, fmt.Errorf("restore files: %w", err)
	}
	t.look = look && slices.ContainsFunc(diffs, func(d difference) bool { return path.Base(d.name) == ".gitignore" })
	err = t.verify(ctx, opt)
	return t.undone, t.more, err
}

// note keeps which files are to be put back, and gives those of an earlier try with them: one that was cut off does not
// tell what it had done.
func note(diffs []difference, opt Options) ([]string, error) {
	rel := refName(opt.Stage) + ".json"
	var names []string
	b, err := workspace.ReadInside(opt.Copies, rel, maxNote)
	switch {
	case err == nil:
		if err := json.Unmarshal(b, &names); err != nil {
			return nil, fmt.Errorf("read which files are put back: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if len(diffs) == 0 {
		return names, nil
	}
	for i := range diffs {
		names = append(names, diffs[i].name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if b, err = json.Marshal(names); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(opt.Copies, 0o700); err != nil {
		return nil, err
	}
	return names, workspace.WriteInside(opt.Copies, rel, b)
}

// maxNote is how large the note of the files that are put back may be, in bytes.
const maxNote = 64 << 20

// restoring is one restoration.
type restoring struct {
	w      *Workspace
	root   *os.Root
	base   workspace.Tree
	run    string
	undone Undone
	left   map[string]bool // names of what is left as it is

	look, more bool // whether to look for what the rules do not hide any more, and whether there is some
}

func (t *restoring) leave(name, why string) {
	if t.left == nil {
		t.left = map[string]bool{}
	}
	t.left[name] = true
	t.undone.Left = append(t.undone.Left, fmt.Sprintf("%q: %s", name, why))
}

func (t *restoring) save(ctx context.Context, diffs []difference, state string, opt Options) (Recovery, error) {
	names := make([]string, 0, len(diffs))
	for i := range diffs {
		if diffs[i].was != modeModule && diffs[i].is != modeModule {
			names = append(names, diffs[i].name)
		}
	}
	if !t.w.Git() {
		return t.w.saveCopies(ctx, t.root, names, state, opt)
	}
	return t.w.saveGit(ctx, t.files(names), false, opt)
}

// files gives those of the names at which there is a file or a link, and no folder.
func (t *restoring) files(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := t.root.Lstat(filepath.FromSlash(name))
		return err != nil || info.IsDir() || !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0
	})
}

// restore does it: first what says which files are ignored, and what git makes of their contents when it writes them,
// then what was added goes, then the rest comes back.
func (t *restoring) restore(ctx context.Context, diffs []difference) error {
	var rules, added, changed []difference
	for _, d := range diffs {
		switch {
		case d.was == modeModule || d.is == modeModule:
			t.leave(d.name, "it is a submodule, or was one; check out in it what you want")
		case path.Base(d.name) == ".gitignore", path.Base(d.name) == ".gitattributes":
			rules = append(rules, d)
		case d.was == "":
			added = append(added, d)
		default:
			changed = append(changed, d)
		}
	}
	for _, d := range rules {
		if d.was == "" {
			t.remove(d.name)
		}
	}
	rules = slices.DeleteFunc(rules, func(d difference) bool { return d.was == "" })
	if err := t.put(ctx, rules); err != nil {
		return err
	}
	ignored, err := t.w.ignored(ctx, added)
	if err != nil {
		return err
	}
	for _, d := range added {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ignored[d.name] {
			t.undone.Ignored = append(t.undone.Ignored, d.name)
			continue
		}
		t.remove(d.name)
	}
	return t.put(ctx, changed)
}

// remove removes a file that was added, and the folders that are empty then.
func (t *restoring) remove(name string) {
	at := filepath.FromSlash(name)
	if info, err := t.root.Lstat(at); err == nil && info.IsDir() {
		t.leave(name, "a folder is in its place by now")
		return
	}
	if err := t.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		t.leave(name, err.Error())
		return
	}
	t.undone.Files = append(t.undone.Files, name)
	for dir := filepath.Dir(at); dir != "."; dir = filepath.Dir(dir) {
		if t.root.Remove(dir) != nil {
			return // it holds something, or is gone
		}
	}
}

// put brings back those files at whose places nothing else stands.
func (t *restoring) put(ctx context.Context, diffs []difference) error {
	diffs = slices.DeleteFunc(diffs, func(d difference) bool {
		why := t.inTheWay(d.name)
		if why != "" {
			t.leave(d.name, why)
		}
		return why != ""
	})
	if len(diffs) == 0 {
		return nil
	}
	var err error
	if t.w.Git() {
		err = t.checkOut(ctx, diffs)
	} else {
		err = t.copyBack(ctx, diffs)
	}
	if err != nil {
		return err
	}
	for i := range diffs {
		t.undone.Files = append(t.undone.Files, diffs[i].name)
	}
	return nil
}

// inTheWay says what stands in the place of a file, or of a folder that it lies in: something that is ignored or
// excluded, since all else was removed before.
func (t *restoring) inTheWay(name string) string {
	at := filepath.FromSlash(name)
	for i := range len(at) {
		if at[i] != filepath.Separator {
			continue
		}
		if info, err := t.root.Lstat(at[:i]); err == nil && !info.IsDir() {
			return fmt.Sprintf("%q, which is no folder, is in the way", at[:i])
		}
	}
	if info, err := t.root.Lstat(at); err == nil && info.IsDir() && !t.removeEmpty(at) {
		return "a folder is in its place, with files that are ignored"
	}
	return ""
}

// removeEmpty removes a folder that holds nothing but such folders, which are no part of a tree, and reports whether
// it is gone.
func (t *restoring) removeEmpty(dir string) bool {
	f, err := t.root.Open(dir)
	if err != nil {
		return false
	}
	list, err := f.ReadDir(-1)
	f.Close()
	if err != nil || slices.ContainsFunc(list, func(d fs.DirEntry) bool { return !d.IsDir() || !t.removeEmpty(filepath.Join(dir, d.Name())) }) {
		return false
	}
	return t.root.Remove(dir) == nil
}

// verify looks whether all is as it was, but for what was left.
func (t *restoring) verify(ctx context.Context, opt Options) error {
	slices.Sort(t.undone.Files)
	after, err := t.w.Read(ctx, workspace.ReadOptions{Exclude: opt.Exclude})
	if err != nil {
		return err
	}
	rest, err := t.w.differences(ctx, t.base, after, opt.Exclude)
	if err != nil {
		return fmt.Errorf("restore files: %w", err)
	}
	for _, d := range rest {
		if _, err := t.root.Lstat(filepath.FromSlash(d.name)); err == nil && d.is == "" {
			continue // it is there, and git passes it over: a stage took it out of the index, and it is ignored
		}
		if t.look && d.was == "" && !t.left[d.name] && !slices.Contains(t.undone.Ignored, d.name) {
			t.more = true
			continue
		}
		if !t.left[d.name] && !slices.Contains(t.undone.Ignored, d.name) {
			t.leave(d.name, "it was changed again at the same time")
		}
	}
	return nil
}

// differences gives the files in which two trees differ, sorted by name, without what is excluded by now and was not
// when the first was read.
func (w *Workspace) differences(ctx context.Context, base, now workspace.Tree, exclude []string) ([]difference, error) {
	if _, byGit := base.Object(); byGit != w.Git() {
		return nil, fmt.Errorf("%w: the workspace became a git work tree, or ceased to be one, since it was read", workspace.ErrUnknownTree)
	}
	if base.Hash == now.Hash {
		return nil, nil
	}
	out, err := w.Excluded(exclude)
	if err != nil {
		return nil, err
	}
	compare := w.differencesWalk
	if w.Git() {
		compare = w.differencesGit
	}
	diffs, err := compare(ctx, base, now)
	return slices.DeleteFunc(diffs, func(d difference) bool { return out.Has(d.name) }), err
}

// ignored gives those of the files that the rules in the workspace leave out.
func (w *Workspace) ignored(ctx context.Context, diffs []difference) (map[string]bool, error) {
	out := map[string]bool{}
	if !w.Git() || len(diffs) == 0 {
		return out, nil
	}
	var names strings.Builder
	for i := range diffs {
		names.WriteString(diffs[i].name + "\x00")
	}
	// This command refuses to take paths literally, and takes them so.
	list, err := w.UserIndex("").GitWith(ctx, []string{"GIT_LITERAL_PATHSPECS=0"}, strings.NewReader(names.String()), "check-ignore", "--no-index", "-z", "--stdin")
	if status, _ := workspace.Refused(err); status == 1 {
		return out, nil
	}
	for _, name := range splitNames(list) {
		out[name] = true
	}
	return out, err
}
