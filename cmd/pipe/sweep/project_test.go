//go:build linux

package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/pipe/cmd/pipe/built"
)

// program is the real command, built by TestMain.
var program string

// atOnce is how many histories go on at once. They mostly wait: a process that ignores SIGTERM is given its
// seconds of grace, in most of them twice.
const atOnce = "12"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "pipe")
	if err := built.Command(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// project is a folder with a workspace, a git repository of the pipeline, and beside it the file in which
// the stages note their executions.
type project struct {
	home  string
	state string // that holds the folder of runs
	course
}

// course is a pipeline with the commands that carry it out.
type course struct {
	pipeline string
	answer   []string      // what carries the run on where it waits
	after    time.Duration // how long it waits first
	ends     int           // the exit status of who finds the run at its end
}

// loops is a course through retries, an approval and a loop; wide one through the instances of a for_each, a
// pipeline inside, a deadline that passes while no process lives, and finally; again one through the loops of stages
// with themselves, a decision, and what is undone.
var (
	loops = course{pipeline: "sweep", answer: []string{"approve", "last", "--resume", "--by", "anna"}}
	wide  = course{pipeline: "wide", answer: []string{"resume", "last"}, after: 2 * time.Second}
	again = course{pipeline: "again", answer: []string{"decide", "last", "abort", "--rollback", "--resume", "--by", "anna"}, ends: 1}
)

const countName = "executions"

func (p *project) workspace() string { return filepath.Join(p.home, "workspace") }
func (p *project) count() string     { return filepath.Join(p.home, countName) }

// runArgs start the run.
func (c course) runArgs() []string {
	return []string{"run", c.pipeline, "--jobs", "4", "--input", "count=" + filepath.Join("..", countName)}
}

// answerArgs carry on a run that waits, as soon as that can be.
func (c course) answerArgs() []string {
	time.Sleep(c.after)
	return c.answer
}

// template is a project of which all others are copies.
var template = sync.OnceValues(func() (string, error) {
	if err := built.LookAtSources(); err != nil {
		return "", err
	}
	home := filepath.Join(filepath.Dir(program), "template")
	p := &project{home: home}
	if err := os.CopyFS(filepath.Join(p.workspace(), "pipelines"), os.DirFS("testdata")); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "the pipeline"}} {
		if _, err := p.git(args...); err != nil {
			return "", err
		}
	}
	return home, nil
})

// newProject makes a project; state is that of pipe.yaml, "" for its default.
func newProject(t *testing.T, state string) *project {
	t.Helper()
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	p := &project{home: t.TempDir(), state: state, course: loops}
	if err := os.CopyFS(p.home, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	config := ""
	if state == "" {
		p.state = filepath.Join(p.workspace(), ".pipe")
	} else {
		config = "state: " + state + "\n"
	}
	t.Cleanup(func() { p.sweepUp(t) })
	// No part of the tree that is compared: it may name a folder of the moment.
	for name, text := range map[string]string{"pipe.yaml": config, ".git/info/exclude": "pipe.yaml\n.tot-docs/\n"} {
		if err := os.WriteFile(filepath.Join(p.workspace(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *project) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = p.workspace()
	cmd.Env = append(environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %q: %w\n%s", args, err, out)
	}
	return string(out), nil
}

// environ is the environment of all commands.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "PIPE_") || strings.HasPrefix(kv, "GIT_")
	})
}

// patience is how long one command may take, far more than any does.
const patience = 90 * time.Second

// pipe runs the command to its end, and gives its exit status and all that it printed.
func (p *project) pipe(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.workspace(), environ(), &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("pipe %q: %v, %v\n%s", args, err, ctx.Err(), out.String())
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// killAt runs the command traced, kills it at the point, and gives what it printed until then. With the zero
// point it runs to its end, and the counter gives its points.
func (p *project) killAt(t *testing.T, at point, args ...string) (traced, *counter, string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := newCounter()
	whole := at
	whole.torn = false
	end, err := trace(append([]string{program}, args...), environ(), p.workspace(), out, func(c2 call) bool {
		return c.see(c2) == whole
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if at != (point{}) && !end.killed {
		t.Fatalf("pipe %q ended with status %d before the point %s\n%s", args, end.status, at, text)
	}
	if at.torn {
		p.tear(t)
	}
	return end, c, string(text)
}

// tear cuts the last line of the journal in the middle, as a power failure may that the kernel's own memory
// did not outlive.
func (p *project) tear(t *testing.T) {
	t.Helper()
	name := filepath.Join(p.runDir(t), "events.jsonl")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte{'\n'}), '\n') + 1
	if err := os.Truncate(name, int64(begin+(len(b)-begin)/2)); err != nil {
		t.Fatal(err)
	}
}

// sweepUp ends what a failed test left.
func (p *project) sweepUp(t *testing.T) {
	for _, id := range p.runs(t) {
		for _, left := range processes(t, id) {
			if err := syscall.Kill(left.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Error(err)
			}
		}
	}
}

// runs gives the ids of the runs that left a folder.
func (p *project) runs(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.state, "runs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids
}

// run gives the id of the last run, which must exist.
func (p *project) run(t *testing.T) string {
	t.Helper()
	ids := p.runs(t)
	if len(ids) == 0 {
		t.Fatal("there is no run")
	}
	return ids[len(ids)-1]
}

func (p *project) runDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(p.state, "runs", p.run(t))
}

// execution is a try of a stage.
type execution struct {
	Stage     string `json:"stage"`
	Iteration int    `json:"iteration"`
	Attempt   int    `json:"attempt"`
	Effect    string `json:"effect"`
}

// record is what the sweep reads of a record of the journal.
type record struct {
	execution
	Type   string          `json:"type"`
	Failed string          `json:"failed"` // of a retry: the effect that failed
	Item   json.RawMessage `json:"item"`
}

// journal reads the whole lines of the last run's journal; none of a run that never began.
func (p *project) journal(t *testing.T) []record {
	t.Helper()
	if len(p.runs(t)) == 0 {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(p.runDir(t), "events.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []record
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte{'\n'}) {
			break // torn
		}
		var l struct{ Records []record }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("a line of the journal: %v\n%s", err, line)
		}
		list = append(list, l.Records...)
	}
	return list
}

// noted reads what the stages noted: of each execution how often it started and came to its end, and the
// processes that it were.
func (p *project) noted(t *testing.T) (started, ended map[execution]int, pids map[int]bool) {
	t.Helper()
	started, ended, pids = map[execution]int{}, map[execution]int{}, map[int]bool{}
	f, err := os.Open(p.count())
	if errors.Is(err, os.ErrNotExist) {
		return started, ended, pids
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		var e execution
		var what string
		var pid int
		_, err := fmt.Fscanln(f, &e.Stage, &e.Iteration, &e.Attempt, &e.Effect, &what, &pid)
		if errors.Is(err, io.EOF) {
			return started, ended, pids
		}
		pids[pid] = true
		switch {
		case err == nil && what == "start":
			started[e]++
		case err == nil && what == "end":
			ended[e]++
		default:
			t.Fatalf("a line of what the stages noted: %v, %q", err, what)
		}
	}
}
