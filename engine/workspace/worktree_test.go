package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const runID = "01J00000000000000000000000"

// tree makes a worktree of a run in the state folder of a project, which need not be the top of a repository.
func tree(t *testing.T, project string) *Worktree {
	t.Helper()
	w, err := Open(project)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.Root, ".pipe/.gitignore"), "*\n")
	dir := filepath.Join(w.Root, ".pipe/worktrees")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wt := w.Worktree(runID, filepath.Join(dir, runID), "pipe/"+runID)
	wt.Workspace().Store = t.TempDir()
	return wt
}

func made(t *testing.T, project string) *Worktree {
	t.Helper()
	wt := tree(t, project)
	if err := wt.Usable(t.Context()); err != nil {
		t.Fatalf("usable: %v", err)
	}
	if err := wt.Make(t.Context()); err != nil {
		t.Fatalf("make: %v", err)
	}
	return wt
}

func closed(t *testing.T, wt *Worktree, exclude ...string) (why string) {
	t.Helper()
	why, err := wt.Close(t.Context(), "pipe: run x\n\nRun: "+wt.Run+"\n", exclude)
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	return why
}

// gone says that nothing is left of a worktree but its branch.
func gone(t *testing.T, wt *Worktree) {
	t.Helper()
	if exists(wt.Path) {
		t.Errorf("%q is still there", wt.Path)
	}
	if list := git(t, wt.main.Root, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("git lists\n%s", list)
	}
	left, err := os.ReadDir(filepath.Dir(wt.Path))
	if err != nil || len(left) > 0 {
		t.Errorf("beside it are %v, %v", left, err)
	}
}

// files gives what a commit holds.
func files(t *testing.T, dir, commit string) []string {
	t.Helper()
	return strings.Fields(git(t, dir, "ls-tree", "-r", "--name-only", commit))
}

// mainState is all of the main workspace that a worktree must not change.
func mainState(t *testing.T, dir string) string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x\n%s%s%s", index, git(t, dir, "rev-parse", "HEAD"), git(t, dir, "status", "--porcelain", "--ignored=no"), git(t, dir, "stash", "list"))
}

func TestWorktreeFromMakeToClose(t *testing.T) {
	dir := repo(t)
	write(t, filepath.Join(dir, "a.txt"), "mine\n")
	write(t, filepath.Join(dir, "new file.txt"), "mine\n")
	wt := tree(t, dir)
	before := mainState(t, dir)
	names, err := wt.Uncommitted(t.Context())
	if want := []string{"a.txt", "new file.txt"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("uncommitted: %q, %v, want %q", names, err, want)
	}
	if err := wt.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	space := wt.Workspace()
	if b, err := os.ReadFile(filepath.Join(space.Root, "a.txt")); err != nil || string(b) != "a\n" {
		t.Errorf("a.txt is %q, %v", b, err)
	}
	t0 := read(t, space)
	write(t, filepath.Join(space.Root, "a.txt"), "changed\n")
	write(t, filepath.Join(space.Root, "sub/made.txt"), "made\n")
	write(t, filepath.Join(space.Root, "out.log"), "ignored\n")
	write(t, filepath.Join(space.Root, "report.json"), "[]\n")
	write(t, filepath.Join(space.Root, ".pipe/x"), "state of a run inside\n")
	if err := os.Remove(filepath.Join(space.Root, "dir/b.txt")); err != nil {
		t.Fatal(err)
	}
	t1 := read(t, space, "report.json")
	wantChanged(t, space, t0, t1, "a.txt", "dir/b.txt", "sub/made.txt")
	// The main workspace's tree has nothing of it.
	main := open(t, dir)
	m0 := read(t, main)
	wantChanged(t, main, m0, read(t, main))
	if err := wt.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	if why := closed(t, wt, "report.json"); why != "" {
		t.Errorf("it stays: %s", why)
	}
	gone(t, wt)
	if got := mainState(t, dir); got != before {
		t.Errorf("the main workspace was\n%s\nand is\n%s", before, got)
	}
	if got, want := files(t, dir, wt.Branch), []string{".gitignore", "a.txt", "sub/made.txt"}; !slices.Equal(got, want) {
		t.Errorf("the branch holds %q, want %q", got, want)
	}
	if got := git(t, dir, "log", "--format=%an <%ae> %B", wt.Branch, "-1"); !strings.Contains(got, "pipe: run x") || !strings.Contains(got, runID) {
		t.Errorf("the commit says %q", got)
	}
	if got := git(t, dir, "rev-list", "--count", "HEAD.."+wt.Branch); got != "1\n" {
		t.Errorf("%s commits", got)
	}
}

func TestWorktreeWithoutChangesMakesNoCommit(t *testing.T) {
	dir := repo(t)
	wt := made(t, dir)
	closed(t, wt)
	gone(t, wt)
	if head, tip := git(t, dir, "rev-parse", "HEAD"), git(t, dir, "rev-parse", wt.Branch); head != tip {
		t.Errorf("the branch is at %s, and HEAD at %s", tip, head)
	}
	if why := closed(t, wt); why != "" {
		t.Errorf("a second close: %s", why)
	}
}

func TestWorktreeAuthorOfTheCommit(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("EMAIL", "")
	os.Unsetenv("EMAIL")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "none"))
	for _, c := range []struct{ name, email, want string }{
		{"", "", "pipe <pipe@localhost>"},
		{"Anna", "anna@example.com", "Anna <anna@example.com>"},
	} {
		dir := repo(t)
		if c.name != "" {
			git(t, dir, "config", "user.name", c.name)
			git(t, dir, "config", "user.email", c.email)
		}
		git(t, dir, "config", "commit.gpgSign", "true")
		for _, hook := range []string{"pre-commit", "commit-msg", "post-checkout", "reference-transaction", "post-commit"} {
			write(t, filepath.Join(dir, ".git/hooks", hook), "#!/bin/sh\ntouch "+filepath.Join(home, "hook")+"\nexit 1\n")
			if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		wt := made(t, dir)
		write(t, filepath.Join(wt.Path, "x"), "x")
		closed(t, wt)
		out, err := exec.Command("git", "-C", dir, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%G?", wt.Branch).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want+"|"+c.want+"|N" {
			t.Errorf("author, committer and signature are %q, %v, want %q", got, err, c.want)
		}
		if exists(filepath.Join(home, "hook")) {
			t.Error("a hook ran")
		}
	}
}

// TestWorktreeOfASubfolder has the project below the top of its repository.
func TestWorktreeOfASubfolder(t *testing.T) {
	top := repo(t)
	wt := made(t, filepath.Join(top, "dir"))
	space := wt.Workspace()
	if want := filepath.Join(wt.Path, "dir"); space.Root != want {
		t.Fatalf("the workspace is %q, want %q", space.Root, want)
	}
	t0 := read(t, space)
	write(t, filepath.Join(space.Root, "b.txt"), "B\n")
	write(t, filepath.Join(space.Root, "report.json"), "[]\n")
	write(t, filepath.Join(wt.Path, "a.txt"), "A\n")
	wantChanged(t, space, t0, read(t, space, "report.json"), "b.txt")
	closed(t, wt, "report.json")
	gone(t, wt)
	if got := git(t, top, "diff", "--name-only", "HEAD", wt.Branch); got != "a.txt\ndir/b.txt\n" {
		t.Errorf("the branch changes %q", got)
	}
}

func TestWorktreeWhereNoneCanBe(t *testing.T) {
	plain := t.TempDir()
	empty := t.TempDir()
	git(t, empty, "init", "-q")
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	outer := repo(t)
	write(t, filepath.Join(outer, "new/x.txt"), "x")
	write(t, filepath.Join(outer, "build.log/x.txt"), "x")
	taken := repo(t)
	git(t, taken, "branch", "pipe")
	for _, c := range []struct{ dir, want string }{
		{plain, "in no git repository"},
		{empty, "has no commit"},
		{bare, "bare git repository"},
		{filepath.Join(outer, "new"), `folder "new" is not in the last commit`},
		{filepath.Join(outer, "build.log"), "ignores it"},
		{taken, `a git branch is named "pipe"`},
	} {
		var why *NoWorktreeError
		if err := tree(t, c.dir).Usable(t.Context()); !errors.As(err, &why) || !strings.Contains(why.Why, c.want) {
			t.Errorf("%q: %v, want %q", c.dir, err, c.want)
		}
	}
	// Without a program "git", or with one that is too old.
	main := repo(t)
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\necho git version 2.19.9\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	wt := tree(t, main)
	wt.main.git.program = filepath.Join(bin, "git")
	if err := wt.Usable(t.Context()); err == nil || !strings.Contains(err.Error(), "needs git 2.20 or later") {
		t.Errorf("an old git: %v", err)
	}
	none := tree(t, plain)
	t.Setenv("PATH", t.TempDir())
	if err := none.Usable(t.Context()); err == nil || !strings.Contains(err.Error(), `no program "git"`) {
		t.Errorf("no git: %v", err)
	}
	if _, err := Open(main); err == nil || !strings.Contains(err.Error(), `no program "git"`) {
		t.Errorf("no git in a git work tree: %v", err)
	}
}

func TestOldGit(t *testing.T) {
	for version, want := range map[string]bool{
		"git version 2.39.5 (Apple Git-154)": false, "git version 2.20": false, "git version 3": false,
		"git version 2.19.2": true, "git version 1.8.3.1": true, "git version 2.9": true, "something else": false,
	} {
		if got := isOld(version); got != want {
			t.Errorf("%q is old: %v", version, got)
		}
	}
}

// TestWorktreeInAForeignEnvironment has what git sets for its hooks: it must not lead to another repository.
func TestWorktreeInAForeignEnvironment(t *testing.T) {
	other, dir := repo(t), repo(t)
	before := mainState(t, other) + git(t, other, "for-each-ref")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git/index"))
	wt := made(t, dir)
	write(t, filepath.Join(wt.Path, "x.txt"), "x")
	closed(t, wt)
	gone(t, wt)
	if got := mainState(t, other) + git(t, other, "for-each-ref"); got != before {
		t.Errorf("the other repository was\n%s\nand is\n%s", before, got)
	}
	if got := files(t, dir, wt.Branch); !slices.Contains(got, "x.txt") {
		t.Errorf("the branch holds %q", got)
	}
}

func TestWorktreeOfADetachedHead(t *testing.T) {
	dir := repo(t)
	git(t, dir, "checkout", "-q", "--detach")
	wt := made(t, dir)
	write(t, filepath.Join(wt.Path, "x.txt"), "x")
	closed(t, wt)
	gone(t, wt)
	if got := git(t, dir, "rev-list", "--count", "HEAD.."+wt.Branch); got != "1\n" {
		t.Errorf("%s commits", got)
	}
}

// TestWorktreeOfAWorktree has the project itself in a linked worktree.
func TestWorktreeOfAWorktree(t *testing.T) {
	dir := repo(t)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	wt := made(t, linked)
	write(t, filepath.Join(wt.Path, "x.txt"), "x")
	closed(t, wt)
	if list := git(t, dir, "worktree", "list"); strings.Count(list, "\n") != 2 {
		t.Errorf("git lists\n%s", list)
	}
	if got := files(t, dir, wt.Branch); !slices.Contains(got, "x.txt") {
		t.Errorf("the branch holds %q", got)
	}
}

// TestWorktreeOfABareRepository has the project in the worktree of a repository that has no files of its own.
func TestWorktreeOfABareRepository(t *testing.T) {
	bare, linked := filepath.Join(t.TempDir(), "bare"), filepath.Join(t.TempDir(), "linked")
	git(t, t.TempDir(), "clone", "-q", "--bare", repo(t), bare)
	git(t, bare, "worktree", "add", "-q", linked)
	wt := made(t, linked)
	read(t, wt.Workspace())
	write(t, filepath.Join(wt.Path, "x.txt"), "x")
	closed(t, wt)
	if got := files(t, bare, wt.Branch); !slices.Contains(got, "x.txt") {
		t.Errorf("the branch holds %q", got)
	}
}

// TestWorktreeWhoseStageUsesGit has what an agent may do with git in its worktree.
func TestWorktreeWhoseStageUsesGit(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want []string // in the branch, beside what was there
	}{
		"commits by itself": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "own.txt"), "x")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "own")
		}, []string{"own.txt", "rest.txt"}},
		"on another branch": {func(t *testing.T, dir string) {
			git(t, dir, "checkout", "-q", "-b", "other")
			write(t, filepath.Join(dir, "own.txt"), "x")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "own")
		}, []string{"own.txt", "rest.txt"}},
		"on branches that part": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "first.txt"), "x")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "first")
			git(t, dir, "checkout", "-q", "--detach", "HEAD~1")
			write(t, filepath.Join(dir, "own.txt"), "x")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "own")
		}, []string{"own.txt", "rest.txt"}},
		"leaves a lock": {func(t *testing.T, dir string) {
			lock := strings.TrimSpace(git(t, dir, "rev-parse", "--absolute-git-dir")) + "/index.lock"
			write(t, lock, "")
		}, []string{"rest.txt"}},
		"locks the worktree": {func(t *testing.T, dir string) { git(t, dir, "worktree", "lock", dir) }, []string{"rest.txt"}},
		"stages half": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "own.txt"), "x")
			git(t, dir, "add", "own.txt")
			write(t, filepath.Join(dir, "own.txt"), "y")
		}, []string{"own.txt", "rest.txt"}},
		"deletes .git": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}, []string{"rest.txt"}},
		"leaves a conflict": {func(t *testing.T, dir string) {
			git(t, dir, "checkout", "-q", "-b", "side")
			write(t, filepath.Join(dir, "a.txt"), "side\n")
			git(t, dir, "commit", "-q", "-a", "-m", "side")
			git(t, dir, "checkout", "-q", "pipe/"+runID)
			write(t, filepath.Join(dir, "a.txt"), "here\n")
			git(t, dir, "commit", "-q", "-a", "-m", "here")
			_ = exec.Command("git", "-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "side").Run()
		}, []string{"rest.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			wt := made(t, dir)
			before := mainState(t, dir)
			c.do(t, wt.Path)
			write(t, filepath.Join(wt.Path, "rest.txt"), "x")
			if why := closed(t, wt); why != "" {
				t.Errorf("it stays: %s", why)
			}
			gone(t, wt)
			want := append([]string{".gitignore", "a.txt", "dir/b.txt"}, c.want...)
			if got := files(t, dir, wt.Branch); !slices.Equal(got, want) {
				t.Errorf("the branch holds %q, want %q", got, want)
			}
			if name == "on branches that part" {
				if parents := git(t, dir, "show", "-s", "--format=%P", wt.Branch); len(strings.Fields(parents)) != 2 {
					t.Errorf("parents %q: the first commit is lost", parents)
				}
			}
			if got := mainState(t, dir); got != before {
				t.Errorf("the main workspace was\n%s\nand is\n%s", before, got)
			}
		})
	}
}

// TestWorktreeThatHoldsWhatNoCommitKeeps stays where its removal would lose something.
func TestWorktreeThatHoldsWhatNoCommitKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want string // "": it is removed
	}{
		"a repository without a commit": {func(t *testing.T, dir string) {
			git(t, dir, "init", "-q", "inner")
			write(t, filepath.Join(dir, "inner/x.txt"), "x")
		}, `"inner/" can't be committed`},
		"a repository with a commit of its own": {func(t *testing.T, dir string) {
			git(t, dir, "init", "-q", "inner")
			git(t, filepath.Join(dir, "inner"), "commit", "-q", "--allow-empty", "-m", "x")
		}, `the repository "inner" in it has commits that no other has`},
		"it became a repository itself": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "init", "-q")
		}, "a stage made it a repository of its own"},
		"a clone of another": {func(t *testing.T, dir string) { git(t, dir, "clone", "-q", repo(t), "inner") }, ""},
		"a clone that was changed": {func(t *testing.T, dir string) {
			git(t, dir, "clone", "-q", repo(t), "inner")
			write(t, filepath.Join(dir, "inner/a.txt"), "changed")
		}, `"inner" can't be committed`},
		"a folder that can't be written to": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "closed/x.log"), "x")
			if err := os.Chmod(filepath.Join(dir, "closed"), 0o500); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo(t)
			wt := made(t, dir)
			write(t, filepath.Join(wt.Path, "rest.txt"), "x")
			c.do(t, wt.Path)
			why := closed(t, wt)
			if c.want == "" != (why == "") || !strings.Contains(why, c.want) {
				t.Errorf("it stays for %q, want %q", why, c.want)
			}
			if why != "" && !exists(filepath.Join(wt.Path, "rest.txt")) {
				t.Error("it says that it stays, and is gone")
			}
			if why == "" {
				gone(t, wt)
			}
			if got := files(t, dir, wt.Branch); !slices.Contains(got, "rest.txt") {
				t.Errorf("the branch holds %q", got)
			}
		})
	}
}

// TestWorktreeRunsNothingOfARepositoryInside has a repository inside, as it may come with an archive, that names
// programs in its configuration.
func TestWorktreeRunsNothingOfARepositoryInside(t *testing.T) {
	for name, set := range map[string]func(t *testing.T, inner, program string){
		"a filter": func(t *testing.T, inner, program string) {
			write(t, filepath.Join(inner, ".git/info/attributes"), "* filter=x\n")
			git(t, inner, "config", "filter.x.clean", program+"; cat")
			must(t, os.Chtimes(filepath.Join(inner, "a.txt"), time.Unix(1, 0), time.Unix(1, 0)))
		},
		"what fetches": func(t *testing.T, inner, program string) {
			for _, kv := range [][2]string{
				{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"},
				{"remote.origin.url", "ext::sh -c " + strings.ReplaceAll(program, " ", "% ")}, {"protocol.ext.allow", "always"},
			} {
				git(t, inner, "config", kv[0], kv[1])
			}
			write(t, filepath.Join(inner, ".git/refs/heads/other"), strings.Repeat("12", 20)+"\n")
		},
		"what watches files": func(t *testing.T, inner, program string) { git(t, inner, "config", "core.fsmonitor", program) },
	} {
		t.Run(name, func(t *testing.T) {
			wt := made(t, repo(t))
			inner, mark := filepath.Join(wt.Path, "inner"), filepath.Join(t.TempDir(), "mark")
			git(t, wt.Path, "clone", "-q", repo(t), inner)
			set(t, inner, "touch "+mark)
			read(t, wt.Workspace())
			closed(t, wt)
			if exists(mark) {
				t.Error("it ran")
			}
		})
	}
}

func TestWorktreeWithSubmodules(t *testing.T) {
	lib, dir := repo(t), repo(t)
	git(t, dir, "submodule", "add", "-q", lib, "lib")
	git(t, dir, "commit", "-q", "-m", "lib")
	t.Run("not checked out", func(t *testing.T) {
		wt := made(t, dir)
		if !wt.HasSubmodules() {
			t.Error("it knows of no submodules")
		}
		write(t, filepath.Join(wt.Path, "x.txt"), "x")
		if why := closed(t, wt); why != "" {
			t.Errorf("it stays: %s", why)
		}
		gone(t, wt)
		if got := git(t, dir, "diff", "--name-only", "HEAD", wt.Branch); got != "x.txt\n" {
			t.Errorf("the branch changes %q", got)
		}
		git(t, dir, "branch", "-q", "-D", wt.Branch)
	})
	t.Run("checked out", func(t *testing.T) {
		wt := made(t, dir)
		git(t, wt.Path, "submodule", "update", "-q", "--init")
		read(t, wt.Workspace())
		if why := closed(t, wt); why != "" {
			t.Errorf("it stays: %s", why)
		}
		gone(t, wt)
		git(t, dir, "branch", "-q", "-D", wt.Branch)
	})
	t.Run("with a commit of its own", func(t *testing.T) {
		wt := made(t, dir)
		git(t, wt.Path, "submodule", "update", "-q", "--init")
		git(t, filepath.Join(wt.Path, "lib"), "commit", "-q", "--allow-empty", "-m", "own")
		if why := closed(t, wt); !strings.Contains(why, `the repository "lib" in it has commits`) {
			t.Errorf("it stays for %q", why)
		}
	})
	if got := git(t, dir, "submodule", "status"); strings.HasPrefix(got, "+") || strings.HasPrefix(got, "-") {
		t.Errorf("the submodule of the main workspace: %s", got)
	}
}

func TestWorktreeThatWasMovedOrDeleted(t *testing.T) {
	t.Run("deleted", func(t *testing.T) {
		dir := repo(t)
		wt := made(t, dir)
		git(t, wt.Path, "commit", "-q", "--allow-empty", "-m", "own")
		if err := os.RemoveAll(wt.Path); err != nil {
			t.Fatal(err)
		}
		var why *NoWorktreeError
		if err := wt.Check(t.Context()); !errors.As(err, &why) || !strings.Contains(why.Why, "git worktree add -f "+wt.Path+" "+wt.Branch) {
			t.Fatalf("check: %v", err)
		}
		// What the message says helps.
		git(t, dir, "worktree", "add", "-q", "-f", wt.Path, wt.Branch)
		if err := wt.Check(t.Context()); err != nil {
			t.Errorf("after it was made again: %v", err)
		}
		if err := os.RemoveAll(wt.Path); err != nil {
			t.Fatal(err)
		}
		if err := wt.Restore(t.Context()); err != nil {
			t.Fatalf("restore: %v", err)
		}
		if got := git(t, wt.Path, "log", "-1", "--format=%s"); got != "own\n" {
			t.Errorf("it was made of %q", got)
		}
		closed(t, wt)
		gone(t, wt)
	})
	t.Run("deleted and its branch too", func(t *testing.T) {
		dir := repo(t)
		wt := made(t, dir)
		if err := os.RemoveAll(wt.Path); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "worktree", "prune")
		git(t, dir, "branch", "-q", "-D", wt.Branch)
		if err := wt.Restore(t.Context()); err != nil {
			t.Fatalf("restore: %v", err)
		}
		closed(t, wt)
		gone(t, wt)
	})
	t.Run("with the whole project", func(t *testing.T) {
		dir := repo(t)
		wt := made(t, dir)
		write(t, filepath.Join(wt.Path, "x.txt"), "x")
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(dir, moved); err != nil {
			t.Fatal(err)
		}
		wt = tree(t, moved)
		if err := wt.Check(t.Context()); err != nil {
			t.Fatalf("check: %v", err)
		}
		closed(t, wt)
		gone(t, wt)
		if got := files(t, moved, wt.Branch); !slices.Contains(got, "x.txt") {
			t.Errorf("the branch holds %q", got)
		}
	})
	t.Run("its .git is another file as well", func(t *testing.T) {
		wt := made(t, repo(t))
		link, other := filepath.Join(wt.Path, ".git"), filepath.Join(wt.main.Root, "other")
		write(t, other, "precious")
		for name, put := range map[string]func() error{
			"hard link": func() error { return os.Link(other, link) },
			"link":      func() error { return os.Symlink(other, link) },
			"pipe":      func() error { return syscall.Mkfifo(link, 0o600) },
		} {
			if err := errors.Join(os.Remove(link), put()); err != nil {
				t.Fatal(err)
			}
			if err := wt.Check(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if b, err := os.ReadFile(other); err != nil || string(b) != "precious" {
				t.Errorf("%s: the other file holds %q, %v", name, b, err)
			}
		}
		closed(t, wt)
		gone(t, wt)
	})
	t.Run("unknown to its repository", func(t *testing.T) {
		dir := repo(t)
		wt := made(t, dir)
		if err := os.RemoveAll(filepath.Join(dir, ".git/worktrees")); err != nil {
			t.Fatal(err)
		}
		var why *NoWorktreeError
		if err := wt.Check(t.Context()); !errors.As(err, &why) || !strings.Contains(why.Why, "files are still there") {
			t.Errorf("check: %v", err)
		}
		if _, err := wt.Close(t.Context(), "x", nil); err == nil || !exists(filepath.Join(wt.Path, "a.txt")) {
			t.Errorf("close: %v", err)
		}
	})
}

// TestWorktreeKilledAtEachCallOfGit ends making and closing at each call of git, before and after it was
// carried out, and does it again, as a resume does.
func TestWorktreeKilledAtEachCallOfGit(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	fake, count := filepath.Join(bin, "git"), filepath.Join(bin, "count")
	write(t, fake, `#!/bin/sh
echo >> `+count+`
n=$(wc -l < `+count+`)
if [ "$n" -ge "$AT" ] && [ "$HOW" = before ]; then kill -9 $$; fi
`+real+` "$@"; status=$?
if [ "$n" -ge "$AT" ]; then kill -9 $$; fi
exit $status
`)
	if err := os.Chmod(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	// step is what may be cut off; the program is exchanged for it alone.
	step := func(wt *Worktree, at int, how string, do func() error) error {
		t.Setenv("AT", fmt.Sprint(at))
		t.Setenv("HOW", how)
		_ = os.Remove(count)
		wt.main.git.program = fake
		defer func() { wt.main.git.program = real }()
		return do()
	}
	for _, first := range []int{1, 2} { // after a call is as good as before the next one
		how := map[int]string{1: "before", 2: "after"}[first]
		for at := first; ; at += 2 {
			dir := repo(t)
			wt := tree(t, dir)
			err := step(wt, at, how, func() error { return wt.Make(t.Context()) })
			if err2 := wt.Make(t.Context()); err2 != nil {
				t.Fatalf("made again, after it was killed %s call %d: %v", how, at, err2)
			}
			write(t, filepath.Join(wt.Path, "x.txt"), "x")
			closed(t, wt)
			gone(t, wt)
			if err == nil {
				if at < 3 {
					t.Fatalf("only %d calls", at)
				}
				break
			}
		}
		for at := first; ; at += 2 {
			dir := repo(t)
			wt := made(t, dir)
			write(t, filepath.Join(wt.Path, "x.txt"), "x")
			err := step(wt, at, how, func() error { _, err := wt.Close(t.Context(), "m", nil); return err })
			if why := closed(t, wt); why != "" {
				t.Fatalf("closed again, after it was killed %s call %d: it stays: %s", how, at, why)
			}
			gone(t, wt)
			if got := git(t, dir, "rev-list", "--count", "HEAD.."+wt.Branch); got != "1\n" {
				t.Fatalf("killed %s call %d: %s commits", how, at, got)
			}
			if got := files(t, dir, wt.Branch); !slices.Contains(got, "x.txt") || len(got) != 4 {
				t.Fatalf("killed %s call %d: the branch holds %q", how, at, got)
			}
			if err == nil {
				if at < 8 {
					t.Fatalf("only %d calls", at)
				}
				break
			}
		}
	}
}

// TestWorktreeKilledInTheMidstOfGit kills git while it makes the worktree, at different moments.
func TestWorktreeKilledInTheMidstOfGit(t *testing.T) {
	dir := repo(t)
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprintf("many/%d.txt", i)), strings.Repeat("x", 1000+i))
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "many")
	wt := tree(t, dir)
	for delay := time.Duration(0); delay < 60*time.Millisecond; delay += 3 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), delay)
		err := wt.Make(ctx)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after %s: %v", delay, err)
		}
	}
	if err := wt.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := git(t, wt.Path, "status", "--porcelain"); got != "" {
		t.Errorf("it differs from its commit:\n%s", got)
	}
	closed(t, wt)
	gone(t, wt)
}

// TestWorktreeHalfRemoved has locks that a killed git left, and the folder half gone: what is missing of it must not be committed.
func TestWorktreeHalfRemoved(t *testing.T) {
	dir := repo(t)
	wt := tree(t, dir)
	lock := filepath.Join(dir, ".git/refs/heads", wt.Branch) + ".lock"
	write(t, lock, "")
	if err := wt.Make(t.Context()); err != nil {
		t.Fatalf("with a lock left by a killed git: %v", err)
	}
	write(t, lock, "")
	write(t, filepath.Join(wt.Path, "x.txt"), "x")
	if _, err := wt.save(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(filepath.Dir(wt.Path), "."+runID+".old")
	if err := os.Rename(wt.Path, old); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", ".git"} {
		if err := os.Remove(filepath.Join(old, name)); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, wt)
	gone(t, wt)
	if got := files(t, dir, wt.Branch); !slices.Contains(got, "a.txt") || !slices.Contains(got, "x.txt") {
		t.Errorf("the branch holds %q", got)
	}
}

func TestWorktreeDiscarded(t *testing.T) {
	dir := repo(t)
	wt := made(t, dir)
	if err := wt.Discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, wt)
	if refs := git(t, dir, "for-each-ref", "refs/heads/pipe"); refs != "" {
		t.Errorf("left: %s", refs)
	}
}

// TestWorktreesSideBySide makes and closes many at once.
func TestWorktreesSideBySide(t *testing.T) {
	dir := repo(t)
	first := tree(t, dir)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			id := fmt.Sprintf("%s%d", runID[:25], i)
			wt := first.main.Worktree(id, filepath.Join(filepath.Dir(first.Path), id), "pipe/"+id)
			wt.Workspace().Store = filepath.Join(dir, ".pipe/store", id)
			if err := wt.Make(t.Context()); err != nil {
				t.Errorf("make: %v", err)
				return
			}
			if err := os.WriteFile(filepath.Join(wt.Path, "x.txt"), []byte(id), 0o600); err != nil {
				t.Error(err)
			}
			if why, err := wt.Close(t.Context(), id, nil); err != nil || why != "" {
				t.Errorf("close: %s, %v", why, err)
			}
			if got := strings.TrimSpace(git(t, dir, "show", wt.Branch+":x.txt")); got != id {
				t.Errorf("the branch of %s holds %q", id, got)
			}
		})
	}
	all.Wait()
	gone(t, first)
}
