package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/stages/agent"
	"example.com/pipe/stages/command"
)

// starter is one for all tests: a process has one.
var starter *proc.Starter

func TestMain(m *testing.M) {
	if err := proc.Subreaper(); err != nil {
		panic(err)
	}
	starter = proc.NewStarter()
	code := m.Run()
	starter.Close()
	os.Exit(code)
}

// project makes a project of files ("name: text") with real stage kinds.
func project(t *testing.T, files ...string) *engine.Project {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(root, files[i]), files[i+1])
	}
	if _, err := os.Stat(filepath.Join(root, "pipe.yaml")); err != nil {
		write(t, filepath.Join(root, "pipe.yaml"), "")
	}
	return open(t, root)
}

func open(t *testing.T, root string, env ...string) *engine.Project {
	t.Helper()
	p, err := engine.OpenProject(root, engine.Options{
		Kinds:   []stage.Kind{command.New(starter), agent.New(starter)},
		Environ: append(os.Environ(), env...), Version: "test", Command: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, p *engine.Project, name string) *engine.Loaded {
	t.Helper()
	l, err := p.Load(name, "")
	if err != nil {
		t.Fatal(err)
	}
	if l.Diags.HasErrors() {
		t.Fatalf("%s", l.Diags.Text(l.Sources...))
	}
	return l
}

// run runs a pipeline and returns where it stands, with its records as text, one a line.
func run(t *testing.T, p *engine.Project, name string, o engine.RunOptions) (engine.Result, string) {
	t.Helper()
	var b strings.Builder
	o.Observe = func(_ int64, _ step.Instant, rs []step.Record) { b.WriteString(recordsText(t, rs)) }
	res, err := p.Run(t.Context(), load(t, p, name), o)
	if err != nil {
		t.Fatalf("run: %v\n%s", err, b.String())
	}
	return res, b.String()
}

func recordsText(t *testing.T, rs []step.Record) string {
	t.Helper()
	var b strings.Builder
	for _, r := range rs {
		text, err := step.MarshalRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

const twoRounds = `
name: two-rounds
version: 1
inputs:
  word: {type: string, default: good}
outputs: {said: "${{ stages.fix.outputs.said }}"}
stages:
  - id: fix
    role: implementation
    run: |
      echo "$WORD$PIPE_ITERATION" > state.txt
      echo "said=$WORD$PIPE_ITERATION" >> "$PIPE_OUTPUT"
      cat "$PIPE_BRIEF" > brief-$PIPE_ITERATION.md
    env: {WORD: "${{ inputs.word }}"}
    outputs: {said: string}
  - id: review
    role: review
    feedback_loop: {target_stage: fix}
    run: |
      if grep -q 2 state.txt; then echo '[]' > "$PIPE_FEEDBACK"; else
      echo '[{"severity":"blocking","file":"state.txt","line":1,"description":"it says one"}]' > "$PIPE_FEEDBACK"; fi
`

func TestRunToTheEndInTwoRounds(t *testing.T) {
	p := project(t, "pipelines/two-rounds.yaml", twoRounds)
	res, log := run(t, p, "two-rounds", engine.RunOptions{})
	if res.Status != step.RunSucceeded {
		t.Fatalf("status %s\n%s", res.Status, log)
	}
	brief, err := os.ReadFile(filepath.Join(p.Root, "brief-2.md"))
	if err != nil || !strings.Contains(string(brief), "**state.txt:1** - it says one") {
		t.Errorf("brief of round 2: %v\n%s", err, brief)
	}
	if b, _ := os.ReadFile(filepath.Join(p.Root, "brief-1.md")); len(b) != 0 {
		t.Errorf("the brief of round 1 is not empty: %s", b)
	}
	v, err := p.View(res.Run.Run)
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := v.Outputs().Get("said"); said != "good2" {
		t.Errorf("outputs %v", v.Outputs())
	}
	held, err := journal.Acquire(filepath.Join(p.Root, ".pipe", "workspace.lock"), journal.Holder{})
	if err != nil {
		t.Fatalf("the workspace is still held: %v", err)
	}
	held.Release()
}
