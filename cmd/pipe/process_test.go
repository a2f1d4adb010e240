package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newProject makes a project with one pipeline and returns its folder.
func newProject(t testing.TB, pipeline string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "pipelines"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pipe.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pipelines", "p.yaml"), []byte(pipeline), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pipeCmd is the real command in a project. TestMain put it into PATH.
func pipeCmd(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("pipe", args...)
	cmd.Dir = dir
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

func exitStatus(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// waitFor reads lines until one holds the text.
func waitFor(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var seen strings.Builder
	for {
		line, err := r.ReadString('\n')
		seen.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("no line with %q: %v\n%s", text, err, seen.String())
		}
	}
}

const sleeper = `
name: p
version: 1
stages:
  - {id: first, run: "true"}
  - id: long
    run: |
      echo running
      if [ -e go-on ]; then exit 0; fi
      sleep 600
`

// TestSignals stops a run from outside: the status names the signal, and the run can be resumed.
func TestSignals(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := newProject(t, sleeper)
			cmd := pipeCmd(dir, "run", "p")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(out)
			waitFor(t, r, "long started")
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Fatal(err)
			}
			if got := exitStatus(cmd.Wait()); got != want {
				t.Errorf("exit status %d, want %d; stderr: %s", got, want, stderr.String())
			}
			if !strings.Contains(stderr.String(), "`pipe resume ") {
				t.Errorf("stderr does not say how to go on: %s", stderr.String())
			}
			b, err := pipeCmd(dir, "show", "last").Output()
			if err != nil || !strings.Contains(string(b), "status    interrupted") {
				t.Errorf("show: %v\n%s", err, b)
			}
			if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			b, err = pipeCmd(dir, "resume", "last").CombinedOutput()
			if err != nil || !strings.Contains(string(b), "run succeeded") {
				t.Errorf("resume: %v\n%s", err, b)
			}
		})
	}
}

// TestSecondSignalKills sends two: a stage that ignores SIGTERM does not hold the command up.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
stages:
  - id: stubborn
    run: |
      trap '' TERM INT
      echo ready
      while :; do sleep 0.05; done
`)
	cmd := pipeCmd(dir, "run", "p")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool {
		b, err := pipeCmd(dir, "logs", "last").Output()
		return err == nil && strings.Contains(string(b), "ready")
	})
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(stderr)
	waitFor(t, r, "once more kills")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, r, "goes on with `pipe resume`")
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if got := exitStatus(cmd.Wait()); got != exitInterrupted {
		t.Errorf("exit status %d, want %d", got, exitInterrupted)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %s, as long as the grace of one signal", took)
	}
	b, err := pipeCmd(dir, "cancel", "last").CombinedOutput()
	if err != nil {
		t.Errorf("cancel: %v\n%s", err, b)
	}
}

// waitUntil asks until it is so.
func waitUntil(t *testing.T, ask func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never came to that")
		}
	}
}

// TestReaderGoesAway closes the pipe that a run writes to: the run goes on to its end.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
stages:
  - {id: first, run: "until [ -e go-on ]; do sleep 0.02; done"}
  - {id: last, run: "true"}
`)
	cmd := pipeCmd(dir, "run", "p")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, bufio.NewReader(out), "first started")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the run did not end well: %v", err)
	}
	b, err := pipeCmd(dir, "show", "last").Output()
	if err != nil || !strings.Contains(string(b), "status    succeeded") {
		t.Errorf("show: %v\n%s", err, b)
	}
}

// TestShowDuringRun looks at a run again and again while it goes on: what is shown is always whole.
func TestShowDuringRun(t *testing.T) {
	t.Parallel()
	var p strings.Builder
	p.WriteString("name: p\nversion: 1\nstages:\n")
	for i := range 40 {
		fmt.Fprintf(&p, "  - {id: s%d, run: \"true\"}\n", i)
	}
	dir := newProject(t, p.String())
	cmd := pipeCmd(dir, "run", "p")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	looks := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the run did not end well: %v", err)
			}
			t.Logf("looked %d times", looks)
			return
		default:
		}
		b, err := pipeCmd(dir, "show", "last", "--json").CombinedOutput()
		if exitStatus(err) == exitUsage {
			continue // it has not begun
		}
		if err != nil || !bytes.HasPrefix(b, []byte(`{"version":1,"run":"01`)) || !bytes.HasSuffix(b, []byte("}\n")) {
			t.Errorf("show: %v\n%s", err, b)
		}
		looks++
	}
}

// TestFollowLogs follows a run from another process until the run ends.
func TestFollowLogs(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
stages:
  - {id: a, run: "echo one; until [ -e go-on ]; do sleep 0.02; done; printf two"}
  - {id: b, run: "echo three >&2"}
`)
	run := pipeCmd(dir, "run", "p")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return pipeCmd(dir, "show", "last").Run() == nil })
	follow := pipeCmd(dir, "logs", "last", "-f")
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	waitFor(t, r, "one")
	if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := "two\n==> b 1.1 stderr <==\nthree\n"; string(rest) != want {
		t.Errorf("the rest is %q, want %q", rest, want)
	}
	if err := errors.Join(follow.Wait(), run.Wait()); err != nil {
		t.Error(err)
	}
}

// TestKilledRunAsks kills the command with SIGKILL in a stage that asks what to do then, and takes the stage
// as succeeded, with an output of its declared type.
func TestKilledRunAsks(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
outputs: {n: "${{ stages.migrate.outputs.n }}"}
stages:
  - {id: migrate, run: "echo running; sleep 600", on_interrupt: ask, outputs: {n: integer}}
  - {id: after, run: "true"}
`)
	cmd := pipeCmd(dir, "run", "p")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool {
		b, err := pipeCmd(dir, "logs", "last").Output()
		return err == nil && strings.Contains(string(b), "running")
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the command was killed and ended well")
	}
	for _, step := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"show", "last"}, 0, "status    interrupted"},
		{[]string{"why", "last"}, 0, "no process carries it on"},
		{[]string{"ps"}, 0, "interrupted"},
		{[]string{"resume", "last"}, exitWaiting, "pipe decide "},
		{[]string{"decide", "last", "override", "--reason", "done by hand", "--output", "m=1"}, exitUsage, "its outputs are n"},
		{[]string{"decide", "last", "override", "--reason", "done by hand", "--output", "n=many"}, exitUsage, "want integer"},
		{[]string{"decide", "last", "refer-back", "--note", "x"}, exitFailed, "refused the answer"},
		{[]string{"decide", "last", "override", "--reason", "done by hand", "--output", "n=7", "--resume"}, 0, "output n=7"},
		{[]string{"show", "last"}, 0, "status    succeeded"},
	} {
		b, err := pipeCmd(dir, step.args...).CombinedOutput()
		if got := exitStatus(err); got != step.want || !strings.Contains(string(b), step.says) {
			t.Errorf("%q: exit status %d, want %d and %q\n%s", step.args, got, step.want, step.says, b)
		}
	}
}

// TestLogIsNoFile puts a pipe and a link where logs are: nobody waits for the one or follows the other.
func TestLogIsNoFile(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
stages:
  - id: a
    run: |
      echo secret > ../secret
      cd "$(dirname "$PIPE_OUTPUT")"
      mkfifo stdout.log
      ln -s "$PIPE_WORKSPACE/../secret" stderr.log
      exit 1
`)
	if got := exitStatus(pipeCmd(dir, "run", "p").Run()); got != exitFailed {
		t.Fatalf("run: exit status %d", got)
	}
	for _, args := range [][]string{{"logs", "last"}, {"why", "last", "a"}} {
		b, err := pipeCmd(dir, args...).CombinedOutput()
		if err != nil || strings.Contains(string(b), "secret") {
			t.Errorf("%q: %v\n%s", args, err, b)
		}
	}
}

// TestTerminalStays runs on a pseudo-terminal, which util-linux' script gives: the run waits for its answer
// and goes on by itself. The terminal is one that can't show a run as it goes on; TestLive has one that can.
func TestTerminalStays(t *testing.T) {
	t.Parallel()
	dir := newProject(t, `
name: p
version: 1
stages: [{id: deploy, run: "true", requires_approval: true}]
`)
	cmd := exec.Command("script", "-qefc", "pipe run p", os.DevNull)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=dumb")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe() // open until the end, as a person's is
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	waitFor(t, r, "waiting for the answer")
	if b, err := pipeCmd(dir, "approve", "last").CombinedOutput(); err != nil {
		t.Fatalf("approve: %v\n%s", err, b)
	}
	waitFor(t, r, "run succeeded")
	if _, err := io.Copy(io.Discard, r); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the run did not end well: %v", err)
	}
	b, err := exec.Command("script", "-qec", "cd "+dir+" && pipe logs last --raw", os.DevNull).CombinedOutput()
	if exitStatus(err) != exitUsage || !strings.Contains(string(b), "--raw does not go with a terminal") {
		t.Errorf("logs --raw: %v\n%s", err, b)
	}
}
