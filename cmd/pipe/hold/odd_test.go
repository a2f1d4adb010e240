//go:build linux

package hold

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// git runs git in the project.
func (p *place) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestOddFileNames has a review name files with names that few would choose; the tree sees them, the brief
// shows them on one line, and an approval given for the tree holds.
func TestOddFileNames(t *testing.T) {
	t.Parallel()
	for _, repo := range []bool{true, false} {
		t.Run(fmt.Sprint("git ", repo), func(t *testing.T) {
			t.Parallel()
			p := newRun(t, `
stages:
  - id: implement
    run: |
      cp "$PIPE_BRIEF" ../brief
      mkdir -p 'ein Ordner/ümläut'
      for f in 'a b.txt' "new
      line.txt" 'ein Ordner/ümläut/größe.txt' '-rf' 'tab	tab' 'q"uote' "it's" '*' '**bold**' '日本'; do
        echo "$PIPE_ITERATION" > "./$f"
      done
  - id: review
    run: |
      if [ "$PIPE_ITERATION" = 2 ]; then echo '[]' > "$PIPE_FEEDBACK"; exit; fi
      cat > "$PIPE_FEEDBACK" <<'END'
      [{"severity":"blocking","file":"a b.txt","line":1,"description":"space"},
       {"severity":"blocking","file":"new\nline.txt","line":1,"description":"line feed"},
       {"severity":"blocking","file":"ein Ordner/ümläut/größe.txt","line":1,"description":"umlaut"},
       {"severity":"blocking","file":"-rf","line":1,"description":"dash"},
       {"severity":"blocking","file":"**bold**","line":1,"description":"stars"}]
      END
    feedback_loop: {target_stage: implement, max_iterations: 3}
  - {id: ship, run: "true", requires_approval: true}
`)
			if repo {
				p.git("init", "-q")
				p.git("add", ".")
				p.git("commit", "-qm", "first")
			}
			p.want(4, "run", "p")
			brief := p.read("../brief")
			for _, want := range []string{"**a b.txt:1** - space", "**ein Ordner/ümläut/größe.txt:1** - umlaut", "**(no file)** - line feed", "**-rf:1** - dash"} {
				if !strings.Contains(brief, want) {
					t.Errorf("%q is not in the brief:\n%s", want, brief)
				}
			}
			if n := strings.Count(brief, "\n5. "); n != 1 {
				t.Errorf("the brief does not hold five items, one a line:\n%s", brief)
			}
			p.want(0, "approve", "last", "--resume")
			p.leavesNothing()
		})
	}
}

// TestOddScripts runs what people write: line ends of another system, empty prompts, folders that change, a
// pipeline named by its path from a folder below.
func TestOddScripts(t *testing.T) {
	t.Parallel()
	p := newPlace(t,
		"pipelines/crlf.yaml", "name: crlf\r\nversion: 1\r\nstages:\r\n  - id: a\r\n    run: |\r\n      if true; then\r\n        echo \"x=1\" > \"$PIPE_OUTPUT\"\r\n      fi\r\n    outputs: {x: integer}\r\n",
		"some/ü folder/deep er.yaml", "name: deep\nversion: 1\nstages: [{id: a, run: 'cd /; echo \"x=$PIPE_WORKSPACE\" > \"$PIPE_OUTPUT\"', outputs: {x: string}}, {id: b, run: pwd}]\noutputs: {x: \"${{ stages.a.outputs.x }}\"}\n",
		"pipelines/empty.yaml", "name: empty\nversion: 1\nstages: [{id: a, agent: cat, prompt: \"\"}]\n",
		"pipelines/spaces.yaml", "name: spaces\nversion: 1\ninputs: {x: {type: string, default: \"\"}}\nstages: [{id: a, agent: cat, prompt: \"${{ inputs.x }}\"}]\n",
		"pipe.yaml", "agents: {cat: {command: [cat]}}\n")
	p.says(p.want(0, "run", "crlf"), "a succeeded")
	if got := p.show().Stages[0].Outputs["x"]; got != 1.0 {
		t.Errorf("the output is %v", got)
	}
	p.says(p.want(0, "run", "some/ü folder/deep er.yaml"), fmt.Sprintf("output x=%q", p.dir))
	p.says(p.want(0, "logs", "last", "b"), p.dir)
	below := p.cmd("run", "./deep er.yaml")
	below.Dir = p.path("some/ü folder")
	if out, err := below.CombinedOutput(); err != nil || !strings.Contains(string(out), fmt.Sprintf("output x=%q", p.dir)) {
		t.Errorf("from a folder below: %v\n%s", err, out)
	}
	p.says(p.want(1, "check", "empty"), "prompt")
	p.says(p.want(0, "run", "spaces"), "a succeeded")
	p.leavesNothing()
}

// TestCleanedAway has stages remove what is not theirs: with the journal gone, the run stops with status 3
// and leaves a copy; the other files of a run are made anew or missed by nobody.
func TestCleanedAway(t *testing.T) {
	t.Parallel()
	p := newRun(t, `
stages:
  - {id: one, run: "true"}
  - {id: clean, run: "git clean -qfdx"}
  - {id: never, run: "touch ../never"}
`)
	p.git("init", "-q")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	r := p.want(3, "run", "p")
	p.says(r, "events.jsonl", "copy")
	if p.exists("../never") {
		t.Error("a stage ran after the journal was gone")
	}
	_, rest, _ := strings.Cut(r.err, `a copy is in "`)
	copied, _, _ := strings.Cut(rest, `"`)
	b, err := os.ReadFile(copied)
	if err != nil || !strings.Contains(string(b), `"stage":"one"`) {
		t.Errorf("the copy %q: %v\n%s\n%s", copied, err, b, r)
	}
	p.says(p.pipe("resume", "last"), "frozen")
	p.leavesNothing()

	partly := newRun(t, `
stages:
  - {id: one, run: "true"}
  - id: clean
    run: |
      d=$(dirname "$PIPE_SESSION")
      rm -rf "$d/run.json" "$d/status.json" "$d/feedback.log" "$d/session.current" "$d/inbox" "$d/stages/one"
  - {id: last, run: "true"}
`)
	partly.want(0, "run", "p")
	partly.want(0, "show", "last", "--json")
	partly.want(0, "ps")
	partly.want(0, "logs", "last")
	partly.leavesNothing()
}

// TestUnreadablePlaces runs where nothing can be written, and where a folder can't be entered.
func TestUnreadablePlaces(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true"}]`)
	p.write(".pipe/runs", "this is a file")
	p.says(p.want(3, "run", "p"), ".pipe/runs")
	if err := os.Remove(p.path(".pipe/runs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.path("../elsewhere"), p.path(".pipe/runs")); err != nil {
		t.Fatal(err)
	}
	p.says(p.want(3, "run", "p"), ".pipe/runs")
	if p.exists("../elsewhere") {
		t.Error("a folder outside was made")
	}
}

// TestManyRunsAtOnce runs ten workspaces at once.
func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	var all []*started
	for range 10 {
		p := newRun(t, `
outputs: {id: "${{ stages.a.outputs.id }}"}
stages:
  - {id: a, run: 'echo "id=$PIPE_RUN_ID" > "$PIPE_OUTPUT"; sleep 600 & echo $PIPE_RUN_ID > mine', outputs: {id: string}}
  - {id: b, run: '[ "$(cat mine)" = "$PIPE_RUN_ID" ]'}
`)
		all = append(all, p.start("run", "p"))
	}
	for _, run := range all {
		r := run.end()
		if r.status != 0 {
			t.Error(r)
		}
		run.says(r, fmt.Sprintf("output id=%q", run.last()))
		run.leavesNothing()
	}
}

// TestFilesAreNobodyElses wants what a run holds to be its user's alone.
func TestFilesAreNobodyElses(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "echo secret"}]`)
	p.want(0, "run", "p")
	for _, name := range []string{"", "events.jsonl", "run.json", "stages/a/1.1", "stages/a/1.1/stdout.log", "frozen"} {
		info, err := os.Stat(p.inRun(name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q of a run may be used by others: %v", name, info.Mode())
		}
	}
}

// TestStrayAnswers puts files into the inbox that are no answers: they are moved aside, and said, and the
// run goes on.
func TestStrayAnswers(t *testing.T) {
	t.Parallel()
	p := newRun(t, `stages: [{id: a, run: "true", requires_approval: true}]`)
	p.want(4, "run", "p")
	inbox := ".pipe/runs/" + p.last() + "/inbox/"
	p.write(inbox+"01M8QD3VHBY8T2FYX5DRBT8JP1.json", "{}")
	p.write(inbox+"notes.json", `{"type":"answer"}`)
	p.write("../target", `{"v":1}`)
	if err := os.Symlink(p.path("../target"), p.path(inbox+"01M8QD3VHBY8T2FYX5DRBT8JP2.json")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.path(inbox+"01M8QD3VHBY8T2FYX5DRBT8JP3.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.want(4, "resume", "last")
	if n := strings.Count(r.err, "is moved aside"); n != 4 {
		t.Errorf("%d files were moved aside, want 4:\n%s", n, r)
	}
	p.want(0, "approve", "last", "--resume")
}

// TestMeddling has a stage write to the journal of its own run, in its place: nothing more starts, and the
// damage is said.
func TestMeddling(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"cut": `: > "$journal"`, "longer": `echo garbage >> "$journal"`, "replaced": `cp "$journal" "$journal.new"; mv "$journal.new" "$journal"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRun(t, fmt.Sprintf(`
stages:
  - {id: one, run: "true"}
  - id: meddle
    run: |
      journal=$(dirname "$PIPE_SESSION")/events.jsonl
      %s
  - {id: never, run: "touch ../never"}
`, script))
			p.says(p.want(3, "run", "p"), "events.jsonl")
			if p.exists("../never") {
				t.Error("a stage ran whose start nobody could read")
			}
			if pids := carriers(t, p.last()); len(pids) > 0 {
				t.Errorf("processes %v are left", pids)
			}
		})
	}
}

// TestLongNames runs what has the longest names that are allowed; longer ones are a mistake of the author.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 79)
	text := fmt.Sprintf("name: %[1]sp\nversion: 1\n"+`
stages:
  - {id: %[1]sa, run: 'date +%%N > change'}
  - id: %[1]sb
    run: |
      echo '[]' > "$PIPE_FEEDBACK"
      if [ "$PIPE_ITERATION" = 1 ]; then echo '[{"severity":"blocking","description":"again"}]' > "$PIPE_FEEDBACK"; fi
    feedback_loop: {target_stage: %[1]sa}
`, long)
	p := newPlace(t, "long.yaml", text, "longer.yaml", strings.ReplaceAll(text, long, long+"y"))
	p.want(0, "run", "./long.yaml")
	p.want(0, "run", "./long.yaml", "--task-id", strings.Repeat("T", 100))
	p.want(0, "show", "last")
	p.says(p.want(1, "run", "./longer.yaml"), "must have at most 80 characters")
	p.leavesNothing()
}
