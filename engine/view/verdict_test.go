package view_test

import (
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// TestWhyNamesTheRule names the rule that ended a loop, the item and the round after it, for the review and for the run.
func TestWhyNamesTheRule(t *testing.T) {
	for rule, says := range map[string]string{
		feedback.ReasonIterationCap: "rule iteration_cap_reached, its iterations are used up (iteration 3 of 3): r.1 a.go:7 broken",
		feedback.ReasonSameItem:     "rule same_item, an item was not fixed in 4 rounds in a row (iteration 3 of 3): r.1 a.go:7 broken",
		feedback.ReasonDisputed:     "rule disputed, the target disputed an item 3 times (iteration 3 of 3): r.1 a.go:7 broken",
		feedback.ReasonNoChange:     "rule no_change, the target left the workspace and its outputs as they were (iteration 3 of 3): r.1 a.go:7 broken",
		"of a later version":        "rule of a later version (iteration 3 of 3): r.1 a.go:7 broken",
	} {
		item := feedback.Item{ID: "r.1", Severity: feedback.Blocking, Status: feedback.Open, File: "a.go", Line: 7, Description: "broken", Sources: []string{"r"}}
		routed := step.FeedbackRouted{Source: "r", Target: "t", Action: feedback.Escalate, Rule: rule, Iteration: 3, MaxIterations: 3, Items: []string{"r.1"}}
		begin := func() *view.Run {
			v := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "t"},
				{ID: "r", Loop: &plan.Loop{MaxIterations: 3, Convergence: plan.Convergence{SameItem: 4, Disputed: 3}}}}}})
			v.Apply(1, step.RunStarted{Run: step.RunInfo{Run: "R"}})
			v.Apply(2, step.ItemOpened{Item: item})
			v.Apply(3, routed)
			return v
		}
		asked := begin()
		asked.Apply(4, step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", Sources: []string{"r"}, Target: "t", Reason: rule,
			Iterations: 3, Max: 3, Blocking: []feedback.Item{item}}})
		why, _ := asked.Why("r")
		if all := strings.Join(why.Reasons, "\n"); !strings.Contains(all, says) {
			t.Errorf("why r says\n%s\nand not %q", all, says)
		}
		if all := strings.Join(asked.WhyRun().Reasons, "\n"); !strings.Contains(all, "escalation x1 of r, rule "+rule+" after iteration 3 of 3, items r.1") {
			t.Errorf("why of the run says\n%s", all)
		}
		failed := begin()
		failed.Apply(4, step.StageFailed{Stage: "r", Iteration: 3, Class: "findings", Reason: rule})
		failed.Apply(5, step.RunFinished{Status: step.RunFailed})
		if all := strings.Join(failed.WhyRun().Reasons, "\n"); !strings.Contains(all, `the loop of "r": it may not go on, `+says) {
			t.Errorf("why of a run that failed says\n%s\nand not %q", all, says)
		}
	}
}

// TestWhyNamesTheRatchet says what would have blocked, and what a review knew beside its items.
func TestWhyNamesTheRatchet(t *testing.T) {
	v := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "t"}, {ID: "r"}}}})
	opened := step.ItemOpened{Item: feedback.Item{ID: "r.2", Severity: feedback.Advisory, Status: feedback.Open, Description: "late", FirstRound: 2,
		Sources: []string{"r"}, Ratcheted: true}}
	received := step.FeedbackReceived{Source: "r", Target: "t", Round: 2, Items: 1, Diagnosis: &envelope.Diagnosis{
		Verifier: &envelope.VerifierChainResult{VerifierName: "tests", Stdout: "much"}}}
	v.Apply(1, opened)
	v.Apply(1, received)
	why, _ := v.Why("r")
	want := "it gave 1 item, 0 blocking, with verifier_chain_detail; rule ratchet_from: r.2 late would block, but came late and not on lines that had changed"
	if all := strings.Join(why.Reasons, "\n"); !strings.HasSuffix(all, want) {
		t.Errorf("why r says\n%s\nand not %q", all, want)
	}
	for _, c := range []struct {
		rec  step.Record
		want string
	}{
		{opened, "r.2 opened severity=advisory source=r description=late rule=ratchet_from"},
		{received, "r feedback_received target=t items=1 blocking=0 learnt=verifier_chain_detail"},
		{step.StageStale{Stage: "s/verifiers", Cause: step.ByUpstream, Anew: true}, "s/verifiers stale cause=upstream counts=anew"},
		{step.StageStarted{Stage: "t", Iteration: 2, Attempt: 1, Envelope: &envelope.Envelope{Source: envelope.SourceSquashGate}},
			"t started iteration=2 attempt=1 envelope=squash_gate"},
	} {
		if line, _ := view.Line(1, c.rec); !strings.HasSuffix(line, " "+c.want) {
			t.Errorf("the line is %q, want %q", line, c.want)
		}
	}
}
