package live

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	runID = "01M8QFSX3VD9HRPCK7KWFZXPG4"
	start = step.Instant(1_764_547_200_000)
)

// second is the moment so many seconds after the run began.
func second(n int) step.Instant { return start + step.Instant(n)*1000 }

// feature is a pipeline with three reviews side by side.
func feature() *plan.Plan {
	loop := &plan.Loop{Target: 1, MaxIterations: 3}
	return &plan.Plan{Name: "full-feature", Graph: plan.Graph{Nodes: []plan.Node{
		{ID: "plan"}, {ID: "implement", Needs: []int{0}},
		{ID: "security_verify", Needs: []int{1}, Loop: loop}, {ID: "observability_check", Needs: []int{1}, Loop: loop},
		{ID: "quality_review", Needs: []int{1}, Loop: loop}, {ID: "publish", Needs: []int{2, 3, 4}},
	}}}
}

// play gives the view of a run after records, one a second.
func play(p *plan.Plan, recs ...step.Record) (*view.Run, step.Instant) {
	v := view.New(p)
	v.SetHeld(true)
	v.Apply(start, step.RunStarted{Run: step.RunInfo{Run: runID, Pipeline: p.Name, TaskID: "task-1", Jobs: 4}})
	for i, rec := range recs {
		v.Apply(second(i+1), rec)
	}
	return v, second(len(recs) + 1)
}

func began(path string, iteration, at int) step.Record {
	return step.StageStarted{Stage: path, Iteration: iteration, Attempt: 1, Effect: "e", At: second(at)}
}

func done(path string, iteration int, ms int64) step.Record {
	return step.StageSucceeded{Stage: path, Iteration: iteration, Attempt: 1, Effect: "e", DurationMS: ms}
}

// roundTwo is the feature in its second round: three reviews run.
func roundTwo() []step.Record {
	item := feedback.Item{ID: "quality_review.1", Severity: feedback.Blocking, Status: feedback.Open,
		File: "main.go", Line: 12, Description: "the error is dropped", Sources: []string{"quality_review"}}
	return []step.Record{
		began("plan", 1, 0), done("plan", 1, 64_000), began("implement", 1, 2), done("implement", 1, 312_400),
		began("quality_review", 1, 4), step.ItemOpened{Item: item}, done("quality_review", 1, 41_000),
		step.FeedbackRouted{Source: "quality_review", Target: "implement", Action: feedback.ReImplement, Iteration: 2, MaxIterations: 3},
		began("implement", 2, 8), done("implement", 2, 100_900),
		began("security_verify", 2, 10), began("observability_check", 2, 11), began("quality_review", 2, 12),
	}
}

// escalation is a loop at its cap.
func escalation() step.Record {
	var items []feedback.Item
	for i := range 4 {
		items = append(items, feedback.Item{ID: fmt.Sprintf("quality_review.%d", i+1), Severity: feedback.Blocking,
			Status: feedback.Open, File: "main.go", Line: 10 + i, Sources: []string{"quality_review"},
			Description: "the error of the write is dropped, so that a full disk goes unseen by whoever called it"})
	}
	return step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", TaskID: "task-1", Sources: []string{"quality_review"},
		Target: "implement", Reason: feedback.ReasonIterationCap, Iterations: 3, Max: 3, Blocking: items}}
}

// scene is one thing that the region shows.
type scene struct {
	name          string
	width, height int
	frame         Frame
}

func scenes() []scene {
	var list []scene
	add := func(name string, width, height int, p *plan.Plan, tails map[string][]string, recs ...step.Record) {
		v, now := play(p, recs...)
		list = append(list, scene{name, width, height, FrameOf(v, now, func(s view.StageState) []string { return tails[s.Path] })})
	}
	tails := map[string][]string{
		"security_verify": {"reading go.mod", "reading main.go"},
		"quality_review": {"\x1b[1mReview\x1b[0m of \x1b]0;title\x07the diff", "  1%\r 50%\r100%", "", "日本語のログ 👩‍💻 done",
			strings.Repeat("long ", 100), "a\tb"},
	}
	add("round-two-80x24", 80, 24, feature(), tails, roundTwo()...)
	add("round-two-200x50", 200, 50, feature(), tails, roundTwo()...)
	add("round-two-40x20", 40, 20, feature(), tails, roundTwo()...)
	approval := []step.Record{began("plan", 1, 0), done("plan", 1, 64_000), began("implement", 1, 2),
		step.ApprovalAsked{Stage: "publish", Iteration: 1, Message: "publish v1.2?\nit goes to everybody"}}
	add("approval-beside-80x24", 80, 24, feature(), nil, approval...)
	add("approval-40x20", 40, 20, feature(), nil, append(approval, done("implement", 1, 3), step.RunWaiting{Reason: "approval"})...)
	approval[3] = step.ApprovalAsked{Stage: "publish", Iteration: 1, Message: strings.Repeat("say yes only when all of it was read, ", 12) +
		strings.Repeat("x", 100) + " end"}
	add("approval-long-80x40", 80, 40, feature(), nil, approval...)
	add("approval-long-80x14", 80, 14, feature(), nil, approval...)
	paused := append(roundTwo(), done("security_verify", 2, 7_000), done("observability_check", 2, 8_000), done("quality_review", 2, 9_000),
		escalation(), step.RunPaused{Reason: feedback.ReasonIterationCap})
	add("escalation-80x24", 80, 24, feature(), nil, paused...)
	add("escalation-80x12", 80, 12, feature(), nil, paused...)
	list = append(list, manyStages(), wideNames(), instances(), verified(false), verified(true))
	return list
}

// manyStages is a run of 40 stages in the middle.
func manyStages() scene {
	p := &plan.Plan{Name: "nightly"}
	var recs []step.Record
	tails := map[string][]string{}
	for i := range 40 {
		id := fmt.Sprintf("step_%02d", i+1)
		p.Graph.Nodes = append(p.Graph.Nodes, plan.Node{ID: id})
		switch {
		case i == 5:
			code := 2
			recs = append(recs, began(id, 1, i), step.StageFailed{Stage: id, Iteration: 1, Attempt: 1, Effect: "e",
				Class: "exit", ExitCode: &code, Message: "the tests of the parser failed", DurationMS: 1200})
		case i < 24:
			recs = append(recs, began(id, 1, i), done(id, 1, 1200))
		case i < 28:
			recs = append(recs, began(id, 1, i))
			tails[id] = []string{"one", "two", "three", "four", "five", "six"}
		}
	}
	v, now := play(p, recs...)
	return scene{"many-stages-80x24", 80, 24, FrameOf(v, now, func(s view.StageState) []string { return tails[s.Path] })}
}

// wideNames has names and words of characters that take two columns.
func wideNames() scene {
	p := &plan.Plan{Name: "リリース", Graph: plan.Graph{Nodes: []plan.Node{{ID: "文書を書く段階の名前はとても長いです"}, {ID: "👩‍💻"}, {ID: "x"}}}}
	v, now := play(p, began("文書を書く段階の名前はとても長いです", 1, 0), began("👩‍💻", 1, 1),
		step.RetryScheduled{Stage: "👩‍💻", Iteration: 1, Attempt: 2, Class: "exit", Message: strings.Repeat("失敗", 60)})
	return scene{"wide-characters-60x24", 60, 24, FrameOf(v, now, func(view.StageState) []string {
		return []string{strings.Repeat("進捗👍", 40)}
	})}
}

// instances has stages within stages.
func instances() scene {
	body := &plan.Graph{Nodes: []plan.Node{{ID: "build"}, {ID: "test"}}}
	p := &plan.Plan{Name: "all", Graph: plan.Graph{Nodes: []plan.Node{
		{ID: "each", ForEach: &plan.ForEach{}, Body: body}, {ID: "child", Body: body}, {ID: "last"},
	}}}
	v, now := play(p, step.StageStarted{Stage: "each", Iteration: 1, Attempt: 1, At: second(0), Composite: true},
		step.StageStarted{Stage: "each[0]", Iteration: 1, Attempt: 1, At: second(0), Composite: true},
		step.StageStarted{Stage: "each[1]", Iteration: 1, Attempt: 1, At: second(0), Composite: true},
		began("each[0]/build", 1, 1), began("each[1]/build", 1, 1), done("each[0]/build", 1, 900), began("each[0]/test", 1, 3))
	return scene{"instances-80x24", 80, 24, FrameOf(v, now, func(view.StageState) []string { return []string{"compiling"} })}
}

// verified has a stage with what verifies it, in its second round; or the same while what the stage did is undone.
func verified(undone bool) scene {
	p := &plan.Plan{Name: "fix", Graph: plan.Graph{Nodes: []plan.Node{{ID: "implement"},
		{ID: "implement/verifiers", Needs: []int{0}, Loop: &plan.Loop{Self: true, MaxIterations: 3}}, {ID: "ship", Needs: []int{0, 1}}}}}
	recs := []step.Record{began("implement", 1, 0), done("implement", 1, 900), began("implement/verifiers", 1, 2), done("implement/verifiers", 1, 400),
		step.FeedbackRouted{Source: "implement/verifiers", Target: "implement", Action: feedback.ReImplement, Iteration: 2, MaxIterations: 3},
		began("implement", 2, 5), done("implement", 2, 800), began("implement/verifiers", 2, 7)}
	name := "verified-80x24"
	if undone {
		name = "undone-80x24"
		recs = append(recs, step.RunCancelling{By: "ann", Reason: "cancelled", Rollback: true}, step.StageCancelled{Stage: "implement/verifiers"},
			step.RollbackStarted{Effect: "e9", Stage: "implement", Strategy: "file_restore"})
	}
	v, now := play(p, recs...)
	return scene{name, 80, 24, FrameOf(v, now, func(view.StageState) []string { return []string{"ok  ./parser"} })}
}

// TestRegion compares what is drawn with testdata/*.golden.
func TestRegion(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			lines := s.frame.region(s.width, s.height, newLook())
			checkRegion(t, lines, s.width, s.height)
			for i, l := range lines {
				lines[i] = strings.TrimRight(ansi.Strip(l), " ")
			}
			got := strings.Join(lines, "\n") + "\n"
			path := filepath.Join("testdata", s.name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what is drawn (-update writes it anew):\n%s", path, got)
			}
		})
	}
}

type failer interface{ Fatalf(string, ...any) }

// checkRegion holds what is true of every region: it has its place, and nothing in it but its own styles is
// anything that a terminal obeys.
func checkRegion(t failer, lines []string, width, height int) {
	if len(lines) > maxRows(height) {
		t.Fatalf("%d lines on a terminal of %d", len(lines), height)
	}
	for _, l := range lines {
		if cells(l) > width {
			t.Fatalf("a line of %d columns on a terminal of %d: %q", cells(l), width, l)
		}
		rest := l
		for {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				break
			}
			end := strings.IndexByte(rest[i:], 'm')
			if end < 0 || strings.Trim(rest[i+1:i+end], "[0123456789;") != "" {
				t.Fatalf("what is no style: %q", l)
			}
			rest = rest[:i] + rest[i+end+1:]
		}
		if strings.ContainsFunc(rest, unicode.IsControl) {
			t.Fatalf("a control character: %q", l)
		}
	}
}

// TestAnyRegion draws anything at any size.
func TestAnyRegion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\x1b[31m\r\n\t\x07]日👩\u200d💻\u0301ab "))))
		f := Frame{Pipeline: text.Draw(t, "pipeline"), Run: runID, Status: "running", Now: second(9), Started: start, Tails: map[string][]string{}}
		for i := range rapid.IntRange(0, 60).Draw(t, "stages") {
			s := view.StageState{Path: fmt.Sprintf("s%d/%s", i, view.OneLine(text.Draw(t, "path"))), Iteration: 1, Took: 5,
				Status:  step.StageStatus(rapid.IntRange(0, int(step.Stale)).Draw(t, "status")),
				Attempt: rapid.IntRange(0, 2).Draw(t, "attempt"), Asked: rapid.Bool().Draw(t, "asked"),
				OpenItems: rapid.IntRange(0, 2).Draw(t, "items"), Trouble: view.OneLine(text.Draw(t, "trouble"))}
			f.Stages = append(f.Stages, s)
			f.Tails[s.Path] = rapid.SliceOfN(text, 0, 9).Draw(t, "tail")
		}
		for range rapid.IntRange(0, 3).Draw(t, "questions") {
			f.Questions = append(f.Questions, view.Ask{What: view.OneLine(text.Draw(t, "what")),
				Text: rapid.SliceOfN(text, 0, 30).Draw(t, "text"), Commands: []string{"pipe approve " + runID + " publish", "pipe reject " + runID + " publish --reason TEXT"}})
		}
		width, height := rapid.IntRange(1, 220).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		checkRegion(t, f.region(width, height, newLook()), width, height)
	})
}

// TestCommandsStayWhole pastes what the region shows of a command that is longer than a line.
func TestCommandsStayWhole(t *testing.T) {
	v, now := play(feature(), append(roundTwo(), escalation())...)
	f := FrameOf(v, now, nil)
	text := ansi.Strip(strings.Join(f.region(60, 50, newLook()), "\n"))
	pasted := strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
	for _, c := range v.Commands() {
		if !strings.Contains(pasted, c) {
			t.Errorf("the region does not show %q:\n%s", c, text)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 10, []string{" "}},
		{"abc", 3, []string{"abc"}},
		{"abcdefg", 3, []string{"abc", "def", "g"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"a\tb", 20, []string{"a    b"}},
	} {
		if got := cut(c.line, c.width); strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("cut(%q, %d) = %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

// TestAnyCut breaks lines as they are written to a terminal: safe ones. Nothing is lost, and no row is too wide.
func TestAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("日👩\u200d💻\u0301\u0600ab "))))
		line := strings.NewReplacer("\n", " ", "\t", " ").Replace(view.Escape(text.Draw(t, "line")))
		width := rapid.IntRange(8, 40).Draw(t, "width")
		rows := cut(line, width)
		if got := strings.Join(rows, ""); got != line && line != "" {
			t.Fatalf("cut(%q, %d) = %q", line, width, rows)
		}
		for _, r := range rows {
			if cells(r) > width {
				t.Fatalf("cut(%q, %d) has a row of %d columns: %q", line, width, cells(r), r)
			}
		}
	})
}
