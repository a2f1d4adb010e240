package driver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

func TestPanicNamesWhatBroughtItOut(t *testing.T) {
	w := with(newWorld(t, single("run: x"), scripted(func(context.Context, *stage.Call) (stage.Outcome, error) { panic("ouch") })))
	_, err := w.live(t.Context())
	var p *driver.PanicError
	if !errors.As(err, &p) || p.Panic != "ouch" || !strings.Contains(err.Error(), "carried out stage s") || len(p.Stack) == 0 {
		t.Errorf("got %v", err)
	}
}

func TestAKindsOwnFailureStopsTheRun(t *testing.T) {
	full := &proc.LogError{Path: "/x/stdout.log", Err: syscall.ENOSPC}
	w := with(newWorld(t, single("run: x"), scripted(func(context.Context, *stage.Call) (stage.Outcome, error) { return stage.Outcome{}, full })))
	_, err := w.live(t.Context())
	var s *journal.StorageError
	if !errors.As(err, &s) || !strings.Contains(err.Error(), "make space, then run \"pipe resume\"") {
		t.Errorf("got %v", err)
	}
}

// TestStop ends a run from outside while a stage runs whose process does not want to end, and resumes it.
func TestStopAndResume(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	begun := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, single(`
run: |
  if [ -e again ]; then exit 0; fi
  touch again
  setsid sleep 300 &
  echo > `+begun+`
  sleep 300`))
	ctx, stop := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupt")
	go func() {
		if _, err := os.ReadFile(begun); err != nil {
			t.Error(err)
		}
		stop(interrupt)
	}()
	_, err := w.live(ctx)
	var stopped *driver.Stopped
	if !errors.As(err, &stopped) || !errors.Is(err, interrupt) {
		t.Fatalf("got %v", err)
	}
	for _, r := range w.records() {
		if _, ok := r.(step.StageSucceeded); ok {
			t.Errorf("the stop was journalled: %#v", r)
		}
	}
	if n, err := proc.EndRun(w.id, nil); err != nil || n != 0 {
		t.Errorf("%d processes are left, %v", n, err)
	}
	if status := w.run(); status != step.RunSucceeded {
		t.Errorf("resumed to %s", status)
	}
	lost := 0
	for _, r := range w.records() {
		if _, ok := r.(step.StageInterrupted); ok {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d interruptions are recorded, want 1", lost)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "stages", "s", "1.1.lost-1")); err != nil {
		t.Error(err)
	}
}

func TestDerivedFilesAreWrittenAgain(t *testing.T) {
	t.Setenv("COUNT", os.DevNull)
	w := newWorld(t, rich)
	w.run()
	names := []string{derived.RunFile, derived.StatusFile, derived.FeedbackLog}
	files, err := filepath.Glob(filepath.Join(w.dir, derived.SessionDir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("state files %v, %v", files, err)
	}
	for _, f := range files {
		names = append(names, filepath.Join(derived.SessionDir, filepath.Base(f)))
	}
	before := map[string]string{}
	for _, name := range names {
		before[name] = w.read(name)
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("overwritten"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := w.open()
	defer p.writer.Close()
	if err := p.driver.TakeAnswers(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if got := w.read(name); got != before[name] {
			t.Errorf("%s differs:\n%s\nwas\n%s", name, got, before[name])
		}
	}
	if !strings.Contains(before[derived.FeedbackLog], "[cross-stage-feedback] task=task-1 action=re_implement iteration=2/2\n") ||
		!strings.Contains(before[derived.FeedbackLog], "[cross-stage-feedback] Advisory: could be nicer (no file)\n") {
		t.Errorf("feedback.log:\n%s", before[derived.FeedbackLog])
	}
}

const gate = `
name: gate
version: 1
stages:
  - {id: build, run: 'true'}
  - {id: ship, run: touch shipped, requires_approval: "ship it?"}
`

func put(t *testing.T, w *world, id string, a step.Answer) {
	t.Helper()
	a.ID, a.By = id, "ann"
	if err := driver.PutAnswer(w.dir, a); err != nil {
		t.Fatal(err)
	}
}

const answerID = "01M8QB8PAFMXQ4G0094ERS2V0"

// TestAnswersOfALiveRun answers a run that stays, with a file that is none and one that comes twice among
// the answers.
func TestAnswersOfALiveRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := newWorld(t, gate)
	w.stay = true
	w.after = func(l journal.Line) {
		for _, r := range l.Records {
			switch r.(type) {
			case step.RunWaiting:
				if err := os.WriteFile(filepath.Join(w.dir, driver.InboxDir, answerID+"1.json"), []byte("{"), 0o600); err != nil && !os.IsNotExist(err) {
					t.Error(err)
				}
				put(t, w, answerID+"2", step.Answer{Kind: step.Approve, Stage: "build"})
			case step.AnswerRefused:
				if err := os.WriteFile(filepath.Join(w.dir, driver.InboxDir, answerID+"1.json"), []byte("{"), 0o600); err != nil {
					t.Error(err)
				}
				put(t, w, answerID+"2", step.Answer{Kind: step.Approve, Stage: "build"}) // again
				put(t, w, answerID+"3", step.Answer{Kind: step.Approve, Stage: "ship"})
			}
		}
	}
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s\n%s", status, w.state())
	}
	refused := 0
	for _, r := range w.records() {
		if _, ok := r.(step.AnswerRefused); ok {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d answers were refused, want 1", refused)
	}
	if len(w.warned) != 1 || !strings.Contains(w.warned[0], "1.json") {
		t.Errorf("warnings %q", w.warned)
	}
	left, err := filepath.Glob(filepath.Join(w.dir, driver.InboxDir, "*"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], "1.bad") {
		t.Errorf("the inbox holds %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(w.root, "shipped")); err != nil {
		t.Error(err)
	}
}

// TestAnswersOfAWaitingRun takes answers without carrying the run on.
func TestAnswersOfAWaitingRun(t *testing.T) {
	w := newWorld(t, gate)
	if status := w.run(); status != step.RunIsWaiting {
		t.Fatalf("status %s", status)
	}
	put(t, w, answerID+"2", step.Answer{Kind: step.Approve})
	p := w.open()
	if err := p.driver.TakeAnswers(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.writer.Close()
	if _, err := os.Stat(filepath.Join(w.root, "shipped")); !os.IsNotExist(err) {
		t.Errorf("the stage ran though nobody carries the run on: %v", err)
	}
	if status := w.run(); status != step.RunSucceeded {
		t.Errorf("resumed to %s", status)
	}
}

func TestAnswerFiles(t *testing.T) {
	dir := t.TempDir()
	if err := driver.PutAnswer(dir, step.Answer{ID: "../x"}); err == nil {
		t.Error("an id that is no ULID was taken")
	}
	if err := driver.PutAnswer(dir, step.Answer{ID: answerID + "2", Kind: step.Cancel}); err != nil {
		t.Error(err)
	}
}

// TestOnInterrupt ends the process while a stage runs, in each of the three ways to go on.
func TestOnInterrupt(t *testing.T) {
	for _, c := range []struct {
		word string
		want step.RunStatus
	}{{"rerun", step.RunSucceeded}, {"ask", step.RunIsPaused}, {"fail", step.RunFailed}} {
		t.Run(c.word, func(t *testing.T) {
			w := newWorld(t, single("on_interrupt: "+c.word+"\nrun: 'true'"))
			w.fail = func(seq int64) (before, after error) {
				if seq == 2 {
					return errCrash, nil
				}
				return nil, nil
			}
			if _, err := w.live(t.Context()); !errors.Is(err, errCrash) {
				t.Fatalf("got %v", err)
			}
			w.fail = nil
			if status := w.run(); status != c.want {
				t.Errorf("resumed to %s, want %s", status, c.want)
			}
		})
	}
}

// TestAStageThatClearsOurFolders deletes what it can reach without touching the journal.
func TestAStageThatClearsOurFolders(t *testing.T) {
	w := newWorld(t, `
name: p
version: 1
stages:
  - {id: fix, role: implementation, run: 'rm -rf "$PIPE_SESSION" "$(dirname "$PIPE_STAGE_DIR")"'}
  - id: review
    role: review
    feedback_loop: {target_stage: fix}
    run: echo '[]' > "$PIPE_FEEDBACK"
`)
	if status := w.run(); status != step.RunSucceeded {
		t.Errorf("%s\n%s", status, w.state())
	}
	w.read(derived.SessionDir + "/feedback-task-1-review-fix.md")
}

// TestInstances runs stages whose paths have indexes and parents, though no key of the language makes them
// yet.
func TestInstances(t *testing.T) {
	w := newWorld(t, single(`run: echo "$PIPE_STAGE" > "$PIPE_STAGE_DIR/who"`))
	leaf := w.plan.Graph.Nodes[0]
	leaf.ID = "leaf"
	outer := plan.Node{
		ID: "each", Role: plan.Work, OnInterrupt: plan.RunAgain,
		ForEach: &plan.ForEach{As: "n", Items: plan.Template{Value: value.List{int64(1), int64(2)}}},
		Body:    &plan.Graph{Nodes: []plan.Node{leaf}},
	}
	w.plan.Graph.Nodes = []plan.Node{outer}
	if status := w.run(); status != step.RunSucceeded {
		t.Fatalf("%s\n%s", status, w.state())
	}
	for path, folder := range map[string]string{"each[0]/leaf": "each.0/leaf", "each[1]/leaf": "each.1/leaf"} {
		if got := w.read("stages/" + folder + "/1.1/scratch/who"); got != path+"\n" {
			t.Errorf("%s: got %q", path, got)
		}
	}
}
