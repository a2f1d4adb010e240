package derived

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAppendFile writes to no file elsewhere, and waits for nobody.
func TestAppendFile(t *testing.T) {
	for name, put := range map[string]func(other, file string) error{
		"nothing":    func(_, _ string) error { return nil },
		"a link":     os.Symlink,
		"another's":  os.Link,
		"a pipe":     func(_, file string) error { return syscall.Mkfifo(file, 0o600) },
		"a dead end": func(other, file string) error { return os.Symlink(other+".not", file) },
	} {
		dir := t.TempDir()
		other, file := filepath.Join(dir, "other"), filepath.Join(dir, "file")
		err := errors.Join(os.WriteFile(other, []byte("precious"), 0o600), put(other, file), appendFile(file, []byte("a\n")), appendFile(file, []byte("b\n")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, err := os.ReadFile(file); string(b) != "a\nb\n" {
			t.Errorf("%s: it holds %q, %v", name, b, err)
		}
		if b, err := os.ReadFile(other); string(b) != "precious" {
			t.Errorf("%s: the other file holds %q, %v", name, b, err)
		}
		if _, err := os.Lstat(other + ".not"); err == nil {
			t.Errorf("%s: a file was made elsewhere", name)
		}
	}
}
