package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// snapshot sums all files below a folder.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTreeCases holds for every kind of workspace that has a "before" and an "after": what the tree says
// about a change.
func TestTreeCases(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(t *testing.T, dir string) // before the first reading
		change  func(t *testing.T, dir string)
		exclude []string
		want    []string // changed files
		tracked bool     // the tracked part changed
	}{
		{name: "nothing", change: func(*testing.T, string) {}},
		{name: "touched", change: func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a.txt"), "a\n") }},
		{name: "deleted", want: []string{"dir/b.txt"}, tracked: true,
			change: func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "dir"))) }},
		{name: "executable", want: []string{"a.txt"}, tracked: true,
			change: func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o755)) }},
		{name: "file becomes a folder", want: []string{"a.txt", "a.txt/x"}, tracked: true,
			change: func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, "a.txt")))
				write(t, filepath.Join(dir, "a.txt/x"), "x")
			}},
		{name: "file becomes a link", want: []string{"a.txt"}, tracked: true,
			change: func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, "a.txt")))
				must(t, os.Symlink("/etc/hostname", filepath.Join(dir, "a.txt")))
			}},
		{name: "a link's target", want: []string{"link"},
			prepare: func(t *testing.T, dir string) { must(t, os.Symlink("/nowhere", filepath.Join(dir, "link"))) },
			change: func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, "link")))
				must(t, os.Symlink("/nowhere/else", filepath.Join(dir, "link")))
			}},
		{name: "behind a link", change: func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".pipe/out/x"), "2") },
			prepare: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, ".pipe/out/x"), "1")
				must(t, os.Symlink(".pipe/out", filepath.Join(dir, "link")))
			}},
		{name: "names", want: []string{" lead", "*.go", "-n", ":(top)x", "new\nline", "quo\"te", "tab\there", "ümläut/日本"}, change: func(t *testing.T, dir string) {
			for _, n := range []string{"new\nline", "ümläut/日本", " lead", "quo\"te", ":(top)x", "*.go", "-n", "tab\there"} {
				write(t, filepath.Join(dir, n), n)
			}
		}},
		{name: "pipes and sockets", change: func(t *testing.T, dir string) { mkfifo(t, filepath.Join(dir, "fifo")) }},
		{name: "our folders", change: func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".pipe/runs/1/events.jsonl"), "x")
			write(t, filepath.Join(dir, ".artifacts/x"), "x")
			write(t, filepath.Join(dir, ".tot-docs/x"), "x")
		}},
		{name: "like our folders", want: []string{".pipeline/x", "sub/.pipe/x"}, change: func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".pipeline/x"), "x")
			write(t, filepath.Join(dir, "sub/.pipe/x"), "x")
		}},
		{name: "excluded", exclude: []string{"report.json", "out/", "./deep/er/x.xml", "../outside", "."},
			want: []string{"deep/er/y.xml", "report.json.bak"},
			change: func(t *testing.T, dir string) {
				for _, n := range []string{"report.json", "out/a/b", "deep/er/x.xml", "deep/er/y.xml", "report.json.bak"} {
					write(t, filepath.Join(dir, n), "x")
				}
			}},
		{name: "excluded and tracked", exclude: []string{"a.txt", "dir"}, change: func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a.txt"), "2")
			write(t, filepath.Join(dir, "dir/b.txt"), "2")
		}},
	}
	for _, tc := range cases {
		for _, kind := range []string{"git", "walk"} {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				dir := repo(t)
				if kind == "walk" {
					must(t, os.RemoveAll(filepath.Join(dir, ".git")))
				}
				if tc.prepare != nil {
					tc.prepare(t, dir)
				}
				w := open(t, dir)
				if w.Git() != (kind == "git") {
					t.Fatalf("Git() is %v", w.Git())
				}
				before := read(t, w, tc.exclude...)
				tc.change(t, dir)
				after := read(t, w, tc.exclude...)
				wantChanged(t, w, before, after, tc.want...)
				wantChanged(t, w, after, before, tc.want...)
				if same := before.Hash == after.Hash; same != (len(tc.want) == 0) {
					t.Errorf("hash equal: %v", same)
				}
				if changed := before.Tracked != after.Tracked; kind == "git" && changed != tc.tracked {
					t.Errorf("tracked changed: %v", changed)
				}
			})
		}
	}
}

func TestGitIndexDoesNotMatter(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	write(t, filepath.Join(dir, "a.txt"), "2\n")
	write(t, filepath.Join(dir, "n.txt"), "n\n")
	want := read(t, w)
	for _, step := range [][]string{
		{"add", "-N", "n.txt"}, {"add", "n.txt"}, {"add", "-A"}, {"rm", "-q", "--cached", "a.txt"}, {"add", "a.txt"},
		{"commit", "-q", "-m", "second"}, {"update-index", "--split-index"}, {"reset", "-q", "--soft", "HEAD^"}, {"read-tree", "--empty"},
	} {
		git(t, dir, step...)
		if got := read(t, w); got.Hash != want.Hash {
			t.Errorf("after git %v the hash differs", step)
		}
	}
}

func TestGitWhatWasIgnoredBetween(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	write(t, filepath.Join(dir, "x.tmp"), "x")
	first := read(t, w)
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n*.tmp\n")
	ignored := read(t, w)
	wantChanged(t, w, first, ignored, ".gitignore", "x.tmp")
	if fresh := read(t, open(t, dir)); fresh != ignored {
		t.Error("the tree depends on what was read before")
	}
	git(t, dir, "add", "-f", "x.tmp")
	wantChanged(t, w, ignored, read(t, w), "x.tmp")
}

func TestGitSameSizeSameMoment(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	for i := range 30 {
		write(t, filepath.Join(dir, "a.txt"), fmt.Sprintf("a%02d\n", i))
		git(t, dir, "add", "a.txt")
		write(t, filepath.Join(dir, "a.txt"), fmt.Sprintf("b%02d\n", i))
		got := read(t, w)
		if held, want := content(t, w, got, "a.txt"), fmt.Sprintf("b%02d\n", i); held != want {
			t.Fatalf("round %d: the tree holds %q, the file %q", i, held, want)
		}
	}
}

// content returns a file of a recorded tree.
func content(t *testing.T, w *Workspace, tree Tree, name string) string {
	t.Helper()
	v, done, err := w.view()
	must(t, err)
	defer done()
	text, err := v.git(t.Context(), nil, "cat-file", "blob", strings.TrimPrefix(tree.Hash, gitPrefix)+":"+name)
	must(t, err)
	return string(text)
}

func TestGitLeavesTheRepositoryAlone(t *testing.T) {
	dir := repo(t)
	marker := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-index-change", "pre-commit", "fsmonitor-watchman"} {
		write(t, filepath.Join(dir, ".git/hooks", hook), "#!/bin/sh\ntouch "+marker+"\n")
		must(t, os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755))
	}
	git(t, dir, "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman")
	git(t, dir, "config", "core.safecrlf", "true")
	git(t, dir, "config", "core.autocrlf", "input")
	write(t, filepath.Join(dir, "crlf.txt"), "a\r\nb\n")
	write(t, filepath.Join(dir, "a.txt"), "changed\n")
	os.Remove(marker)
	before := snapshot(t, filepath.Join(dir, ".git"))
	w := open(t, dir)
	t0 := read(t, w)
	write(t, filepath.Join(dir, "new/file"), "x")
	wantChanged(t, w, t0, read(t, w), "new/file")
	if snapshot(t, filepath.Join(dir, ".git")) != before {
		t.Error("something in .git was written")
	}
	if exists(marker) {
		t.Error("a hook ran")
	}
	left, err := filepath.Glob(filepath.Join(w.Store, "reading-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestGitPlaces(t *testing.T) {
	odd := func(t *testing.T) string { return filepath.Join(t.TempDir(), "a:b \"c\" \\d") }
	cases := []struct {
		name string
		make func(t *testing.T) string // the root
		want []string                  // all files
	}{
		{"no commit", func(t *testing.T) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			write(t, filepath.Join(dir, "x"), "x")
			return dir
		}, []string{"x"}},
		{"nothing at all", func(t *testing.T) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			return dir
		}, nil},
		{"sha256", func(t *testing.T) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--object-format=sha256")
			write(t, filepath.Join(dir, "x"), "x")
			return dir
		}, []string{"x"}},
		{"odd path", func(t *testing.T) string {
			dir := odd(t)
			must(t, os.MkdirAll(dir, 0o755))
			git(t, dir, "init", "-q")
			write(t, filepath.Join(dir, "x"), "x")
			git(t, dir, "add", "x")
			git(t, dir, "commit", "-q", "-m", "x")
			return dir
		}, []string{"x"}},
		{"a folder below the top", func(t *testing.T) string {
			dir := repo(t)
			write(t, filepath.Join(dir, "dir/new.txt"), "n")
			write(t, filepath.Join(dir, "dir/.pipe/x"), "n")
			write(t, filepath.Join(dir, "dir.txt"), "n")
			return filepath.Join(dir, "dir")
		}, []string{"b.txt", "new.txt"}},
		{"an untracked folder below the top", func(t *testing.T) string {
			dir := repo(t)
			write(t, filepath.Join(dir, "new\nfolder/x"), "n")
			return filepath.Join(dir, "new\nfolder")
		}, []string{"x"}},
		{"an empty folder below the top", func(t *testing.T) string {
			dir := filepath.Join(repo(t), "empty")
			must(t, os.Mkdir(dir, 0o755))
			return dir
		}, nil},
		{"a folder that the repository ignores", func(t *testing.T) string {
			dir := filepath.Join(repo(t), "scratch.log")
			write(t, filepath.Join(dir, "x"), "x")
			return dir
		}, []string{"x"}},
		{"a linked work tree", func(t *testing.T) string {
			dir := repo(t)
			linked := filepath.Join(t.TempDir(), "linked")
			git(t, dir, "worktree", "add", "-q", linked)
			return linked
		}, []string{".gitignore", "a.txt", "dir/b.txt"}},
		{"through a link", func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "link")
			must(t, os.Symlink(repo(t), link))
			return link
		}, []string{".gitignore", "a.txt", "dir/b.txt"}},
		{"a conflict", func(t *testing.T) string {
			dir := repo(t)
			for _, side := range []string{"x", "y"} {
				git(t, dir, "checkout", "-q", "-b", side, "HEAD")
				write(t, filepath.Join(dir, "c.txt"), side)
				git(t, dir, "add", "-A")
				git(t, dir, "commit", "-q", "-m", side)
				git(t, dir, "checkout", "-q", "-")
			}
			git(t, dir, "checkout", "-q", "x")
			git(t, dir, "-c", "alias.m=!git merge -q y || true", "m")
			return dir
		}, []string{".gitignore", "a.txt", "c.txt", "dir/b.txt"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := open(t, tc.make(t))
			tree := read(t, w)
			wantChanged(t, w, Tree{}, tree, tc.want...)
			if read(t, w) != tree {
				t.Error("a second reading differs")
			}
		})
	}
}

func TestGitRepositoriesInside(t *testing.T) {
	dir := repo(t)
	unborn, born := filepath.Join(dir, "unborn"), filepath.Join(dir, "born")
	for _, inner := range []string{unborn, born, filepath.Join(born, "deep")} {
		write(t, filepath.Join(inner, "f"), "1")
		git(t, inner, "init", "-q")
	}
	git(t, born, "add", "f")
	git(t, born, "commit", "-q", "-m", "x")
	w := open(t, dir)
	before := read(t, w)
	wantChanged(t, w, Tree{}, before, ".gitignore", "a.txt", "born/deep/f", "born/f", "dir/b.txt", "unborn/f")
	write(t, filepath.Join(born, "f"), "2")
	write(t, filepath.Join(unborn, "g"), "2")
	wantChanged(t, w, before, read(t, w), "born/f", "unborn/g")
}

// TestGitRepositoryInsideThatHides configures a repository inside so that git would not look at its files.
func TestGitRepositoryInsideThatHides(t *testing.T) {
	for _, setting := range [][]string{{"core.worktree", t.TempDir()}, {"core.bare", "true"}} {
		dir := repo(t)
		w := open(t, dir)
		before := read(t, w)
		inner := filepath.Join(dir, "inner")
		write(t, filepath.Join(inner, "f"), "1")
		git(t, inner, "init", "-q")
		git(t, inner, append([]string{"config"}, setting...)...)
		wantChanged(t, w, before, read(t, w), "inner/f")
	}
}

// TestGitIndexThatIsAPipe is no file that anybody waits for.
func TestGitIndexThatIsAPipe(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	index := filepath.Join(dir, ".git/index")
	must(t, os.Remove(index))
	must(t, syscall.Mkfifo(index, 0o600))
	if _, err := w.Read(t.Context(), ReadOptions{}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("got %v", err)
	}
}

func TestGitSubmodule(t *testing.T) {
	dir, other := repo(t), repo(t)
	git(t, dir, "submodule", "--quiet", "add", other, "sub")
	git(t, dir, "commit", "-q", "-m", "sub")
	w := open(t, dir)
	before := read(t, w)
	write(t, filepath.Join(dir, "sub/new.txt"), "n")
	git(t, filepath.Join(dir, "sub"), "add", "-A")
	git(t, filepath.Join(dir, "sub"), "commit", "-q", "-m", "n")
	after := read(t, w)
	wantChanged(t, w, before, after, "sub")
	git(t, dir, "submodule", "--quiet", "deinit", "-f", "sub")
	read(t, w)
}

func TestGitVariablesOfOthersDoNotMatter(t *testing.T) {
	dir := repo(t)
	want := read(t, open(t, dir))
	other := repo(t)
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git/index"))
	t.Setenv("GIT_CONFIG_PARAMETERS", "broken")
	if got := read(t, open(t, dir)); got != want {
		t.Error("the tree is another one in a hook's environment")
	}
}

func TestOwnOutputDoesNotCount(t *testing.T) {
	for _, kind := range []string{"git", "walk"} {
		t.Run(kind, func(t *testing.T) {
			dir := repo(t)
			if kind == "walk" {
				must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			}
			w := open(t, dir)
			before := read(t, w)
			f, err := os.Create(filepath.Join(dir, "run.out"))
			must(t, err)
			defer f.Close()
			saved := os.Stdout
			os.Stdout = f
			after := read(t, w)
			os.Stdout = saved
			if after != before {
				t.Error("the file that stdout goes to counts")
			}
			wantChanged(t, w, before, read(t, w), "run.out")
		})
	}
}

func TestStoreInTheRootDoesNotCount(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	w.Store = filepath.Join(dir, "state/runs/1/trees")
	if first := read(t, w); read(t, w) != first {
		t.Error("the store counts")
	}
	w.Store = dir
	if _, err := w.Read(t.Context(), ReadOptions{}); err == nil {
		t.Error("a store that is the root itself would exclude everything")
	}
}

func TestChangedErrors(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	tree := read(t, w)
	missing := gitPrefix + strings.Repeat("0", 39) + "1"
	for _, pair := range [][2]string{
		{tree.Hash, missing}, {missing, tree.Hash}, {"git:HEAD", tree.Hash}, {tree.Hash, "git:--output=x"},
		{"walk:" + strings.Repeat("0", 64), "walk:x"}, {"walk:../../x", ""}, {"nonsense", tree.Hash},
	} {
		if _, err := w.Changed(t.Context(), pair[0], pair[1]); !errors.Is(err, ErrUnknownTree) {
			t.Errorf("%q: %v", pair, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Read(ctx, ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := w.Changed(ctx, "", tree.Hash); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestBecomesARepository(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x"), "x")
	w := open(t, dir)
	before := read(t, w)
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "y"), "y")
	again := open(t, dir)
	again.Store = w.Store
	wantChanged(t, again, before, read(t, again), "x", "y")
}

// TestFilesComeAndGo reads while files are written and deleted: every reading must work.
func TestFilesComeAndGo(t *testing.T) {
	for _, kind := range []string{"git", "walk"} {
		t.Run(kind, func(t *testing.T) {
			dir := repo(t)
			if kind == "walk" {
				must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			}
			w := open(t, dir)
			stop, done := make(chan struct{}), make(chan error, 1)
			go func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						done <- nil
						return
					default:
					}
					path := filepath.Join(dir, fmt.Sprintf("f%d", i%20))
					if err := os.WriteFile(path, []byte(strings.Repeat("x", i%5000)), 0o644); err != nil {
						done <- err
						return
					}
					os.Remove(filepath.Join(dir, fmt.Sprintf("f%d", (i+7)%20)))
				}
			}()
			for range 10 {
				if _, err := w.Read(t.Context(), ReadOptions{}); err != nil {
					t.Error(err)
				}
			}
			close(stop)
			must(t, <-done)
		})
	}
}
