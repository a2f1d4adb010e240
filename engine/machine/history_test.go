package machine_test

import (
	"fmt"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/step"
)

// TestHistoryOfEscalations escalates many times in one run: the record of each holds what is new, so that they don't
// grow, and put together they give the whole history.
func TestHistoryOfEscalations(t *testing.T) {
	const times = 60
	m := machine.New(parsePlan("fix\nreview needs=fix loop=fix max=1"), toyEvaluator{}, nil)
	var whole []feedback.HistoryEntry
	var sizes []int
	routed, now := 0, step.Instant(0)
	queue := m.Step(step.Start{Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "p", Jobs: 1}}).Effects
	take := func(ev step.Event) {
		ready := m.Step(ev)
		queue = append(queue, ready.Effects...)
		for _, r := range ready.Records {
			switch r := r.(type) {
			case step.FeedbackRouted:
				routed++
			case step.EscalationRaised:
				whole = feedback.Continue(whole, &r.Escalation)
				b, err := step.MarshalRecord(r)
				if err != nil {
					t.Fatal(err)
				}
				sizes = append(sizes, len(b))
			}
		}
	}
	for len(sizes) < times {
		now++
		if len(queue) == 0 {
			take(step.Answer{At: now, ID: fmt.Sprint(now), Kind: step.DecideReferBack, By: "ann", Note: "again", Live: true, Tree: step.Tree{Hash: fmt.Sprint(now)}})
			continue
		}
		e := queue[0]
		queue = queue[1:]
		switch e := e.(type) {
		case step.ReadTree:
			take(step.TreeRead{At: now, Effect: e.Effect, Tree: step.Tree{Hash: fmt.Sprint(now)}})
		case step.Dispatch:
			end := step.StageEnded{At: now, Effect: e.Started.Effect, Tree: &step.Tree{Hash: fmt.Sprint(now)}}
			if e.Started.Stage == "review" {
				end.Result = &feedback.Result{Items: []feedback.Item{{Severity: feedback.Blocking, Description: fmt.Sprint("wrong ", now)}}}
			}
			take(end)
		}
	}
	if len(whole) != routed || routed != times {
		t.Errorf("%d entries for %d routings", len(whole), routed)
	}
	for k, h := range whole {
		if h.Iteration != k+1 {
			t.Errorf("entry %d is of iteration %d", k, h.Iteration)
		}
	}
	if first, last := sizes[1], sizes[times-1]; last > 2*first {
		t.Errorf("the records grow from %d to %d bytes", first, last)
	}
}
