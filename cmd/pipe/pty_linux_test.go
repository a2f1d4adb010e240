package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"example.com/pipe/cmd/pipe/built"
)

// ptyRun is a command on a pseudo-terminal, with a screen that shows what it writes.
type ptyRun struct {
	t     *testing.T
	cmd   *exec.Cmd
	pty   *os.File // the side of who sits before it
	tty   *os.File // the side of the command
	modes unix.Termios
	ended chan error

	mu      sync.Mutex
	screen  *vt
	changed chan struct{} // closed when more was written
}

// startPty runs a command as the leader of a session whose terminal is of this size.
func startPty(t *testing.T, dir string, width, height int, env []string, args ...string) *ptyRun {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		built.Missing(t, "pseudo-terminal ("+err.Error()+")")
	}
	t.Cleanup(func() { pty.Close() })
	if err := unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	r := &ptyRun{t: t, pty: pty, tty: tty, screen: newVT(width, height), changed: make(chan struct{}), ended: make(chan error, 1)}
	r.size(width, height)
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	r.modes = *modes
	r.cmd = exec.Command(args[0], args[1:]...)
	r.cmd.Dir = dir
	r.cmd.Env = append(withoutEnv(os.Environ(), "CI", "NO_COLOR"), append([]string{"TERM=xterm-256color"}, env...)...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = tty, tty, tty
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go r.read()
	go func() { r.ended <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	return r
}

func withoutEnv(env []string, names ...string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		keep := true
		for _, n := range names {
			keep = keep && n != name
		}
		if keep {
			out = append(out, kv)
		}
	}
	return out
}

func (r *ptyRun) size(width, height int) {
	r.t.Helper()
	size := unix.Winsize{Col: uint16(width), Row: uint16(height)}
	if err := unix.IoctlSetWinsize(int(r.pty.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		r.t.Fatal(err)
	}
}

// resize changes the size as a terminal does that wraps no line anew.
func (r *ptyRun) resize(width, height int) {
	r.t.Helper()
	r.mu.Lock()
	r.screen.resize(width, height)
	r.mu.Unlock()
	r.size(width, height)
}

func (r *ptyRun) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.pty.Read(buf)
		r.mu.Lock()
		r.screen.write(buf[:n])
		close(r.changed)
		r.changed = make(chan struct{})
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits until the screen shows what is asked for.
func (r *ptyRun) until(what string, shows func(screen string) bool) string {
	r.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		text, changed, err := r.screen.String(), r.changed, r.screen.err
		r.mu.Unlock()
		if err != nil {
			r.t.Fatal(err)
		}
		if shows(text) {
			return text
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("the screen never showed %s:\n%s", what, text)
		}
	}
}

func (r *ptyRun) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.screen.log()
}

func (r *ptyRun) untilText(text string) string {
	r.t.Helper()
	return r.until(strconv.Quote(text), func(s string) bool { return strings.Contains(s, text) })
}

// end waits for the end of the command and looks whether the terminal is as it was.
func (r *ptyRun) end(status int) string {
	r.t.Helper()
	if got := exitStatus(<-r.ended); got != status {
		r.t.Errorf("exit status %d, want %d", got, status)
	}
	modes, err := unix.IoctlGetTermios(int(r.tty.Fd()), unix.TCGETS)
	if err != nil {
		r.t.Fatal(err)
	}
	if *modes != r.modes {
		r.t.Errorf("the modes of the terminal are %+v, and were %+v", *modes, r.modes)
	}
	fmt.Fprint(r.tty, "$ the next prompt")
	text := r.untilText("$ the next prompt")
	r.mu.Lock()
	defer r.mu.Unlock()
	for mode, on := range r.screen.modes {
		if on != (mode == "?25") {
			r.t.Errorf("mode %s of the screen is left as %v", mode, on)
		}
	}
	return text
}

// isEcho reports whether what is typed is shown.
func (r *ptyRun) isEcho() bool {
	r.t.Helper()
	modes, err := unix.IoctlGetTermios(int(r.tty.Fd()), unix.TCGETS)
	if err != nil {
		r.t.Fatal(err)
	}
	return modes.Lflag&unix.ECHO != 0
}

const besideOneAnother = `
name: p
version: 1
stages:
  - id: write
    role: implementation
    run: echo "$PIPE_ITERATION" > work.txt
  - id: unit_tests
    needs: [write]
    run: &wait |
      echo "working in iteration $PIPE_ITERATION"
      until [ -e go-on-$PIPE_ITERATION ]; do sleep 0.02; done
  - {id: lint, needs: [write], run: *wait}
  - id: review
    needs: [write]
    feedback_loop: {target_stage: write, max_iterations: 3}
    run: |
      printf '\033[31mreading\033[0m 10%%\rreading 90%%\n'
      until [ -e go-on-$PIPE_ITERATION ]; do sleep 0.02; done
      if [ $PIPE_ITERATION -lt 2 ]; then
        echo '[{"severity": "blocking", "description": "the title is missing"}]' > "$PIPE_FEEDBACK"
      else
        echo '[]' > "$PIPE_FEEDBACK"
      fi
  - {id: publish, needs: [unit_tests, lint, review], requires_approval: "publish it?", run: echo published}
`

// TestLive watches three stages beside one another on a terminal, through a second round, while the terminal
// changes its size, until a person has answered.
func TestLive(t *testing.T) {
	t.Parallel()
	dir := newProject(t, besideOneAnother)
	r := startPty(t, dir, 80, 24, nil, "pipe", "run", "p", "--jobs", "4")
	goOn := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.until("three stages that run beside one another", func(s string) bool {
		return strings.Contains(s, "┌ ● unit_tests") && strings.Contains(s, "├ ● lint") && strings.Contains(s, "└ ● review") &&
			strings.Contains(s, "working in iteration 1") && strings.Contains(s, "reading 90%")
	})
	if r.isEcho() {
		t.Error("what is typed would be written into the region")
	}
	r.keys("typed\n\n")
	goOn("go-on-1")
	r.untilText("iteration 2/3")
	r.resize(60, 24)
	r.until("the region at 60 columns", func(s string) bool { return widest(s, "──") == 60 })
	r.resize(120, 30)
	text := r.until("the region at 120 columns", func(s string) bool {
		return widest(s, "──") == 120 && strings.Contains(s, "└ ● review") && strings.Contains(s, "1 item open")
	})
	if n := strings.Count(text, "● lint"); n != 1 {
		t.Errorf("the region stands there %d times:\n%s", n, text)
	}
	goOn("go-on-2")
	text = r.until("the question", func(s string) bool { return strings.Contains(s, "waiting (approval)") && strings.Contains(s, "reject") })
	if !strings.Contains(text, "publish it?") || strings.Contains(text, "typed") {
		t.Errorf("the question:\n%s", text)
	}
	if b, err := pipeCmd(dir, "approve", "last").CombinedOutput(); err != nil {
		t.Fatalf("approve: %v\n%s", err, b)
	}
	last := r.end(exitOK)
	if strings.Contains(last, "──") || strings.Contains(last, "● ") {
		t.Errorf("the region is left:\n%s", last)
	}
	for _, want := range []string{"p succeeded after ", ": 5 succeeded", "review -> write: round 2 of 3, accept"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last screen lacks %q:\n%s", want, last)
		}
	}
	compareLog(t, dir, r.log())
}

// keys writes what a person types.
func (r *ptyRun) keys(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r.pty, text); err != nil {
		r.t.Fatal(err)
	}
}

// stubborn has a stage that does not end when it is told to.
const stubborn = `
name: p
version: 1
stages:
  - id: stubborn
    run: |
      trap '' TERM
      echo begun
      until [ -e go-on ]; do sleep 0.02; done
`

// TestLiveInterrupted presses Ctrl-C before a region: once stops the run, twice ends the command.
func TestLiveInterrupted(t *testing.T) {
	for _, twice := range []bool{false, true} {
		t.Run(fmt.Sprintf("twice=%v", twice), func(t *testing.T) {
			t.Parallel()
			dir := newProject(t, stubborn)
			r := startPty(t, dir, 80, 24, nil, "pipe", "run", "p")
			r.untilText("      begun")
			r.keys("\x03")
			r.untilText("pipe: stopping; once more kills")
			if twice {
				r.keys("\x03")
			} else if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			last := r.end(exitInterrupted)
			if strings.Contains(last, "──") || strings.Contains(last, "pipe resume ") == twice {
				t.Errorf("the last screen:\n%s", last)
			}
		})
	}
}

// TestLiveTerminated ends the command by a signal that no key sends.
func TestLiveTerminated(t *testing.T) {
	t.Parallel()
	dir := newProject(t, sleeper)
	r := startPty(t, dir, 80, 24, nil, "pipe", "run", "p")
	r.untilText("      running")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if last := r.end(exitTerminated); strings.Contains(last, "──") || !strings.Contains(last, "p interrupted after") {
		t.Errorf("the last screen:\n%s", last)
	}
}

// TestLiveStopped presses Ctrl-Z before a region that a shell has started, and lets it go on. Where no shell is
// there, the key stops nothing.
func TestLiveStopped(t *testing.T) {
	t.Parallel()
	dir := newProject(t, stubborn)
	r := startPty(t, dir, 80, 24, nil, "bash", "-c", `set -m; pipe run p; echo "stopped with $?"; read -r; fg`)
	r.untilText("      begun")
	r.keys("\x1a")
	text := r.untilText("stopped with 1")
	if strings.Contains(text, "──") || !r.isEcho() {
		t.Errorf("a stopped command leaves its region or its modes, echo is %v:\n%s", r.isEcho(), text)
	}
	r.keys("\n")
	r.untilText("      begun")
	if err := os.WriteFile(filepath.Join(dir, "go-on"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.end(exitOK)

	alone := startPty(t, newProject(t, stubborn), 80, 24, nil, "pipe", "run", "p")
	alone.untilText("      begun")
	alone.keys("\x1a")
	alone.untilText("running 1s")
	alone.keys("\x03")
	alone.untilText("once more kills")
	alone.keys("\x03")
	alone.end(exitInterrupted)
}

// TestPlainTerminal looks at terminals that get lines and nothing else.
func TestPlainTerminal(t *testing.T) {
	for _, env := range []string{"CI=true", "TERM=dumb", "TERM="} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			dir := newProject(t, sleeper)
			r := startPty(t, dir, 80, 24, []string{env}, "pipe", "run", "p")
			r.untilText("long started")
			if !r.isEcho() {
				t.Error("the modes of the terminal were changed")
			}
			r.keys("\x03")
			r.untilText("stopping")
			if last := r.end(exitInterrupted); strings.Contains(last, "──") || strings.Contains(last, "interrupted after") {
				t.Errorf("the last screen:\n%s", last)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.screen.modes) > 0 {
				t.Errorf("modes of the terminal were set: %v", r.screen.modes)
			}
		})
	}
}

// TestLiveColour looks for colours, which NO_COLOR drops.
func TestLiveColour(t *testing.T) {
	for env, want := range map[string]bool{"NO_COLOR=": true, "NO_COLOR=1": false} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			r := startPty(t, newProject(t, sleeper), 80, 24, []string{env}, "pipe", "run", "p")
			r.untilText("      running")
			r.keys("\x03")
			r.end(exitInterrupted)
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.screen.colours != want {
				t.Errorf("there are colours: %v, want %v", r.screen.colours, want)
			}
		})
	}
}

// widest gives how wide the line is that begins with a text.
func widest(screen, begin string) int {
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, begin) {
			return utf8.RuneCountInString(strings.TrimRight(line, "\n"))
		}
	}
	return 0
}

// compareLog looks for each event of the run in all that the terminal showed and keeps, once and in order.
func compareLog(t *testing.T, dir, log string) {
	t.Helper()
	b, err := pipeCmd(dir, "events", "last").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(log), " ")
	at := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		i := strings.Index(words[at:], line)
		if i < 0 {
			t.Fatalf("the terminal does not show %q in its place:\n%s", line, log)
		}
		at += i + len(line)
	}
	day := string(b[:len("2026-12-01T")])
	if got, want := strings.Count(words, day), strings.Count(string(b), "\n"); got != want {
		t.Errorf("the terminal shows %d lines of events, and there are %d:\n%s", got, want, log)
	}
}
