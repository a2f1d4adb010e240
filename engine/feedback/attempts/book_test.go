package attempts_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/attempts"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// refined is a graph of a stage "plan" that is refined, for each item if it is asked for.
func refined(most int, each bool) *plan.Graph {
	g := &plan.Graph{Nodes: []plan.Node{
		{ID: "plan", Role: plan.Implementation},
		{ID: "plan/validate", Role: plan.Review, Needs: []int{0}, Refine: &plan.Refine{Name: "plan"},
			Loop: &plan.Loop{Target: 0, MaxIterations: most, Self: true}},
	}}
	if each {
		g.Nodes[0].ForEach, g.Nodes[1].ForEach = &plan.ForEach{As: "x"}, &plan.ForEach{As: "x"}
	}
	return g
}

// TestPaths finds the ledgers of loops inside other pipelines and of the items of lists.
func TestPaths(t *testing.T) {
	inner, each := refined(2, false), refined(3, true)
	g := &plan.Graph{Nodes: []plan.Node{
		{ID: "one", Body: each}, {ID: "many", Body: inner, ForEach: &plan.ForEach{As: "y"}}, {ID: "planner"},
		{ID: "plan", Body: refined(2, false)}, // what is refined is a pipeline, in which something is refined
		{ID: "plan/validate", Needs: []int{3}, Refine: &plan.Refine{Name: "outer"}, Loop: &plan.Loop{Target: 3, MaxIterations: 2, Self: true}},
	}}
	b, pairs := attempts.NewBook(g), attempts.NewPairs(g)
	for source, target := range map[string]string{
		"one/plan/validate[2]":  "one/plan[2]",
		"many[1]/plan/validate": "many[1]/plan",
	} {
		if got, ok := pairs.Source(target); !ok || got != source {
			t.Errorf("%s is validated by %q, want %q", target, got, source)
		}
		if got, ok := pairs.Target(source); !ok || got != target {
			t.Errorf("%s validates %q, want %q", source, got, target)
		}
	}
	for _, none := range []string{"planner", "one", "many[1]", "one/plan/other", ""} {
		if got, ok := pairs.Source(none); ok {
			t.Errorf("%q is validated by %q", none, got)
		}
	}
	start := func(path string, composite bool) string {
		return strings.Join(b.Apply(step.StageStarted{Stage: path, Attempt: 1, Composite: composite}), " ")
	}
	for _, c := range []struct {
		path      string
		composite bool
		changed   string
	}{
		{"one", true, ""},
		{"one/plan", true, ""},
		{"one/plan[0]", false, "one/plan/validate[0]"},
		{"one/plan[1]", false, "one/plan/validate[1]"},
		{"one/plan[1]", false, ""}, // another try
		{"one/plan/validate", true, ""},
		{"one/plan/validate[0]", false, ""},
		{"many[0]", true, ""},
		{"many[0]/plan", false, "many[0]/plan/validate"},
		{"many[1]/plan", false, "many[1]/plan/validate"},
		{"many[1]", true, "many[1]/plan/validate"}, // anew
		{"one/plan", true, "one/plan/validate[0] one/plan/validate[1]"},
		{"plan", true, "plan/validate"},
		{"plan/plan", false, "plan/plan/validate"},
		{"plan/plan/validate", false, ""},
		{"plan/validate", false, ""},
		{"plan", true, "plan/plan/validate"}, // another try of the same attempt
	} {
		if got := start(c.path, c.composite); got != c.changed {
			t.Errorf("the start of %s changes %q, want %q", c.path, got, c.changed)
		}
	}
	if _, ok := b.Of("many[0]/plan"); !ok {
		t.Error("many[0]/plan has lost its ledger")
	}
	if _, ok := b.Of("many[1]/plan"); ok {
		t.Error("many[1]/plan begins anew and has its old ledger")
	}
}

// TestBookCounts counts what is open after a validation, not what it named: a waived item it gives again does not
// count, one that it left out of its replies does.
func TestBookCounts(t *testing.T) {
	b := attempts.NewBook(refined(3, false))
	const source = "plan/validate"
	item := func(n int, severity feedback.Severity, status feedback.Status) step.ItemChanged {
		return step.ItemChanged{Item: feedback.Item{ID: fmt.Sprintf("%s.%d", source, n), Severity: severity, Status: status, Sources: []string{source}}}
	}
	validated := func(want attempts.Made, items ...step.ItemChanged) {
		t.Helper()
		b.Apply(step.StageStarted{Stage: "plan", Attempt: 1})
		for _, i := range items {
			b.Apply(i)
		}
		b.Apply(step.FeedbackReceived{Source: source, Target: "plan"})
		l, _ := b.Of("plan")
		if got := l.Refinement().History[want.Attempt-1]; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	validated(attempts.Made{Attempt: 1, Result: attempts.Fail, IssueCount: attempts.Issues{Critical: 2, Warnings: 1}},
		item(1, feedback.Blocking, feedback.Open), item(2, feedback.Blocking, feedback.Open),
		item(3, feedback.Advisory, feedback.Open), item(4, feedback.Informational, feedback.Open))
	validated(attempts.Made{Attempt: 2, Result: attempts.Fail, IssueCount: attempts.Issues{Critical: 1, Warnings: 1}},
		item(1, feedback.Blocking, feedback.Waived))
	b.Apply(step.FeedbackRouted{Source: source, Target: "plan", Action: feedback.ReImplement, Iteration: 3, MaxIterations: 7})
	if l, _ := b.Of("plan"); l.Max() != 7 {
		t.Errorf("the loop has %d attempts, and the routing said 7", l.Max())
	}
	validated(attempts.Made{Attempt: 3, Result: attempts.Pass, IssueCount: attempts.Issues{Warnings: 1}},
		item(2, feedback.Blocking, feedback.NotFixed), item(2, feedback.Blocking, feedback.Fixed))
}
