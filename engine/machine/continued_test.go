package machine_test

import (
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/step"
)

// TestLoopsOfAnotherPlan starts a run with counters of an earlier one whose pipeline had another review: those
// that this plan does not have concern nothing.
func TestLoopsOfAnotherPlan(t *testing.T) {
	p := parsePlan("fix\nreview needs=fix loop=fix max=3")
	m := machine.New(p, toyEvaluator{}, nil)
	counter := func(source string, iteration, most int) feedback.Counter {
		return feedback.Counter{Pair: feedback.Pair{Source: source, Target: "fix"}, Iteration: iteration, Cap: most}
	}
	now := step.Instant(0)
	open := []step.Effect(nil)
	next := func(ev step.Event) []step.Record {
		ready := m.Step(ev)
		open = ready.Effects
		return ready.Records
	}
	next(step.Start{At: now, Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "p", Jobs: 2},
		Loops: []feedback.Counter{counter("gone", 2, 2), counter("review", 2, 4), counter("lost[3]", 1, 2)}})
	tree := &step.Tree{Hash: "T0", Tracked: "T0"}
	found := &feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, Description: "bug"}}}
	var last []step.Record
	for range 5 { // fix reads the tree, runs; the review finds; fix reads the tree, changes nothing
		switch e := open[0].(type) {
		case step.ReadTree:
			last = next(step.TreeRead{At: now, Effect: e.Effect, Tree: *tree})
		case step.Dispatch:
			ended := step.StageEnded{At: now, Effect: e.Started.Effect, Tree: tree}
			if e.Started.Stage == "review" {
				ended.Result = found
			}
			last = next(ended)
		}
	}
	for _, r := range last {
		if raised, ok := r.(step.EscalationRaised); ok {
			if e := raised.Escalation; e.Source() != "review" || e.Iterations != 3 || e.Max != 4 {
				t.Errorf("escalation of %q at %d/%d, want review at 3/4", e.Source(), e.Iterations, e.Max)
			}
			return
		}
	}
	t.Errorf("nothing escalated: %v", last)
}
