package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteInside(t *testing.T) {
	root := place(t)
	secret := filepath.Join(root, "../secret/key")
	for rel, want := range map[string]error{
		"file": nil, "sub/file": nil, "new/deep/file": nil, "./sub//other": nil, "..name": nil,
		"": ErrOutside, ".": ErrOutside, "..": ErrOutside, "../secret/key": ErrOutside, "sub/../file": ErrOutside,
		"/etc/passwd": ErrOutside, "file\x00x": ErrOutside, "out/key": ErrOutside, "up/key": ErrOutside, "key": ErrOutside,
		"in/file": ErrOutside, "alias": ErrOutside, "loop": ErrOutside, "loop/x": ErrOutside, "gone": ErrOutside, "gone/x": ErrOutside,
		"zero": ErrOutside, "fifo": ErrNotRegular, "sub": ErrNotRegular,
	} {
		err := WriteInside(root, rel, []byte("written"))
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", rel, err, want)
			continue
		}
		if want != nil {
			continue
		}
		if got, err := ReadInside(root, rel, 100); err != nil || string(got) != "written" {
			t.Errorf("%q: it holds %q, %v", rel, got, err)
		}
	}
	if err := WriteInside(root, "file/x", nil); err == nil {
		t.Error("a file has a file below it")
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("a link was followed: %q, %v", b, err)
	}
	for _, pattern := range []string{".*.tmp", "*/.*.tmp", "*/*/.*.tmp"} {
		if left, err := filepath.Glob(filepath.Join(root, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
