package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the helper program of the tests: with this variable set it acts as told.
const helperVar = "PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperVar); what != "" {
		if err := helper(what, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		os.Exit(0)
	}
	if err := Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func helper(what string, args []string) error {
	switch what {
	case "stubborn":
		return stubborn(args)
	case "grandchild": // ignores SIGTERM, holds stdout, leads a session of its own, and stays
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		if slices.Contains(args, "headless") {
			return headless()
		}
		sayReady()
		stay()
	case "engine": // an engine with a running stage, which waits to be killed: fifo, run id
		if err := Subreaper(); err != nil {
			return err
		}
		_, err := NewStarter().Run(context.Background(), stubbornSpec(args[0], "stay", args[1]))
		return err
	case "plain": // a stage that ends and leaves somebody, in a program that is no subreaper
		s := NewStarter()
		defer s.Close()
		res, err := s.Run(context.Background(), stubbornSpec(args[0], "end", args[1]))
		fmt.Print(res.KilledLeftovers)
		return err
	case "first": // a Run begins on the first thread, and must leave it
		runtime.LockOSThread()
		if !onFirstThread() {
			return errors.New("not on the first thread")
		}
		spec := bash("cat /proc/$PPID/task/$PPID/children", "e1", args[0])
		res, err := NewStarter().Run(context.Background(), spec)
		fmt.Printf("%s%v", res.Stdout.Head, err)
		return nil
	case "others": // another part of the program starts a process in a group of its own
		return ofOthers()
	case "carries": // run id
		yes, err := CarriesRun(args[0])
		fmt.Print(yes)
		return err
	case "indirect": // asks from a child that has no such variable itself
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = []string{helperVar + "=carries"}
		out, err := cmd.Output()
		os.Stdout.Write(out)
		return err
	}
	return fmt.Errorf("unknown helper %q", what)
}

// stubborn is a main process that leaves a stubborn grandchild, says "main grandchild" (pids) into the fifo of
// its first argument once that is deaf, and ends, or stays.
func stubborn(args []string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	child := exec.Command(os.Args[0], args[2:]...)
	child.Env = append(os.Environ(), helperVar+"=grandchild")
	child.Stdout, child.Stderr, child.ExtraFiles = os.Stdout, os.Stderr, []*os.File{w}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return err
	}
	w.Close()
	pid, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	fifo, err := os.OpenFile(args[0], os.O_RDWR, 0) // for reading too: opening doesn't wait for the reader
	if err != nil {
		return err
	}
	fmt.Fprintf(fifo, "%d %s\n", os.Getpid(), pid)
	if args[1] == "stay" {
		stay()
	}
	return nil
}

func sayReady() {
	ready := os.NewFile(3, "ready")
	fmt.Fprint(ready, os.Getpid())
	ready.Close()
}

// ofOthers waits for a process that it started with our help, as if a stage had ended just before.
func ofOthers() error {
	runtime.LockOSThread()
	if !onFirstThread() {
		return errors.New("not on the first thread")
	}
	if err := Subreaper(); err != nil {
		return err
	}
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	OffFirstThread(func() { err = cmd.Start() })
	if err != nil {
		return err
	}
	for p, ok := readProcess(cmd.Process.Pid); ok && !p.zombie; p, ok = readProcess(cmd.Process.Pid) {
		runtime.Gosched()
	}
	reapOrphans()
	return cmd.Wait()
}

// headless goes on in another thread when the first one has ended.
func headless() error {
	runtime.LockOSThread()
	if !onFirstThread() {
		return errors.New("not on the first thread")
	}
	go func() {
		for p, _ := readProcess(os.Getpid()); !p.headless; p, _ = readProcess(os.Getpid()) {
			runtime.Gosched()
		}
		sayReady()
		stay()
	}()
	_, _, err := syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	return err
}

// stay waits for a signal.
func stay() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

func stubbornSpec(fifo, what, run string) Spec {
	return Spec{Path: os.Args[0], Args: append([]string{fifo}, strings.Fields(what)...), Effect: "e1", Run: run, Grace: testGrace,
		Env: testEnv("e1", run, helperVar+"=stubborn")}
}

func testEnv(effect, run string, more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), EffectVar + "=" + effect, RunVar + "=" + run}, more...)
}

func bash(script, effect, run string) Spec {
	return Spec{Path: "bash", Args: []string{"-c", script}, Env: testEnv(effect, run), Effect: effect, Run: run}
}

// newFifo makes a fifo, held open by us so that no end ever waits for the other to open it.
func newFifo(t *testing.T) (name string, read func() []int) {
	t.Helper()
	name = t.TempDir() + "/fifo"
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return name, func() []int {
		t.Helper()
		var line []byte
		for b := make([]byte, 1); len(line) == 0 || line[len(line)-1] != '\n'; line = append(line, b[0]) {
			if _, err := f.Read(b); err != nil {
				t.Fatal(err)
			}
		}
		var pids []int
		for _, word := range strings.Fields(string(line)) {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
		return pids
	}
}

// left lists the processes that carry a run's id.
func left(t *testing.T, run string) []int {
	t.Helper()
	ps, err := matching((&family{marks: [][]byte{[]byte(RunVar + "=" + run)}}).has)
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{}
	for _, p := range ps {
		pids = append(pids, p.pid)
	}
	return pids
}

func newStarter(t testing.TB) *Starter {
	s := NewStarter()
	t.Cleanup(s.Close)
	return s
}

// runID names a test's processes, also when the same test runs twice on a machine.
func runID(t testing.TB) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }
