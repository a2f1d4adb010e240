package machine_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/step"
)

// TestManyItems carries out stages with thousands of items. What a step costs must not grow with their number: where each
// step looks at all of them, four times the items take sixteen times as long.
func TestManyItems(t *testing.T) {
	for name, c := range map[string]struct {
		items int
		text  string
	}{
		"max_parallel":      {8000, "a foreach=list:%[1]d parallel=2"},
		"item to item":      {8000, "a foreach=list:%[1]d\nb needs=a foreach=list:%[1]d parallel=3"},
		"a pipeline inside": {2000, "a foreach=list:%[1]d parallel=2\n  w\n  r needs=w loop=w\n  finally\n    f"},
		"reviews":           {2000, "a foreach=list:%[1]d\nr needs=a foreach=list:%[1]d loop=a"},
	} {
		t.Run(name, func(t *testing.T) {
			var few, many time.Duration
			for range 4 { // what else the machine does must not count
				few, many = quicker(few, timeOf(t, c.text, c.items/4)), quicker(many, timeOf(t, c.text, c.items))
				if many < 10*few {
					return
				}
			}
			t.Errorf("%d items take %s, a quarter of them %s", c.items, many, few)
		})
	}
}

func quicker(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// timeOf carries out a plan of so many items, and says how long that took.
func timeOf(t *testing.T, text string, items int) time.Duration {
	t.Helper()
	began := time.Now()
	if status := carryOut(fmt.Sprintf(text, items)); status != step.RunSucceeded {
		t.Errorf("the run is %s", status)
	}
	return time.Since(began)
}

// carryOut runs a plan in which each review finds something at first.
func carryOut(text string) step.RunStatus {
	m := machine.New(parsePlan(text), toyEvaluator{}, nil)
	now := step.Instant(0)
	found := map[string]bool{}
	queue := m.Step(step.Start{Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "p", Jobs: 2}}).Effects
	for ; len(queue) > 0; now++ {
		e := queue[0]
		queue = queue[1:]
		switch e := e.(type) {
		case step.Dispatch:
			end := step.StageEnded{At: now, Effect: e.Started.Effect, Tree: &step.Tree{Hash: fmt.Sprint(now)}}
			if m.Node(e.Started.Stage).Loop != nil {
				end.Result = &feedback.Result{}
				if !found[e.Started.Stage] {
					end.Result.Items = []feedback.Item{{Severity: feedback.Blocking, Description: "wrong"}}
				}
				found[e.Started.Stage] = true
			}
			queue = append(queue, m.Step(end).Effects...)
		case step.ReadTree:
			queue = append(queue, m.Step(step.TreeRead{At: now, Effect: e.Effect, Tree: step.Tree{Hash: "T"}}).Effects...)
		}
	}
	return m.Status()
}
