package engine_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
)

var update = flag.Bool("update", false, "rewrite what the recorded journals must show")

// TestRecordedJournals reads runs that earlier versions recorded, in testdata/journals: each must be read for
// ever, show the same, and be resumed. What this version would decide otherwise is a difference that replay.txt
// names, never a refusal. A folder is added with each release and none is taken away; to add one, copy
// events.jsonl and frozen/ of a run and run this test with -update.
func TestRecordedJournals(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/journals/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recorded journals: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { recorded(t, dir) })
	}
}

func recorded(t *testing.T, dir string) {
	p := project(t)
	log, err := journal.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := log.Header.Run
	run := p.RunDir(id)
	if err := os.CopyFS(run, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	v, err := p.View(id)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := v.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join(dir, "show.json"), string(shown))
	report, err := p.Replay(id)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, d := range report.Differences {
		text += d.Event + "\n-" + d.Recorded + "\n+" + d.Decided + "\n"
	}
	golden(t, filepath.Join(dir, "replay.txt"), text)
	if res, err := p.Resume(t.Context(), id, engine.Follow{}); err != nil || res.Status != v.Status() {
		t.Errorf("resume gives %s, %v; want %s", res.Status, err, v.Status())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
