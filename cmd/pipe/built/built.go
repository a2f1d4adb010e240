// Package built gives tests the real command, built from the sources as they are.
//
// A test that runs a program which it does not import has two duties: to build it, and to have `go test` know
// that its outcome depends on the program's sources, since the result of an earlier program would be given
// from the cache otherwise. cmd/pipe/hold, cmd/pipe/shipped, cmd/pipe/sweep and plugins have both from here. What
// the tests do with the command is theirs.
package built

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Command builds the command as "pipe" into a folder, with flags for `go build`.
func Command(dir string, flags ...string) error {
	args := append([]string{"build", "-o", filepath.Join(dir, "pipe")}, flags...)
	out, err := exec.Command("go", append(args, "example.com/pipe/cmd/pipe")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return nil
}

// Missing ends a test whose machine lacks what it needs: it is skipped, but in CI, which has that or installs it, it fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("there is no %s, which CI must have", what)
	}
	t.Skipf("there is no %s", what)
}

// LookAtSources looks at all that the command may be built from, which is what makes the outcome of a test
// depend on it. It is to be called from within a test: what TestMain looks at before does not count.
func LookAtSources() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "docs" || name == "bin"):
			return fs.SkipDir
		case e.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		_, err = os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an editor's file of the moment
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("look at the sources: %w", err)
	}
	return nil
}

// moduleRoot is the nearest folder upwards that holds go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the module: there is no go.mod here or above")
		}
		dir = parent
	}
}
