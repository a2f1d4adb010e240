package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// gitIn runs git in a folder as a user would.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// gitProject is project in a git repository with one commit.
func gitProject(t *testing.T, files ...string) *engine.Project {
	t.Helper()
	p := project(t, files...)
	gitIn(t, p.Root, "init", "-q")
	gitIn(t, p.Root, "add", "-A")
	gitIn(t, p.Root, "commit", "-q", "-m", "first")
	return p
}

// separately loads a pipeline whose runs work in worktrees.
func separately(t *testing.T, p *engine.Project, name string) *engine.Loaded {
	t.Helper()
	l := load(t, p, name)
	l.Plan.Workspace = plan.Worktree
	return l
}

// inTree runs a pipeline in a worktree, and gives what was said on the way.
func inTree(t *testing.T, p *engine.Project, name string) (engine.Result, string) {
	t.Helper()
	var warned strings.Builder
	res, err := p.Run(t.Context(), separately(t, p, name), engine.RunOptions{Follow: engine.Follow{Warn: func(s string) { warned.WriteString(s + "\n") }}})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return res, warned.String()
}

func pathOfTree(p *engine.Project, id string) string {
	return filepath.Join(p.State, "worktrees", id)
}

// wantClosed says that the worktree of a run is gone, its branch holds what it should, and the main tree is
// as it was.
func wantClosed(t *testing.T, p *engine.Project, id, wantFiles string) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(p.State, "worktrees")); err != nil || len(left) > 0 {
		t.Errorf("worktrees are left: %v, %v", left, err)
	}
	if got := strings.TrimSpace(gitIn(t, p.Root, "diff", "--name-only", "HEAD", "pipe/"+id)); strings.ReplaceAll(got, "\n", " ") != wantFiles {
		t.Errorf("the branch changes %q, want %q", got, wantFiles)
	}
	if got := gitIn(t, p.Root, "status", "--porcelain"); got != "" {
		t.Errorf("the main tree changed:\n%s", got)
	}
}

const worker = `
name: worker
version: 1
stages:
  - id: make
    run: |
      echo "$PIPE_WORKSPACE" > where.txt
      pwd >> where.txt
      git rev-parse --show-toplevel >> where.txt
      echo ignored > out.log
  - {id: more, dir: sub, run: 'echo more > made.txt'}
`

func TestWorktreeRun(t *testing.T) {
	p := gitProject(t, "pipelines/worker.yaml", worker, "sub/x.txt", "x", ".gitignore", "*.log\n")
	res, warned := inTree(t, p, "worker")
	id := res.Run.Run
	if res.Status != step.RunSucceeded || warned != "what the run changed is on the git branch pipe/"+id+"\n" {
		t.Fatalf("%s, with %q", res.Status, warned)
	}
	if v, err := p.View(id); err != nil || !strings.Contains(v.Text(0), "\nbranch    pipe/"+id+"\n") {
		t.Errorf("the page of the run: %v", err)
	} else if b, err := v.JSON(); err != nil || !strings.Contains(string(b), `"branch":"pipe/`+id+`"`) {
		t.Errorf("its document: %v, %s", err, b)
	}
	wantClosed(t, p, id, "sub/made.txt where.txt")
	path := pathOfTree(p, id)
	if got := gitIn(t, p.Root, "show", "pipe/"+id+":where.txt"); got != strings.Repeat(path+"\n", 3) {
		t.Errorf("the stage ran in\n%s\nwant %s", got, path)
	}
	if got := gitIn(t, p.Root, "log", "-1", "--format=%B", "pipe/"+id); !strings.Contains(got, "worker") || !strings.Contains(got, id) || !strings.Contains(got, "succeeded") {
		t.Errorf("the commit says %q", got)
	}
	if _, err := os.Stat(filepath.Join(p.RunDir(id), journal.FileName)); err != nil {
		t.Errorf("the journal: %v", err)
	}
	// A resume of a run that is over has nothing to do, and says so.
	if again, err := p.Resume(t.Context(), id, engine.Follow{}); err != nil || again.Status != step.RunSucceeded {
		t.Errorf("resumed: %s, %v", again.Status, err)
	}
	// An answer that comes too late is refused, not a failure.
	late, err := p.Answer(t.Context(), id, step.Answer{Kind: step.Approve, Stage: "make", By: "anna"}, engine.AnswerOptions{})
	if err != nil || late.Accepted {
		t.Errorf("a late answer: %+v, %v", late, err)
	}
}

func TestWorktreeRunThatFails(t *testing.T) {
	p := gitProject(t, "pipelines/f.yaml", "name: f\nversion: 1\nstages:\n  - {id: s, run: 'echo x > half.txt; exit 1'}\n")
	res, _ := inTree(t, p, "f")
	if res.Status != step.RunFailed {
		t.Fatal(res.Status)
	}
	wantClosed(t, p, res.Run.Run, "half.txt")
}

const asks = `
name: asks
version: 1
stages:
  - {id: first, run: 'echo 1 > one.txt'}
  - {id: second, requires_approval: true, run: 'cat one.txt > two.txt'}
`

func TestWorktreeStaysAtAPause(t *testing.T) {
	p := gitProject(t, "pipelines/asks.yaml", asks)
	res, _ := inTree(t, p, "asks")
	id := res.Run.Run
	if res.Status != step.RunIsWaiting {
		t.Fatal(res.Status)
	}
	if _, err := os.Stat(filepath.Join(pathOfTree(p, id), "one.txt")); err != nil {
		t.Fatalf("the worktree: %v", err)
	}
	// A change of a tracked file in the worktree, not in the main tree, is one since the approval was asked.
	write(t, filepath.Join(pathOfTree(p, id), "pipe.yaml"), "# changed\n")
	a, err := p.Answer(t.Context(), id, step.Answer{Kind: step.Approve, By: "anna"}, engine.AnswerOptions{})
	if err != nil || a.Accepted || !strings.Contains(a.Why, "the tree changed") {
		t.Errorf("approved a changed tree: %+v, %v", a, err)
	}
	a, err = p.Answer(t.Context(), id, step.Answer{Kind: step.Approve, By: "anna"}, engine.AnswerOptions{Resume: true})
	if err != nil || !a.Accepted || a.Status != step.RunSucceeded {
		t.Fatalf("approved: %+v, %v", a, err)
	}
	wantClosed(t, p, id, "one.txt pipe.yaml two.txt")
}

func TestWorktreeOfACancelledRun(t *testing.T) {
	p := gitProject(t, "pipelines/asks.yaml", asks)
	res, _ := inTree(t, p, "asks")
	a, err := p.Cancel(t.Context(), res.Run.Run, "anna", "", engine.AnswerOptions{})
	if err != nil || a.Status != step.RunCancelled {
		t.Fatalf("cancelled: %+v, %v", a, err)
	}
	wantClosed(t, p, res.Run.Run, "one.txt")
}

func TestWorktreeDeletedByHand(t *testing.T) {
	p := gitProject(t, "pipelines/asks.yaml", asks)
	res, _ := inTree(t, p, "asks")
	id := res.Run.Run
	if err := os.RemoveAll(pathOfTree(p, id)); err != nil {
		t.Fatal(err)
	}
	_, err := p.Resume(t.Context(), id, engine.Follow{})
	if err == nil || !strings.Contains(err.Error(), "is gone") || !strings.Contains(err.Error(), "pipe cancel "+id) {
		t.Errorf("resumed: %v", err)
	}
	_, err = p.Answer(t.Context(), id, step.Answer{Kind: step.Approve, By: "anna"}, engine.AnswerOptions{Resume: true})
	if err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("approved: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(p.RunDir(id), "inbox", "*")); err != nil || len(left) > 0 {
		t.Errorf("an answer that failed is left to be taken later: %q, %v", left, err)
	}
	a, err := p.Cancel(t.Context(), id, "anna", "", engine.AnswerOptions{})
	if err != nil || a.Status != step.RunCancelled {
		t.Fatalf("cancelled: %+v, %v", a, err)
	}
	wantClosed(t, p, id, "")
}

func TestWorktreeRunsGoSideBySide(t *testing.T) {
	p := gitProject(t, "pipelines/worker.yaml", worker, "sub/x.txt", "x", ".gitignore", "*.log\n")
	inTree(t, p, "worker") // makes the state folder
	lock, err := journal.Acquire(filepath.Join(p.Root, ".pipe/workspace.lock"), journal.Holder{Run: "01J00000000000000000000001"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if res, _ := inTree(t, p, "worker"); res.Status != step.RunSucceeded {
		t.Errorf("beside a run in place: %s", res.Status)
	}
	if _, err := p.Run(t.Context(), load(t, p, "worker"), engine.RunOptions{}); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("in place beside a run in place: %v", err)
	}
}

func TestWorktreeRunSaysWhatItLacks(t *testing.T) {
	p := gitProject(t, "pipelines/worker.yaml", worker, "sub/x.txt", "x", ".gitignore", "*.log\n")
	write(t, filepath.Join(p.Root, "sub/x.txt"), "changed")
	write(t, filepath.Join(p.Root, "new\x1b.txt"), "new")
	_, warned := inTree(t, p, "worker")
	if !strings.Contains(warned, "not committed: sub/x.txt, new") || strings.Contains(warned, "\x1b") {
		t.Errorf("said %q", warned)
	}
}

func TestWorktreeRunWithoutARepository(t *testing.T) {
	p := project(t, "pipelines/worker.yaml", worker)
	_, err := p.Run(t.Context(), separately(t, p, "worker"), engine.RunOptions{})
	var usage *engine.UsageError
	if !errors.As(err, &usage) || !strings.Contains(usage.Why, `"workspace: worktree": `) {
		t.Errorf("run: %v", err)
	}
	if ids, err := p.IDs(); err != nil || len(ids) > 0 {
		t.Errorf("runs %v, %v", ids, err)
	}
}

// TestWorktreeRunOfASubfolder has the project below the top of its repository, and the state elsewhere.
func TestWorktreeRunOfASubfolder(t *testing.T) {
	top := t.TempDir()
	state := filepath.Join(t.TempDir(), "state")
	write(t, filepath.Join(top, "app/pipe.yaml"), "state: "+state+"\n")
	write(t, filepath.Join(top, "app/pipelines/worker.yaml"), worker)
	write(t, filepath.Join(top, "app/sub/x.txt"), "x")
	write(t, filepath.Join(top, "app/.gitignore"), "*.log\n")
	gitIn(t, top, "init", "-q")
	gitIn(t, top, "add", "-A")
	gitIn(t, top, "commit", "-q", "-m", "first")
	p := open(t, filepath.Join(top, "app"))
	res, _ := inTree(t, p, "worker")
	wantClosed(t, p, res.Run.Run, "app/sub/made.txt app/where.txt")
	path := pathOfTree(p, res.Run.Run)
	if got := gitIn(t, top, "show", "pipe/"+res.Run.Run+":app/where.txt"); got != path+"/app\n"+path+"/app\n"+path+"\n" {
		t.Errorf("the stage ran in\n%s", got)
	}
}

// TestWorktreeRunInAForeignEnvironment was started by a hook of another repository.
func TestWorktreeRunInAForeignEnvironment(t *testing.T) {
	p := gitProject(t, "pipelines/g.yaml", "name: g\nversion: 1\nstages:\n  - {id: s, run: 'echo x > x.txt; git add x.txt; git -c user.name=a -c user.email=a@example.com commit -q -m own'}\n")
	head := gitIn(t, p.Root, "rev-parse", "HEAD")
	p = open(t, p.Root, "GIT_DIR="+filepath.Join(p.Root, ".git"), "GIT_WORK_TREE="+p.Root, "GIT_INDEX_FILE="+filepath.Join(p.Root, ".git/index"))
	res, _ := inTree(t, p, "g")
	if res.Status != step.RunSucceeded {
		t.Fatal(res.Status)
	}
	wantClosed(t, p, res.Run.Run, "x.txt")
	if got := gitIn(t, p.Root, "rev-parse", "HEAD"); got != head {
		t.Error("the commit of the stage went to the branch of the main tree")
	}
}

func TestWorktreeRunThatWasStopped(t *testing.T) {
	p := gitProject(t, "pipelines/asks.yaml", strings.ReplaceAll(asks, "requires_approval: true, ", ""))
	ctx, stop := context.WithCancel(t.Context())
	f := engine.Follow{Observe: func(_ int64, _ step.Instant, rs []step.Record) {
		for _, r := range rs {
			if s, ok := r.(step.StageSucceeded); ok && s.Stage == "first" {
				stop()
			}
		}
	}}
	res, err := p.Run(ctx, separately(t, p, "asks"), engine.RunOptions{Follow: f})
	var stopped *engine.Stopped
	if !errors.As(err, &stopped) {
		t.Fatalf("%+v, %v", res, err)
	}
	ids, err := p.IDs()
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	res, err = p.Resume(t.Context(), ids[0], engine.Follow{})
	if err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("resumed: %+v, %v", res, err)
	}
	wantClosed(t, p, ids[0], "one.txt two.txt")
}

// TestWorktreeRunKilledBeforeItsFirstStep has nothing but the journal's header and half a worktree.
func TestWorktreeRunKilledBeforeItsFirstStep(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, p *engine.Project, path, branch string){
		"nothing was made": func(t *testing.T, p *engine.Project, _, branch string) {
			gitIn(t, p.Root, "branch", "-q", "-D", branch)
		},
		"only the branch": func(*testing.T, *engine.Project, string, string) {},
		"a whole worktree": func(t *testing.T, p *engine.Project, path, branch string) {
			gitIn(t, p.Root, "worktree", "add", "-q", path, branch)
		},
		"half a worktree": func(t *testing.T, p *engine.Project, path, branch string) {
			gitIn(t, p.Root, "worktree", "add", "-q", path, branch)
			gitIn(t, p.Root, "worktree", "lock", "--reason", "initializing", path)
			for _, name := range []string{".git", "pipe.yaml"} {
				if err := os.Remove(filepath.Join(path, name)); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := gitProject(t, "pipelines/f.yaml", "name: f\nversion: 1\nstages:\n  - {id: s, run: 'ls > files.txt'}\n")
			res, _ := inTree(t, p, "f")
			id := res.Run.Run
			file := filepath.Join(p.RunDir(id), journal.FileName)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			header, _, _ := bytes.Cut(b, []byte("\n"))
			if err := os.WriteFile(file, append(header, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, rest := range []string{"stages", "status.json", "run.json"} {
				if err := os.RemoveAll(filepath.Join(p.RunDir(id), rest)); err != nil {
					t.Fatal(err)
				}
			}
			gitIn(t, p.Root, "branch", "-f", "pipe/"+id, "HEAD")
			harm(t, p, pathOfTree(p, id), "pipe/"+id)
			res, err = p.Resume(t.Context(), id, engine.Follow{})
			if err != nil || res.Status != step.RunSucceeded {
				t.Fatalf("resumed: %+v, %v", res, err)
			}
			wantClosed(t, p, id, "files.txt")
			if got := gitIn(t, p.Root, "show", "pipe/"+id+":files.txt"); got != "files.txt\npipe.yaml\npipelines\n" {
				t.Errorf("the stage saw\n%s", got)
			}
		})
	}
}

// TestWorktreeRunKilledAtItsEnd was over, and its worktree was not removed yet.
func TestWorktreeRunKilledAtItsEnd(t *testing.T) {
	p := gitProject(t, "pipelines/f.yaml", "name: f\nversion: 1\nstages:\n  - {id: s, run: 'echo x > x.txt'}\n")
	res, _ := inTree(t, p, "f")
	id := res.Run.Run
	gitIn(t, p.Root, "worktree", "add", "-q", pathOfTree(p, id), "pipe/"+id)
	write(t, filepath.Join(pathOfTree(p, id), "y.txt"), "not committed yet")
	if res, err := p.Resume(t.Context(), id, engine.Follow{}); err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("resumed: %+v, %v", res, err)
	}
	wantClosed(t, p, id, "x.txt y.txt")
}

// TestWorktreeThatCanNotBeClosed stays, and is closed by a resume once it can be.
func TestWorktreeThatCanNotBeClosed(t *testing.T) {
	p := gitProject(t, "pipelines/f.yaml", "name: f\nversion: 1\nstages:\n  - {id: s, run: 'echo x > x.txt; git init -q inner; echo y > inner/y.txt'}\n")
	res, warned := inTree(t, p, "f")
	id := res.Run.Run
	if res.Status != step.RunSucceeded || !strings.Contains(warned, `stays, since it holds what the branch pipe/`+id+` does not: `) {
		t.Fatalf("%s, said %q", res.Status, warned)
	}
	if err := os.RemoveAll(filepath.Join(pathOfTree(p, id), "inner")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resume(t.Context(), id, engine.Follow{}); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, p, id, "x.txt")
}

// TestWorktreeThatCanNotBeMade leaves nothing of the run.
func TestWorktreeThatCanNotBeMade(t *testing.T) {
	p := gitProject(t, "pipelines/f.yaml", "name: f\nversion: 1\nstages:\n  - {id: s, run: 'true'}\n", ".gitattributes", "*.yaml filter=bad\n")
	gitIn(t, p.Root, "config", "filter.bad.smudge", "echo it is broken >&2; false")
	gitIn(t, p.Root, "config", "filter.bad.clean", "cat")
	gitIn(t, p.Root, "config", "filter.bad.required", "true")
	_, err := p.Run(t.Context(), separately(t, p, "f"), engine.RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "it is broken") || strings.Contains(err.Error(), "journal") {
		t.Errorf("run: %v", err)
	}
	if ids, err := p.IDs(); err != nil || len(ids) > 0 {
		t.Errorf("runs are left: %v, %v", ids, err)
	}
	if left, err := os.ReadDir(filepath.Join(p.State, "worktrees")); err != nil || len(left) > 0 {
		t.Errorf("worktrees are left: %v, %v", left, err)
	}
	if refs := gitIn(t, p.Root, "for-each-ref", "refs/heads/pipe"); refs != "" {
		t.Errorf("branches are left: %s", refs)
	}
}

// TestWorktreeWithReports commits no report, wherever it comes from.
func TestWorktreeWithReports(t *testing.T) {
	p := gitProject(t, "pipelines/r.yaml", `
name: r
version: 1
stages:
  - {id: s, run: 'echo x > x.txt'}
  - {id: look, role: review, feedback: {path: look.json, format: items}, run: 'echo "[]" > look.json'}
finally:
  - {id: last, role: review, feedback: {path: out/last.json, format: items}, run: 'mkdir -p out; echo "[]" > out/last.json'}
`)
	res, warned := inTree(t, p, "r")
	if res.Status != step.RunSucceeded || strings.Contains(warned, "stays") {
		t.Fatalf("%s, said %q", res.Status, warned)
	}
	wantClosed(t, p, res.Run.Run, "x.txt")
}
