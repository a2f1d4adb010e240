package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/step"
)

// stuck never gets better by itself: it ends in an escalation.
const stuck = `
name: stuck
version: 1
stages:
  - {id: fix, role: implementation, run: 'echo "$PIPE_ITERATION" >> rounds.txt'}
  - id: review
    role: review
    feedback_loop: {target_stage: fix, max_iterations: 2}
    run: |
      if [ -e repaired ]; then echo '[]' > "$PIPE_FEEDBACK"; else
      echo '[{"severity":"blocking","file":"x.go","description":"still broken"}]' > "$PIPE_FEEDBACK"; fi
  - {id: ship, run: touch shipped}
`

func paused(t *testing.T, p *engine.Project, o engine.RunOptions) engine.Result {
	t.Helper()
	res, log := run(t, p, "stuck", o)
	if res.Status != step.RunIsPaused {
		t.Fatalf("status %s\n%s", res.Status, log)
	}
	return res
}

func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(root string)
		answer  step.Answer
		resume  bool
		want    step.RunStatus
		shipped bool
	}{
		{"retry after a repair, at once", func(root string) { touch(t, filepath.Join(root, "repaired")) },
			step.Answer{Kind: step.DecideRetry}, true, step.RunSucceeded, true},
		{"retry without one", func(string) {}, step.Answer{Kind: step.DecideRetry}, true, step.RunIsPaused, false},
		{"refer back with a note", func(string) {},
			step.Answer{Kind: step.DecideReferBack, Note: "look again"}, true, step.RunIsPaused, false},
		{"override", func(string) {}, step.Answer{Kind: step.DecideOverride, Reason: "known"}, true, step.RunSucceeded, true},
		{"override, resumed later", func(string) {}, step.Answer{Kind: step.DecideOverride, Reason: "known"}, false, step.RunSucceeded, true},
		{"abort", func(string) {}, step.Answer{Kind: step.DecideAbort}, false, step.RunCancelled, false},
		{"cancel", func(string) {}, step.Answer{Kind: step.Cancel}, false, step.RunCancelled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project(t, "pipelines/stuck.yaml", stuck)
			res := paused(t, p, engine.RunOptions{})
			c.before(p.Root)
			c.answer.By = "ann"
			got, err := p.Answer(t.Context(), res.Run.Run, c.answer, engine.AnswerOptions{Resume: c.resume})
			if err != nil || !got.Accepted {
				t.Fatalf("answer %+v, %v", got, err)
			}
			status := got.Status
			if !c.resume && !status.Ended() {
				if got.CarriedOn || exists(filepath.Join(p.Root, "shipped")) {
					t.Error("the run was carried on without being asked to")
				}
				again, err := p.Resume(t.Context(), res.Run.Run, engine.Follow{})
				if err != nil {
					t.Fatal(err)
				}
				status = again.Status
			}
			if status != c.want || exists(filepath.Join(p.Root, "shipped")) != c.shipped {
				t.Errorf("status %s, want %s; shipped %v", status, c.want, !c.shipped)
			}
			if status.Ended() {
				checkDerived(t, p, res.Run.Run)
			}
			if report, err := p.Replay(res.Run.Run); err != nil || len(report.Differences) != 0 {
				t.Errorf("replay: %+v, %v", report, err)
			}
		})
	}
}

// checkDerived compares the derived files of a finished run with those that a resume makes from the journal.
func checkDerived(t *testing.T, p *engine.Project, id string) {
	t.Helper()
	files := func() map[string]string {
		out := map[string]string{}
		for _, pattern := range []string{derived.RunFile, derived.StatusFile, derived.FeedbackLog, derived.SessionDir + "/*"} {
			names, err := filepath.Glob(filepath.Join(p.RunDir(id), pattern))
			if err != nil || len(names) == 0 {
				t.Errorf("no %s, %v", pattern, err)
			}
			for _, name := range names {
				b, err := os.ReadFile(name)
				if err != nil {
					t.Error(err)
				}
				out[name] = string(b)
			}
		}
		return out
	}
	before := files()
	if _, err := p.Resume(t.Context(), id, engine.Follow{}); err != nil {
		t.Error(err)
	}
	after := files()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was\n%s\nand is written again as\n%s", name, text, after[name])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, and %d when written again", len(before), len(after))
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	res := paused(t, p, engine.RunOptions{})
	id := res.Run.Run
	refuse := func(a step.Answer, why string) {
		t.Helper()
		got, err := p.Answer(t.Context(), id, a, engine.AnswerOptions{})
		if err != nil || got.Accepted || !strings.Contains(got.Why, why) {
			t.Errorf("got %+v, %v; want a refusal with %q", got, err, why)
		}
	}
	refuse(step.Answer{Kind: step.DecideRetry, Escalation: "x7", By: "ann"}, "x7")
	refuse(step.Answer{Kind: step.Approve, By: "ann"}, "")
	if _, err := p.Cancel(t.Context(), id, "ann", "enough", engine.AnswerOptions{}); err != nil {
		t.Fatal(err)
	}
	refuse(step.Answer{Kind: step.DecideRetry, By: "ann"}, "ended")
	if left, _ := filepath.Glob(filepath.Join(p.RunDir(id), driver.InboxDir, "*")); len(left) != 0 {
		t.Errorf("the inbox holds %v", left)
	}
}

func TestAnswerFromInside(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	inside := open(t, p.Root, proc.RunVar+"="+id)
	_, err := inside.Answer(t.Context(), id, step.Answer{Kind: step.DecideOverride, By: "agent"}, engine.AnswerOptions{})
	var in *engine.InsideError
	if !errors.As(err, &in) {
		t.Errorf("got %v", err)
	}
}

// TestAnswerOfALiveRun lets another "process" carry the run on while the answer comes.
func TestAnswerOfALiveRun(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	l := load(t, p, "stuck")
	asks := make(chan string, 8)
	type end struct {
		res engine.Result
		err error
	}
	ended := make(chan end, 1)
	var id string
	go func() {
		res, err := p.Run(t.Context(), l, engine.RunOptions{Follow: engine.Follow{
			Stay:  true,
			Begun: func(b engine.Begun) { id = b.Run.Run },
			Observe: func(_ int64, _ step.Instant, rs []step.Record) {
				for _, r := range rs {
					if _, ok := r.(step.RunPaused); ok {
						asks <- id
					}
				}
			},
		}})
		ended <- end{res, err}
	}()
	run := <-asks
	other := open(t, p.Root)
	got, err := other.Answer(t.Context(), run, step.Answer{Kind: step.DecideRetry, Escalation: "x9", By: "bob"}, engine.AnswerOptions{})
	if err != nil || got.Accepted || !got.Live {
		t.Errorf("an escalation that is not open: got %+v, %v", got, err)
	}
	if _, err := other.Resume(t.Context(), run, engine.Follow{}); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("a second resume: got %v", err)
	}
	if _, err := other.Run(t.Context(), load(t, other, "stuck"), engine.RunOptions{}); !errors.Is(err, journal.ErrHeld) || !strings.Contains(err.Error(), run) {
		t.Errorf("a second run in the workspace: got %v", err)
	}
	got, err = other.Answer(t.Context(), run, step.Answer{Kind: step.DecideOverride, Reason: "known", By: "bob"}, engine.AnswerOptions{})
	if err != nil || !got.Accepted || !got.Live {
		t.Errorf("override: got %+v, %v", got, err)
	}
	e := <-ended
	if e.err != nil || e.res.Status != step.RunSucceeded {
		t.Errorf("the run ended %+v", e)
	}
}

// TestCancelOfADeadRun cancels a run whose process is gone in the middle of a stage.
func TestCancelOfADeadRun(t *testing.T) {
	begun := fifo(t)
	p := project(t, "pipelines/long.yaml", fmt.Sprintf(
		"name: long\nversion: 1\nstages:\n  - {id: s, run: 'echo > %s; sleep 300'}\n  - {id: later, run: touch later}\n", begun))
	id := interrupted(t, p, "long", begun)
	if runs, err := p.Runs(); err != nil || len(runs) != 1 || runs[0].LastAt == nil || runs[0].LastAt.Since(*runs[0].StartedAt) < 0 {
		t.Errorf("an interrupted run does not say when it was last heard of: %+v, %v", runs, err)
	}
	got, err := p.Cancel(t.Context(), id, "ann", "enough", engine.AnswerOptions{})
	if err != nil || !got.Accepted || got.Status != step.RunCancelled {
		t.Errorf("got %+v, %v", got, err)
	}
	if exists(filepath.Join(p.Root, "later")) {
		t.Error("a cancelled run started a stage")
	}
	if list, err := p.Runs(); err != nil || len(list) != 1 || list[0].Status != "cancelled" {
		t.Errorf("runs %+v, %v", list, err)
	}
}

// TestCancelOfALiveRun cancels a run from another process; the one that carries it on ends its stage.
func TestCancelOfALiveRun(t *testing.T) {
	begun := fifo(t)
	p := project(t, "pipelines/long.yaml", fmt.Sprintf(
		"name: long\nversion: 1\nstages:\n  - {id: s, run: 'echo > %s; sleep 300'}\n", begun))
	var id string
	cancelled := make(chan error, 1)
	go func() {
		if _, err := os.ReadFile(begun); err != nil {
			cancelled <- err
			return
		}
		got, err := open(t, p.Root).Cancel(t.Context(), id, "ann", "enough", engine.AnswerOptions{})
		if err == nil && (!got.Accepted || !got.Live) {
			err = fmt.Errorf("got %+v", got)
		}
		cancelled <- err
	}()
	res, err := p.Run(t.Context(), load(t, p, "long"), engine.RunOptions{Follow: engine.Follow{Begun: func(b engine.Begun) { id = b.Run.Run }}})
	if err != nil || res.Status != step.RunCancelled {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := <-cancelled; err != nil {
		t.Error(err)
	}
	if n, err := proc.EndRun(id, nil); err != nil || n != 0 {
		t.Errorf("%d processes are left, %v", n, err)
	}
}

// fifo makes a pipe by which a stage says that it runs.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// interrupted runs a pipeline until a stage opens the FIFO, ends our part of it, and gives the run's id.
func interrupted(t *testing.T, p *engine.Project, name, begun string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_, err := os.ReadFile(begun)
		if err != nil {
			t.Error(err)
		}
		stop()
	}()
	var id string
	_, err := p.Run(ctx, load(t, p, name), engine.RunOptions{Follow: engine.Follow{Begun: func(b engine.Begun) { id = b.Run.Run }}})
	var stopped *engine.Stopped
	if !errors.As(err, &stopped) {
		t.Fatalf("got %v", err)
	}
	return id
}

func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestAnswerThatNobodyTakes answers a run whose holder does not look at its inbox, and gives up.
func TestAnswerThatNobodyTakes(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	lock, err := journal.Acquire(filepath.Join(p.RunDir(id), "lock"), journal.Holder{Run: id, Command: "pipe run stuck"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var warned string
	_, err = p.Answer(ctx, id, step.Answer{Kind: step.DecideRetry, By: "ann"}, engine.AnswerOptions{Follow: engine.Follow{Warn: func(s string) {
		warned = s
		stop()
	}}})
	var stopped *engine.Stopped
	if !errors.As(err, &stopped) || !strings.Contains(warned, "pipe run stuck") {
		t.Errorf("got %v, warned %q", err, warned)
	}
	if left, _ := filepath.Glob(filepath.Join(p.RunDir(id), driver.InboxDir, "*")); len(left) != 0 {
		t.Errorf("the inbox holds %v", left)
	}
}
