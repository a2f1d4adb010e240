//go:build linux

package hold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/pipe/cmd/pipe/built"
)

// program is the folder that holds the command.
var program string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hold-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := built.Command(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = dir
	return m.Run()
}

// sources is looked at once, from within a test.
var sources = sync.OnceValue(built.LookAtSources)

// place is a project in a folder of its own.
type place struct {
	t       testing.TB
	dir     string
	program string // the folder that holds the command
	env     []string
}

// newPlace makes a project of files, given as name and text in turn. The pipeline of most is "p".
func newPlace(t testing.TB, files ...string) *place {
	t.Helper()
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: filepath.Join(base, "project"), program: program}
	p.write("pipe.yaml", "")
	for i := 0; i < len(files); i += 2 {
		p.write(files[i], files[i+1])
	}
	t.Cleanup(p.endAll)
	return p
}

// newRun makes a project with one pipeline, "p".
func newRun(t testing.TB, stages string) *place {
	t.Helper()
	return newPlace(t, "pipelines/p.yaml", "name: p\nversion: 1\n"+stages)
}

// endAll ends what a failed test leaves.
func (p *place) endAll() {
	for _, run := range p.runs() {
		for _, pid := range carriers(p.t, run) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func (p *place) exists(name string) bool {
	_, err := os.Lstat(p.path(name))
	return err == nil
}

// cmd is the command in the project, found in PATH by its stages too.
func (p *place) cmd(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.program, "pipe"), args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "PATH="+p.program+string(os.PathListSeparator)+os.Getenv("PATH"),
		"USER=anna", "HOSTNAME=laptop", "GIT_CEILING_DIRECTORIES="+filepath.Dir(p.dir))
	cmd.Env = append(cmd.Env, p.env...)
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// result is what a command printed and how it ended.
type result struct {
	out, err string
	status   int
	usage    *syscall.Rusage
}

func (r *result) String() string {
	return fmt.Sprintf("exit status %d\nstdout:\n%s\nstderr:\n%s", r.status, clip(r.out), clip(r.err))
}

func clip(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return s[:most/2] + "\n…\n" + s[len(s)-most/2:]
}

// pipe runs the command to its end.
func (p *place) pipe(args ...string) *result {
	p.t.Helper()
	cmd := p.cmd(args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || errors.Is(err, exec.ErrWaitDelay) {
		p.t.Fatalf("%q: %v", args, err)
	}
	return &result{out.String(), stderr.String(), statusOf(cmd), rusage(cmd)}
}

// rusage is what a command that ended took, with the processes that it waited for.
func rusage(cmd *exec.Cmd) *syscall.Rusage {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return &syscall.Rusage{}
	}
	return usage
}

func statusOf(cmd *exec.Cmd) int {
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// want runs the command and compares its exit status.
func (p *place) want(status int, args ...string) *result {
	p.t.Helper()
	r := p.pipe(args...)
	if r.status != status {
		p.t.Fatalf("%q: want exit status %d, got %s", args, status, r)
	}
	return r
}

// says wants texts in what a command printed.
func (p *place) says(r *result, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			p.t.Errorf("%q is not in: %s", text, r)
		}
	}
}

// started is a command that runs in the background.
type started struct {
	*place
	cmd      *exec.Cmd
	out, err lines
	done     chan struct{}
}

// lines takes what a command prints.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// start runs the command in the background; it is killed at the end of the test if it still runs.
func (p *place) start(args ...string) *started {
	p.t.Helper()
	s := &started{place: p, cmd: p.cmd(args...), done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.err
	s.begin()
	return s
}

func (s *started) begin() {
	s.t.Helper()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // its status is looked at
	}()
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
	})
}

// until waits for a line of the command.
func (s *started) until(text string) {
	s.t.Helper()
	s.place.until(text, func() bool { return strings.Contains(s.out.String()+s.err.String(), text) || s.over() })
	if !strings.Contains(s.out.String()+s.err.String(), text) {
		s.t.Fatalf("it ended without %q:\n%s\n%s", text, s.out.String(), s.err.String())
	}
}

func (s *started) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// end waits for the end of the command.
func (s *started) end() *result {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Fatalf("%q does not end:\n%s\n%s", s.cmd.Args[1:], s.out.String(), s.err.String())
	}
	return &result{s.out.String(), s.err.String(), statusOf(s.cmd), rusage(s.cmd)}
}

func (s *started) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// until asks until it is so.
func (p *place) until(what string, ask func() bool) {
	p.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("it never came to that: %s", what)
		}
	}
}

// runs gives the ids of the project's runs, oldest first.
func (p *place) runs() []string {
	entries, err := os.ReadDir(p.path(".pipe/runs"))
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids
}

// last gives the id of the last run.
func (p *place) last() string {
	p.t.Helper()
	ids := p.runs()
	if len(ids) == 0 {
		p.t.Fatal("there is no run")
	}
	return ids[len(ids)-1]
}

// inRun is the path of a file of the last run.
func (p *place) inRun(name string) string { return p.path(".pipe/runs/" + p.last() + "/" + name) }

// status gives the status of the last run by its JSON.
func (p *place) status() string { return p.show().Status }

// taskID gives the task of the last run.
func (p *place) taskID() string { return p.show().Task }

// shown is what the tests read of `pipe show --json`.
type shown struct {
	Version int
	Run     string
	Task    string `json:"task_id"`
	Status  string
	Reason  string
	Stages  []struct {
		Path      string
		Status    string
		Iteration int
		Attempts  int
		Class     string
		Message   string
		Outputs   map[string]any
	}
	Escalation *struct {
		ID    string
		Items []struct{ File, Description string } `json:"blocking_issues"`
	}
	Loops []struct {
		Items []struct{ File, Description string } `json:"open_items"`
	} `json:"feedback_loops"`
	Outputs map[string]any
}

func (p *place) show() *shown {
	p.t.Helper()
	r := p.want(0, "show", "last", "--json")
	s := new(shown)
	if err := json.Unmarshal([]byte(r.out), s); err != nil {
		p.t.Fatalf("show: %v\n%s", err, r)
	}
	return s
}

// carriers gives the processes that carry a run's id in their environment.
func carriers(t testing.TB, run string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte("PIPE_RUN_ID=" + run)
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // it is gone, or another user's
		}
		if slices.ContainsFunc(bytes.Split(env, []byte{0}), func(kv []byte) bool { return bytes.Equal(kv, mark) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leavesNothing looks for what is left of the project's runs: processes, held locks, half-written files.
func (p *place) leavesNothing() {
	p.t.Helper()
	for _, run := range p.runs() {
		for _, pid := range carriers(p.t, run) {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone by now, perhaps
			p.t.Errorf("run %s left process %d: %q", run, pid, name)
		}
	}
	err := filepath.WalkDir(p.path(".pipe"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		switch {
		case strings.HasSuffix(name, ".tmp"):
			p.t.Errorf("a half-written file is left: %s", path)
		case filepath.Base(filepath.Dir(path)) == "inbox":
			p.t.Errorf("an answer is left: %s", path)
		case name == "lock" || name == "workspace.lock":
			if isHeld(p.t, path) {
				p.t.Errorf("a lock is still held: %s", path)
			}
		case name == "run.json" || name == "status.json":
			if b, err := os.ReadFile(path); err != nil || !json.Valid(b) {
				p.t.Errorf("%s is not whole: %v\n%s", path, err, b)
			}
		case name == "events.jsonl":
			if b, err := os.ReadFile(path); err != nil || !bytes.HasSuffix(b, []byte("\n")) {
				p.t.Errorf("%s is not whole: %v", path, err)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Error(err)
	}
}

func isHeld(t testing.TB, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err != nil
}
