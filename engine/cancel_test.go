package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/stages/command"
)

const waits = `name: waits
version: 1
stages:
  - {id: ship, requires_approval: true, run: touch shipped}
finally:
  - {id: tidy, run: touch tidied}
`

// TestCancelWhoseFinallyNeedsTheWorkspace cancels a run that waits while another one works in the workspace: its finally
// does not run beside that one. The cancel stands, and a second one carries it out.
func TestCancelWhoseFinallyNeedsTheWorkspace(t *testing.T) {
	begun, goOn := fifo(t), fifo(t)
	p := project(t, "pipelines/waits.yaml", waits, "pipelines/long.yaml", fmt.Sprintf(
		"name: long\nversion: 1\nstages:\n  - {id: s, run: 'echo > %s; cat %s'}\n", begun, goOn))
	res, err := p.Run(t.Context(), load(t, p, "waits"), engine.RunOptions{})
	if err != nil || res.Status != step.RunIsWaiting {
		t.Fatalf("the run is %s, %v", res.Status, err)
	}
	long := make(chan error, 1)
	go func() {
		_, err := open(t, p.Root).Run(t.Context(), load(t, p, "long"), engine.RunOptions{})
		long <- err
	}()
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	id := res.Run.Run
	var held *journal.HeldError
	if got, err := p.Cancel(t.Context(), id, "ann", "enough", engine.AnswerOptions{}); !errors.As(err, &held) || got.Status.Ended() {
		t.Errorf("got %+v, %v; want that the workspace is held", got, err)
	}
	if exists(filepath.Join(p.Root, "tidied")) {
		t.Error("what stands in finally ran beside another run")
	}
	if err := os.WriteFile(goOn, nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-long; err != nil {
		t.Fatal(err)
	}
	got, err := p.Cancel(t.Context(), id, "ann", "enough", engine.AnswerOptions{})
	if err != nil || !got.Accepted || got.Status != step.RunCancelled || !exists(filepath.Join(p.Root, "tidied")) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestAnswerAfterTheDeadline decides an escalation whose deadline has passed while no process lived: the run is cancelled
// for it, and that is carried out at once.
func TestAnswerAfterTheDeadline(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", strings.Replace(stuck, "version: 1\n", "version: 1\nescalation: {timeout: 1h}\n", 1))
	res := paused(t, p, engine.RunOptions{})
	later, err := engine.OpenProject(p.Root, engine.Options{
		Kinds: []stage.Kind{command.New(starter)}, Environ: os.Environ(), Version: "test", Command: "test",
		Now: func() time.Time { return time.Now().Add(2 * time.Hour) },
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := later.Answer(t.Context(), res.Run.Run, step.Answer{Kind: step.DecideRetry, By: "ann"}, engine.AnswerOptions{})
	if err != nil || got.Accepted || !strings.Contains(got.Why, "in time") || got.Status != step.RunCancelled {
		t.Errorf("got %+v, %v", got, err)
	}
}
