package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSystemCalls looks at a run from outside: a stage is one exec of its shell, and two fsyncs or more,
// the last of which come before the exec. It needs strace, which CI installs.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	const n = 20
	dir := newProject(t, stagesText(n, true, "true"))
	trace := filepath.Join(dir, "trace")
	run := pipeCmd(dir, "run", "p")
	traced := pipeCmd(dir)
	var err error
	if traced.Path, err = exec.LookPath("strace"); err != nil {
		t.Fatal(err)
	}
	traced.Err = nil
	traced.Args = append([]string{"strace", "-f", "-qq", "-e", "trace=execve,fsync,fdatasync", "-e", "signal=none", "-o", trace}, run.Args...)
	if out, err := traced.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	shell := regexp.MustCompile(`execve\("[^"]*/bash", \[[^\]]*"(s\d+)"\]`)
	syncs, execs, others := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		switch m := shell.FindStringSubmatch(line); {
		case m != nil:
			if want := "s" + strconv.Itoa(execs); m[1] != want {
				t.Errorf("the shell of %s was started, want %s", m[1], want)
			}
			if syncs < 2 {
				t.Errorf("%d fsyncs between the end of the stage before %s and its start, want 2: what ended and what starts, and its folder", syncs, m[1])
			}
			execs, syncs = execs+1, 0
		case strings.Contains(line, "execve("):
			others++
		case strings.Contains(line, "fsync(") || strings.Contains(line, "fdatasync("):
			syncs++
		}
	}
	if execs != n {
		t.Errorf("%d shells were started, want %d", execs, n)
	}
	if syncs < 1 {
		t.Error("no fsync after the last stage ended")
	}
	if others > 3 {
		t.Errorf("%d other programs were started, want pipe itself and git once or twice\n%s", others, text)
	}
}
