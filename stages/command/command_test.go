package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

func TestMain(m *testing.M) {
	if err := proc.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func newKind(t *testing.T) stage.Kind {
	starter := proc.NewStarter()
	t.Cleanup(starter.Close)
	return New(starter)
}

// newCall makes a call in a fresh workspace. The shell "" is the default.
func newCall(t *testing.T, script, shell string) *stage.Call {
	t.Helper()
	config := value.NewObject(value.Field{Name: "script", Value: script})
	if shell != "" {
		config.Set("shell", shell)
	}
	dir := t.TempDir()
	for _, name := range []string{"ws/sub", "stage"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &stage.Call{
		Run: runID(t), Effect: "e1", Stage: "build", Kind: Name, Config: config,
		Env:       []string{"PATH=" + os.Getenv("PATH"), "PIPE_EFFECT=e1", "PIPE_RUN_ID=" + runID(t), "STAGE_DIR=" + dir + "/stage"},
		Workspace: dir + "/ws", Dir: dir + "/ws/sub", StageDir: dir + "/stage",
	}
}

func stdout(t *testing.T, call *stage.Call) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(call.StageDir, "stdout.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there is none where nothing was written
		t.Fatal(err)
	}
	return string(b)
}

func TestRun(t *testing.T) {
	kind := newKind(t)
	for _, tc := range []struct {
		script, shell string
		class         stage.Class
		code          int
		message, out  string
	}{
		{"true", "", stage.OK, 0, "", ""},
		{"basename \"$PWD\"\ncat", "", stage.OK, 0, "", "sub\n"},
		{"exit 3", "", stage.Exit, 3, "exit status 3", ""},
		{"false | true\necho on", "", stage.Exit, 1, "exit status 1", ""},
		{"false\necho on", "", stage.Exit, 1, "exit status 1", ""},
		{"true\necho $nosuch", "", stage.Exit, 1, "exit status 1: build: line 2: nosuch: unbound variable", ""},
		{"\n\nnosuch", "", stage.Exit, 127, "exit status 127: build: line 3: nosuch: command not found", ""},
		{"printf 'red \\033[31m\\n' >&2; exit 1", "", stage.Exit, 1, `exit status 1: red \x1b[31m`, ""},
		{"kill -TERM $$", "", stage.Signal, -1, "ended by SIGTERM", ""},
		{"false | true\necho on", "bash", stage.OK, 0, "", "on\n"},
		{"echo ${BASH_VERSION:-none}; false; echo on", "sh -eu", stage.Exit, 1, "exit status 1: none", "none\n"},
		{"the text\n", "cat", stage.OK, 0, "", "the text\n"},
		{"one\ntwo\n", "head -n 1", stage.OK, 0, "", "one\n"},
		{"true", "nosuch -x", stage.Unavailable, -1, `there is no program "nosuch" in PATH`, ""},
	} {
		call := newCall(t, tc.script, tc.shell)
		out, err := kind.Run(context.Background(), call)
		if err != nil || out.Class != tc.class || out.ExitCode != tc.code || out.Message != tc.message {
			t.Errorf("%q: got %+v, %v", tc.script, out, err)
		}
		if tc.class != stage.Unavailable && stdout(t, call) != tc.out {
			t.Errorf("%q: stdout is %q", tc.script, stdout(t, call))
		}
	}
}

func TestLongScriptIsAFile(t *testing.T) {
	call := newCall(t, "#"+strings.Repeat("x", 300<<10)+"\nbasename $0\nnosuch", "")
	out, err := newKind(t).Run(context.Background(), call)
	if err != nil || out.Class != stage.Exit || stdout(t, call) != "script\n" || !strings.Contains(out.Message, "/stage/script: line 3: nosuch: command not found") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestWithoutBash(t *testing.T) {
	call := newCall(t, "echo ${BASH_VERSION:-none}; false; echo on", "")
	bin := t.TempDir()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sh, bin+"/sh"); err != nil {
		t.Fatal(err)
	}
	call.Env[0] = "PATH=" + bin
	out, err := newKind(t).Run(context.Background(), call)
	if err != nil || out.Class != stage.Exit || stdout(t, call) != "none\n" {
		t.Errorf("%+v, %v, %q", out, err, stdout(t, call))
	}
}

// TestDefaultShellMoves has one kind run a stage after another, each with a bash elsewhere.
func TestDefaultShellMoves(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "a script", "")
	first, second := t.TempDir(), t.TempDir()
	put := func(dir string) {
		t.Helper()
		if err := os.WriteFile(dir+"/bash", []byte("#!/bin/sh\necho $0"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(first)
	put(second)
	want := ""
	run := func(path, dir string) {
		t.Helper()
		want += dir + "/bash\n"
		call.Env[0] = "PATH=" + path + ":/usr/bin:/bin"
		if out, err := kind.Run(context.Background(), call); err != nil || out.Class != stage.OK || stdout(t, call) != want {
			t.Errorf("%+v, %v, %q, want %q", out, err, stdout(t, call), want)
		}
	}
	run(first+":"+second, first)
	run(first+":"+second, first)
	run(second, second)
	run(first+":"+second, first)
	if err := os.Remove(first + "/bash"); err != nil {
		t.Fatal(err)
	}
	run(first+":"+second, second)
}

func TestShellOfTheWorkspace(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "a script", "./bin/shell -x")
	file := filepath.Join(call.Workspace, "bin", "shell")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho \"$1\"; cat \"$2\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := kind.Run(context.Background(), call); err != nil || out.Class != stage.PermissionDenied {
		t.Errorf("a file that may not be executed: %+v, %v", out, err)
	}
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := kind.Run(context.Background(), call); err != nil || out.Class != stage.OK || stdout(t, call) != "-x\na script" {
		t.Errorf("%+v, %v, %q", out, err, stdout(t, call))
	}
}

func TestStopped(t *testing.T) {
	kind := newKind(t)
	for want, cause := range map[stage.Class]error{stage.Timeout: context.DeadlineExceeded, stage.Cancelled: context.Canceled} {
		call := newCall(t, "echo ready > $STAGE_DIR/fifo\nsleep 1000", "")
		ready := fifo(t, filepath.Join(call.StageDir, "fifo"))
		ctx, stop := context.WithCancelCause(context.Background())
		go func() {
			ready()
			stop(cause)
		}()
		out, err := kind.Run(ctx, call)
		if err != nil || out.Class != want || out.ExitCode != -1 {
			t.Errorf("%v: %+v, %v", cause, out, err)
		}
		out, err = kind.Run(ctx, call)
		if err != nil || out.Class != want {
			t.Errorf("%v before the start: %+v, %v", cause, out, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if out, err := kind.Run(ctx, newCall(t, "sleep 1000", "")); err != nil || out.Class != stage.Timeout ||
		out.Message != "stopped at the end of its time limit" {
		t.Errorf("%+v, %v", out, err)
	}
}

// fifo makes a fifo and returns what waits until somebody has written to it.
func fifo(t *testing.T, name string) func() {
	t.Helper()
	if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() {
		if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
	}
}

func TestOurOwnFailures(t *testing.T) {
	kind := newKind(t)
	call := newCall(t, "true", "")
	call.StageDir += "/gone"
	var log *proc.LogError
	if out, err := kind.Run(context.Background(), call); !errors.As(err, &log) {
		t.Errorf("without a folder: %+v, %v", out, err)
	}
	call = newCall(t, "text", "cat")
	call.StageDir += "/gone"
	if out, err := kind.Run(context.Background(), call); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder for the script: %+v, %v", out, err)
	}
	call = newCall(t, "true", "")
	call.Config = value.NewObject()
	if out, err := kind.Run(context.Background(), call); err == nil {
		t.Errorf("without a script: %+v", out)
	}
}

// runID names a test's processes, also when the same test runs twice on a machine.
func runID(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }
