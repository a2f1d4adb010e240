package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// testGrace is the grace for those who are known to ignore SIGTERM.
const testGrace = 150 * time.Millisecond

func TestStubbornGrandchild(t *testing.T) {
	t.Run("after the normal end", func(t *testing.T) { testStubborn(t, "end", nil, Exited) })
	t.Run("after cancel", func(t *testing.T) { testStubborn(t, "stay", context.Canceled, Cancelled) })
	t.Run("after a timeout", func(t *testing.T) { testStubborn(t, "stay", context.DeadlineExceeded, TimedOut) })
}

// testStubborn runs the helper of that name, ends its context with a cause (nil: not at all), and looks for
// what is left.
func testStubborn(t *testing.T, what string, cause error, ending Ending) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	spec := stubbornSpec(fifo, what, runID(t))
	spec.Stdout = t.TempDir() + "/out"
	done := make(chan Result)
	go func() {
		res, err := s.Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	pids := ready()
	if cause != nil {
		stop(cause)
	}
	res := <-done
	if res.Ending() != ending || res.KilledLeftovers != 1 {
		t.Errorf("%v, %+v", res.Ending(), res)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if pids := left(t, runID(t)); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}

func TestStubbornMain(t *testing.T) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	ctx, cancel := context.WithCancel(context.Background())
	spec := bash(`trap '' TERM; echo $$ > `+fifo+`; while :; do sleep 1000; done`, "e1", runID(t))
	spec.Grace = testGrace
	done := make(chan Result)
	go func() {
		res, err := s.Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	ready()
	cancel()
	if res := <-done; res.Signal != "SIGKILL" || res.Ending() != Cancelled {
		t.Errorf("%v, %+v", res.Ending(), res)
	}
	if pids := left(t, runID(t)); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}

// A process that obeys gets its time to clean up, and is not waited for longer than it takes.
func TestGracefulEnd(t *testing.T) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := bash(`trap 'echo cleaned; exit 0' TERM; echo $$ > `+fifo+`; sleep 1000 & wait`, "e1", runID(t))
	spec.Grace = time.Hour
	done := make(chan Result)
	go func() {
		res, err := s.Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	ready()
	cancel()
	if res := <-done; res.ExitCode != 0 || res.Ending() != Cancelled || string(res.Stdout.Head) != "cleaned\n" {
		t.Errorf("%v, %+v", res.Ending(), res)
	}
}

func TestStoppedProcessEnds(t *testing.T) {
	s := newStarter(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	spec := bash("kill -STOP $$", "e1", runID(t))
	spec.Grace = time.Hour
	if res, err := s.Run(ctx, spec); err != nil || res.Signal != "SIGTERM" || res.Ending() != TimedOut {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestPoliteLeftovers(t *testing.T) {
	s := newStarter(t)
	for _, tc := range []struct {
		script string
		count  int
	}{
		{"sleep 1000 & exit 0", 1},
		{"(sleep 1000 & sleep 1000 &); exit 0", 2},
		{"setsid -f sleep 1000; exit 0", 1},
		{"nohup sleep 1000 > /dev/null 2>&1 & exit 0", 1},
		{"set -m; sleep 1000 & exit 0", 1},
	} {
		spec := bash(tc.script, "e1", runID(t))
		spec.Grace = time.Hour
		res, err := s.Run(context.Background(), spec)
		if err != nil || res.ExitCode != 0 || res.KilledLeftovers != tc.count {
			t.Errorf("%s: %+v, %v", tc.script, res, err)
		}
		if pids := left(t, runID(t)); len(pids) > 0 {
			t.Errorf("%s: left: %v", tc.script, pids)
		}
	}
}

// Nobody finds a process without the ids and outside the group; that it holds stdout delays nothing for long.
func TestEscapedProcessDelaysNothing(t *testing.T) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	wait, _ := newFifo(t)
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(context.Background(), bash(fmt.Sprintf(
		`echo before; env -i setsid -f %s -c 'echo > %s; echo $$ > %s; PATH=/usr/bin:/bin exec sleep 1000'; read x < %[2]s`,
		shell, wait, fifo), "e1", runID(t)))
	if err != nil || res.ExitCode != 0 || res.KilledLeftovers != 0 || string(res.Stdout.Head) != "before\n" {
		t.Errorf("%+v, %v", res, err)
	}
	pid := ready()[0]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the process that can't be found is gone: %v", err)
	}
	if _, err := reap(pid); err != nil {
		t.Error(err)
	}
}

// The same effect id in another run is another effect.
func TestSameEffectOfAnotherRun(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.Env = testEnv("e1", runID(t)+"/nested")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if res, err := newStarter(t).Run(context.Background(), bash("exit 0 | exit 0 & exit 0", "e1", runID(t))); err != nil || res.ExitCode != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if got := left(t, runID(t)+"/nested"); !slices.Equal(got, []int{cmd.Process.Pid}) {
		t.Errorf("the other run's process is gone")
	}
	cmd.Process.Kill()
	cmd.Wait()
}

// Where orphans aren't handed to us, they are found all the same.
func TestWithoutSubreaper(t *testing.T) {
	fifo, ready := newFifo(t)
	cmd := exec.Command(os.Args[0], fifo, runID(t))
	cmd.Env = append(os.Environ(), helperVar+"=plain")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "1" {
		t.Errorf("got %q, %v; want 1 leftover", out, err)
	}
	ready()
	if pids := left(t, runID(t)); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}

func TestEndRun(t *testing.T) {
	if n, err := EndRun(runID(t), nil); err != nil || n != 0 {
		t.Errorf("of no process: %d, %v", n, err)
	}
	cmd := exec.Command("sleep", "1000")
	cmd.Env = testEnv("e1", runID(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := EndRun(runID(t)+"0", nil); err != nil || n != 0 {
		t.Errorf("of a run with a longer name: %d, %v", n, err)
	}
	if n, err := EndRun(runID(t), nil); err != nil || n != 1 {
		t.Errorf("of one process: %d, %v", n, err)
	}
	cmd.Wait()
}

func TestCarriesRun(t *testing.T) {
	for _, how := range []string{"carries", "indirect"} {
		for run, want := range map[string]string{"R1": "true", "R": "false", "R11": "false"} {
			cmd := exec.Command(os.Args[0], run)
			cmd.Env = []string{helperVar + "=" + how, RunVar + "=R1"}
			if out, err := cmd.Output(); err != nil || string(out) != want {
				t.Errorf("%s %s: got %q, %v; want %s", how, run, out, err, want)
			}
		}
	}
}
