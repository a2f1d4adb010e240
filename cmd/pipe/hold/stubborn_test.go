//go:build linux

package hold

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stubborn starts a grandchild that ignores SIGTERM, holds stdout and leaves the session, and waits until
// it is ready; then comes what the stage does itself.
const stubborn = `
stages:
  - id: stubborn
    timeout: TIMEOUT
    run: |
      if [ -e again ]; then exit 0; fi
      touch again
      setsid bash -c 'trap "" TERM HUP INT; echo $$ > grandchild; while :; do echo still here; sleep 0.2; done' &
      until [ -s grandchild ]; do sleep 0.02; done
      THEN
  - {id: after, run: "true"}
`

func newStubborn(t *testing.T, timeout, then string) *place {
	t.Helper()
	return newRun(t, strings.NewReplacer("TIMEOUT", timeout, "THEN", then).Replace(stubborn))
}

// grandchild waits for the grandchild and gives its id.
func (p *place) grandchild() int {
	p.t.Helper()
	pid := 0
	p.until("the grandchild runs", func() bool {
		if !p.exists("grandchild") {
			return false
		}
		n, err := strconv.Atoi(strings.TrimSpace(p.read("grandchild")))
		pid = n
		return err == nil
	})
	return pid
}

// isGone wants a process to be over: not there, or there as one that nobody has waited for.
func (p *place) isGone(pid int) {
	p.t.Helper()
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(b), "still here") {
		p.t.Errorf("process %d is still there", pid)
	}
	p.leavesNothing()
}

func TestStubbornGrandchildAfterTimeout(t *testing.T) {
	t.Parallel()
	p := newStubborn(t, "1s", "sleep 600")
	p.says(p.want(1, "run", "p"), "class=timeout")
	p.isGone(p.grandchild())
}

func TestStubbornGrandchildAfterEnd(t *testing.T) {
	t.Parallel()
	p := newStubborn(t, "5m", "exit 0")
	began := time.Now()
	p.says(p.want(0, "run", "p"), "stubborn succeeded", "after succeeded")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s: a grandchild held it up", took)
	}
	p.isGone(p.grandchild())
}

func TestStubbornGrandchildAfterCancel(t *testing.T) {
	t.Parallel()
	p := newStubborn(t, "5m", "sleep 600")
	run := p.start("run", "p")
	pid := p.grandchild()
	p.says(p.want(0, "cancel", "last"), "cancelled: run")
	p.isGone(pid) // the command that cancels waits for the end
	if r := run.end(); r.status != 1 {
		t.Errorf("the run: %s", r)
	}
	if s := p.status(); s != "cancelled" {
		t.Errorf("the run is %s", s)
	}
}

func TestStubbornGrandchildAfterKill(t *testing.T) {
	t.Parallel()
	p := newStubborn(t, "5m", "sleep 600")
	run := p.start("run", "p")
	pid := p.grandchild()
	run.signal(syscall.SIGKILL)
	run.end()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the grandchild did not outlive the command: %v", err)
	}
	p.says(p.want(0, "resume", "last"), "run resumed ended_processes=", "after succeeded")
	p.isGone(pid)
}

// TestStubbornGrandchildOfACancelledDeadRun cancels a run whose process was killed.
func TestStubbornGrandchildOfACancelledDeadRun(t *testing.T) {
	t.Parallel()
	p := newStubborn(t, "5m", "sleep 600")
	run := p.start("run", "p")
	pid := p.grandchild()
	run.signal(syscall.SIGKILL)
	run.end()
	p.want(0, "cancel", "last")
	p.isGone(pid)
	if s := p.status(); s != "cancelled" {
		t.Errorf("the run is %s", s)
	}
}
