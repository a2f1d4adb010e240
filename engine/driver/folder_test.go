package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

func TestFolderOf(t *testing.T) {
	for path, want := range map[string]string{
		"build":          "stages/build/2.1",
		"parent/id":      "stages/parent/id/2.1",
		"each[0]":        "stages/each.0/2.1",
		"each[3]/in[12]": "stages/each.3/in.12/2.1",
	} {
		if got := filepath.ToSlash(FolderOf(path, 2, 1)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestFolderOfALostTryMovesAside(t *testing.T) {
	f := &folder{run: t.TempDir(), rel: FolderOf("a/b[0]", 1, 2)}
	parents := newParents(f.run, &plan.Graph{})
	prepare := func(effect string) {
		t.Helper()
		s := &step.StageStarted{Stage: "a/b[0]", Iteration: 1, Attempt: 2, Effect: effect, Brief: "do " + effect}
		if err := f.prepare(parents, shown{"command", value.NewObject()}, s, time.UnixMilli(0)); err != nil {
			t.Fatal(err)
		}
		f.close()
	}
	begun := func(effect string, want bool) {
		t.Helper()
		if got, err := f.begun(effect); err != nil || got != want {
			t.Errorf("begun(%s): got %v, %v, want %v", effect, got, err, want)
		}
	}
	begun("e1", false)
	prepare("e1")
	begun("e1", true)
	begun("e2", false) // the folder is still that of the try before
	prepare("e2")
	prepare("e3")
	begun("e3", true)

	var names []string
	entries, err := os.ReadDir(filepath.Join(f.run, "stages", "a", "b.0"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"1.2", "1.2.lost-1", "1.2.lost-2"}; !slices.Equal(names, want) {
		t.Errorf("folders %v, want %v", names, want)
	}
	b, err := os.ReadFile(f.path(inputName))
	want := `{"protocol":1,"stage":"a/b[0]","kind":"command","config":{},"inputs":{},"envelope":null,"brief":"do e3","open_items":[],` +
		`"deadline":"1970-01-01T00:00:00.000Z","effect":"e3"}` + "\n"
	if err != nil || string(b) != want {
		t.Errorf("input.json: %v\n%s\nwant\n%s", err, b, want)
	}

	// What can't be read must be taken for a try that began.
	if err := os.WriteFile(f.path(inputName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	begun("e4", true)
	if err := os.Remove(f.path(inputName)); err != nil {
		t.Fatal(err)
	}
	begun("e4", true)
}

func TestFolderRefusesALinkInItsPlace(t *testing.T) {
	run := t.TempDir()
	if err := os.Mkdir(filepath.Join(run, StagesDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(run, StagesDir, "a")); err != nil {
		t.Fatal(err)
	}
	f := &folder{run: run, rel: FolderOf("a", 1, 1)}
	err := f.prepare(newParents(run, &plan.Graph{}), shown{"command", value.NewObject()}, &step.StageStarted{Stage: "a", Iteration: 1, Attempt: 1}, time.Time{})
	if err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
}

func TestBaseEnviron(t *testing.T) {
	own := []string{"PATH=/bin", "HOME=/h", "CLAUDECODE=1", "PIPE_RUN_ID=x", "PIPE_LINE=y", "TOKEN=t", "=odd", "LANG=C"}
	if got, want := baseEnviron(own, false), []string{"PATH=/bin", "HOME=/h", "TOKEN=t", "LANG=C"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := baseEnviron(own, true), []string{"PATH=/bin", "HOME=/h", "LANG=C"}; !slices.Equal(got, want) {
		t.Errorf("clean: got %v, want %v", got, want)
	}
}
