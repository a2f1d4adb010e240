package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/workspace"
)

// gitEnv is an environment in which git finds the repository of the folder that it is called in, and no settings.
func gitEnv() []string {
	return append(workspace.WithoutRepository(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
}

// git runs git in dir as a user would.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, gitEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repo makes a repository with one commit of a.txt and dir/b.txt, and a .gitignore of *.log.
func repo(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's $here")
	must(t, os.Mkdir(dir, 0o755))
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	write(t, filepath.Join(dir, "dir/b.txt"), "b\n")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n")
	commitAll(t, dir, "first")
	return dir
}

func open(t *testing.T, root string) *Workspace {
	t.Helper()
	w, err := workspace.Open(root)
	must(t, err)
	w.Store = t.TempDir()
	return In(w)
}

func read(t *testing.T, w *Workspace, exclude ...string) workspace.Tree {
	t.Helper()
	tree, err := w.Read(t.Context(), workspace.ReadOptions{Exclude: exclude})
	must(t, err)
	return tree
}

// held gives what a folder holds, one line a file: name, executable or not, and content or target. Folders that
// are empty have a line too.
func held(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if list, _ := os.ReadDir(path); len(list) == 0 {
				fmt.Fprintf(&out, "%s/\n", rel)
			}
			return nil
		}
		info, err := d.Info()
		must(t, err)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			fmt.Fprintf(&out, "%s -> %s\n", rel, target)
			return nil
		}
		b, err := os.ReadFile(path)
		must(t, err)
		fmt.Fprintf(&out, "%s %v %q\n", rel, info.Mode().Perm()&0o100 != 0, b)
		return nil
	})
	must(t, err)
	return out.String()
}

// projects are the kinds of workspaces: the top of a repository, a folder in one, a worktree, and no git at all.
var projects = map[string]func(t *testing.T) string{
	"git": repo,
	"subfolder": func(t *testing.T) string {
		dir := repo(t)
		write(t, filepath.Join(dir, "sub/a.txt"), "a\n")
		write(t, filepath.Join(dir, "sub/dir/b.txt"), "b\n")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "second")
		return filepath.Join(dir, "sub")
	},
	"subfolder of a worktree": func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "side")
		git(t, repo(t), "worktree", "add", "-q", "-b", "side", dir)
		write(t, filepath.Join(dir, "it is/sub/a.txt"), "a\n")
		write(t, filepath.Join(dir, "it is/sub/dir/b.txt"), "b\n")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "second")
		return filepath.Join(dir, "it is/sub")
	},
	"worktree": func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "side")
		git(t, repo(t), "worktree", "add", "-q", "-b", "side", dir)
		return dir
	},
	"walk": func(t *testing.T) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.txt"), "a\n")
		write(t, filepath.Join(dir, "dir/b.txt"), "b\n")
		return dir
	},
}

func options(dir string, exclude ...string) Options {
	return Options{Run: "01RUN", Stage: "p/build[1]", Exclude: exclude, Copies: filepath.Join(dir, ".pipe", "recovery")}
}

func keep(t *testing.T, w *Workspace, exclude ...string) workspace.Tree {
	t.Helper()
	tree, err := w.Keep(t.Context(), workspace.ReadOptions{Exclude: exclude}, "01RUN", "p/build[1]")
	must(t, err)
	if again := read(t, w, exclude...); again != tree {
		t.Fatalf("kept %v, read %v", tree, again)
	}
	return tree
}

func restored(t *testing.T, w *Workspace, base workspace.Tree, opt Options) Undone {
	t.Helper()
	u, err := w.Restore(t.Context(), base.Hash, opt)
	must(t, err)
	if len(u.Left) > 0 {
		t.Errorf("left: %q", u.Left)
	}
	return u
}

// paste runs a command as a person would, in the root.
func paste(t *testing.T, dir, command string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, gitEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// before makes what a stage starts on: also work that is not committed.
func before(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "own.txt"), "mine\n")
	write(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	write(t, filepath.Join(dir, "was/folder.txt"), "in a folder\n")
	write(t, filepath.Join(dir, "file"), "a file\n")
	write(t, filepath.Join(dir, "odd name\n'é.txt"), "odd\n")
	write(t, filepath.Join(dir, "out/report.json"), "{}\n")
}

// mess is what the stage makes of it.
func mess(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "a.txt"), "changed\n")
	write(t, filepath.Join(dir, "own.txt"), "changed too\n")
	must(t, os.Remove(filepath.Join(dir, "dir/b.txt")))
	write(t, filepath.Join(dir, "new/deep/c.txt"), "new\n")
	must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o644))
	must(t, os.Remove(filepath.Join(dir, "link")))
	must(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	must(t, os.RemoveAll(filepath.Join(dir, "was")))
	must(t, os.Symlink("dir", filepath.Join(dir, "was")))
	must(t, os.Remove(filepath.Join(dir, "file")))
	write(t, filepath.Join(dir, "file/inside.txt"), "a folder now\n")
	must(t, os.MkdirAll(filepath.Join(dir, "file/empty/deep"), 0o755))
	write(t, filepath.Join(dir, "odd name\n'é.txt"), "odder\n")
	write(t, filepath.Join(dir, "out/report.json"), "{1}\n")
	write(t, filepath.Join(dir, ".tot-docs/task.md"), "kept\n")
}

func TestRestore(t *testing.T) {
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			w := open(t, dir)
			before(t, dir)
			base := keep(t, w, "out")
			was := held(t, dir)
			mess(t, dir)
			u := restored(t, w, base, options(dir, "out"))
			want := []string{"a.txt", "dir/b.txt", "file", "file/inside.txt", "link", "new/deep/c.txt", "odd name\n'é.txt", "own.txt", "run.sh", "was", "was/folder.txt"}
			if !slices.Equal(u.Files, want) {
				t.Errorf("files %q, want %q", u.Files, want)
			}
			write(t, filepath.Join(dir, "out/report.json"), "{}\n")
			must(t, os.RemoveAll(filepath.Join(dir, ".tot-docs")))
			must(t, os.RemoveAll(filepath.Join(dir, ".pipe")))
			if got := held(t, dir); got != was {
				t.Errorf("holds\n%s\nwant\n%s", got, was)
			}
			if u.Recovery.Name == "" {
				t.Fatal("nothing was saved")
			}
		})
	}
}

// TestRecoveryCommand pastes what the message says, and has all files again as they were.
func TestRecoveryCommand(t *testing.T) {
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			w := open(t, dir)
			write(t, filepath.Join(dir, "own.txt"), "mine\n")
			base := keep(t, w)
			write(t, filepath.Join(dir, "own.txt"), "changed\n")
			write(t, filepath.Join(dir, "a.txt"), "changed\n")
			write(t, filepath.Join(dir, "new/c.txt"), "new\n")
			must(t, os.Chmod(filepath.Join(dir, "dir/b.txt"), 0o755))
			messed := read(t, w)
			u := restored(t, w, base, options(dir))
			if got := read(t, w); got.Hash != base.Hash {
				t.Fatalf("the tree is %v, want %v", got, base)
			}
			paste(t, filepath.Join(dir, "dir"), u.Recovery.Command)
			if got := read(t, w); got.Hash != messed.Hash {
				t.Errorf("the command gives %v, want %v: %s", got, messed, u.Recovery.Command)
			}
		})
	}
}

// TestRestoreAgain does it a second time, as after a crash: nothing more happens, and what the first time did is told
// with its recovery; where somebody changed files in between, those are saved as well.
func TestRestoreAgain(t *testing.T) {
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			w := open(t, dir)
			base := keep(t, w)
			write(t, filepath.Join(dir, "a.txt"), "one\n")
			first := restored(t, w, base, options(dir))
			second := restored(t, w, base, options(dir))
			if !slices.Equal(second.Files, first.Files) || second.Recovery.Name != first.Recovery.Name || second.Recovery.Command != first.Recovery.Command {
				t.Errorf("the second time: %+v, want the files and the recovery of %+v", second, first)
			}
			write(t, filepath.Join(dir, "a.txt"), "two\n")
			third := restored(t, w, base, options(dir))
			if third.Recovery.Name != first.Recovery.Name || len(third.Recovery.Later) != 1 {
				t.Errorf("the third time: %+v", third.Recovery)
			}
			if w.Git() {
				for ref, want := range map[string]string{third.Recovery.Name: "one\n", third.Recovery.Later[0]: "two\n"} {
					if got := git(t, dir, "show", ref+":./a.txt"); got != want {
						t.Errorf("%s holds %q, want %q", ref, got, want)
					}
				}
				return
			}
			b, err := os.ReadFile(filepath.Join(third.Recovery.Later[0], "a.txt"))
			if must(t, err); string(b) != "two\n" {
				t.Errorf("the later copy holds %q", b)
			}
		})
	}
}

// TestRestoreCutOff stops a restoration before each file, and does it again.
func TestRestoreCutOff(t *testing.T) {
	for name, step := range map[string]int{"git": 5, "walk": 3} {
		t.Run(name, func(t *testing.T) {
			dir := projects[name](t)
			w := open(t, dir)
			before(t, dir)
			base := keep(t, w)
			for n := 0; n < 400; n += step {
				mess(t, dir)
				messed := read(t, w)
				ctx := &countdown{Context: t.Context(), left: n}
				_, err := w.Restore(ctx, base.Hash, options(dir))
				if err == nil {
					return
				}
				restored(t, w, base, options(dir))
				if got := read(t, w); got.Hash != base.Hash {
					t.Fatalf("cut off after %d: the tree is not what it was", n)
				}
				if !w.Git() {
					must(t, os.RemoveAll(filepath.Join(dir, ".pipe", "recovery")))
					continue
				}
				refs := strings.Fields(git(t, dir, "for-each-ref", "--format=%(tree)", recoveryRefs))
				if !slices.Contains(refs, strings.TrimPrefix(messed.Hash, "git:")) {
					t.Fatalf("cut off after %d: what was there is not saved", n)
				}
				for ref := range strings.FieldsSeq(git(t, dir, "for-each-ref", "--format=%(refname)", recoveryRefs)) {
					git(t, dir, "update-ref", "-d", ref)
				}
			}
			t.Error("it was never carried out to the end")
		})
	}
}

// countdown is a context that ends when it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestRestoreLeavesIgnored keeps what is ignored, by the rules of then and by those of now, though it is in the way.
func TestRestoreLeavesIgnored(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	write(t, filepath.Join(dir, "secret.log"), "secret\n")
	write(t, filepath.Join(dir, "plain"), "plain\n")
	base := keep(t, w)
	write(t, filepath.Join(dir, ".gitignore"), "plain\n")    // the log is not ignored any more, plain is
	write(t, filepath.Join(dir, "plain"), "hidden change\n") // and comes back all the same
	write(t, filepath.Join(dir, "dir/c.log"), "new\n")
	must(t, os.Remove(filepath.Join(dir, "a.txt")))
	write(t, filepath.Join(dir, "a.txt/x.log"), "ignored, in the way\n")

	u, err := w.Restore(t.Context(), base.Hash, options(dir))
	must(t, err)
	if want := []string{"a.txt/x.log", "dir/c.log", "secret.log"}; !slices.Equal(u.Ignored, want) {
		t.Errorf("ignored %q, want %q", u.Ignored, want)
	}
	if len(u.Left) != 1 || !strings.HasPrefix(u.Left[0], `"a.txt": a folder is in its place`) {
		t.Errorf("left %q", u.Left)
	}
	for name, want := range map[string]string{"secret.log": "secret\n", "plain": "plain\n", "a.txt/x.log": "ignored, in the way\n", ".gitignore": "*.log\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s holds %q (%v), want %q", name, b, err, want)
		}
	}
	if got := git(t, dir, "show", u.Recovery.Name+":plain"); got != "hidden change\n" {
		t.Errorf("the recovery holds %q of the ignored file that was overwritten", got)
	}
}

// TestRestoreExcluded keeps files that are tracked and no part of the tree, also when the recovery is taken back.
func TestRestoreExcluded(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, ".tot-docs/task.md"), "one\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "docs")
	w := open(t, dir)
	base := keep(t, w)
	write(t, filepath.Join(dir, ".tot-docs/task.md"), "two\n")
	write(t, filepath.Join(dir, "a.txt"), "changed\n")
	u := restored(t, w, base, options(dir))
	paste(t, filepath.Join(dir, "dir"), u.Recovery.Command)
	for name, want := range map[string]string{".tot-docs/task.md": "two\n", "a.txt": "changed\n"} {
		if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != want {
			t.Errorf("%s holds %q, want %q", name, b, want)
		}
	}
}

// TestRestoreExcludedSince leaves alone what was part of the tree and is excluded by now.
func TestRestoreExcludedSince(t *testing.T) {
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			w := open(t, dir)
			base := keep(t, w)
			write(t, filepath.Join(dir, "a.txt"), "findings\n")
			if u := restored(t, w, base, options(dir, "a.txt")); len(u.Files) > 0 {
				t.Errorf("put back %q", u.Files)
			}
		})
	}
}

// TestRestoreAfterGC has git throw away all that nobody names.
func TestRestoreAfterGC(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	write(t, filepath.Join(dir, "own.txt"), "mine\n")
	git(t, dir, "add", "own.txt") // its content is among the repository's objects, and not in our store
	base := keep(t, w)
	git(t, dir, "rm", "-q", "--cached", "own.txt")
	write(t, filepath.Join(dir, "own.txt"), "changed\n")
	git(t, dir, "reflog", "expire", "--expire=now", "--all")
	git(t, dir, "gc", "-q", "--prune=now")
	restored(t, w, base, options(dir))
	if b, _ := os.ReadFile(filepath.Join(dir, "own.txt")); string(b) != "mine\n" {
		t.Errorf("own.txt holds %q", b)
	}
	must(t, w.Release(t.Context(), "01RUN"))
	if refs := git(t, dir, "for-each-ref", baseRefs); refs != "" {
		t.Errorf("the bases stay: %s", refs)
	}
	if refs := git(t, dir, "for-each-ref", recoveryRefs); refs == "" {
		t.Error("the recovery went with the bases")
	}
}

// TestRestoreOfALostTree touches nothing where what it would put back is gone.
func TestRestoreOfALostTree(t *testing.T) {
	for _, name := range []string{"git", "walk"} {
		t.Run(name, func(t *testing.T) {
			dir := projects[name](t)
			w := open(t, dir)
			base := keep(t, w)
			must(t, os.Remove(filepath.Join(dir, "dir/b.txt")))
			write(t, filepath.Join(dir, "new.txt"), "new\n")
			if name == "git" {
				must(t, os.RemoveAll(filepath.Join(dir, ".git/objects/61"))) // of "b\n"
			} else {
				must(t, w.Release(t.Context(), "01RUN"))
			}
			was := held(t, dir)
			_, err := w.Restore(t.Context(), base.Hash, options(dir))
			if !errors.Is(err, workspace.ErrUnknownTree) {
				t.Errorf("error %v", err)
			}
			if got := held(t, dir); got != was {
				t.Errorf("it touched files:\n%s", got)
			}
		})
	}
}

func TestKeepLimit(t *testing.T) {
	dir := projects["walk"](t)
	w := open(t, dir)
	w.KeepLimit = 3
	_, err := w.Keep(t.Context(), workspace.ReadOptions{}, "01RUN", "s")
	if !errors.Is(err, ErrNotKept) || !strings.Contains(err.Error(), "put it under git") {
		t.Errorf("error %v", err)
	}
}

// TestRestoreKeepsWhoMayRead writes a file that only its owner may read for nobody else.
func TestRestoreKeepsWhoMayRead(t *testing.T) {
	dir := projects["walk"](t)
	w := open(t, dir)
	must(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o600))
	base := keep(t, w)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x"), 0o600))
	restored(t, w, base, options(dir))
	if info, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestRefName(t *testing.T) {
	dir := repo(t)
	seen := map[string]bool{}
	for _, stage := range []string{"a", "a/b", "a[0]", "a[0]/b", "a/lock", "a/b[10]", strings.Repeat("long-id/", 60) + "x", strings.Repeat("long-id/", 60) + "y"} {
		name := refName(stage)
		if seen[name] {
			t.Errorf("%q has the name of another", stage)
		}
		seen[name] = true
		git(t, dir, "update-ref", recoveryRefs+"01RUN/"+numbered(name, 2), "HEAD")
	}
}

// TestRestoreAttributes writes files by the attributes that held, not by those that the stage has set.
func TestRestoreAttributes(t *testing.T) {
	for name, was := range map[string]string{"changed": "* text\n", "removed": "* text eol=lf\n", "added": ""} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			w := open(t, dir)
			files := []string{filepath.Join(dir, "-first.txt"), filepath.Join(dir, "last.txt")}
			for _, file := range files {
				write(t, file, "one\ntwo\n")
			}
			attributes := filepath.Join(dir, ".gitattributes")
			if was != "" {
				write(t, attributes, was)
			}
			base := keep(t, w)
			write(t, attributes, "* text eol=crlf\n")
			if name == "removed" {
				must(t, os.Remove(attributes))
				write(t, filepath.Join(dir, "sub/.gitattributes"), "* text eol=crlf\n")
			}
			for _, file := range files {
				write(t, file, "changed\n")
			}
			u, err := w.Restore(t.Context(), base.Hash, options(dir))
			if err != nil || len(u.Left) > 0 {
				t.Errorf("%+v, %v", u, err)
			}
			for _, file := range files {
				if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
					t.Errorf("%s holds %q, %v", file, b, err)
				}
			}
		})
	}
}

// TestRestoreWhatWasHidden removes what was added below rules of its own, and keeps it in a recovery.
func TestRestoreWhatWasHidden(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	write(t, filepath.Join(dir, "old.log"), "ignored before\n")
	base := keep(t, w)
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n*.keep\n")
	write(t, filepath.Join(dir, "a.txt"), "changed\n")
	write(t, filepath.Join(dir, "made/x.keep"), "hidden\n")
	write(t, filepath.Join(dir, "new.log"), "ignored\n")

	opt := options(dir)
	opt.Copies = filepath.Join(t.TempDir(), "recovery")
	u, err := w.Restore(t.Context(), base.Hash, opt)
	must(t, err)
	if want := []string{".gitignore", "a.txt", "made/x.keep"}; !slices.Equal(u.Files, want) || len(u.Left) > 0 {
		t.Errorf("%+v, want %q", u, want)
	}
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status says\n%s", got)
	}
	for _, name := range []string{"old.log", "new.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if len(u.Recovery.Later) != 1 || git(t, dir, "show", u.Recovery.Later[0]+":made/x.keep") != "hidden\n" || git(t, dir, "show", u.Recovery.Name+":a.txt") != "changed\n" {
		t.Errorf("recovery %+v", u.Recovery)
	}
}
