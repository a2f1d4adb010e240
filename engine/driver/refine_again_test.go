package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
)

// TestRefineCrash ends the process at each append, before it is durable and after it, and resumes: ledger, status and
// feedback file are always the same.
func TestRefineCrash(t *testing.T) {
	yaml := refined("feedback_file: "+feedbackFile, strings.Replace(creates, "$(($(cat n.txt 2>/dev/null || echo 0) + 1))", "$PIPE_ITERATION", 1), passesThird)
	left := func(w *world) string {
		file := strings.ReplaceAll(w.inWorkspace(feedbackFile), w.received(), "TIME")
		return w.stages() + "\n" + w.todo() + file + w.state()
	}
	whole := newWorld(t, yaml)
	whole.run()
	want := left(whole)
	for at := int64(1); ; at++ {
		for _, durable := range []bool{false, true} {
			w := newWorld(t, yaml)
			w.fail = func(seq int64) (before, after error) {
				switch {
				case seq != at:
					return nil, nil
				case durable:
					return nil, errCrash
				}
				return errCrash, nil
			}
			_, err := w.live(t.Context())
			if err == nil {
				t.Logf("%d points", 2*(at-1))
				return
			}
			if !errors.Is(err, errCrash) {
				t.Fatalf("append %d: %v", at, err)
			}
			w.fail = nil
			if status := w.run(); status != step.RunSucceeded {
				t.Fatalf("append %d, durable %v: resumed to %s\n%s", at, durable, status, w.state())
			}
			if got := left(w); got != want {
				t.Fatalf("append %d, durable %v: what is left differs\n%s\nwant\n%s", at, durable, got, want)
			}
		}
	}
}

// TestFeedbackFileIsLeftAlone resumes a run that waits: whoever ticked a box meanwhile finds it ticked, and a file that
// a validation wrote itself is not written over.
func TestFeedbackFileIsLeftAlone(t *testing.T) {
	own := `mkdir -p "$(dirname "$PIPE_FEEDBACK_FILE")"; printf '**Status:** FAIL\n### Critical\n- [ ] mine\n' > "$PIPE_FEEDBACK_FILE"`
	for name, validate := range map[string]string{"the engine's": passesThird, "the validation's": own} {
		for _, ends := range []string{"after the last line", "at the pause"} {
			t.Run(name+", "+ends, func(t *testing.T) {
				w := newWorld(t, refined("feedback_file: "+feedbackFile, creates, validate))
				w.plan.Graph.Nodes[1].Loop.MaxIterations = 1
				if ends == "after the last line" { // the file was written, and nothing else
					w.after = func(l journal.Line) {
						for _, r := range l.Records {
							if _, ok := r.(step.FeedbackReceived); ok {
								w.fail = func(int64) (error, error) { return errCrash, nil }
							}
						}
					}
				}
				if _, err := w.live(t.Context()); err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				w.fail, w.after = nil, nil
				ticked := strings.Replace(w.inWorkspace(feedbackFile), "- [ ]", "- [x]", 1)
				if !strings.Contains(ticked, "- [x]") {
					t.Fatalf("there is no box to tick:\n%s", ticked)
				}
				w.write(feedbackFile, ticked)
				if status := w.run(); status != step.RunIsPaused {
					t.Fatalf("resumed to %s", status)
				}
				if got := w.inWorkspace(feedbackFile); got != ticked {
					t.Errorf("the file is now\n%s\nwas\n%s", got, ticked)
				}
			})
		}
	}
}

// take gives an answer to a run that no process carries on.
func (w *world) take(id string, a step.Answer) {
	w.t.Helper()
	put(w.t, w, id, a)
	p := w.open()
	defer p.writer.Close()
	if err := p.driver.TakeAnswers(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// TestRefinementGranted shows what a person grants, and what they accept.
func TestRefinementGranted(t *testing.T) {
	w := newWorld(t, refined("", creates, passesThird))
	w.plan.Graph.Nodes[1].Loop.MaxIterations = 1
	w.run()
	if got := w.stages(); !strings.Contains(got, `{"status":"in-progress","planRefinement":{"attempts":1,"maxAttempts":1,`) {
		t.Errorf("exhausted: %s", got)
	}
	w.take(answerID+"1", step.Answer{Kind: step.DecideRetry, Rounds: 1})
	w.run()
	if got := w.stages(); !strings.Contains(got, `{"status":"in-progress","planRefinement":{"attempts":2,"maxAttempts":2,`) {
		t.Errorf("one more attempt: %s", got)
	}
	w.take(answerID+"2", step.Answer{Kind: step.DecideOverride, Reason: "good enough"})
	if status := w.run(); status != step.RunSucceeded {
		t.Errorf("%s\n%s", status, w.state())
	}
	if got := w.stages(); !strings.Contains(got, `{"status":"completed","output":".tot-docs/tasks/001-feature.md","planRefinement":{"attempts":2,"maxAttempts":2,`) {
		t.Errorf("accepted: %s", got)
	}
}

// TestListOfAForgottenStage removes the list where a rollback clears away what the run remembers of the stage, also at
// a resume.
func TestListOfAForgottenStage(t *testing.T) {
	w := newWorld(t, strings.Replace(refined("on_exhausted: fail", creates, passesThird), "    refine_loop:", "    rollback: {strategy: memory_cleanup}\n    refine_loop:", 1))
	w.plan.Graph.Nodes[1].Loop.MaxIterations = 1
	name := filepath.Join(w.dir, derived.SessionDir, "todo-generate-plan.md")
	seen := false
	w.after = func(journal.Line) {
		if _, err := os.Stat(name); err == nil {
			seen = true
		}
	}
	if status := w.run(); status != step.RunFailed || !seen {
		t.Fatalf("%s, the list was there: %v\n%s", status, seen, w.state())
	}
	p := w.open()
	defer p.writer.Close()
	for _, when := range []string{"at the end", "at a resume"} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s: %v, expected no list", when, err)
		}
		if err := p.driver.TakeAnswers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
