package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process whose first thread has ended looks like a zombie, and isn't one.
func TestGrandchildWithoutItsFirstThread(t *testing.T) { testStubborn(t, "end headless", nil, Exited) }

// A stage runs an engine of its own, which dies of the SIGTERM; what its stage leaves carries other ids.
func TestOrphansOfNestedRun(t *testing.T) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	ctx, cancel := context.WithCancel(context.Background())
	nested := runID(t) + "/nested"
	spec := Spec{Path: os.Args[0], Args: []string{fifo, nested}, Effect: "e1", Run: runID(t), Grace: testGrace,
		Env: testEnv("e1", runID(t), helperVar+"=engine")}
	done := make(chan Result)
	go func() {
		res, err := s.Run(ctx, spec)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	pids := ready()
	// As long as the nested engine lives, its processes are its own.
	if res, err := s.Run(context.Background(), bash("exit 0", "e2", runID(t))); err != nil || res.KilledLeftovers != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("process %d of the nested run is gone: %v", pid, err)
		}
	}
	cancel()
	if res := <-done; res.Signal != "SIGTERM" || res.KilledLeftovers == 0 {
		t.Errorf("%+v", res)
	}
	if pids := left(t, nested); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}

// The end of one effect doesn't touch the orphans of another, and doesn't mistake them for its own.
func TestOrphansOfAnother(t *testing.T) {
	s := newStarter(t)
	fifo, ready := newFifo(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan Result)
	go func() {
		res, err := s.Run(ctx, bash(`(sleep 1000 & echo $$ $! > `+fifo+` &); sleep 1000`, "e1", runID(t)))
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	pids := ready()
	for p, ok := readProcess(pids[1]); ok && p.ppid != os.Getpid(); p, ok = readProcess(pids[1]) {
		runtime.Gosched() // its parent is about to end
	}
	res, err := s.Run(context.Background(), bash("exit 0", "e2", runID(t)))
	if err != nil || res.KilledLeftovers != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if !nothingLeft(&family{group: 1 << 22, marks: effectMarks(&Spec{Effect: "e2", Run: runID(t)})}) {
		t.Error("an orphan of e1 makes the end of e2 look through all processes")
	}
	if nothingLeft(&family{group: 1 << 22, marks: effectMarks(&Spec{Effect: "e1", Run: runID(t)})}) {
		t.Error("an orphan of e1 is not seen")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("process %d of e1 is gone: %v", pid, err)
		}
	}
	cancel()
	<-done
	if pids := left(t, runID(t)); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}

// An engine is killed in the middle of a stage; its main process dies with it, the rest at EndRun.
func TestEngineKilled(t *testing.T) {
	fifo, ready := newFifo(t)
	cmd := exec.Command(os.Args[0], fifo, runID(t))
	cmd.Env = append(os.Environ(), helperVar+"=engine")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := ready()
	main, grandchild := pids[0], pids[1]
	cmd.Process.Kill()
	cmd.Wait()
	if status, err := reap(main); err != nil || status.Signal() != syscall.SIGKILL { // handed to us
		t.Errorf("the main process: %v, %v", status.Signal(), err)
	}
	if got := left(t, runID(t)); !slices.Equal(got, []int{grandchild}) {
		t.Fatalf("left: %v, want the grandchild %d", got, grandchild)
	}
	if n, err := EndRun(runID(t), func(pid int) bool { return pid == grandchild }); err != nil || n != 0 {
		t.Errorf("ended %d, %v; want none, as it is excepted", n, err)
	}
	if n, err := endRun(runID(t), nil, testGrace); err != nil || n != 1 {
		t.Errorf("ended %d, %v; want 1", n, err)
	}
	if got := left(t, runID(t)); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// Orphans that ended by themselves are reaped, not collected.
func TestOrphansAreReaped(t *testing.T) {
	s := newStarter(t)
	for range 20 {
		if _, err := s.Run(context.Background(), bash("(true &); (true &); exit 0", "e1", runID(t))); err != nil {
			t.Fatal(err)
		}
	}
	if pids, ok := orphans(); !ok || len(pids) > 0 {
		t.Errorf("unreaped orphans: %v, %v", pids, ok)
	}
}

// Where the kernel has no descriptors for processes, a goroutine waits.
func TestExitPipe(t *testing.T) {
	cmd := exec.Command("bash", "-c", "exit 7")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exit, free, err := exitPipe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{exit: exit, wake: -1}
	if _, err := w.until(-1, func() bool { return w.exited }); err != nil {
		t.Fatal(err)
	}
	free()
	if status, err := reap(cmd.Process.Pid); err != nil || status.ExitStatus() != 7 {
		t.Errorf("%v, %v", status.ExitStatus(), err)
	}
}

// The kernel hands orphans to the first thread; the main processes must not be among them.
func TestRunLeavesFirstThread(t *testing.T) {
	cmd := exec.Command(os.Args[0], runID(t))
	cmd.Env = append(os.Environ(), helperVar+"=first")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "<nil>" {
		t.Errorf("got %q, %v; want no children of the first thread", out, err)
	}
}

func TestUnwatchableProcessIsKilled(t *testing.T) {
	s := newStarter(t)
	pid, _, free, err := s.start(&Spec{Path: "sleep", Args: []string{"1000"}, Env: testEnv("e1", runID(t))}, pipes(t))
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	c := child{pid: pid}
	if err := c.abandon(errors.ErrUnsupported); err != errors.ErrUnsupported {
		t.Errorf("got %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	if err := c.abandon(errors.ErrUnsupported); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, syscall.ECHILD) {
		t.Errorf("of a process that is gone: %v", err)
	}
}

func pipes(t *testing.T) []*stream {
	t.Helper()
	streams, err := openStreams(&Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, s := range streams {
			s.close()
		}
	})
	return streams
}

// A process that doesn't go is given up in the end. One that has ended and is never reaped stands for it.
func TestProcessThatStays(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	e := ender{match: func(p *process) bool { return p.pid == cmd.Process.Pid }, grace: testGrace, patience: testGrace,
		pause: (&watch{exited: true, woken: true}).pause, termed: map[processKey]time.Time{}}
	err := e.run()
	var left *LeftError
	if !errors.As(err, &left) || !slices.Equal(left.PIDs, []int{cmd.Process.Pid}) || e.count() != 1 {
		t.Errorf("got %v, %d", err, e.count())
	}
	if want := fmt.Sprintf("processes [%d] do not end", cmd.Process.Pid); err != nil && !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want %q", err, want)
	}
}

// What another part of the program started in OffFirstThread is left to it, whatever group it is in.
func TestProcessOfOthersIsNotReaped(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=others")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
