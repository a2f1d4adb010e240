package view_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// TestStages tells where stages stand while a run goes on.
func TestStages(t *testing.T) {
	loop := &plan.Loop{Target: 0, MaxIterations: 3}
	r := view.New(&plan.Plan{Graph: plan.Graph{Nodes: []plan.Node{
		{ID: "write"}, {ID: "review", Needs: []int{0}, Loop: loop}, {ID: "publish", Needs: []int{1}},
		{ID: "child", Body: &plan.Graph{Nodes: []plan.Node{{ID: "x"}}}},
		{ID: "each", ForEach: &plan.ForEach{}},
	}}})
	item := feedback.Item{ID: "review.1", Severity: feedback.Blocking, Status: feedback.Open, Sources: []string{"review"}}
	code := 2
	for i, rec := range []step.Record{
		step.RunStarted{Run: step.RunInfo{Run: "R"}},
		step.StageStarted{Stage: "write", Iteration: 1, Attempt: 1, Effect: "e1", At: 10},
		step.RetryScheduled{Stage: "write", Iteration: 1, Attempt: 1, Class: "exit", ExitCode: &code, DurationMS: 5},
		step.StageStarted{Stage: "write", Iteration: 1, Attempt: 2, Effect: "e2", At: 30},
		step.StageSucceeded{Stage: "write", Iteration: 1, Attempt: 2, DurationMS: 7},
		step.StageStarted{Stage: "review", Iteration: 1, Attempt: 1, Effect: "e3", At: 40},
		step.ItemOpened{Item: item},
		step.ApprovalAsked{Stage: "publish", Iteration: 1, Message: "publish it?\n\x1b[2Jnow"},
		step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", Sources: []string{"review"}, Target: "write",
			Reason: feedback.ReasonIterationCap, Iterations: 2, Max: 3, Blocking: []feedback.Item{item}}},
		step.StageStarted{Stage: "each[1]", Iteration: 1, Attempt: 1, Effect: "e4", At: 50},
	} {
		r.Apply(step.Instant(i+1), rec)
	}
	var got []string
	for _, s := range r.Stages() {
		line := fmt.Sprintf("%s %s %d.%d since=%d took=%d items=%d %q", s.Path, s.Status, s.Iteration, s.Attempt, s.Since, s.Took, s.OpenItems, s.Trouble)
		if s.Source != nil {
			line += fmt.Sprintf(" source %d/%d", s.Source.Iteration, s.Source.Cap)
		}
		if s.Target != nil {
			line += fmt.Sprintf(" target %d/%d", s.Target.Iteration, s.Target.Cap)
		}
		if s.Composite {
			line += " composite"
		}
		got = append(got, line)
	}
	want := []string{
		`write succeeded 1.2 since=30 took=7 items=0 "" target 1/3`,
		`review running 1.1 since=40 took=-1 items=1 "" source 1/3`,
		`publish waiting 1.0 since=0 took=-1 items=0 "waits for an approval"`,
		`child pending 0.0 since=0 took=-1 items=0 "" composite`,
		`child/x pending 0.0 since=0 took=-1 items=0 ""`,
		`each pending 0.0 since=0 took=-1 items=0 "" composite`,
		`each[1] running 1.1 since=50 took=-1 items=0 ""`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("the stages are\n%s\nwant\n%s", g, w)
	}
	got = nil
	for _, q := range r.Questions() {
		got = append(got, q.What, strings.Join(q.Text, ";"), q.Commands[0])
	}
	want = []string{
		`stage "publish" waits for an approval`, "| publish it?;| \\x1b[2Jnow", "pipe approve R publish",
		"review: iteration_cap_reached", "2 of 3 iterations made, 1 blocking item left;review.1  blocking  ", "pipe decide R review retry --id x1",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("the questions are\n%s\nwant\n%s", g, w)
	}
}
