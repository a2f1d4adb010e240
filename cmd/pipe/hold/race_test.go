//go:build linux

package hold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestManyAnswersAtOnce answers one question from several terminals at once: one answer is taken, the others
// are refused, whether a process carries the run on or not.
func TestManyAnswersAtOnce(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		name := map[bool]string{false: "nobody carries it on", true: "a process waits"}[live]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRun(t, `
stages:
  - {id: a, run: "true", requires_approval: true}
  - {id: b, run: "until [ -e ../go-on ]; do sleep 0.02; done"}
`)
			var run *started
			if live {
				run = p.start("run", "p", "--wait")
				run.until("waiting for the answer")
			} else {
				p.want(4, "run", "p")
			}
			var answers []*started
			for range 5 {
				answers = append(answers, p.start("approve", "last"))
			}
			accepted := 0
			for _, a := range answers {
				switch r := a.end(); r.status {
				case 0:
					accepted++
				case 1:
					p.says(r, "refused the answer", "waits for")
				default:
					t.Error(r)
				}
			}
			if accepted != 1 {
				t.Errorf("%d answers were taken", accepted)
			}
			p.write("../go-on", "")
			if live {
				if r := run.end(); r.status != 0 {
					t.Error(r)
				}
			} else {
				p.want(0, "resume", "last")
			}
			if n := strings.Count(p.want(0, "events", "last").out, "a approved by="); n != 1 {
				t.Errorf("the journal has %d approvals", n)
			}
			p.leavesNothing()
		})
	}
}

// TestGivingUpAnAnswer stops a command that answers a run whose process does not listen: the answer is taken
// back.
func TestGivingUpAnAnswer(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true", requires_approval: true}]`)
	run := p.start("run", "p", "--wait")
	run.until("waiting for the answer")
	run.signal(syscall.SIGSTOP)
	answer := p.start("approve", "last")
	p.until("the answer is on its way", func() bool {
		entries, err := os.ReadDir(p.inRun("inbox"))
		return err == nil && len(entries) > 0 && strings.HasSuffix(entries[0].Name(), ".json")
	})
	answer.signal(syscall.SIGINT)
	if r := answer.end(); r.status != 130 {
		t.Errorf("want exit status 130, got %s", r)
	}
	if entries, err := os.ReadDir(p.inRun("inbox")); err != nil || len(entries) > 0 {
		t.Errorf("the answer is still there: %v %v", entries, err)
	}
	run.signal(syscall.SIGCONT)
	p.want(0, "approve", "last")
	if r := run.end(); r.status != 0 {
		t.Error(r)
	}
	p.leavesNothing()
}

// TestClosedStreams starts the command without stdin, stdout and stderr: no file of the run takes their place.
func TestClosedStreams(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: a, run: "cat; echo said"}
  - {id: b, run: "exit 7"}
`)
	cmd := exec.Command("bash", "-c", `exec "$0" run p <&- >&- 2>&-`, filepath.Join(p.program, "pipe"))
	cmd.Dir = p.dir
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("want exit status 1, got %v", err)
	}
	if s := p.status(); s != "failed" {
		t.Errorf("the run is %s", s)
	}
	p.says(p.want(0, "doctor", "--run", "last"), "nothing is wrong")
	p.says(p.want(0, "logs", "last", "a"), "said")
	p.leavesNothing()
}

// TestHangUp closes the terminal of a run: it stops as with SIGTERM. One that was told to outlive its
// terminal goes on.
func TestHangUp(t *testing.T) {
	t.Parallel()
	p := newRun(t, leaver)
	run := p.start("run", "p")
	p.until("both stages run", p.bothRun)
	run.signal(syscall.SIGHUP)
	run.signal(syscall.SIGHUP) // from the shell and from the kernel
	if r := run.end(); r.status != 143 {
		t.Errorf("want exit status 143, got %s", r)
	}
	p.leavesNothing()
	p.write("../go-on", "")
	p.want(0, "resume", "last")

	if err := os.Remove(p.path("../go-on")); err != nil {
		t.Fatal(err)
	}
	quiet := p.cmd()
	nohup := &started{place: p, cmd: exec.Command("nohup", quiet.Path, "run", "p"), done: make(chan struct{})}
	nohup.cmd.Dir, nohup.cmd.Env, nohup.cmd.Stdout, nohup.cmd.Stderr = quiet.Dir, quiet.Env, &nohup.out, &nohup.err
	nohup.begin()
	p.until("both stages run", p.bothRun)
	nohup.signal(syscall.SIGHUP)
	p.write("../go-on", "")
	if r := nohup.end(); r.status != 0 {
		t.Errorf("under nohup: %s", r)
	}
	p.leavesNothing()
}

// TestOneWorkspaceByTwoNames reaches a workspace by a link: it is the same workspace.
func TestOneWorkspaceByTwoNames(t *testing.T) {
	t.Parallel()
	p := newRun(t, waiting)
	if err := os.Symlink(p.dir, p.path("../alias")); err != nil {
		t.Fatal(err)
	}
	alias := &place{t: t, dir: p.path("../alias"), program: p.program}
	run := alias.start("run", "p")
	run.until("long started")
	p.says(p.want(5, "run", "p"), "the workspace is held by process")
	p.says(p.want(0, "show", "last"), "running")
	p.write("../go-on", "")
	if r := run.end(); r.status != 0 {
		t.Error(r)
	}
	p.leavesNothing()
}

// TestReadOnlyWorkspace runs where the user may not write: it is said what can't be written, and nothing
// else happens. Where the tests run as root, another user runs the command.
func TestReadOnlyWorkspace(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true"}]`)
	for _, dir := range []string{p.program, filepath.Dir(p.dir), filepath.Dir(filepath.Dir(p.dir))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(p.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(p.dir, 0o755)
	as := func(args ...string) *result {
		cmd := p.cmd(args...)
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return &result{out: string(out), status: statusOf(cmd)}
	}
	r := as("run", "p")
	if r.status != 3 {
		t.Errorf("want exit status 3, got %s", r)
	}
	p.says(r, p.path(".pipe"), "permission denied")
	for _, args := range [][]string{{"check"}, {"list"}, {"ps"}} {
		if r := as(args...); r.status != 0 {
			t.Errorf("%q only reads: %s", args, r)
		}
	}
	if p.exists(".pipe") {
		t.Error("something was written")
	}
}
