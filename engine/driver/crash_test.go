package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

// rich has what a run can have without a person: stages side by side, a retry, a loop of two rounds, a
// stage that is skipped, outputs and items.
const rich = `
name: rich
version: 1
outputs: {made: "${{ stages.make.outputs.made }}"}
stages:
  - {id: prepare, run: 'echo "prepare $PIPE_ITERATION" >> "$COUNT"', needs: []}
  - {id: aside, run: 'echo "aside $PIPE_ITERATION" >> "$COUNT"', needs: []}
  - id: flaky
    needs: [prepare]
    retry: {max_attempts: 3, initial_delay: 10ms, backoff: fixed}
    run: |
      echo "flaky $PIPE_ITERATION" >> "$COUNT"
      [ "$PIPE_ATTEMPT" -ge 2 ]
  - id: make
    role: implementation
    needs: [flaky, aside]
    outputs: {made: string}
    run: |
      echo "made=$PIPE_ITERATION" >> "$PIPE_OUTPUT"
      echo "$PIPE_ITERATION" > made.txt
      echo "make $PIPE_ITERATION" >> "$COUNT"
  - id: review_a
    role: review
    needs: [make]
    feedback_loop: {target_stage: make}
    run: |
      if [ "$(cat made.txt)" -lt 2 ]; then
        echo '[{"severity":"blocking","file":"made.txt","line":1,"description":"too small"},
          {"severity":"advisory","description":"could be nicer"}]' > "$PIPE_FEEDBACK"
      else echo '[]' > "$PIPE_FEEDBACK"; fi
      echo "review_a $PIPE_ITERATION" >> "$COUNT"
  - id: review_b
    role: review
    needs: [make]
    feedback_loop: {target_stage: make}
    run: |
      echo '[]' > "$PIPE_FEEDBACK"
      echo "review_b $PIPE_ITERATION" >> "$COUNT"
  - {id: never, when: "false", run: 'exit 9'}
  - {id: last, run: 'echo "last $PIPE_ITERATION" >> "$COUNT"'}
`

// TestCrashAtEachAppend ends the process at each append, once before it is durable and once after it, and
// resumes. What is left is always the same, and what the journal holds as ended ran once.
func TestCrashAtEachAppend(t *testing.T) {
	counts := filepath.Join(t.TempDir(), "counts")
	t.Setenv("COUNT", counts)
	whole := newWorld(t, rich)
	if status := whole.run(); status != step.RunSucceeded {
		t.Fatalf("uninterrupted: %s\n%s", status, whole.state())
	}
	want := whole.state()
	points := 0
	for at := int64(1); ; at++ {
		for _, durable := range []bool{false, true} {
			if err := os.Remove(counts); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			w := newWorld(t, rich)
			w.fail = func(seq int64) (before, after error) {
				if seq != at {
					return nil, nil
				}
				if durable {
					return nil, errCrash
				}
				return errCrash, nil
			}
			_, err := w.live(t.Context())
			if err == nil {
				if at < 8 {
					t.Fatalf("no append %d: the run is too short for a sweep", at)
				}
				t.Logf("%d points", points)
				return
			}
			if !errors.Is(err, errCrash) {
				t.Fatalf("append %d: %v", at, err)
			}
			points++
			w.fail = nil
			if status := w.run(); status != step.RunSucceeded {
				t.Fatalf("append %d, durable %v: resumed to %s\n%s", at, durable, status, w.state())
			}
			if got := w.state(); got != want {
				t.Fatalf("append %d, durable %v: the state differs\n%s\nwant\n%s", at, durable, got, want)
			}
			checkExecutions(t, w, counts)
		}
	}
}

// checkExecutions compares what ran with what the journal holds: a try that ended ran once, one that was
// interrupted at most once more each.
func checkExecutions(t *testing.T, w *world, counts string) {
	t.Helper()
	ran := map[string]int{}
	b, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		ran[name]++
	}
	ended, lost := map[string]int{}, map[string]int{}
	for _, r := range w.records() {
		switch r := r.(type) {
		case step.StageSucceeded:
			ended[r.Stage]++
		case step.RetryScheduled:
			ended[r.Stage]++
		case step.StageInterrupted:
			lost[r.Stage]++
		}
	}
	for name, n := range ended {
		if ran[name] < n || ran[name] > n+lost[name] {
			t.Errorf("%s ran %d times; the journal holds %d ends and %d interruptions", name, ran[name], n, lost[name])
		}
	}
}
