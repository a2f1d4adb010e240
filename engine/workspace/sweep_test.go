package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSweep(t *testing.T) {
	for name, dir := range map[string]string{"git": repo(t), "no git": t.TempDir()} {
		w := open(t, dir)
		w.Store = filepath.Join(t.TempDir(), "[x] *")
		must(t, w.Sweep()) // there is none yet
		before := read(t, w)
		write(t, filepath.Join(dir, "new"), "x")
		after := read(t, w)
		whole := snapshot(t, w.Store)
		left := []string{"reading-1/index", "reading-1/index.lock", "commit-2/index", "objects/ab/tmp_obj_x", "manifests/.manifest-3"}
		for _, half := range left {
			write(t, filepath.Join(w.Store, half), "x")
		}
		must(t, w.Sweep())
		_ = os.Remove(filepath.Join(w.Store, "objects/ab")) // an empty folder is no matter
		if got := snapshot(t, w.Store); got != whole {
			t.Errorf("%s: something else is in the store", name)
		}
		wantChanged(t, w, before, after, "new")
	}
}
