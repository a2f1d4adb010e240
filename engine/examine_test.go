package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
)

// TestLostFiles takes away what decides in a run: whoever looks is told that, and nothing goes on.
func TestLostFiles(t *testing.T) {
	for _, test := range []struct{ name, lose, want string }{
		{"the frozen files", "frozen", "its frozen plan is gone; it can't be resumed"},
		{"the plan alone", "frozen/plan.json", "its frozen plan is gone; it can't be resumed"},
		{"the journal", journal.FileName, "its journal is gone; it can't be resumed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := project(t, "pipelines/stuck.yaml", stuck)
			id := paused(t, p, engine.RunOptions{TaskID: "T"}).Run.Run
			for _, name := range []string{filepath.Join(p.RunDir(id), test.lose), filepath.Join(p.Root, ".pipe/.gitignore")} {
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := p.Find(engine.LastRun); err != nil || got != id {
				t.Errorf("find: got %q, %v", got, err)
			}
			list, err := p.Runs()
			if err != nil || len(list) != 1 || list[0].Status != "damaged" || list[0].Reason != test.want || list[0].Pipeline != "stuck" {
				t.Errorf("runs: got %+v, %v", list, err)
			}
			var damaged *engine.DamagedError
			if _, err := p.View(id); !errors.As(err, &damaged) {
				t.Errorf("view: got %v", err)
			}
			exists := func() bool { return exists(filepath.Join(p.Root, ".pipe/.gitignore")) }
			if exists() {
				t.Error("looking at a run writes")
			}
			if _, err := p.Resume(t.Context(), id, engine.Follow{}); !errors.As(err, &damaged) {
				t.Errorf("resume: got %v", err)
			}
			if !exists() {
				t.Error("no .gitignore after a run was taken up")
			}
			e, err := p.Examine(id)
			if err != nil || e.Whole || e.Lost != test.want || !strings.Contains(e.Text(), "damaged: "+test.want) || strings.Contains(e.Text(), "nothing is wrong") {
				t.Errorf("examine: got %+v, %v", e, err)
			}
			paused(t, p, engine.RunOptions{TaskID: "T"}) // it has no say in its task
		})
	}
}

func TestExamineAJournalWithoutHeader(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	for _, text := range []string{"", `{"v":1,`} {
		write(t, filepath.Join(p.RunDir(id), journal.FileName), text)
		e, err := p.Examine(id)
		if err != nil || e.Whole || !strings.Contains(e.Text(), "its journal has no header") {
			t.Errorf("a journal %q: got %+v, %v", text, e, err)
		}
	}
}

// TestARunThatNeverBegan is no damaged one: nothing of it was lost.
func TestARunThatNeverBegan(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	for _, name := range []string{"frozen", "status.json", journal.FileName} {
		if err := os.RemoveAll(filepath.Join(p.RunDir(id), name)); err != nil {
			t.Fatal(err)
		}
	}
	if lost := p.Lost(id); lost != "" {
		t.Errorf("lost %q", lost)
	}
	if list, err := p.Runs(); err != nil || len(list) != 0 {
		t.Errorf("runs: got %+v, %v", list, err)
	}
}
