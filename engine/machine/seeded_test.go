//go:build seeded

package machine_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// seededBug is a mistake in the machine that an invariant must catch.
type seededBug struct {
	invariant string // what the simulation says of it
	file      string
	was, is   string
}

var seededBugs = []seededBug{
	{"no stage starts before its needs", "state.go",
		"return i.unmet == 0", "return i.unmet <= 1"},
	{"rounds stay within the cap and what was granted", "join.go",
		"action == feedback.Escalate {", "action == feedback.Escalate && false {"},
	{"no open blocking item is lost", "escalate.go",
		"e.Blocking = withItems(e.Blocking, d.s.ledger.OpenBlocking(i.path))", ""},
	{"no open item is lost", "finally.go",
		"r.OpenItems = openItems(&d.s.ledger)\n", "\n"},
	{"two orders of ending differ", "join.go",
		"if !waits && d.routeJoin", "if d.routeJoin"},
	{"two orders of ending differ", "linked.go",
		"rest := unsettled(d.sourcesBeside(i))", "rest := []*instance{i}"},
	{"a finished run has open effects", "finally.go",
		"case step.Pending, step.Stale, step.Waiting, step.Rejected:\n", "case step.Pending, step.Stale, step.Rejected:\n"},
	{"folding the records gives another state", "decide.go",
		"func (d *decider) stopped(i *instance) {", "func (d *decider) stopped(i *instance) {\n\ti.note = \"x\""},
	{"who writes has the workspace alone", "schedule.go",
		"return !i.writes() || others == 0", "return true"},
	{"only what has no open blocking item is accepted", "join.go",
		"if !slices.Contains(j.blocked, i) {", "if true {"},
	{"what can run is not dropped", "schedule.go",
		"if d.s.wantsStart(held) {", "if false {"},
	{"no run succeeds over an open blocking item", "decide.go",
		"; n > 0 && (i.node.Loop == nil || i.returns()) {", "; n > 1000 {"},
	{"an approval holds for the tree that it was given for", "schedule.go",
		"i.node.Approval != nil && !i.approval.approved {", "i.node.Approval != nil && i.iteration > 99 {"},
	{"a run fails only if a stage does", "join.go",
		"if i.status == step.Failed && i.failed() {", "if i.status == step.Failed {"},
	{"only what is at its cap is exhausted", "join.go",
		"d.exhausted(fired, j.blocked,", "d.exhausted(append(fired[:0:0], j.blocked...), j.blocked,"},
	{"a rule fires on what was counted", "convergence.go",
		"item.Unfixed >= c.SameItem", "item.Unfixed >= 0"},
	{"a rule fires on what was counted", "convergence.go",
		"item.Disputes >= c.Disputed", "item.Disputes >= 0"},
	{"a deadline that passed comes before a later answer", "escalate.go",
		"o.until <= d.at", "o.until <= 0"},
	{"an unattended run waits for nobody", "composite.go",
		"if d.s.run.Unattended {", "if false {"},
	{"no more items run at once than may", "group.go",
		"i.turns.underway >= most", "i.turns.underway > most"},
	{"a pipeline inside the run keeps its escalations to itself", "composite.go",
		"owner := f.owner; owner != nil;", "owner := f.owner; false;"},
	{"finally runs once", "finally.go",
		"	if d.finallyRuns(d.s.root, step.RunCancelled, d.s.reason) {", "	if false {"},
	{"no run succeeds over an open blocking item", "group.go",
		"d.change(d.s.ledger.Withdraw(item.path,", "_ = (d.s.ledger.Withdraw(item.path,"},
	{"nothing is undone without a failure or a wish", "finally.go",
		"if d.s.undo.wanted && d.rollBack() {", "if d.rollBack() {"},
	{"what started last is undone first", "rollback.go",
		"for _, i := range slices.Backward(u.stages) {", "for _, i := range u.stages {"},
	{"all that started is undone", "finally.go",
		"		if d.rollBack() {\n			return", "		if false {\n			return"},
	{"a cancel stops rollbacks", "rollback.go",
		"if !u.stopped && !i.undo.begun {", "if !i.undo.begun {"},
	{"what stands in finally runs then", "state.go",
		"|| !i.frame.live {", "{"},
}

// TestSeededBugs builds the machine with one mistake at a time and runs the simulation on it: each must be
// caught, by the invariant that it breaks.
func TestSeededBugs(t *testing.T) {
	for _, bug := range seededBugs {
		t.Run(strings.ReplaceAll(bug.invariant+" "+bug.file, " ", "_"), func(t *testing.T) {
			t.Parallel()
			overlay := bug.overlay(t)
			cmd := exec.Command("go", "test", "-overlay", overlay, "-count=1",
				"-run", "TestSimulation|TestRoutingIgnoresOrder", "-histories", "8000", ".")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the simulation passes with %q in place of %q", bug.is, bug.was)
			}
			if !strings.Contains(string(out), bug.invariant) {
				t.Fatalf("the simulation fails, but not with %q:\n%.2000s", bug.invariant, out)
			}
		})
	}
}

// overlay writes the file with the bug, and the overlay that puts it in the place of the real one.
func (b seededBug) overlay(t *testing.T) string {
	text, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), b.was); n != 1 {
		t.Fatalf("%s holds %q %d times, want once", b.file, b.was, n)
	}
	dir := t.TempDir()
	seeded := filepath.Join(dir, b.file)
	if err := os.WriteFile(seeded, []byte(strings.Replace(string(text), b.was, b.is, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.Abs(b.file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {real: seeded}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
