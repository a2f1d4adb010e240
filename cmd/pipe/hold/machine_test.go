//go:build linux

package hold

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/pipe/cmd/pipe/built"
)

// later is the folder of another program: its briefs have other words, one of its functions gives something
// else, and its clock is an hour behind.
func later(t *testing.T) string {
	t.Helper()
	dir, err := buildLater()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var buildLater = sync.OnceValues(func() (string, error) {
	return buildOther("later", map[string][2]string{
		"engine/feedback/brief.go":    {"### Issues to Address", "### What to Do"},
		"engine/expr/eval/builtin.go": {"args[0].(string), strings.ToUpper)", "args[0].(string), strings.ToLower)"},
		"cmd/pipe/app.go":             {"now: time.Now,", "now: func() time.Time { return time.Now().Add(-time.Hour) },"},
	})
})

// buildOther builds the command anew with pieces of its sources replaced, and gives its folder.
func buildOther(name string, changes map[string][2]string) (string, error) {
	dir := filepath.Join(program, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, change := range changes {
		file, err := filepath.Abs(filepath.Join("..", "..", "..", filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), change[0]) != 1 {
			return "", fmt.Errorf("%s does not hold %q once: choose another piece to change", name, change[0])
		}
		other := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(other, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o644); err != nil {
			return "", err
		}
		replace[file] = other
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o644); err != nil {
		return "", err
	}
	return dir, built.Command(dir, "-overlay", overlay)
}

const changing = `
inputs: {word: {type: string, default: Word}}
outputs: {word: "${{ stages.before.outputs.word }}"}
stages:
  - id: before
    env: {WORD: "${{ upper(inputs.word) }}"}
    run: |
      echo "before $WORD" >> "$PIPE_WORKSPACE/../ran"
      echo "word=$WORD" > "$PIPE_OUTPUT"
    outputs: {word: string}
  - id: implement
    env: {WORD: "${{ upper(inputs.word) }}"}
    run: |
      cp "$PIPE_BRIEF" "$PIPE_WORKSPACE/../brief.$PIPE_ITERATION"
      echo "$PIPE_RUN_ID $PIPE_ITERATION" > change
      if [ "$PIPE_ITERATION" = 2 ] && ! [ -e "$PIPE_WORKSPACE/../go-on" ]; then touch "$PIPE_WORKSPACE/../waits"; sleep 600; fi
      echo "implement $PIPE_ITERATION $WORD" >> "$PIPE_WORKSPACE/../ran"
  - id: review
    run: |
      echo "review $PIPE_ITERATION" >> "$PIPE_WORKSPACE/../ran"
      if [ "$PIPE_ITERATION" -ge 2 ]; then echo '[]' > "$PIPE_FEEDBACK"; exit; fi
      echo '[{"severity":"blocking","file":"change","line":1,"description":"not yet"}]' > "$PIPE_FEEDBACK"
    feedback_loop: {target_stage: implement}
  - id: asks
    env: {WORD: "${{ upper(inputs.word) }}"}
    run: echo "asks $WORD" >> "$PIPE_WORKSPACE/../ran"
    requires_approval: "ship ${{ upper(inputs.word) }}?"
`

// TestResumeUnderAnotherMachine kills a run in the middle of its second round and goes on with a program that
// decides otherwise: what the records hold stands, the run ends well, and only a replay tells the difference.
func TestResumeUnderAnotherMachine(t *testing.T) {
	t.Parallel()
	other := later(t)
	p := newRun(t, changing)
	run := p.start("run", "p")
	p.until("round 2", func() bool { return p.exists("../waits") })
	run.signal(9)
	run.end()

	p.says(p.want(0, "doctor", "--replay", "last"), "0 differences")
	before := p.read("../brief.2")
	if !strings.Contains(before, "### Issues to Address") {
		t.Fatalf("the brief of round 2 is %q", before)
	}
	journal := p.read(".pipe/runs/" + p.last() + "/events.jsonl")

	p.program = other
	r := p.want(0, "doctor", "--replay", "last")
	p.says(r, "### What to Do", "### Issues to Address", `{"WORD":"WORD"}`, `{"WORD":"word"}`, "stage.started")
	var report struct {
		Version, Steps int
		Differences    []struct{ Recorded, Decided string }
	}
	if err := json.Unmarshal([]byte(p.want(0, "doctor", "--replay", "last", "--json").out), &report); err != nil {
		t.Fatal(err)
	}
	if n := len(report.Differences); n != 3 {
		t.Errorf("%d differences, want that of before and of both rounds of implement: %+v", n, report.Differences)
	}
	p.says(p.want(0, "doctor", "--run", "last"), "nothing is wrong")

	p.write("../go-on", "")
	r = p.want(4, "resume", "last")
	p.says(r, "implement interrupted", "review feedback_routed target=implement action=accept iteration=2/2")
	if after := p.read("../brief.2"); after != before {
		t.Errorf("the brief of the try that was started again is\n%s\nthat of the records was\n%s", after, before)
	}
	if now := p.read(".pipe/runs/" + p.last() + "/events.jsonl"); !strings.HasPrefix(now, journal) {
		t.Error("the records of the first program are not what the journal begins with")
	}
	p.program = program
	p.want(0, "approve", "last") // the first program reads what the other one wrote
	p.program = other
	r = p.want(0, "resume", "last")
	p.says(r, `output word="WORD"`, "run succeeded")
	want := "before WORD\nimplement 1 WORD\nreview 1\nimplement 2 WORD\nreview 2\nasks"
	if got := p.read("../ran"); !strings.HasPrefix(got, want) {
		t.Errorf("what ran is\n%s\nwant\n%s", got, want)
	}
	p.leavesNothing()
}

// TestClockGoesBack resumes a run under a clock that is an hour behind: times of a run never go back, and a
// retry that waits for its moment does not wait that hour.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - id: a
    run: |
      if [ -e ../go-on ]; then exit 0; fi
      touch ../tried
      exit 1
    retry: {max_attempts: 2, initial_delay: 2s, backoff: fixed}
  - {id: b, run: "true"}
`)
	run := p.start("run", "p")
	run.until("a retry_scheduled")
	run.signal(9)
	run.end()
	p.write("../go-on", "")
	p.program = later(t)
	resumed := p.start("resume", "last")
	if r := resumed.end(); r.status != 0 {
		t.Error(r)
	}
	last := ""
	for line := range strings.Lines(p.want(0, "events", "last").out) {
		at, _, _ := strings.Cut(line, " ")
		if at < last {
			t.Errorf("time goes back from %s in %s", last, line)
		}
		last = at
	}
	p.leavesNothing()
}
