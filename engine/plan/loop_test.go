package plan_test

import (
	"encoding/json"
	"testing"

	"example.com/pipe/engine/plan"
)

func TestLoopOfAnOlderPlan(t *testing.T) {
	for text, want := range map[string]plan.Convergence{
		`{"target": 1, "max_iterations": 2, "on_exhausted": "escalate", "rerun": "downstream"}`: {NoChange: true},
		`{"target": 1, "convergence": {"same_item": 2, "disputed": 0, "no_change": false}}`:     {SameItem: 2},
	} {
		var l plan.Loop
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Target != 1 || l.Convergence != want {
			t.Errorf("%s is %+v, %v", text, l, err)
		}
	}
}
