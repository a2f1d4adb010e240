package workspace

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// place makes a root with files, links and special files, and a secret beside it.
func place(t *testing.T) (root string) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "root")
	write(t, filepath.Join(top, "secret/key"), "secret")
	write(t, filepath.Join(root, "file"), "inside")
	write(t, filepath.Join(root, "sub/file"), "deeper")
	write(t, filepath.Join(root, "..name"), "dots")
	for link, target := range map[string]string{
		"out": filepath.Join(top, "secret"), "up": "../secret", "key": "../secret/key", "in": "sub", "alias": "file", "loop": "loop", "gone": "nowhere",
	} {
		must(t, os.Symlink(target, filepath.Join(root, link)))
	}
	mkfifo(t, filepath.Join(root, "fifo"))
	must(t, os.Symlink("fifo", filepath.Join(root, "fifolink")))
	must(t, os.Symlink("/dev/zero", filepath.Join(root, "zero")))
	return root
}

func TestReadInside(t *testing.T) {
	root := place(t)
	l, err := net.Listen("unix", filepath.Join(root, "socket"))
	must(t, err)
	defer l.Close()
	for rel, want := range map[string]any{
		"file": "inside", "sub/file": "deeper", "./sub//file": "deeper", "..name": "dots",
		"": ErrOutside, ".": ErrOutside, "..": ErrOutside, "../secret/key": ErrOutside, "sub/../file": ErrOutside,
		"sub/../../secret/key": ErrOutside, "/etc/passwd": ErrOutside, "file\x00x": ErrOutside,
		"out/key": ErrOutside, "up/key": ErrOutside, "key": ErrOutside, "in/file": ErrOutside, "alias": ErrOutside,
		"loop": ErrOutside, "loop/x": ErrOutside, "gone": ErrOutside, "zero": ErrOutside, "fifolink": ErrOutside,
		"fifo": ErrNotRegular, "socket": ErrNotRegular, "sub": ErrNotRegular,
		"none": fs.ErrNotExist, "none/file": fs.ErrNotExist,
	} {
		got, err := ReadInside(root, rel, 100)
		switch want := want.(type) {
		case string:
			if err != nil || string(got) != want {
				t.Errorf("%q: got %q, %v", rel, got, err)
			}
		case error:
			if !errors.Is(err, want) {
				t.Errorf("%q: got %q, %v; want %v", rel, got, err, want)
			}
		}
	}
	if _, err := ReadInside(root, "file/x", 100); err == nil {
		t.Error("a file has a file below it")
	}
	if _, err := ReadInside(root, "file", 5); !errors.Is(err, ErrTooLarge) {
		t.Errorf("six bytes where five are allowed: %v", err)
	}
	if got, err := ReadInside(root, "file", 6); err != nil || string(got) != "inside" {
		t.Errorf("six bytes where six are allowed: %q, %v", got, err)
	}
}

// TestReadInsideSwapped swaps a file, and a folder, for links that lead out and for a pipe, all the time:
// what is read is the file's content, or nothing.
func TestReadInsideSwapped(t *testing.T) {
	root := place(t)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			for _, name := range []string{"alias", "key", "fifo"} {
				// Exchange by two renames: in between the name leads to the link, or to the pipe.
				if err := errors.Join(
					os.Rename(filepath.Join(root, "sub/file"), filepath.Join(root, "aside")),
					os.Rename(filepath.Join(root, name), filepath.Join(root, "sub/file")),
					os.Rename(filepath.Join(root, "sub/file"), filepath.Join(root, name)),
					os.Rename(filepath.Join(root, "aside"), filepath.Join(root, "sub/file")),
					os.Rename(filepath.Join(root, "sub"), filepath.Join(root, "sub2")),
					os.Symlink("../secret", filepath.Join(root, "sub")),
					os.Remove(filepath.Join(root, "sub")),
					os.Rename(filepath.Join(root, "sub2"), filepath.Join(root, "sub")),
				); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	read := 0
	for range 3000 {
		for _, rel := range []string{"sub/file", "sub/key"} {
			got, err := ReadInside(root, rel, 100)
			if err == nil && string(got) != "deeper" {
				t.Errorf("%q gave %q", rel, got)
			}
			if err == nil {
				read++
			}
		}
	}
	close(stop)
	must(t, <-done)
	if read == 0 {
		t.Error("the file was never read")
	}
}

func TestOpenInsideStreams(t *testing.T) {
	f, err := OpenInside(place(t), "sub/file")
	must(t, err)
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != "deeper" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestResolve(t *testing.T) {
	root := place(t)
	w := open(t, root)
	for rel, want := range map[string]string{"": "", ".": "", "sub": "sub", "./sub/": "sub", "in": "sub"} {
		got, err := w.Resolve(rel)
		if err != nil || got != filepath.Join(w.Root, want) {
			t.Errorf("%q: got %q, %v", rel, got, err)
		}
	}
	for _, rel := range []string{"..", "../secret", "sub/..", "sub/../sub", "/", root, "out", "up", "sub\x00"} {
		if got, err := w.Resolve(rel); !errors.Is(err, ErrOutside) {
			t.Errorf("%q: got %q, %v", rel, got, err)
		}
	}
	for _, rel := range []string{"none", "file", "alias", "loop", "gone"} {
		if got, err := w.Resolve(rel); err == nil || errors.Is(err, ErrOutside) {
			t.Errorf("%q: got %q, %v", rel, got, err)
		}
	}
}

func TestFindRoot(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"plain/a/b", "proj/x/y", "state/x", "state/.pipe", "repo/.git", "repo/sub/deep", "repo/app/deep", "outer/.pipe", "outer/repo/sub"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	write(t, filepath.Join(top, "proj/pipe.yaml"), "")
	write(t, filepath.Join(top, "repo/app/pipe.yaml"), "")
	write(t, filepath.Join(top, "outer/repo/.git"), "gitdir: elsewhere\n") // a linked work tree
	must(t, os.MkdirAll(filepath.Join(top, "proj/x/pipe.yaml"), 0o755))    // a folder is no pipe.yaml
	for start, want := range map[string]string{
		"plain/a/b": "plain/a/b", "proj/x/y": "proj", "proj": "proj", "state/x": "state", "repo/sub/deep": "repo",
		"repo/app/deep": "repo/app", "outer/repo/sub": "outer/repo", "outer": "outer",
	} {
		got, err := FindRoot(filepath.Join(top, start))
		if err != nil || got != filepath.Join(top, want) {
			t.Errorf("%q: got %q, %v; want %q", start, got, err, want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	root := place(t)
	for _, path := range []string{"none", "file", "gone"} {
		if _, err := Open(filepath.Join(root, path)); err == nil {
			t.Errorf("%q was opened", path)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(root); err != nil {
		t.Errorf("no git, no work tree: %v", err)
	}
	must(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	if _, err := Open(root); err == nil {
		t.Error("a work tree was opened without git")
	}
}
