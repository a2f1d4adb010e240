package view_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
	"example.com/pipe/specs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStories plays pipelines on the real machine and compares all that the view says with golden text. A
// story is an archive: pipeline.yaml; script, with a line for each try that does not simply succeed and for
// each answer of a person, `record` where no process carries the run on; and what is shown at the end.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStory(t, section(a, "pipeline.yaml"), section(a, "script"))
			s.play()
			for name, got := range s.show() {
				setSection(t, a, name, got)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// setSection compares a section with what is shown, or with -update makes it so.
func setSection(t *testing.T, a *txtar.Archive, name, got string) {
	t.Helper()
	for i := range a.Files {
		if a.Files[i].Name == name {
			if *update {
				a.Files[i].Data = []byte(got)
			} else if diff := cmp.Diff(string(a.Files[i].Data), got); diff != "" {
				t.Errorf("%s differs (- want, + got):\n%s", name, diff)
			}
			return
		}
	}
	t.Errorf("the story has no section %q", name)
}

// story is a run of a pipeline whose tries end as a script says.
type story struct {
	t    *testing.T
	plan *plan.Plan
	m    *machine.Machine
	run  *view.Run
	now  step.Instant

	tries   map[string]string // "stage iteration.attempt" → outcome
	answers []string
	lines   []string
	records []step.Record
}

func newStory(t *testing.T, pipeline, script string) *story {
	t.Helper()
	doc, diags := specs.ParsePipeline(source.NewFile("pipeline.yaml", pipeline))
	p, more := compile.Compile(doc, compile.Options{AllowMissingAgents: true})
	if diags.Add(more...); diags.HasErrors() {
		t.Fatal(diags.Text(doc.File))
	}
	s := &story{t: t, plan: p, run: view.New(p), tries: map[string]string{},
		m:   machine.New(p, compile.NewEvaluator(), nil),
		now: step.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case "", "#":
		case "answer", "record":
			s.answers = append(s.answers, line)
		default:
			key, outcome, _ := strings.Cut(rest, " ")
			s.tries[what+" "+key] = outcome
		}
	}
	return s
}

// play runs until nothing is left to do.
func (s *story) play() {
	s.run.SetHeld(true)
	effects := s.step(step.Start{At: s.now, Run: step.RunInfo{Run: "01JABCDEFGHJKMNPQRSTVWXYZ0",
		TaskID: "task-vwxyz0-story", Pipeline: s.plan.Name, Jobs: 4}})
	for len(effects) > 0 || len(s.answers) > 0 && !s.m.Status().Ended() {
		var ev step.Event
		if len(effects) > 0 {
			ev = s.outcome(effects[0])
			effects = effects[1:]
		} else {
			ev = s.answer()
		}
		if ev != nil {
			effects = append(effects, s.step(ev)...)
		}
	}
}

func (s *story) step(ev step.Event) []step.Effect {
	s.now += 1000
	ready := s.m.Step(ev)
	s.records = append(s.records, ready.Records...)
	for _, rec := range ready.Records {
		s.run.Apply(ev.When(), rec)
		if line, ok := view.Line(ev.When(), rec); ok {
			s.lines = append(s.lines, line)
		}
	}
	s.compare()
	return ready.Effects
}

// compare asks the machine whether the view is right: what both know must be the same after each step.
func (s *story) compare() {
	s.t.Helper()
	var state struct {
		Status step.RunStatus
		Stages []struct {
			Path      string
			Status    step.StageStatus
			Iteration int
		}
		Loops []struct {
			Counter feedback.Counter
			Last    string
		}
		Escalations []feedback.Escalation
	}
	if err := json.Unmarshal(s.m.Dump(), &state); err != nil {
		s.t.Fatal(err)
	}
	if got := s.run.Status(); got != state.Status {
		s.t.Errorf("the run is %s, the view says %s", state.Status, got)
	}
	for _, st := range state.Stages {
		if got, _ := s.run.StageStatus(st.Path); got != st.Status {
			s.t.Errorf("after %q: stage %q is %s, the view says %s", s.lines, st.Path, st.Status, got)
		}
	}
	got := s.open()
	if len(got) != len(state.Escalations) {
		s.t.Fatalf("%d escalations are open, the view has %d", len(state.Escalations), len(got))
	}
	for i, e := range got {
		var want []string
		for _, item := range state.Escalations[i].Blocking {
			want = append(want, item.ID)
		}
		if diff := cmp.Diff(want, e); diff != "" {
			s.t.Errorf("after %q: the items of an escalation differ (- machine, + view):\n%s", s.lines, diff)
		}
	}
	for _, l := range state.Loops {
		got, ok := s.run.Loop(l.Counter.Source)
		if !ok || got.Iteration != l.Counter.Iteration || got.Cap != l.Counter.Cap || got.Last != l.Last {
			s.t.Errorf("loop of %q is %+v %q, the view says %+v", l.Counter.Source, l.Counter, l.Last, got)
		}
	}
}

// open gives the ids of the items of each open escalation, as the JSON lists them.
func (s *story) open() [][]string {
	s.t.Helper()
	b, err := s.run.JSON()
	if err != nil {
		s.t.Fatal(err)
	}
	var doc struct {
		Escalations []struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"blocking_issues"`
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		s.t.Fatal(err)
	}
	out := make([][]string, len(doc.Escalations))
	for i, e := range doc.Escalations {
		for _, item := range e.Items {
			out[i] = append(out[i], item.ID)
		}
	}
	return out
}

// outcome ends an effect as the script says: `ok [outputs]`, `items [list]`, `fail class code message` or
// `lost`. What the script does not name succeeds, a review without items.
func (s *story) outcome(e step.Effect) step.Event {
	switch e := e.(type) {
	case step.Timer:
		s.now = max(s.now, e.Until)
		return step.TimerFired{At: s.now, Effect: e.Effect}
	case step.ReadTree:
		return step.TreeRead{At: s.now, Effect: e.Effect, Tree: step.Tree{Hash: "t" + strconv.Itoa(int(s.now/1000%1000))}}
	case step.Dispatch:
		return s.ended(e.Started)
	}
	return nil
}

func (s *story) ended(st *step.StageStarted) step.Event {
	ev := step.StageEnded{At: s.now, Effect: st.Effect, DurationMS: 900}
	if st.WantTree {
		ev.Tree = &step.Tree{Hash: "t" + st.Effect, Changed: []string{"a.go"}}
	}
	node := s.m.Node(st.Stage)
	if node.Role == plan.Review {
		ev.Result = &feedback.Result{Items: []feedback.Item{}}
	}
	what, rest, _ := strings.Cut(s.tries[fmt.Sprintf("%s %d.%d", st.Stage, st.Iteration, st.Attempt)], " ")
	switch what {
	case "ok":
		ev.Outputs = value.NewObject()
		if err := json.Unmarshal([]byte(rest), ev.Outputs); err != nil {
			s.t.Fatal(err)
		}
	case "items":
		if err := json.Unmarshal([]byte(rest), &ev.Result.Items); err != nil {
			s.t.Fatal(err)
		}
	case "fail":
		class, more, _ := strings.Cut(rest, " ")
		code, message, _ := strings.Cut(more, " ")
		n, err := strconv.Atoi(code)
		if err != nil {
			s.t.Fatal(err)
		}
		text, err := strconv.Unquote(message)
		if err != nil {
			s.t.Fatal(err)
		}
		ev.Class, ev.ExitCode, ev.Message, ev.Result = class, &n, text, nil
	case "lost":
		delete(s.tries, fmt.Sprintf("%s %d.%d", st.Stage, st.Iteration, st.Attempt))
		return step.StageLost{At: s.now, Effect: st.Effect}
	}
	return ev
}

func (s *story) answer() step.Event {
	what, text, _ := strings.Cut(s.answers[0], " ")
	var a step.Answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		s.t.Fatal(err)
	}
	s.answers = s.answers[1:]
	s.run.SetHeld(what == "answer")
	a.At, a.Live, a.Tree.Hash = s.now, what == "answer", "t"+strconv.Itoa(int(s.now/1000%1000))
	if a.ID == "" {
		a.ID = fmt.Sprintf("a%d", len(s.answers))
	}
	return a
}

// show gives all that the view says.
func (s *story) show() map[string]string {
	s.t.Helper()
	b, err := s.run.JSON()
	if err != nil {
		s.t.Fatal(err)
	}
	if !json.Valid(b) {
		s.t.Errorf("not JSON: %s", b)
	}
	if bytes.ContainsFunc(b[:len(b)-1], func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
		s.t.Errorf("the JSON holds what a terminal obeys: %q", b)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, b, "", " "); err != nil {
		s.t.Fatal(err)
	}
	var why strings.Builder
	for _, path := range s.run.Paths() {
		e, _ := s.run.Why(path)
		writeWhy(&why, path, e)
	}
	writeWhy(&why, "run", s.run.WhyRun())
	return map[string]string{
		"lines": strings.Join(s.lines, "\n") + "\n", "json": pretty.String(),
		"text": s.run.Text(0), "why": why.String(),
	}
}

func writeWhy(b *strings.Builder, about string, e view.Explanation) {
	fmt.Fprintf(b, "%s is %s (%d.%d failed=%v)\n", about, e.Status, e.Iteration, e.Attempt, e.Failed)
	for _, r := range e.Reasons {
		fmt.Fprintf(b, "  %s\n", r)
	}
	for _, c := range e.Commands {
		fmt.Fprintf(b, "  $ %s\n", c)
	}
}
