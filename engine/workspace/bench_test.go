package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkRead reads a tree of 10,000 files again and again: all committed, all untracked, and by a walk.
func BenchmarkRead(b *testing.B) {
	for _, kind := range []string{"tracked", "untracked", "walk"} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			for i := range 10_000 {
				path := filepath.Join(dir, fmt.Sprintf("d%02d/f%04d.go", i%100, i))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(path, fmt.Appendf(nil, "package d%02d\n// %d\n", i%100, i), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			if kind != "walk" {
				git(b, dir, "init", "-q")
			}
			if kind == "tracked" {
				git(b, dir, "add", "-A")
				git(b, dir, "commit", "-q", "-m", "all")
			}
			w := open(b, dir)
			read(b, w) // the first reading stores what the repository does not hold
			for b.Loop() {
				read(b, w)
			}
		})
	}
}
