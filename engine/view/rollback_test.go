package view_test

import (
	"strings"
	"testing"

	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// TestRollback shows what was undone and how to get it back, in lines, text, JSON and reasons.
func TestRollback(t *testing.T) {
	r := view.New(&plan.Plan{Name: "p", Graph: plan.Graph{Nodes: []plan.Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}}})
	var lines []string
	for _, rec := range []step.Record{
		step.RunStarted{Run: step.RunInfo{Run: "R", Pipeline: "p"}},
		step.RunCancelling{By: "ann", Reason: "aborted", Rollback: true},
		step.RollbackStarted{Effect: "e0", Stage: "c", Strategy: "manual"},
		step.RollbackFinished{Effect: "e0", Stage: "c", Message: "to be done by hand: turn it off"},
		step.RollbackStarted{Effect: "e1", Stage: "b", Strategy: "file_restore"},
		step.RollbackFinished{Effect: "e1", Stage: "b", Message: "put back 1 file", Recovery: "refs/pipe/recovery/R", Files: []string{"x.txt"}},
		step.RollbackStarted{Effect: "e2", Stage: "a", Strategy: "run"},
	} {
		r.Apply(1, rec)
		line, _ := view.Line(1, rec)
		lines = append(lines, strings.TrimPrefix(line, "1970-01-01T00:00:00.001Z "))
	}
	r.SetHeld(true)
	if got := r.StatusText(); !strings.HasPrefix(got, "rolling_back") {
		t.Errorf("the status is %q", got)
	}
	if r.SetHeld(false); r.StatusWord() != view.Interrupted {
		t.Errorf("the status without a process is %q", r.StatusWord())
	}
	if got := r.Stages()[0].Trouble; got != "is being undone (run)" {
		t.Errorf("a stage that is being undone says %q", got)
	}
	failed := step.RollbackFinished{Effect: "e2", Stage: "a", Class: "exit", Message: "exit status 1"}
	r.Apply(2, failed)
	r.Apply(2, step.RunFinished{Status: step.RunCancelled})
	if a, b := r.Stages()[0].Trouble, r.Stages()[1].Trouble; a != "could not be undone (exit)" || b != "undone" {
		t.Errorf("stages that were undone say %q and %q", a, b)
	}
	if got := r.Stages()[2].Trouble; got != "undoing it is left to a person" {
		t.Errorf("a stage that a person undoes says %q", got)
	}
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	why, _ := r.Why("b")
	all := strings.Join(lines, "\n") + "\n" + r.Text(80) + string(b) + strings.Join(append(r.WhyRun().Reasons, why.Reasons...), "\n")
	for _, want := range []string{
		"run cancelling reason=aborted by=ann rollback=true\n",
		"b rollback_started strategy=file_restore\n",
		`b rollback_finished message="put back 1 file" recovery=refs/pipe/recovery/R files=x.txt` + "\n",
		"  ROLLBACK  STRATEGY      STATUS\n  c         manual        left to a person\n  b         file_restore  succeeded\n  a         run           failed\n",
		"  b: put back 1 file\n  b: what was there before is kept in refs/pipe/recovery/R\n  a: exit status 1\n",
		`"rollbacks":[{"stage":"c","strategy":"manual","status":"succeeded",`,
		`{"stage":"b","strategy":"file_restore","status":"succeeded",`,
		`"message":"put back 1 file","recovery":"refs/pipe/recovery/R","files":["x.txt"]},{"stage":"a","strategy":"run","status":"failed",`,
		`it was stopped by ann: aborted; what its stages did is undone`,
		`what "b" did is undone (file_restore)`,
		`what "b" did: it was undone: put back 1 file; what was there before is kept in refs/pipe/recovery/R`,
		`what "c" did: undoing it is left to a person: to be done by hand: turn it off`,
		`what "a" did: it could not be undone (exit): exit status 1`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %q in\n%s", want, all)
		}
	}
}

// TestPartsOfStages knows what verifies a stage by its path, also in items and in pipelines that a stage runs.
func TestPartsOfStages(t *testing.T) {
	loop := &plan.Loop{Self: true, MaxIterations: 2}
	body := &plan.Graph{Nodes: []plan.Node{{ID: "x"}, {ID: "x/verifiers", Loop: loop, Needs: []int{0}}}}
	r := view.New(&plan.Plan{Graph: plan.Graph{Nodes: []plan.Node{
		{ID: "a", ForEach: &plan.ForEach{}}, {ID: "a/validate", ForEach: &plan.ForEach{}, Loop: loop},
		{ID: "child", Body: body}, {ID: "each", ForEach: &plan.ForEach{}, Body: body},
	}}})
	for _, path := range []string{"a[1]", "a/validate[1]", "each[0]/x/verifiers"} {
		r.Apply(1, step.StageStarted{Stage: path, Iteration: 1, Attempt: 1, Effect: "e1",
			Envelope: &envelope.Envelope{Source: envelope.Source("verifier_chain")}})
	}
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for path, owner := range map[string]string{"a/validate[1]": "a[1]", "a/validate": "a", "child/x/verifiers": "child/x", "each[0]/x/verifiers": "each[0]/x"} {
		i := strings.Index(string(b), `"path":"`+path+`"`)
		if i < 0 {
			t.Errorf("%q is not there: %s", path, b)
			continue
		}
		rest, _, _ := strings.Cut(string(b)[i:], "}")
		if !strings.Contains(rest, `"part_of":"`+owner+`"`) {
			t.Errorf("%q is no part of %q: %s", path, owner, rest)
		}
	}
	if e, ok := r.Why("child/x/verifiers"); !ok || !strings.Contains(e.Reasons[0], `it needs "child/x" (pending)`) {
		t.Errorf("why child/x/verifiers: %+v", e)
	}
	if e, _ := r.Why("each[0]/x/verifiers"); !strings.Contains(e.Reasons[0], "started (verifier_chain)") {
		t.Errorf("why each[0]/x/verifiers: %+v", e)
	}
	if !strings.Contains(r.Text(0), "\n    child/x/verifiers ") || !strings.Contains(r.Text(0), "\n  child/x ") {
		t.Errorf("the part is not set in:\n%s", r.Text(0))
	}
}
