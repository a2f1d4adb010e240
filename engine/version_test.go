package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine"
)

// What a pipeline asks of the program's version is held to the version, without what else a program says of
// itself.
func TestPipeThatIsTooOld(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "pipelines", "x.yaml"), "name: x\nversion: 1\npipe: \">=0.5\"\nstages: [{id: a, run: \"true\"}]\n")
	for version, old := range map[string]bool{"v0.4.1 0123abc": true, "v0.5.0 0123abc": false, "devel 0123abc": false} {
		p, err := engine.OpenProject(root, engine.Options{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.Load("x", "")
		if err != nil || strings.Contains(l.Diags.Short(), "needs a newer pipe") != old {
			t.Errorf("%s: %v %s", version, err, l.Diags.Short())
		}
	}
}
