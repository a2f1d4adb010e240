package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChangedLines(t *testing.T) {
	projects := map[string]func(t *testing.T) string{
		"git": repo,
		"subfolder": func(t *testing.T) string {
			dir := filepath.Join(repo(t), "sub")
			write(t, filepath.Join(dir, "dir/b.txt"), "b\n")
			return dir
		},
		"walk": func(t *testing.T) string { return t.TempDir() },
	}
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			w := open(t, dir)
			write(t, filepath.Join(dir, "a.txt"), "1\n2\n3\n4\n5\n6\n7\n8\n")
			write(t, filepath.Join(dir, "bin"), "a\x00b\n")
			write(t, filepath.Join(dir, "moved"), strings.Repeat("same\n", 9))
			from := read(t, w)
			write(t, filepath.Join(dir, "a.txt"), "1\n@@ -1 +1 @@\n3\n4\n5\n7\n8\nnew\nno end")
			write(t, filepath.Join(dir, "bin"), "a\x00c\n")
			write(t, filepath.Join(dir, "dir/b.txt"), "other\n")
			must(t, os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "to 'é")))
			to := read(t, w)
			files := []string{"a.txt", "bin", "moved", "to 'é", ".gitignore", "not/there", "a.txt"}
			got, err := w.ChangedLines(t.Context(), from.Hash, to.Hash, files)
			must(t, err)
			want := []Lines{{"a.txt", 2, 2}, {"a.txt", 8, 9}, wholeFile("bin"), {"to 'é", 1, 9}}
			if name == "walk" {
				want = []Lines{wholeFile("a.txt"), wholeFile("bin"), wholeFile("moved"), wholeFile("to 'é")}
			}
			if !slices.Equal(got, want) {
				t.Errorf("lines %v, want %v", got, want)
			}
			if none, err := w.ChangedLines(t.Context(), to.Hash, to.Hash, files); err != nil || none != nil {
				t.Errorf("lines of the same tree: %v, %v", none, err)
			}
		})
	}
}
