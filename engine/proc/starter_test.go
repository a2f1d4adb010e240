package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRunEndings(t *testing.T) {
	s := newStarter(t)
	for _, tc := range []struct {
		script, signal, explain string
		code                    int
		ending                  Ending
	}{
		{"exit 0", "", "", 0, Exited},
		{"echo one >&2; echo two; exit 3", "", "exit status 3: one", 3, ExitedNonZero},
		{"echo two; exit 3", "", "exit status 3: two", 3, ExitedNonZero},
		{"exit 137", "", "exit status 137", 137, ExitedNonZero},
		{"ulimit -c 0; kill -SEGV $$", "SIGSEGV", "ended by SIGSEGV", -1, Signalled},
		{"kill -9 $$", "SIGKILL", "ended by SIGKILL", -1, Signalled},
		{"kill -64 $$", "signal 64", "ended by signal 64", -1, Signalled},
		{"nosuchprogram 2>/dev/null", "", "exit status 127", 127, ExitedNonZero},
		{"read line; exit $?", "", "exit status 1", 1, ExitedNonZero}, // stdin has ended
	} {
		res, err := s.Run(context.Background(), bash(tc.script, "e1", runID(t)))
		if err != nil {
			t.Errorf("%s: %v", tc.script, err)
		}
		if !res.Started || res.ExitCode != tc.code || res.Signal != tc.signal || res.Ending() != tc.ending ||
			res.Explain() != tc.explain || res.KilledLeftovers != 0 {
			t.Errorf("%s: %+v, %v, %q", tc.script, res, res.Ending(), res.Explain())
		}
	}
}

func TestRunGivesDirEnvStdin(t *testing.T) {
	s := newStarter(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := bash(`pwd -P; cat; echo "$PIPE_EFFECT $PIPE_RUN_ID $#$HOME"`, "e7", "R")
	spec.Dir, spec.Stdin = dir, in
	res, err := s.Run(context.Background(), spec)
	real, _ := filepath.EvalSymlinks(dir)
	if want := real + "\nhello\ne7 R 0\n"; err != nil || string(res.Stdout.Head) != want {
		t.Errorf("got %q, %v; want %q", res.Stdout.Head, err, want)
	}
	// A process that doesn't read its stdin is no trouble, however long it is.
	if err := os.Truncate(in, 10<<20); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Run(context.Background(), Spec{Path: "true", Env: spec.Env, Stdin: in}); err != nil || res.ExitCode != 0 {
		t.Errorf("unread stdin: %+v, %v", res, err)
	}
}

func TestRunWithoutEnvGivesNone(t *testing.T) {
	s := newStarter(t)
	env, err := LookPath("env", "", []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(context.Background(), Spec{Path: env})
	if err != nil || res.Stdout.Size != 0 {
		t.Errorf("an environment appeared: %q, %v", res.Stdout.Head, err)
	}
}

func TestRunLogs(t *testing.T) {
	s := newStarter(t)
	dir := t.TempDir()
	spec := bash("echo out; echo err >&2; echo more > /dev/stdout", "e1", "R")
	spec.Stdout, spec.Stderr = filepath.Join(dir, "out"), filepath.Join(dir, "err")
	for range 2 {
		if _, err := s.Run(context.Background(), spec); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, spec.Stdout, strings.Repeat("out\nmore\n", 2))
	wantFile(t, spec.Stderr, strings.Repeat("err\n", 2))

	spec.Stderr = spec.Stdout + "2"
	spec.Stdout = spec.Stderr
	res, err := s.Run(context.Background(), spec)
	if err != nil || string(res.Stdout.Head) != "out\nerr\nmore\n" || res.Stderr.Size != 0 {
		t.Errorf("one file for both: %+v, %v", res, err)
	}
	wantFile(t, spec.Stdout, "out\nerr\nmore\n")
}

// TestRunLogMovedAbout has a process put something else where its log is to be made: it has no log then.
func TestRunLogMovedAbout(t *testing.T) {
	s := newStarter(t)
	for _, script := range []string{
		"true", "ln -s ../other log; echo out", "mkfifo log; echo out", "mkdir log; echo out",
		"cd ..; rm -r own; echo out", "cd ..; mv own old; ln -s . own; echo out",
	} {
		dir := t.TempDir()
		other := filepath.Join(dir, "other")
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "own"), 0o700), os.WriteFile(other, []byte("as it was"), 0o600)); err != nil {
			t.Fatal(err)
		}
		spec := bash(script, "e1", "R")
		spec.Dir = filepath.Join(dir, "own")
		spec.Stdout = filepath.Join(spec.Dir, "log")
		want := "out\n"
		if script == "true" {
			want = ""
		}
		if res, err := s.Run(context.Background(), spec); err != nil || res.ExitCode != 0 || string(res.Stdout.Head) != want {
			t.Errorf("%s: %+v, %v", script, res, err)
		}
		wantFile(t, other, "as it was")
		if info, err := os.Lstat(spec.Stdout); err == nil && info.Mode().IsRegular() {
			t.Errorf("%s: there is a log", script)
		}
		if _, err := os.Lstat(filepath.Join(dir, "log")); err == nil {
			t.Errorf("%s: the log is outside its folder", script)
		}
	}
}

func wantFile(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(name), got, err, want)
	}
}

func TestRunMuchOutputCostsNoMemory(t *testing.T) {
	s := newStarter(t)
	spec := bash("echo first; head -c 1G /dev/zero; echo last", "e1", "R")
	spec.Stdout = os.DevNull
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := s.Run(context.Background(), spec)
	runtime.ReadMemStats(&after)
	if err != nil || res.Stdout.Size != 1<<30+11 {
		t.Fatalf("size %d, %v", res.Stdout.Size, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("1 GB of output allocated %d bytes", grown)
	}
	if len(res.Stdout.Head) != HeadTail || len(res.Stdout.Tail) != HeadTail ||
		!bytes.HasPrefix(res.Stdout.Head, []byte("first\n\x00")) || !bytes.HasSuffix(res.Stdout.Tail, []byte("\x00last\n")) {
		t.Errorf("head and tail are not the beginning and the end")
	}
}

func TestRunFullDisk(t *testing.T) {
	s := newStarter(t)
	spec := bash("head -c 1M /dev/zero; exit 4", "e1", "R")
	spec.Stdout = "/dev/full"
	res, err := s.Run(context.Background(), spec)
	var logErr *LogError
	if !errors.As(err, &logErr) || logErr.Path != "/dev/full" || res.ExitCode != 4 || res.Stdout.Size != 1<<20 {
		t.Errorf("%d, size %d, %v", res.ExitCode, res.Stdout.Size, err)
	}
	spec.Stdout, spec.Stderr = "", filepath.Join(t.TempDir(), "no", "log")
	if res, err = s.Run(context.Background(), spec); !errors.As(err, &logErr) || res.Started {
		t.Errorf("a log in a missing folder: %+v, %v", res, err)
	}
}

func TestRunContextOverBefore(t *testing.T) {
	s := newStarter(t)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	for want, ctx := range map[Ending]context.Context{Cancelled: cancelled, TimedOut: late} {
		res, err := s.Run(ctx, bash("exit 0", "e1", "R"))
		if err != nil || res.Started || res.ExitCode != -1 || res.Ending() != want {
			t.Errorf("%v: %+v, %v", want, res, err)
		}
	}
}

func TestClosedStarter(t *testing.T) {
	s := NewStarter()
	s.Close()
	s.Close()
	if _, err := s.Run(context.Background(), bash("exit 0", "e1", "R")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
}

func TestRunMany(t *testing.T) {
	s := newStarter(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 25 {
				res, err := s.Run(context.Background(), bash("(true &); exit 5", fmt.Sprint("e", i), runID(t)))
				if err != nil || res.ExitCode != 5 {
					t.Errorf("%+v, %v", res, err)
				}
			}
		})
	}
	wg.Wait()
	if pids := left(t, runID(t)); len(pids) > 0 {
		t.Errorf("left: %v", pids)
	}
}
