package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Worktree is a git worktree of a run's own, with a branch of its own. It shares objects and refs with the
// repository of the main workspace, and nothing else: no file and no index of the main workspace changes.
//
// Its life, which may be cut off after each step: Usable, Make, any number of Check by later processes, Close.
// Each of them puts right what one that was killed left half done.
type Worktree struct {
	Run    string // id of the run; git gets it in its environment, so that what a killed process left is found
	Path   string // absolute
	Branch string

	main  *Workspace
	space *Workspace
}

// Worktree gives the worktree of a run at path, whose folder must exist and be free of symbolic links. Nothing
// is done yet.
func (w *Workspace) Worktree(run, path, branch string) *Worktree {
	t := &Worktree{Run: run, Path: path, Branch: branch, main: w}
	t.space = &Workspace{Root: path}
	if w.git != nil {
		t.space.Root = filepath.Join(path, filepath.FromSlash(w.git.prefix))
	}
	return t
}

// Workspace is the project's folder in the worktree. It can be read after Make or Check.
func (t *Worktree) Workspace() *Workspace { return t.space }

// NoWorktreeError says why there can be no worktree, or why one is not what it was, and what to do.
type NoWorktreeError struct{ Why string }

// Error implements error.
func (e *NoWorktreeError) Error() string { return e.Why }

func noWorktree(format string, args ...any) error {
	return &NoWorktreeError{fmt.Sprintf(format, args...)}
}

// Uncommitted gives what differs between the main workspace's repository and its last commit: the worktree
// does not have it. Paths are relative to the top of the work tree.
func (t *Worktree) Uncommitted(ctx context.Context) ([]string, error) {
	list, err := t.git(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal")
	if err != nil {
		return nil, fmt.Errorf("look for changes that are not committed: %w", err)
	}
	var names []string
	for _, entry := range splitNames(list) {
		const status = len("XY ")
		if len(entry) <= status {
			continue
		}
		name := strings.TrimSuffix(entry[status:], "/")
		rel, below := strings.CutPrefix(name, t.main.git.prefix)
		if below && (&exclusion{paths: ours[:]}).path(rel) {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// Exists says whether there is a folder in its place.
func (t *Worktree) Exists() bool { return isDir(t.Path) }

// HasSubmodules says whether the worktree has submodules, which git does not check out in it by itself.
func (t *Worktree) HasSubmodules() bool { return isFile(filepath.Join(t.Path, ".gitmodules")) }

// Make makes the worktree and its branch from the last commit of the main workspace. What is in their place is
// what a killed Make left: it is removed.
func (t *Worktree) Make(ctx context.Context) error {
	return t.make(ctx, "HEAD")
}

// Restore makes the worktree anew where its folder is gone: from its branch, else from the last commit.
func (t *Worktree) Restore(ctx context.Context) error {
	_, ok, err := t.commit(ctx, t.ref())
	if err != nil {
		return err
	}
	if ok {
		return t.make(ctx, t.ref())
	}
	return t.make(ctx, "HEAD")
}

func (t *Worktree) make(ctx context.Context, from string) error {
	if t.main.git == nil {
		return t.whyNoGit(ctx)
	}
	release, err := t.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	for try := 1; ; try++ {
		if err = t.makeOnce(ctx, from); err == nil {
			return t.look()
		}
		// Git looks through all worktrees, and fails where somebody else is just making one.
		if try == makeTries || !refused(err) {
			return fmt.Errorf("make the worktree %q: %w", t.Path, err)
		}
	}
}

// makeTries is how often git is asked to make a worktree.
const makeTries = 3

func (t *Worktree) makeOnce(ctx context.Context, from string) error {
	if err := t.clear(ctx); err != nil {
		return err
	}
	commit, ok, err := t.commit(ctx, from)
	if err != nil {
		return err
	}
	if !ok {
		return noWorktree("the repository has no commit any more")
	}
	_, err = t.git(ctx, "worktree", "add", "--quiet", "-B", t.Branch, t.Path, commit)
	return err
}

// alonePause is the time between two tries to be alone.
const alonePause = 10 * time.Millisecond

// alone waits until no other run makes or removes a worktree of the repository. A file system without such
// locks has none.
func (t *Worktree) alone(ctx context.Context) (release func(), err error) {
	common, err := t.common(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(common)
	if err != nil {
		return nil, fmt.Errorf("wait for other worktrees: %w", err)
	}
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { _ = dir.Close() }, nil
		}
		select {
		case <-ctx.Done():
			_ = dir.Close()
			return nil, fmt.Errorf("wait for other worktrees: %w", context.Cause(ctx))
		case <-time.After(alonePause):
		}
	}
}

// Discard undoes Make, before anything worked in the worktree.
func (t *Worktree) Discard(ctx context.Context) error {
	if t.main.git == nil {
		return nil
	}
	release, err := t.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = t.clear(ctx)
	if _, ok, look := t.commit(ctx, t.ref()); look == nil && ok {
		_, look = t.git(ctx, "update-ref", "-d", t.ref())
		err = errors.Join(err, look)
	}
	if err != nil {
		return fmt.Errorf("remove the worktree %q: %w", t.Path, err)
	}
	return nil
}

// Check says whether the worktree is there as it was left, after it has put right what can be: what git
// notes of it lies in two places, of which one may have been moved or deleted. The error is a *NoWorktreeError
// where it is gone.
func (t *Worktree) Check(ctx context.Context) error {
	if t.main.git == nil {
		return t.whyNoGit(ctx)
	}
	if !t.Exists() {
		return noWorktree("the worktree %q is gone, and with it all that was changed in it and not committed; "+
			"to go on from what the branch %q holds, make it again: git worktree add -f %s %s", t.Path, t.Branch, ShellWord(t.Path), t.Branch)
	}
	if ok, err := t.isWhole(ctx); err != nil || ok {
		return errors.Join(err, t.look())
	}
	admin, err := t.admin(ctx)
	if err != nil {
		return err
	}
	if admin != "" {
		if err := t.link(admin); err != nil {
			return err
		}
	} else if _, err := t.git(ctx, "worktree", "repair", t.Path); err != nil && !refused(err) {
		return err
	}
	if ok, err := t.isWhole(ctx); err != nil || ok {
		return errors.Join(err, t.look())
	}
	return noWorktree("%q is no worktree of the repository of %q any more; its files are still there: "+
		"move the folder aside, make it again with \"git worktree add -f %s %s\", and copy them back",
		t.Path, t.main.Root, ShellWord(t.Path), t.Branch)
}

// link writes the file by which the worktree names its repository.
func (t *Worktree) link(admin string) error {
	name := filepath.Join(t.Path, ".git")
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return nil // a repository of another's making
	}
	// What is there may be a link to a file elsewhere, of either kind, or a pipe.
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("repair the worktree: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("repair the worktree: %w", err)
	}
	_, err = f.WriteString("gitdir: " + admin + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("repair the worktree: %w", err)
	}
	return nil
}

// isWhole reports whether git, from within the worktree, finds this worktree and no repository around it.
func (t *Worktree) isWhole(ctx context.Context) (bool, error) {
	out, err := t.main.git.run(ctx, t.Path, t.env(), nil, "rev-parse", "--is-inside-work-tree", "--absolute-git-dir", "--show-cdup")
	if refused(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	lines := strings.SplitN(string(out), "\n", 3)
	if len(lines) < 3 || lines[0] != "true" || strings.TrimSpace(lines[2]) != "" {
		return false, nil
	}
	admin, err := t.admin(ctx)
	if err != nil || admin == "" {
		return false, err
	}
	return sameFile(lines[1], admin), nil
}

// look finds out about the workspace in the worktree.
func (t *Worktree) look() error {
	var err error
	if t.space.git, err = discover(context.Background(), t.space.Root); err != nil {
		return err
	}
	if t.space.git == nil {
		return noWorktree("git sees nothing of %q", t.space.Root)
	}
	return nil
}

// admin is the folder in which the repository keeps what it knows of the worktree; "" if there is none.
func (t *Worktree) admin(ctx context.Context) (string, error) {
	common, err := t.common(ctx)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for the worktree %q: %w", t.Path, err)
	}
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		named, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if text := strings.TrimSuffix(string(named), "\n"); err == nil && text != "" {
			if filepath.Clean(absolute(dir, text)) == filepath.Join(t.Path, ".git") {
				return dir, nil
			}
		} else if e.Name() == filepath.Base(t.Path) {
			return dir, nil // git was killed before it had written whose it is; the name is a run's id
		}
	}
	return "", nil
}

// common is the folder of the repository, which all its worktrees share.
func (t *Worktree) common(ctx context.Context) (string, error) {
	out, err := t.git(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("look for the worktree %q: %w", t.Path, err)
	}
	return absolute(t.main.Root, strings.TrimSuffix(string(out), "\n")), nil
}

// unlock removes the locks that a git that was killed leaves on the branch, which nobody else writes to while
// the run's lock is held, and on what the worktree has for its HEAD.
func (t *Worktree) unlock(ctx context.Context, admin string) error {
	common, err := t.common(ctx)
	if err != nil {
		return err
	}
	locks := []string{filepath.Join(common, filepath.FromSlash(t.ref())) + ".lock"}
	if admin != "" {
		locks = append(locks, filepath.Join(admin, "HEAD.lock"))
	}
	for _, name := range locks {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return nil
}

func (t *Worktree) ref() string { return "refs/heads/" + t.Branch }

// commit gives the commit that a ref names, if there is one.
func (t *Worktree) commit(ctx context.Context, ref string) (string, bool, error) {
	out, err := t.git(ctx, "rev-parse", "--quiet", "--verify", ref+"^{commit}")
	if refused(err) {
		return "", false, nil
	}
	return strings.TrimSpace(string(out)), err == nil, err
}

// git runs git in the main workspace.
func (t *Worktree) git(ctx context.Context, args ...string) ([]byte, error) {
	return t.main.git.run(ctx, t.main.Root, t.env(), nil, args...)
}

func (t *Worktree) env() []string { return []string{"PIPE_RUN_ID=" + t.Run} }

// refused reports whether git ran and said no.
func refused(err error) bool {
	var e *gitError
	return errors.As(err, &e)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// ShellWord is a word as any POSIX shell reads it back.
func ShellWord(s string) string {
	if !strings.ContainsAny(s, " \t\n\"'`$&|;()<>*?[]#~=%\\!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
