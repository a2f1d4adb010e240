package view_test

import (
	"strings"
	"testing"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// failed is a run whose stage "a" failed with a message.
func failed(message string) *view.Run {
	r := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "a", Role: plan.Work}}}})
	r.Apply(1, step.RunStarted{Run: step.RunInfo{Run: "R"}})
	r.Apply(2, step.StageStarted{Stage: "a", Iteration: 1, Attempt: 1, Effect: "e1", At: 2})
	r.Apply(3, step.StageFailed{Stage: "a", Iteration: 1, Attempt: 1, Effect: "e1", Class: "exit", Message: message})
	return r
}

// TestTextCutsNoMessageInSilence says where a message stands whole of which the table shows the beginning.
func TestTextCutsNoMessageInSilence(t *testing.T) {
	const hint = "the whole message: pipe why R a\n"
	for _, c := range []struct {
		message string
		width   int
		hint    bool
	}{
		{"exit status 1: short", 0, false},
		{"exit status 1: short", 80, false},
		{"exit status 1: short", 60, true},
		{"exit status 1: " + strings.Repeat("long ", 20), 80, true},
		{"exit status 1: " + strings.Repeat("long ", 20), 0, false},
		{"exit status 1: " + strings.Repeat("long ", 100), 0, true},
	} {
		text := failed(c.message).Text(c.width)
		if got := strings.Contains(text, hint); got != c.hint {
			t.Errorf("%q at %d columns, a hint %v, want %v:\n%s", c.message, c.width, got, c.hint, text)
		}
	}
	e, _ := failed("exit status 1: " + strings.Repeat("long ", 100) + "end").Why("a")
	if text := strings.Join(e.Reasons, "\n"); !strings.HasSuffix(text, "long end") {
		t.Errorf("why does not give the whole message: %s", text)
	}
}

// TestInterruptedStage shows the stage of a run that no process carries on.
func TestInterruptedStage(t *testing.T) {
	r := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "a", Role: plan.Work}}}})
	r.Apply(1, step.RunStarted{Run: step.RunInfo{Run: "R"}})
	r.Apply(2, step.StageStarted{Stage: "a", Iteration: 1, Attempt: 1, Effect: "e1", At: 2})
	for held, want := range map[bool]string{true: "  a      running ", false: "  a      interrupted "} {
		r.SetHeld(held)
		if text := r.Text(0); !strings.Contains(text, want) {
			t.Errorf("held %v: no %q in\n%s", held, want, text)
		}
	}
	r.SetHeld(false)
	if e, _ := r.Why("a"); !e.Resume || len(e.Commands) != 1 || e.Commands[0] != "pipe resume R" {
		t.Errorf("the stage is explained as %+v", e)
	}
}
