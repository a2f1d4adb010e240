package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain, ünïcode, 日本語, 👩‍💻", "plain, ünïcode, 日本語, 👩‍💻"},
		{"tab\tand\nline", "tab\tand\nline"},
		{"\x1b[2J\x1b]0;t\x07", `\x1b[2J\x1b]0;t\x07`},
		{"a\rb\x00\x7f", `a\x0db\x00\x7f`},
		{"c1 \u009b31m", `c1 \u009b31m`},
		{"\u202eevil\u2066\u200b\ufeff", `\u202eevil\u2066\u200b\ufeff`},
		{"\U000e0041 tag", `\U000e0041 tag`},
		{"half \xe2\x82 of a character", `half \xe2\x82 of a character`},
	} {
		if got := view.Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestNothingHarmful puts any text where a stage or a person may put text, and looks at all that comes out.
func TestNothingHarmful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "text")
		text := string(bytes)
		if rapid.Bool().Draw(t, "runes") {
			text = rapid.String().Draw(t, "string")
		}
		r := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "a", Role: plan.Work}}}})
		code := 1
		item := feedback.Item{ID: "a.1", Severity: feedback.Blocking, Status: feedback.Open, File: text,
			Description: text, Sources: []string{"a"}}
		var lines []string
		for _, rec := range []step.Record{
			step.RunStarted{Run: step.RunInfo{Run: "R", TaskID: text, Pipeline: text}},
			step.StageStarted{Stage: "a", Iteration: 1, Attempt: 1, Effect: "e1"},
			step.ItemOpened{Item: item},
			step.RetryScheduled{Stage: "a", Attempt: 2, Class: "exit", ExitCode: &code, Message: text},
			step.ApprovalAsked{Stage: "a", Message: text, Again: text},
			step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", TaskID: text, Sources: []string{"a"},
				Reason: feedback.ReasonIterationCap, Blocking: []feedback.Item{item}}},
			step.AnswerRefused{Answer: text, Why: text},
			step.RunPaused{Reason: text},
		} {
			r.Apply(1, rec)
			line, _ := view.Line(1, rec)
			if strings.ContainsAny(line, "\n\t") {
				t.Fatalf("an event line of several lines: %q", line)
			}
			lines = append(lines, line)
		}
		b, err := r.JSON()
		if err != nil || !json.Valid(b) {
			t.Fatalf("JSON of %q: %v\n%s", text, err, b)
		}
		why, _ := r.Why("a")
		all := strings.Join(lines, "\n") + r.Text(80) + r.Asks() + string(b) +
			strings.Join(why.Reasons, "\n") + strings.Join(r.WhyRun().Reasons, "\n") + strings.Join(r.Commands(), "\n")
		if !utf8.ValidString(all) {
			t.Fatalf("not UTF-8: %q", all)
		}
		for _, c := range all {
			if unicode.IsControl(c) && c != '\n' && c != '\t' || c == 0x202e || c == 0x2066 {
				t.Fatalf("%q came through: %q", c, all)
			}
		}
	})
}

func TestLongTextIsCut(t *testing.T) {
	line, _ := view.Line(0, step.StageFailed{Stage: "a", Class: "exit", Message: strings.Repeat("é word ", 1<<20)})
	if n := utf8.RuneCountInString(line); n > 400 {
		t.Errorf("the line has %d characters", n)
	}
}

// TestInstances knows a body's stages from the start, and items of a for_each once they are named; both
// stand where the plan has them.
func TestInstances(t *testing.T) {
	body := &plan.Graph{Nodes: []plan.Node{{ID: "x"}, {ID: "y", Needs: []int{0}}}}
	r := view.New(&plan.Plan{Graph: plan.Graph{Nodes: []plan.Node{
		{ID: "child", Body: body}, {ID: "each", ForEach: &plan.ForEach{}, Body: body}, {ID: "last"},
	}}})
	for _, path := range []string{"each[10]/y", "each[2]", "unknown", "each[2]/x"} {
		r.Apply(1, step.StageStarted{Stage: path, Iteration: 1, Attempt: 1, Effect: "e1"})
	}
	want := []string{"child", "child/x", "child/y", "each", "each[2]", "each[2]/x", "each[10]/y", "last", "unknown"}
	if got := r.Paths(); !slices.Equal(got, want) {
		t.Errorf("the stages are %q, want %q", got, want)
	}
	if e, ok := r.Why("child/y"); !ok || !strings.Contains(e.Reasons[0], `it needs "child/x" (pending)`) {
		t.Errorf("why child/y: %+v", e)
	}
	if _, ok := r.Why("nosuch"); ok {
		t.Error("there is a reason for a stage that does not exist")
	}
}

func TestInterrupted(t *testing.T) {
	r := view.New(&plan.Plan{Name: "p"})
	r.Apply(1, step.RunStarted{Run: step.RunInfo{Run: "R"}})
	for _, c := range []struct {
		held bool
		rec  step.Record
		want string
	}{
		{true, nil, "running"},
		{false, nil, "interrupted"},
		{false, step.RunPaused{Reason: "x"}, "paused"},
		{false, step.RunWaiting{Reason: "approval"}, "waiting"},
		{false, step.RunResumed{}, "interrupted"},
		{true, step.RunFinished{Status: step.RunFailed}, "failed"},
		{false, nil, "failed"},
	} {
		r.SetHeld(c.held)
		if c.rec != nil {
			r.Apply(2, c.rec)
		}
		if got := r.StatusWord(); got != c.want {
			t.Errorf("after %T, held %v: %s, want %s", c.rec, c.held, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{-1: "0ms", 0: "0ms", 999: "999ms", 1200: "1.2s", 59_999: "59.9s",
		184_000: "3m04s", 7_500_000: "2h05m"} {
		if got := view.Duration(ms); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ms, got, want)
		}
	}
}

func TestCommandsAreQuoted(t *testing.T) {
	r := view.New(&plan.Plan{Graph: plan.Graph{Nodes: []plan.Node{{ID: "each", ForEach: &plan.ForEach{}}}}})
	r.Apply(1, step.RunStarted{Run: step.RunInfo{Run: "R"}})
	r.Apply(2, step.ApprovalAsked{Stage: "each[0]", Iteration: 1})
	r.SetHeld(true)
	want := []string{"pipe approve R 'each[0]'", "pipe reject R 'each[0]' --reason TEXT"}
	if got := r.Commands(); !slices.Equal(got, want) {
		t.Errorf("the commands are %q, want %q", got, want)
	}
}

// BenchmarkApply shows that a record costs the same in a plan of 100 stages and in one of 10,000.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		p := &plan.Plan{}
		for i := range n {
			p.Graph.Nodes = append(p.Graph.Nodes, plan.Node{ID: fmt.Sprintf("s%d", i)})
		}
		b.Run(fmt.Sprintf("stages=%d", n), func(b *testing.B) {
			r := view.New(p)
			for i := 0; b.Loop(); i++ {
				s := p.Graph.Nodes[i%n].ID
				if i%(8*n) == 0 {
					r = view.New(p)
				}
				r.Apply(1, step.StageStarted{Stage: s, Iteration: 1, Attempt: 1, Effect: "e"})
				r.Apply(2, step.StageSucceeded{Stage: s, Iteration: 1, Attempt: 1, Outputs: value.NewObject()})
			}
		})
	}
}

// TestNothingToAccept holds what is offered for an escalation against what is taken.
func TestNothingToAccept(t *testing.T) {
	r := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "plan"}}}})
	for id, why := range map[string]string{"x1": "", "x2": "the last attempt failed"} {
		r.Apply(1, step.EscalationRaised{Escalation: feedback.Escalation{ID: id, Sources: []string{"plan"}, Target: "plan",
			Reason: feedback.ReasonIterationCap, NothingToAccept: why}})
		q, ok := r.Escalation(id, "")
		if offered := slices.Contains(q.Options, "override"); !ok || offered != (why == "") || !slices.Contains(q.Options, "retry") {
			t.Errorf("%q: offered %v", why, q.Options)
		}
	}
}
