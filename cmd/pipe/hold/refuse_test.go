//go:build linux

package hold

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const waiting = `
stages:
  - {id: long, run: "until [ -e ../go-on ]; do sleep 0.02; done"}
  - {id: last, run: "true"}
`

// TestTwoResumes resumes an interrupted run twice at once: one carries it on, the other is told who does.
func TestTwoResumes(t *testing.T) {
	t.Parallel()
	p := newRun(t, waiting)
	run := p.start("run", "p")
	run.until("long started")
	run.signal(9)
	run.end()
	one, two := p.start("resume", "last"), p.start("resume", "last")
	p.until("one of both ends", func() bool { return one.over() || two.over() })
	winner, loser := one, two
	if one.over() {
		winner, loser = two, one
	}
	r := loser.end()
	if r.status != 5 {
		t.Errorf("want exit status 5, got %s", r)
	}
	p.says(r, fmt.Sprintf("the run is held by process %d", winner.cmd.Process.Pid), "pipe resume last", "pipe show "+p.last())
	p.write("../go-on", "")
	if r := winner.end(); r.status != 0 {
		t.Errorf("the other one: %s", r)
	}
	if n := strings.Count(p.want(0, "events", "last").out, "run resumed"); n != 1 {
		t.Errorf("the run was resumed %d times", n)
	}
	p.leavesNothing()
}

// TestTwoRunsInOneWorkspace starts a run while another goes on, also from a folder below and of a pipeline
// that is named by its file; a waiting run holds nothing.
func TestTwoRunsInOneWorkspace(t *testing.T) {
	t.Parallel()
	p := newRun(t, waiting)
	p.write("pipelines/other.yaml", "name: other\nversion: 1\nstages: [{id: a, run: \"true\", requires_approval: true}]\n")
	p.want(4, "run", "other")
	paused := p.last()
	run := p.start("run", "p")
	run.until("long started")
	held := fmt.Sprintf("the workspace is held by process %d", run.cmd.Process.Pid)
	p.says(p.want(5, "run", "other"), held, "run p", "pipe cancel "+p.last())
	p.says(p.want(5, "run", "./pipelines/other.yaml"), held)
	p.says(p.want(5, "resume", paused), held)
	if n := len(p.runs()); n != 2 {
		t.Errorf("there are %d runs: one that was refused left its folder", n)
	}
	p.says(p.want(0, "approve", paused), "approved: a")
	p.write("../go-on", "")
	if r := run.end(); r.status != 0 {
		t.Error(r)
	}
	p.want(0, "resume", paused)
	p.leavesNothing()
}

// TestLateAnswers answers escalations and approvals that are not open any more.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: implement, run: "date +%N > a"}
  - id: review
    run: |
      echo '[{"severity":"blocking","description":"never good"}]' > "$PIPE_FEEDBACK"
    feedback_loop: {target_stage: implement, max_iterations: 1}
  - {id: gate, run: "true", requires_approval: true}
`)
	p.want(4, "run", "p")
	p.says(p.want(1, "approve", "last", "gate"), "refused the answer", "gate")
	p.want(4, "decide", "last", "refer-back", "--note", "again", "--resume")
	r := p.want(1, "decide", "last", "override", "--reason", "fine", "--id", "x1")
	p.says(r, `refused the answer: the escalation "x1" is not open any more, anna@laptop decided it: refer-back; open: x2 (review)`)
	if s := p.show(); s.Escalation == nil || s.Escalation.ID != "x2" {
		t.Errorf("the late answer changed what is open: %+v", s)
	}
	p.want(0, "decide", "last", "override", "--reason", "fine", "--id", "x2")
	p.says(p.want(1, "decide", "last", "override", "--reason", "fine", "--id", "x2", "--by", "bob"),
		`refused the answer: the escalation "x2" is not open any more, anna@laptop decided it: override; no escalation is open`)
	p.says(p.want(1, "decide", "last", "retry", "--id", "x7"), "refused the answer")
	p.want(4, "resume", "last")
	p.want(0, "approve", "last", "--resume")
	p.says(p.want(1, "approve", "last", "gate"), "refused the answer")
	p.says(p.want(1, "cancel", "last"), "refused the answer")
	if n := strings.Count(p.want(0, "events", "last").out, "answer refused"); n != 6 {
		t.Errorf("%d answers are recorded as refused, want 6:\n%s", n, p.want(0, "events", "last"))
	}
	p.leavesNothing()
}

// TestAnswersFromInside has a stage answer its own run, with the run's id in its environment, and with an
// environment that was cleared.
func TestAnswersFromInside(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - id: gate
    run: "true"
    requires_approval: true
  - id: inside
    needs: []
    run: |
      answers=../answers
      try() { code=0; "$@" >> $answers 2>&1 || code=$?; echo "status $code" >> $answers; }
      for how in "" "env -i" "env -i setsid -w" "env -u PIPE_RUN_ID bash -c"; do
        for what in "approve $PIPE_RUN_ID gate" "reject $PIPE_RUN_ID" "decide $PIPE_RUN_ID abort" "cancel $PIPE_RUN_ID"; do
          echo "== $how pipe $what" >> $answers
          case $how in
            *-c) try $how "$(command -v pipe) $what; exit \$?" ;;
            *) try $how "$(command -v pipe)" $what ;;
          esac
        done
      done
`)
	p.want(4, "run", "p")
	answers := p.read("../answers")
	refused := fmt.Sprintf("this command was started by run %s itself, which may not answer its own questions", p.last())
	if n := strings.Count(answers, refused+"; answer it from another terminal\nstatus 2\n"); n != 16 {
		t.Errorf("%d of 16 answers were refused:\n%s", n, answers)
	}
	if entries, err := os.ReadDir(p.inRun("inbox")); err == nil && len(entries) > 0 {
		t.Errorf("an answer got into the inbox: %v", entries)
	}
	if s := p.status(); s != "waiting" {
		t.Errorf("the run is %s", s)
	}
	if events := p.want(0, "events", "last").out; strings.Contains(events, "answer refused") || strings.Contains(events, "approved") {
		t.Errorf("an answer was taken:\n%s", events)
	}
	p.want(0, "approve", "last", "--resume") // from outside
	p.leavesNothing()
}

// TestAnswerKeepsDerivedFiles answers and goes on in one command: what was logged before stays.
func TestAnswerKeepsDerivedFiles(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: implement, run: "date +%N > ../a"}
  - id: review
    run: |
      echo '[{"severity":"blocking","description":"never good"}]' > "$PIPE_FEEDBACK"
    feedback_loop: {target_stage: implement, max_iterations: 2}
`)
	p.want(4, "run", "p")
	log := ".pipe/runs/" + p.last() + "/feedback.log"
	state := ".pipe/runs/" + p.last() + "/session.current/feedback-" + p.taskID() + "-review-implement.md"
	before := p.read(log)
	for _, args := range [][]string{
		{"decide", "last", "refer-back", "--note", "again", "--resume"}, {"decide", "last", "refer-back", "--note", "again"}, {"cancel", "last"},
	} {
		p.pipe(args...)
		after := p.read(log)
		if !strings.HasPrefix(after, before) {
			t.Errorf("after %q the log is\n%s\nit was\n%s", args, after, before)
		}
		before = after
		if text := p.read(state); !strings.Contains(text, "never good") {
			t.Errorf("after %q the state file is\n%s", args, text)
		}
	}
	p.leavesNothing()
}
