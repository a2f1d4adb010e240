package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// escalating is a pipeline that asks a person, and runs scripts that tell of it.
func escalating(scripts ...string) string {
	var list []string
	for _, s := range scripts {
		b, _ := json.Marshal(s)
		list = append(list, fmt.Sprintf("{run: %s}", b))
	}
	return `
name: told
version: 1
escalation: {notify: [` + strings.Join(list, ", ") + `]}
stages:
  - {id: make, role: implementation, run: 'echo x > made.txt'}
  - id: review
    role: review
    feedback_loop: {target_stage: make, max_iterations: 1}
    run: echo '[{"severity":"blocking","file":"made.txt","line":1,"description":"it is bad"}]' > "$PIPE_FEEDBACK"
`
}

// told gives the ends of the scripts that the journal holds.
func (w *world) told() []step.NotifyFinished {
	w.t.Helper()
	var out []step.NotifyFinished
	for _, r := range w.records() {
		if f, ok := r.(step.NotifyFinished); ok {
			out = append(out, f)
		}
	}
	return out
}

// notified gives the folders of the scripts, sorted.
func (w *world) notified() []string {
	w.t.Helper()
	out, err := filepath.Glob(filepath.Join(w.dir, driver.NotifyDir, "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestNotify(t *testing.T) {
	w := newWorld(t, escalating(
		`cp "$PIPE_ESCALATION" seen.json; pwd; echo "$PIPE_RUN_ID $PIPE_TASK_ID $PIPE_PIPELINE $PIPE_WORKSPACE"; [ -n "$PIPE_EFFECT" ]; sleep 0.3; echo done`,
		`echo no >&2; false | true; exit 3`))
	if status := w.run(); status != step.RunIsPaused {
		t.Fatal(status)
	}
	ends := w.told()
	if len(ends) != 2 {
		t.Fatalf("the run was left before all was told: %+v", ends)
	}
	classes := map[string]bool{ends[0].Class: true, ends[1].Class: true}
	if !classes[""] || !classes["exit"] {
		t.Errorf("ended with %+v", ends)
	}
	var seen struct {
		ID, Reason string
		Source     string           `json:"feedback_source"`
		Issues     []map[string]any `json:"blocking_issues"`
		At         string           `json:"raised_at"`
	}
	b, err := os.ReadFile(filepath.Join(w.root, "seen.json"))
	if err != nil || json.Unmarshal(b, &seen) != nil || seen.ID != "x1" || seen.Source != "review" || len(seen.Issues) != 1 || seen.At == "" {
		t.Fatalf("the script saw %s, %v", b, err)
	}
	var run struct{ Escalation json.RawMessage }
	if err := json.Unmarshal([]byte(w.read(derived.RunFile)), &run); err != nil || string(run.Escalation) != strings.TrimSpace(string(b)) {
		t.Errorf("the script saw\n%s\nand the run has\n%s\n%v", b, run.Escalation, err)
	}
	logs := map[string]string{}
	for _, dir := range w.notified() {
		for _, name := range []string{driver.StdoutName, driver.StderrName} {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			logs[name] += string(b)
		}
	}
	if want := w.root + "\n" + w.id + " task-1 told " + w.root + "\ndone\n"; logs[driver.StdoutName] != want || logs[driver.StderrName] != "no\n" {
		t.Errorf("the logs are %q, want %q", logs, want)
	}
}

// TestNotifyLimit looks at what the kind is given.
func TestNotifyLimit(t *testing.T) {
	w := newWorld(t, escalating("true"))
	var left time.Duration
	real := w.kinds[len(w.kinds)-1]
	w.kinds = append(w.kinds, stage.Kind{Name: real.Name, Run: func(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
		if call.Stage != driver.NotifyDir {
			return real.Run(ctx, call)
		}
		at, _ := ctx.Deadline()
		left = time.Until(at)
		return stage.Outcome{}, errors.New("a failure of ours")
	}})
	if status := w.run(); status != step.RunIsPaused || left < 50*time.Second || left > time.Minute {
		t.Errorf("%s, with %s left", status, left)
	}
	if ends := w.told(); len(ends) != 1 || ends[0].Class != "unavailable" || ends[0].Message != "a failure of ours" {
		t.Errorf("ended with %+v", ends)
	}
}

// TestNotifyEndsWithTheRun cancels the run while its script goes on.
func TestNotifyEndsWithTheRun(t *testing.T) {
	w := newWorld(t, escalating("sleep 100; echo done"))
	w.after = func(l journal.Line) {
		for _, r := range l.Records {
			if _, ok := r.(step.NotifyStarted); ok {
				a := step.Answer{ID: answerID + "1", Kind: step.Cancel, By: "anna"}
				if err := driver.PutAnswer(w.dir, a); err != nil {
					t.Error(err)
				}
			}
		}
	}
	began := time.Now()
	if status := w.run(); status != step.RunCancelled {
		t.Fatal(status)
	}
	if took := time.Since(began); took > 50*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestNotifyAfterACrash ends the process at each append: somebody is told at least once.
func TestNotifyAfterACrash(t *testing.T) {
	count := counted(t)
	points := 0
	for at := int64(1); ; at++ {
		for _, durable := range []bool{false, true} {
			before := count()
			w := newWorld(t, escalating(`echo x >> "$COUNT"`))
			w.fail = func(seq int64) (error, error) {
				switch {
				case seq != at:
					return nil, nil
				case durable:
					return nil, errCrash
				}
				return errCrash, nil
			}
			if _, err := w.live(t.Context()); err == nil {
				if points < 10 {
					t.Fatalf("only %d points", points)
				}
				return
			}
			points++
			w.fail = nil
			if status := w.run(); status != step.RunIsPaused {
				t.Fatalf("append %d: %s", at, status)
			}
			if n := count() - before; n < 1 || n > 2 {
				t.Errorf("append %d, durable %t: told %d times", at, durable, n)
			}
			if ends := w.told(); len(ends) != 1 || ends[0].Class != "" {
				t.Errorf("append %d, durable %t: ended with %+v", at, durable, ends)
			}
		}
	}
}
