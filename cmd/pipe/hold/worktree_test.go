//go:build linux

package hold

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// killingGit is a git that kills the process that called it, at a call given by its number: before it does
// what it was called for, or after. Calls are counted in a file.
const killingGit = `#!/bin/sh
echo >> %[1]s
n=$(wc -l < %[1]s)
if [ "$n" = %[2]d ] && [ %[3]s = before ]; then kill -9 $PPID; exit 1; fi
%[4]s "$@"; status=$?
if [ "$n" = %[2]d ]; then kill -9 $PPID; fi
exit $status
`

const inWorktree = `workspace: worktree
stages:
  - {id: a, run: echo a > a.txt}
  - {id: b, run: cat a.txt, cache: true}
  - {id: c, run: cp a.txt c.txt, allowed_paths: [c.txt]}
`

// TestKillAroundWorktrees kills the engine at every other call of git, from the making of the worktree to its end, and
// resumes: the branch holds what the stages made, nothing else is left, and the project's own files are as they
// were.
func TestKillAroundWorktrees(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for at := 1; ; at += 2 { // after a call is as good as before the next one
		how := "before"
		if at%4 == 3 {
			how = "after"
		}
		p := newRun(t, inWorktree)
		p.write(".gitignore", "*.log\n")
		p.git("init", "-q")
		p.git("add", ".")
		p.git("commit", "-qm", "first")
		p.write("../bin/git", fmt.Sprintf(killingGit, p.path("../calls"), at, how, git))
		if err := os.Chmod(p.path("../bin/git"), 0o755); err != nil {
			t.Fatal(err)
		}
		p.env = []string{"PATH=" + p.path("../bin") + ":" + p.program + ":" + os.Getenv("PATH")}
		r := p.pipe("run", "p")
		p.env = nil
		if r.status == 0 {
			if at < 15 {
				t.Fatalf("git was called %d times only", at)
			}
			break
		}
		if r.status != 128+9 {
			t.Fatalf("%s call %d: %s", how, at, r)
		}
		if len(p.runs()) == 0 || !p.exists(".pipe/runs/"+p.last()+"/events.jsonl") { // it had not begun
			if p.exists(".pipe/worktrees") {
				t.Errorf("%s call %d: a worktree without a run", how, at)
			}
			continue
		}
		killed++
		p.says(p.want(0, "resume", "last"), "pipe/"+p.last())
		p.holdsBranch(fmt.Sprintf("killed %s call %d", how, at))
		p.leavesNothing()
	}
	if killed < 8 {
		t.Errorf("only %d runs were resumed", killed)
	}
}

// holdsBranch looks at what a run in a worktree left.
func (p *place) holdsBranch(when string) {
	p.t.Helper()
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.t.Errorf("%s: git %q: %v\n%s", when, args, err, out)
		}
		return string(out)
	}
	for _, c := range []struct{ got, want string }{
		{run("diff", "--name-only", "HEAD", "pipe/"+p.last()), "a.txt\nc.txt\n"},
		{run("rev-list", "--count", "HEAD..pipe/"+p.last()), "1\n"},
		{run("status", "--porcelain"), ""},
		{run("worktree", "list", "--porcelain"), "worktree " + p.dir + "\n"},
	} {
		if c.want == "" && c.got != "" || !strings.HasPrefix(c.got, c.want) || strings.Count(c.got, "worktree ") > 1 {
			p.t.Errorf("%s: got %q, want %q", when, c.got, c.want)
		}
	}
	if left, err := os.ReadDir(p.path(".pipe/worktrees")); err != nil || len(left) > 0 {
		p.t.Errorf("%s: worktrees are left: %v, %v", when, left, err)
	}
}
