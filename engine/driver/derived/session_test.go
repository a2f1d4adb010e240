package derived

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOwnFolder makes a folder of our own of whatever a stage has put in its place, and leaves alone what a link leads to.
func TestOwnFolder(t *testing.T) {
	for name, put := range map[string]func(other, dir string) error{
		"nothing": func(_, _ string) error { return nil },
		"a folder": func(_, dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(filepath.Join(dir, "kept"), 0o700))
		},
		"a link":     os.Symlink,
		"a dead end": func(other, dir string) error { return os.Symlink(other+".not", dir) },
		"a file":     func(_, dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		base := t.TempDir()
		other, dir := filepath.Join(base, "other"), filepath.Join(base, SessionDir)
		err := errors.Join(os.Mkdir(other, 0o700), put(other, dir), ownFolder(dir), ownFolder(dir))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: it is %v, %v", name, info, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "kept")); name == "a folder" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(other); err != nil {
			t.Errorf("%s: the other folder is gone", name)
		}
	}
}
