//go:build linux

package sweep

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// reference is the run without a kill: what it came to, and the points of its two commands.
type reference struct {
	final  string
	run    []point // of pipe run, which ends with the question
	answer []point // of the command that carries the run to its end
}

// newReference carries a run through, traced, so that the points are known.
func newReference(t *testing.T, c course) *reference {
	t.Helper()
	p := newProject(t, "")
	p.course = c
	end, calls, out := p.killAt(t, point{}, p.runArgs()...)
	if end.status != 4 {
		t.Fatalf("pipe run: status %d, expected 4: it waits for the approval\n%s", end.status, out)
	}
	_, _, pids := p.noted(t)
	ref := &reference{run: calls.points(pids)}
	end, calls, out = p.killAt(t, point{}, p.answerArgs()...)
	if end.status != 0 {
		t.Fatalf("pipe %q: status %d\n%s", p.answer, end.status, out)
	}
	started, _, pids := p.noted(t)
	ref.answer = calls.points(pids)
	if n := len(dispatches(ref.run)) + len(dispatches(ref.answer)); n != len(started) {
		t.Fatalf("%d starts of stages were seen, and %d stages started", n, len(started))
	}
	ref.final = p.final(t)
	p.check(t, ref.final, nil)
	return ref
}

// begin runs the pipeline until it waits for the approval.
func (p *project) begin(t *testing.T) {
	t.Helper()
	if status, out := p.pipe(t, p.runArgs()...); status != 4 {
		t.Fatalf("pipe run: status %d, expected 4: it waits for the approval\n%s", status, out)
	}
}

// settle carries a run on until it is over, as a person would. A run that never began is started anew.
func (p *project) settle(t *testing.T) {
	t.Helper()
	status, out := p.pipe(t, "resume", "last")
	if status == 2 && strings.Contains(out, "nothing was run in this project yet") ||
		status != 0 && strings.Contains(out, "the run ended before it began") {
		if started, _, _ := p.noted(t); len(started) > 0 {
			t.Errorf("the run never began, and stages ran: %v", started)
		}
		status, out = p.pipe(t, p.runArgs()...)
	}
	if status == 4 {
		status, out = p.pipe(t, p.answerArgs()...)
	}
	if status != 0 && status != p.ends {
		t.Fatalf("the run did not come to its end: status %d\n%s", status, out)
	}
}

// check compares what a history came to with the reference. before is the journal at the kill.
func (p *project) check(t *testing.T, ref string, before []record) {
	t.Helper()
	p.checkExecutions(t, before)
	p.checkLeft(t)
	if got := p.final(t); got != ref {
		t.Errorf("the final state differs:\n%s\nexpected:\n%s", got, ref)
	}
	if status, out := p.pipe(t, "doctor", "--run", "last"); status != 0 {
		t.Errorf("pipe doctor --run: status %d\n%s", status, out)
	}
	derived := p.derived(t)
	if status, out := p.pipe(t, "resume", "last"); status != p.ends {
		t.Errorf("pipe resume of the run that is over: status %d\n%s", status, out)
	}
	if again := p.derived(t); !maps.Equal(again, derived) {
		t.Errorf("a resume writes other derived files:\n%q\nthere were:\n%q", again, derived)
	}
}

// TestKill kills the commands that carry the run out at each of their points, and some resumes at theirs.
func TestKill(t *testing.T) {
	t.Parallel()
	ref := newReference(t, loops)
	k := &kills{ref: ref}
	t.Run("points", func(t *testing.T) {
		for _, at := range ref.run {
			t.Run("run-"+at.String(), func(t *testing.T) {
				t.Parallel()
				k.history(t, loops, at, (*project).runArgs, nil)
			})
		}
		for _, at := range ref.answer {
			t.Run("approve-"+at.String(), func(t *testing.T) {
				t.Parallel()
				k.history(t, loops, at, (*project).answerArgs, (*project).begin)
			})
		}
		k.resumes(t)
	})
	if k.done.Load() >= int64(len(ref.run)) && k.outlived.Load() == 0 { // a part of the sweep may be asked for
		t.Error("no process ever outlived a kill: the sweep shows nothing about those")
	}
	t.Logf("processes of the run outlived %d kills", k.outlived.Load())
	t.Logf("kill points: %d", k.done.Load())
	fmt.Printf("kill points: %d\n", k.done.Load())
}

// kills counts what the histories see.
type kills struct {
	ref      *reference
	done     atomic.Int64 // kills
	outlived atomic.Int64 // kills that processes of the run outlived
}

// history brings a run to where the command begins, kills that at the point, and carries the run on.
func (k *kills) history(t *testing.T, c course, at point, args func(*project) []string, begin func(*project, *testing.T)) {
	p := newProject(t, "")
	p.course = c
	if begin != nil {
		begin(p, t)
	}
	p.killAt(t, at, args(p)...)
	before := k.killed(t, p)
	p.settle(t)
	p.check(t, k.ref.final, before)
}

// killed looks at a run that was just killed, and gives its journal.
func (k *kills) killed(t *testing.T, p *project) []record {
	t.Helper()
	k.done.Add(1)
	for _, id := range p.runs(t) {
		if len(processes(t, id)) > 0 {
			k.outlived.Add(1)
		}
	}
	p.age(t)
	return p.journal(t)
}

// resumes kills the resume of a killed run at its first points, and resumes that.
func (k *kills) resumes(t *testing.T) {
	bases := []struct {
		name  string
		at    point
		args  func(*project) []string
		begin func(*project, *testing.T)
	}{
		// The parallel stages are recorded as started, and none of them is.
		{"nothing-started", point{sort: journalSync, after: true, n: 3}, (*project).runArgs, nil},
		// All parallel stages run, and the child of one is there or comes.
		{"all-started", dispatches(k.ref.run)[3], (*project).runArgs, nil},
		// The second round of the loop is recorded.
		{"second-round", point{sort: journalSync, after: true, n: 6}, (*project).answerArgs, (*project).begin},
	}
	for _, base := range bases {
		for _, at := range []point{
			{sort: journalWrite, n: 1},
			{sort: journalWrite, after: true, n: 1},
			{sort: journalWrite, after: true, n: 1, torn: true},
			{sort: journalSync, after: true, n: 1}, // what the killed command wrote is made durable
			{sort: journalSync, after: true, n: 2},
			{sort: journalSync, after: true, n: 3},
			{sort: start, n: 3}, // two starts of git come first, to look at the workspace
			{sort: start, after: true, n: 3},
		} {
			t.Run("resume-"+base.name+"-"+at.String(), func(t *testing.T) {
				t.Parallel()
				p := newProject(t, "")
				if base.begin != nil {
					base.begin(p, t)
				}
				p.killAt(t, base.at, base.args(p)...)
				before := k.killed(t, p)
				p.killAt(t, at, "resume", "last")
				before = append(before, k.killed(t, p)...)
				p.settle(t)
				p.check(t, k.ref.final, before)
			})
		}
	}
}

// age lets two hours pass for what a killed command left of an answer.
func (p *project) age(t *testing.T) {
	t.Helper()
	halves, err := filepath.Glob(filepath.Join(p.state, "runs", "*", "inbox", ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range halves {
		at := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
}
