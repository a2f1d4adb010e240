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
// step looks at all of them, this takes a multiple of the time.
func TestManyItems(t *testing.T) {
	for name, text := range map[string]string{
		"max_parallel":      "a foreach=list:8000 parallel=2",
		"item to item":      "a foreach=list:8000\nb needs=a foreach=list:8000 parallel=3",
		"a pipeline inside": "a foreach=list:2000 parallel=2\n  w\n  r needs=w loop=w\n  finally\n    f",
		"reviews":           "a foreach=list:2000\nr needs=a foreach=list:2000 loop=a",
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if status := carryOut(text); status != step.RunSucceeded {
				t.Errorf("the run is %s", status)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
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
