//go:build linux

package hold

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// leaver has a stage with a child of its own that outlives the script, and one that runs beside it.
const leaver = `
stages:
  - id: long
    run: |
      sleep 600 &
      setsid sleep 600 &
      echo ready
      if [ -e ../fail ]; then exit 7; fi
      until [ -e ../go-on ]; do sleep 0.02; done
  - {id: beside, needs: [], run: "echo ready; until [ -e ../go-on ] || [ -e ../fail ]; do sleep 0.02; done"}
  - {id: last, run: "true"}
`

// bothRun reports whether both stages of the last run, a leaver, are in the middle.
func (p *place) bothRun() bool {
	return len(p.runs()) > 0 && strings.Count(p.pipe("logs", "last").out, "ready") == 2
}

// TestExitPaths ends a run in every way there is: nothing is left behind, and a run that was stopped goes on
// to the same end.
func TestExitPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(*place, *started)
		want   int
		status string
	}{
		{"success", func(p *place, _ *started) { p.write("../go-on", "") }, 0, "succeeded"},
		{"cancel", func(p *place, _ *started) { p.want(0, "cancel", "last") }, 1, "cancelled"},
		{"Ctrl-C", func(_ *place, s *started) { s.signal(syscall.SIGINT) }, 130, "interrupted"},
		{"SIGTERM", func(_ *place, s *started) { s.signal(syscall.SIGTERM) }, 143, "interrupted"},
		{"SIGKILL", func(_ *place, s *started) { s.signal(syscall.SIGKILL) }, 137, "interrupted"},
		{"Ctrl-C twice", func(_ *place, s *started) {
			s.signal(syscall.SIGINT)
			s.until("once more kills")
			s.signal(syscall.SIGINT)
		}, 130, "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newRun(t, leaver)
			run := p.start("run", "p")
			p.until("both stages run", p.bothRun)
			c.end(p, run)
			if r := run.end(); r.status != c.want {
				t.Errorf("want exit status %d, got %s", c.want, r)
			}
			if s := p.status(); s != c.status {
				t.Errorf("the run is %s, want %s", s, c.status)
			}
			killed := c.want == 137 || c.name == "Ctrl-C twice"
			if !killed { // what a kill leaves is ended by the next who takes the run
				p.leavesNothing()
			}
			if c.status != "interrupted" {
				return
			}
			p.write("../go-on", "")
			r := p.want(0, "resume", "last")
			if c.want == 137 { // the first of two signals may have ended them all
				p.says(r, "ended_processes=")
			}
			p.leavesNothing()
			if s := p.status(); s != "succeeded" {
				t.Errorf("after resume the run is %s", s)
			}
		})
	}
}

// TestFailureLeavesNothing ends with a failure, and with mistakes that are found before anything runs.
func TestFailureLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newRun(t, leaver)
	p.write("../fail", "")
	p.want(1, "run", "p")
	p.leavesNothing()
	before := files(t, p.dir)
	for _, args := range [][]string{
		{"run"}, {"run", "nosuch"}, {"run", "p", "--input", "x=1"}, {"run", "p", "--jobs", "-1"}, {"run", "p", "--inputs", "nosuch"},
		{"run", "p", "--task-id", "a/b"}, {"resume", "nosuch"}, {"decide", "last", "nosuch"}, {"approve"}, {"cancel", "nosuch"},
		{"nosuch"}, {"show", "last", "--nosuch"}, {"doctor", "--run", "nosuch"},
	} {
		p.want(2, args...)
	}
	p.leavesNothing()
	if after := files(t, p.dir); after != before {
		t.Errorf("wrong usage changed something:\n%s\nwas\n%s", after, before)
	}
}

// TestClosedPipe closes the pipes that a run and its readers print to.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	p := newRun(t, leaver)
	cmd := p.cmd("run", "p")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Close() error }{out, r, w} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p.write("../go-on", "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the run did not end well: %v", err)
	}
	p.leavesNothing()
	if s := p.status(); s != "succeeded" {
		t.Errorf("the run is %s", s)
	}
	for _, args := range [][]string{{"logs", "last"}, {"events", "last"}, {"show", "last", "--json"}, {"ps"}, {"help"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := p.cmd(args...)
		var said lines
		cmd.Stdout, cmd.Stderr = w, &said
		if err := cmd.Run(); err != nil || said.String() != "" {
			t.Errorf("%q into a closed pipe: %v\n%s", args, err, said.String())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSignalsWhileWaiting stops a command that stays for an answer: the run waits as before.
func TestSignalsWhileWaiting(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true", requires_approval: true}]`)
	for _, args := range [][]string{{"run", "p", "--wait"}} {
		run := p.start(args...)
		run.until("waiting for the answer")
		began := time.Now()
		run.signal(syscall.SIGINT)
		if r := run.end(); r.status != 130 {
			t.Errorf("%q: want exit status 130, got %s", args, r)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		if s := p.status(); s != "waiting" {
			t.Errorf("the run is %s", s)
		}
		p.leavesNothing()
	}
	p.want(0, "approve", "last", "--resume")
	p.leavesNothing()
}
