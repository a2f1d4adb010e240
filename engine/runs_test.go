package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

func TestResumeGoesByWhatWasFrozen(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	write(t, filepath.Join(p.Root, "pipelines/stuck.yaml"), "name: stuck\nversion: 1\nstages:\n  - {id: other, run: 'false'}\n")
	if err := os.Remove(filepath.Join(p.Root, "pipe.yaml")); err != nil {
		t.Fatal(err)
	}
	touch(t, filepath.Join(p.Root, "repaired"))
	p = open(t, p.Root)
	if a, err := p.Answer(t.Context(), id, step.Answer{Kind: step.DecideRetry, By: "ann"}, engine.AnswerOptions{}); err != nil || !a.Accepted {
		t.Fatalf("got %+v, %v", a, err)
	}
	var begun engine.Begun
	res, err := p.Resume(t.Context(), id, engine.Follow{Begun: func(b engine.Begun) { begun = b }})
	if err != nil || res.Status != step.RunSucceeded {
		t.Errorf("got %+v, %v", res, err)
	}
	want := []engine.Change{{File: "pipe.yaml", How: "removed"}, {File: "pipelines/stuck.yaml", How: "changed"}}
	if !slices.Equal(begun.Changes, want) {
		t.Errorf("changes %v, want %v", begun.Changes, want)
	}
	again, err := p.Resume(t.Context(), id, engine.Follow{Begun: func(engine.Begun) { t.Error("a finished run was begun") }})
	if err != nil || again.Status != step.RunSucceeded {
		t.Errorf("of a finished run: got %+v, %v", again, err)
	}
}

func TestResumeRefusesAnotherPlan(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	id := paused(t, p, engine.RunOptions{}).Run.Run
	name := filepath.Join(p.RunDir(id), "frozen", "plan.json")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, strings.Replace(string(b), "rounds.txt", "rounds.TXT", 1))
	if _, err := p.Resume(t.Context(), id, engine.Follow{}); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("got %v", err)
	}
	// The lock is free again.
	lock, err := journal.Acquire(filepath.Join(p.RunDir(id), "lock"), journal.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}

// TestResumeBeforeTheFirstStep resumes a run of which only the journal's header is there.
func TestResumeBeforeTheFirstStep(t *testing.T) {
	p := project(t, "pipelines/two-rounds.yaml", twoRounds)
	ctx, stop := context.WithCancel(t.Context())
	var id string
	_, err := p.Run(ctx, load(t, p, "two-rounds"), engine.RunOptions{Follow: engine.Follow{Begun: func(b engine.Begun) {
		id = b.Run.Run
		stop()
	}}})
	if err == nil {
		t.Fatal("the run was not stopped")
	}
	name := filepath.Join(p.RunDir(id), journal.FileName)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(string(b), "\n")
	write(t, name, header+"\n")
	res, err := p.Resume(t.Context(), id, engine.Follow{})
	if err != nil || res.Status != step.RunSucceeded {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestAJournalThatAStageDeletes(t *testing.T) {
	p := project(t, "pipelines/clean.yaml", "name: clean\nversion: 1\nstages:\n  - {id: s, run: rm -rf .pipe}\n  - {id: later, run: touch later}\n")
	_, err := p.Run(t.Context(), load(t, p, "clean"), engine.RunOptions{})
	if !errors.Is(err, journal.ErrReplaced) || !strings.Contains(err.Error(), "a copy is in") {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(err.Error(), "a copy is in"); n != 1 {
		t.Errorf("it is said %d times: %v", n, err)
	}
	if exists(filepath.Join(p.Root, "later")) {
		t.Error("a stage started after that")
	}
	if !exists(filepath.Join(p.Root, ".pipe/.gitignore")) {
		t.Error("the copy is not hidden from git")
	}
	if list, err := p.Runs(); err != nil || len(list) != 1 || list[0].Status != "damaged" || list[0].Pipeline != "clean" {
		t.Errorf("runs: %+v, %v", list, err)
	}
}

func TestARunInsideAStageSharesTheWorkspace(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck, "pipelines/two-rounds.yaml", twoRounds)
	res := paused(t, p, engine.RunOptions{})
	lock, err := journal.Acquire(filepath.Join(p.Root, ".pipe/workspace.lock"), journal.Holder{Run: res.Run.Run})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := p.Run(t.Context(), load(t, p, "two-rounds"), engine.RunOptions{}); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("from outside: got %v", err)
	}
	inside := open(t, p.Root, "PIPE_RUN_ID="+res.Run.Run)
	if res, _ := run(t, inside, "two-rounds", engine.RunOptions{}); res.Status != step.RunSucceeded {
		t.Errorf("from inside: %s", res.Status)
	}
}

func TestTaskIDs(t *testing.T) {
	p := project(t, "pipelines/stuck.yaml", stuck)
	l := load(t, p, "stuck")
	for _, id := range []string{"a/../../b", "-x", strings.Repeat("x", 101), "a b", ".."} {
		var usage *engine.UsageError
		if _, err := p.Run(t.Context(), l, engine.RunOptions{TaskID: id}); !errors.As(err, &usage) {
			t.Errorf("task id %q: got %v", id, err)
		}
	}
	first := paused(t, p, engine.RunOptions{TaskID: "T-1"})
	if _, err := p.Answer(t.Context(), first.Run.Run, step.Answer{Kind: step.DecideAbort, By: "ann"}, engine.AnswerOptions{}); err != nil {
		t.Fatal(err)
	}
	rounds := func(o engine.RunOptions) (n int, from string) {
		t.Helper()
		if err := os.Remove(filepath.Join(p.Root, "rounds.txt")); err != nil {
			t.Fatal(err)
		}
		o.Begun = func(b engine.Begun) { from = b.From }
		id := paused(t, p, o).Run.Run
		if o.TaskID == "T-1" { // what ended has its say in the next run of the task
			if _, err := p.Answer(t.Context(), id, step.Answer{Kind: step.DecideAbort, By: "ann"}, engine.AnswerOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(filepath.Join(p.Root, "rounds.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n"), from
	}
	if n, from := rounds(engine.RunOptions{TaskID: "T-1"}); n != 1 || from != first.Run.Run {
		t.Errorf("the task goes on: %d rounds from %q, want 1 from %q", n, from, first.Run.Run)
	}
	if n, from := rounds(engine.RunOptions{TaskID: "T-1", Fresh: true}); n != 2 || from != "" {
		t.Errorf("fresh: %d rounds from %q", n, from)
	}
	if n, from := rounds(engine.RunOptions{TaskID: "T-2"}); n != 2 || from != "" {
		t.Errorf("another task: %d rounds from %q", n, from)
	}
	// The last run of T-2 is paused: another one would count the same loops. T-1 is told which and what to do.
	last, err := p.Find(engine.LastRun)
	if err != nil {
		t.Fatal(err)
	}
	var usage *engine.UsageError
	_, err = p.Run(t.Context(), l, engine.RunOptions{TaskID: "T-2", Fresh: true})
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), last+", which has not ended (paused)") || !strings.Contains(err.Error(), "pipe cancel "+last) {
		t.Errorf("a second open run of the task: got %v", err)
	}
	// A live run of the same task, in another workspace with the same state.
	lock, err := journal.Acquire(filepath.Join(p.RunDir(last), "lock"), journal.Holder{Run: last})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := p.Run(t.Context(), l, engine.RunOptions{TaskID: "T-2"}); !errors.Is(err, journal.ErrHeld) {
		t.Errorf("a second live run of the task: got %v", err)
	}
}

func TestFind(t *testing.T) {
	p := project(t, "pipelines/two-rounds.yaml", twoRounds)
	var missing *engine.NotFoundError
	for _, ref := range []string{"last", "01", ""} {
		if _, err := p.Find(ref); !errors.As(err, &missing) {
			t.Errorf("find %q: got %v", ref, err)
		}
	}
	if list, err := p.Runs(); err != nil || len(list) != 0 {
		t.Errorf("runs %v, %v", list, err)
	}
	a, _ := run(t, p, "two-rounds", engine.RunOptions{})
	b, _ := run(t, p, "two-rounds", engine.RunOptions{})
	for ref, want := range map[string]string{
		"last": b.Run.Run, a.Run.Run: a.Run.Run, strings.ToLower(b.Run.Run[:25]): b.Run.Run,
	} {
		if got, err := p.Find(ref); err != nil || got != want {
			t.Errorf("find %q: got %q, %v, want %q", ref, got, err, want)
		}
	}
	var usage *engine.UsageError
	if _, err := p.Find(a.Run.Run[:4]); !errors.As(err, &usage) {
		t.Errorf("an ambiguous beginning: got %v", err)
	}
	list, err := p.Runs()
	if err != nil || len(list) != 2 || list[0].ID != b.Run.Run || list[0].Status != "succeeded" || list[0].FinishedAt == nil {
		t.Errorf("runs %+v, %v", list, err)
	}
}

func TestLoad(t *testing.T) {
	const good, bad = "name: good\nversion: 1\nstages:\n  - {id: s, agent: x, prompt_file: prompts/p.md}\n", "name: bad\nversion: 1\nstages:\n  - {id: s, runs: x}\n"
	p := project(t, "pipelines/good.yaml", good, "pipelines/prompts/p.md", "do it", ".pipe/pipelines/bad.yaml", bad,
		"pipe.yaml", "agents: {x: {command: [cat]}}\n", "elsewhere/good.yaml", "name: good\nversion: 1\nstages:\n  - {id: s, run: 'true'}\n")
	shipped := fstest.MapFS{"bug-fix.yaml": {Data: []byte("name: bug-fix\nversion: 1\nstages:\n  - {id: s, agent: y, prompt_file: prompts/fix.md}\n")},
		"prompts/fix.md": {Data: []byte("fix it")}, "good.yaml": {Data: []byte(bad)}}
	p, err := engine.OpenProject(filepath.Join(p.Root, "pipelines"), engine.Options{Shipped: shipped})
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, p, "good")
	if l.File != "pipelines/good.yaml" || l.Plan.Graph.Nodes[0].Prompt == nil || len(l.Sources) != 3 {
		t.Errorf("good: %+v", l)
	}
	if l, err := p.Load("elsewhere/good.yaml", ""); err != nil || l.File != "elsewhere/good.yaml" || l.Diags.HasErrors() {
		t.Errorf("by path: %+v, %v", l, err)
	}
	if l, err := p.Load("good.yaml", filepath.Join(p.Root, "elsewhere")); err != nil || l.File != "elsewhere/good.yaml" {
		t.Errorf("by path from a folder: %+v, %v", l, err)
	}
	l, err = p.Load("bad", "")
	if err != nil || !l.Diags.HasErrors() || l.Plan != nil {
		t.Errorf("bad: %+v, %v", l, err)
	}
	var usage *engine.UsageError
	if _, err := p.Run(t.Context(), l, engine.RunOptions{}); !errors.As(err, &usage) {
		t.Errorf("a pipeline with errors ran: %v", err)
	}
	if l, err := p.Load("bug-fix", ""); err != nil || !l.Shipped || l.File != "shipped/bug-fix.yaml" {
		t.Errorf("shipped: %+v, %v", l, err)
	}
	_, err = p.Load("god", "")
	var missing *engine.NotFoundError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), `did you mean "good"?`) {
		t.Errorf("got %v", err)
	}
	list, err := p.Pipelines()
	want := []engine.Entry{{Name: "bad", File: ".pipe/pipelines/bad.yaml"}, {Name: "bug-fix", File: "shipped/bug-fix.yaml", Shipped: true}, {Name: "good", File: "pipelines/good.yaml"}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("pipelines %v, %v", list, err)
	}
}

func TestReplayReportsWhatIsDecidedOtherwise(t *testing.T) {
	p := project(t, "pipelines/two-rounds.yaml", twoRounds)
	res, _ := run(t, p, "two-rounds", engine.RunOptions{})
	dir := p.RunDir(res.Run.Run)
	if report, err := p.Replay(res.Run.Run); err != nil || report.Steps < 5 || len(report.Differences) != 0 {
		t.Fatalf("got %+v, %v", report, err)
	}
	// The same run by another hand: its second brief reads otherwise.
	var lines []journal.Line
	log, err := journal.Read(dir, func(l journal.Line) error {
		for i, r := range l.Records {
			if s, ok := r.(step.StageStarted); ok && s.Brief != "" {
				s.Brief = "in other words"
				l.Records[i] = s
			}
		}
		lines = append(lines, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, journal.FileName)); err != nil {
		t.Fatal(err)
	}
	w, err := journal.Create(dir, log.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := w.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	report, err := p.Replay(res.Run.Run)
	if err != nil || len(report.Differences) != 1 || !strings.Contains(report.Differences[0].Recorded, "in other words") {
		t.Errorf("got %+v, %v", report, err)
	}
	if again, err := p.Resume(t.Context(), res.Run.Run, engine.Follow{}); err != nil || again.Status != step.RunSucceeded {
		t.Errorf("resume: got %+v, %v", again, err)
	}
}

func TestInputs(t *testing.T) {
	p := project(t, "pipelines/p.yaml", `
name: p
version: 1
inputs:
  n: {type: integer}
  w: {type: string, default: x}
stages:
  - {id: s, run: 'echo "$N" > n.txt', env: {N: "${{ inputs.n }}${{ inputs.w }}"}}
`)
	l := load(t, p, "p")
	given := func(fields ...value.Field) engine.RunOptions {
		return engine.RunOptions{Inputs: value.NewObject(fields...)}
	}
	for what, o := range map[string]engine.RunOptions{
		`input "n" (integer) is required`:       {},
		`input n: want integer, got string "1"`: given(value.Field{Name: "n", Value: "1"}),
		`the pipeline has no input "m"`:         given(value.Field{Name: "n", Value: int64(1)}, value.Field{Name: "m", Value: "1"}),
	} {
		var usage *engine.UsageError
		if _, err := p.Run(t.Context(), l, o); !errors.As(err, &usage) || err.Error() != what {
			t.Errorf("got %v, want %s", err, what)
		}
	}
	if ids, err := p.IDs(); err != nil || len(ids) != 0 {
		t.Errorf("refused runs left %v, %v", ids, err)
	}
	if res, log := run(t, p, "p", given(value.Field{Name: "n", Value: int64(4)})); res.Status != step.RunSucceeded {
		t.Fatalf("%s\n%s", res.Status, log)
	}
	if b, err := os.ReadFile(filepath.Join(p.Root, "n.txt")); err != nil || string(b) != "4x\n" {
		t.Errorf("n.txt %q, %v", b, err)
	}
}

// TestResumeClearsWhatAKilledProcessLeft finds, in the store of trees, what was in the making.
func TestResumeClearsWhatAKilledProcessLeft(t *testing.T) {
	p := project(t, "pipelines/waits.yaml", waits)
	res, err := p.Run(t.Context(), load(t, p, "waits"), engine.RunOptions{})
	if err != nil || res.Status != step.RunIsWaiting {
		t.Fatalf("the run is %s, %v", res.Status, err)
	}
	half := filepath.Join(p.RunDir(res.Run.Run), "trees", "reading-1")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resume(t.Context(), res.Run.Run, engine.Follow{}); err != nil {
		t.Fatal(err)
	}
	if exists(half) {
		t.Error("it is still there")
	}
}
