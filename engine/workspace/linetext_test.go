package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLineText reads lines of files up to a bound, which items that jump between files reach.
func TestLineText(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name+"1\n"+name+"2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := &lineText{root: root, left: 3 * 6}
	for n, c := range []struct {
		file string
		line int
		want string
	}{
		{"a", 2, "a2"}, {"a", 1, "a1"}, {"a", 9, ""}, {"a", 0, ""}, {"none", 1, ""}, {"../a", 1, ""}, {"b", 1, "b1"}, {"a", 1, "a1"},
		{"b", 1, ""}, {"a", 1, ""}, // no more is read
	} {
		if got := e.line(c.file, c.line); got != c.want {
			t.Errorf("%d: line %d of %s is %q, want %q", n, c.line, c.file, got, c.want)
		}
	}
}
