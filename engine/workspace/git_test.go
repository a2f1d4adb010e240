package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git in dir as a user would.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgSign=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(gitEnv(nil), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repo makes a repository with one commit of a.txt and dir/b.txt, and a .gitignore of *.log.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	write(t, filepath.Join(dir, "dir/b.txt"), "b\n")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func open(t testing.TB, root string) *Workspace {
	t.Helper()
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	w.Store = t.TempDir()
	return w
}

func read(t testing.TB, w *Workspace, exclude ...string) Tree {
	t.Helper()
	tree, err := w.Read(t.Context(), ReadOptions{Exclude: exclude})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func wantChanged(t *testing.T, w *Workspace, from, to Tree, want ...string) {
	t.Helper()
	got, err := w.Changed(t.Context(), from.Hash, to.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
}

func TestGitTree(t *testing.T) {
	dir := repo(t)
	w := open(t, dir)
	if !w.Git() {
		t.Fatal("not taken for a git work tree")
	}
	t0 := read(t, w)
	write(t, filepath.Join(dir, "a.txt"), "A\n")
	t1 := read(t, w)
	wantChanged(t, w, t0, t1, "a.txt")
	if t1.Tracked == t0.Tracked {
		t.Error("a tracked file changed, and Tracked is the same")
	}
	write(t, filepath.Join(dir, "new.txt"), "n\n")
	t2 := read(t, w)
	wantChanged(t, w, t1, t2, "new.txt")
	if t2.Tracked != t1.Tracked || t2.Hash == t1.Hash {
		t.Error("an untracked file must change Hash and not Tracked")
	}
	write(t, filepath.Join(dir, "x.log"), "ignored\n")
	if read(t, w) != t2 {
		t.Error("an ignored file counts")
	}
}
