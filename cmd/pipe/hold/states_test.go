//go:build linux

package hold

import (
	"strings"
	"syscall"
	"testing"
)

// holding is a script that says where it is, leaves a child, and goes on once it may.
const holding = `echo "here ${PIPE_STAGE-}" >> ../here; sleep 600 & until [ -e ../go-on ]; do sleep 0.02; done`

// TestCtrlCInEachState stops a run in each of its states with Ctrl-C, and resumes it: nothing is left behind at
// either end, what was finished does not run again, and the end is the one that it would have had.
func TestCtrlCInEachState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		pipeline string
		at       string // the stage in which it is stopped
		cancel   bool   // it is cancelled first
		want     int    // exit status of the resume
		status   string
	}{
		{"an item", `stages: [{id: each, for_each: {items: [a, b], max_parallel: 1}, run: HOLD}]`, "each[0]", false, 0, "succeeded"},
		{"a stage inside", `stages: [{id: sub, pipeline: inner}]`, "sub/one", false, 0, "succeeded"},
		{"the finally inside", `stages: [{id: sub, pipeline: tidy}]`, "sub/last", false, 0, "succeeded"},
		{"finally", `{stages: [{id: a, run: "echo once >> ../a"}], finally: [{id: last, run: HOLD}, {id: told, run: "true"}]}`, "last", false, 0, "succeeded"},
		{"finally after a failure", `{stages: [{id: a, run: "exit 3"}], finally: [{id: last, run: HOLD}]}`, "last", false, 1, "failed"},
		{"finally after a cancel", `{stages: [{id: a, run: HOLD}], finally: [{id: last, run: HOLD}]}`, "last", true, 1, "cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t,
				"pipelines/p.yaml", pipeline("p", c.pipeline),
				"pipelines/inner.yaml", pipeline("inner", `stages: [{id: one, run: HOLD}]`),
				"pipelines/tidy.yaml", pipeline("tidy", `{stages: [{id: one, run: "true"}], finally: [{id: last, run: HOLD}]}`))
			run := p.start("run", "p")
			here := func() bool {
				return p.exists("../here") && strings.Contains(p.read("../here"), "here "+c.at+"\n")
			}
			if c.cancel {
				p.until("the first stage runs", func() bool { return p.exists("../here") })
				p.start("cancel", "last")
			}
			p.until(c.at+" runs", here)
			run.signal(syscall.SIGINT)
			if r := run.end(); r.status != 130 {
				t.Errorf("want exit status 130, got %s", r)
			}
			if s := p.status(); s != "interrupted" {
				t.Errorf("the run is %s", s)
			}
			p.leavesNothing()
			p.write("../go-on", "")
			r := p.want(c.want, "resume", "last")
			p.says(r, c.at+" started")
			if s := p.status(); s != c.status {
				t.Errorf("after the resume the run is %s, want %s", s, c.status)
			}
			p.leavesNothing()
			if p.exists("../a") && p.read("../a") != "once\n" {
				t.Error("a stage that was finished ran again")
			}
		})
	}
}

// pipeline is the text of a pipeline in the place of whose HOLD stands the script that holds.
func pipeline(name, rest string) string {
	rest = strings.ReplaceAll(rest, "HOLD", `'`+holding+`'`)
	if inner, ok := strings.CutPrefix(rest, "{"); ok {
		return "{name: " + name + ", version: 1, " + inner + "\n"
	}
	return "{name: " + name + ", version: 1, " + rest + "}\n"
}

// TestCtrlCWhileTelling stops a run whose script tells of an escalation.
func TestCtrlCWhileTelling(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "pipelines/p.yaml", pipeline("p", `{escalation: {notify: [{run: HOLD}]}, stages: [
  {id: do, role: implementation, run: "true"},
  {id: look, run: "echo '[{\"severity\": \"blocking\", \"description\": \"no\"}]' > \"$PIPE_FEEDBACK\"",
   feedback_loop: {target_stage: do, max_iterations: 1}}]}`))
	run := p.start("run", "p")
	p.until("the script runs", func() bool { return p.exists("../here") })
	run.signal(syscall.SIGINT)
	if r := run.end(); r.status != 130 {
		t.Errorf("want exit status 130, got %s", r)
	}
	p.leavesNothing()
	p.write("../go-on", "")
	p.want(4, "resume", "last")
	p.leavesNothing()
	if n := strings.Count(p.read("../here"), "here"); n != 2 {
		t.Errorf("the script ran %d times, want once more after it was stopped", n)
	}
	p.want(0, "decide", "last", "abort")
	p.leavesNothing()
}
