package attempts_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/attempts"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

var histories = flag.Int("histories", 1000, "how many random histories TestHistories makes")

const (
	create    = "plan"
	validate  = "plan/validate"
	review    = "review"
	dependent = "use"
)

// TestHistories runs refine loops through the machine with random outcomes, decisions, work by hand and crashes, and
// holds the ledger that follows from the records against the machine's counter, the anti-patterns of the
// todo-loop-enforcement document, and what its contract says of a loop that ended.
func TestHistories(t *testing.T) {
	reached := map[string]int{}
	for seed := range *histories {
		w := newWorld(t, uint64(seed), reached)
		w.run()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(w.log, "\n"))
		}
	}
	t.Logf("%v", reached)
	for _, what := range []string{"passed", "passed at once", "passed last", "exhausted", "failed", "grant", "override",
		"create failed", "anew", "again", "crash", "retried", "cancel", "sent back upstream"} {
		if reached[what] == 0 {
			t.Errorf("no history had %q: the test no longer reaches it", what)
		}
	}
}

type world struct {
	t       *testing.T
	rng     *rand.Rand
	reached map[string]int
	plan    *plan.Plan
	m       *machine.Machine
	book    *attempts.Book
	open    []step.Effect
	records []step.Record
	log     []string
	tree    int
	answers int

	escalation string // the open one
	overridden bool
	drawn      bool   // in this step, into an escalation of another loop
	before     string // the ledger before the record that is looked at
}

func newWorld(t *testing.T, seed uint64, reached map[string]int) *world {
	rng := rand.New(rand.NewPCG(seed, 4))
	retry := plan.Retry{MaxAttempts: 1 + rng.IntN(2), Backoff: plan.Fixed}
	loop := func(target, most int) *plan.Loop {
		l := &plan.Loop{Target: target, MaxIterations: most, OnExhausted: plan.Escalate, Rerun: plan.Downstream}
		if rng.IntN(3) == 0 {
			l.OnExhausted = plan.FailRun
		}
		return l
	}
	node := func(id string, role plan.Role, needs ...int) plan.Node {
		return plan.Node{ID: id, Kind: "command", Role: role, Needs: needs, Retry: retry, OnInterrupt: plan.RunAgain}
	}
	p := &plan.Plan{Format: plan.Format, Name: "p", Version: 1, Graph: plan.Graph{Nodes: []plan.Node{
		node("spec", plan.Implementation), node(create, plan.Implementation, 0), node(validate, plan.Review, 1),
		node(review, plan.Review, 2), node(dependent, plan.Work, 3), node("beside", plan.Review, 0),
	}}}
	nodes := p.Graph.Nodes
	nodes[5].Loop = loop(0, 1+rng.IntN(3)) // sends the spec back while the plan is being refined
	nodes[1].Writes, nodes[2].Writes = true, true
	nodes[2].Loop, nodes[2].Refine = loop(1, 1+rng.IntN(4)), &plan.Refine{Name: "plan"}
	nodes[2].Loop.Self = true
	nodes[3].Loop = loop(rng.IntN(2), 1+rng.IntN(3)) // of spec, or of the refined stage
	return &world{t: t, rng: rng, reached: reached, plan: p, m: machine.New(p, nil, nil), book: attempts.NewBook(&p.Graph)}
}

func (w *world) run() {
	w.step(step.Start{Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "p", Jobs: 2}})
	for n := 0; !w.m.Status().Ended() && !w.t.Failed(); n++ {
		switch {
		case n > 1000:
			w.t.Errorf("the run does not end")
		case w.rng.IntN(30) == 0:
			w.crash()
		case w.rng.IntN(200) == 0:
			w.cancel()
		case len(w.open) == 0:
			w.answer()
		default:
			at := w.rng.IntN(len(w.open))
			e := w.open[at]
			w.open = slices.Delete(w.open, at, at+1)
			w.carryOut(e)
		}
	}
}

// crash goes on with a machine and a book that know nothing but the records.
func (w *world) crash() {
	w.reached["crash"]++
	w.m, w.book = machine.New(w.plan, nil, nil), attempts.NewBook(&w.plan.Graph)
	for _, r := range w.records {
		w.m.Apply(r)
		w.book.Apply(r)
	}
	w.step(step.Resumed{})
	w.open = nil
	for _, e := range w.m.OpenEffects() {
		if _, ok := e.(step.Dispatch); ok {
			w.step(step.StageLost{Effect: e.EffectID()})
		}
	}
	w.open = w.m.OpenEffects()
}

func (w *world) carryOut(e step.Effect) {
	switch e := e.(type) {
	case step.Dispatch:
		w.step(w.outcome(e.Started))
	case step.Stop:
		w.open = slices.DeleteFunc(w.open, func(o step.Effect) bool { return o.EffectID() == e.Effect })
		w.step(step.StageEnded{Effect: e.Effect, Class: "cancelled"})
	case step.Timer:
		w.step(step.TimerFired{Effect: e.Effect})
	case step.ReadTree:
		w.step(step.TreeRead{Effect: e.Effect, Tree: w.treeNow()})
	}
}

func (w *world) treeNow() step.Tree {
	hash := fmt.Sprintf("T%d", w.tree)
	return step.Tree{Hash: hash, Tracked: hash}
}

func (w *world) outcome(s *step.StageStarted) step.StageEnded {
	e := step.StageEnded{Effect: s.Effect}
	switch {
	case s.Stage == create && w.rng.IntN(6) == 0:
		e.Class = "exit"
	case s.Stage == validate && w.rng.IntN(40) == 0:
		e.Class = "review_unavailable"
	}
	if n := w.m.Node(s.Stage); n.Loop != nil && e.Class == "" {
		e.Result = &feedback.Result{Items: []feedback.Item{}}
		for k := range w.rng.IntN(3) {
			severity := []feedback.Severity{feedback.Blocking, feedback.Advisory, feedback.Informational}[w.rng.IntN(3)]
			e.Result.Items = append(e.Result.Items, feedback.Item{Severity: severity, Description: fmt.Sprintf("%s %d", s.Stage, k)})
		}
		if len(s.OpenItems) > 0 && w.rng.IntN(4) == 0 { // it answers by id: what it leaves out stays open
			e.Result.Replies = []feedback.Reply{{ID: s.OpenItems[0].ID, Status: feedback.Fixed}}
		}
	}
	if s.WantTree {
		w.tree++
		tree := w.treeNow()
		e.Tree = &tree
	}
	return e
}

func (w *world) cancel() {
	w.reached["cancel"]++
	w.answers++
	w.step(step.Answer{ID: fmt.Sprintf("A%d", w.answers), Kind: step.Cancel, By: "maria", Tree: w.treeNow(), Live: true})
}

// answer decides what is open. One in four times somebody worked by hand before.
func (w *world) answer() {
	if w.escalation == "" {
		w.t.Errorf("nothing is open, and nobody is asked")
		return
	}
	w.answers++
	if w.rng.IntN(4) == 0 {
		w.tree++
	}
	kinds := []step.AnswerKind{step.DecideRetry, step.DecideReferBack, step.DecideOverride}
	kind := kinds[w.rng.IntN(3)]
	if w.answers > 6 {
		kind = step.DecideAbort
	}
	to := ""
	if kind == step.DecideReferBack && w.rng.IntN(2) == 0 {
		to = "spec"
	}
	w.step(step.Answer{ID: fmt.Sprintf("A%d", w.answers), Kind: kind, Escalation: w.escalation, By: "maria", Reason: "so",
		Note: "note", To: to, Rounds: w.rng.IntN(3), Outputs: value.NewObject(), Tree: w.treeNow(), Live: true})
}

func (w *world) step(ev step.Event) {
	w.log = append(w.log, fmt.Sprintf("> %s %+v", ev.EventType(), ev))
	ready := w.m.Step(ev)
	for _, r := range ready.Records {
		w.log = append(w.log, fmt.Sprintf("  %s %+v", r.RecordType(), r))
		w.records = append(w.records, r)
		w.before = w.todo()
		w.book.Apply(r)
		w.look(r)
	}
	if w.drawn && !slices.ContainsFunc(ready.Records, capped) {
		w.t.Error("the loop does not go on, though attempts are left and nothing it is joined with is at its cap")
	}
	w.drawn = false
	w.open = append(w.open, ready.Effects...)
}

// capped says of a record that a review other than the validation is at its cap.
func capped(rec step.Record) bool {
	r, ok := rec.(step.FeedbackRouted)
	return ok && r.Source != validate && r.Action == feedback.Escalate && r.Iteration >= r.MaxIterations
}

func (w *world) todo() string {
	if l, ok := w.book.Of(create); ok {
		return l.Todo()
	}
	return ""
}

// look holds the ledger after a record against what the record says.
func (w *world) look(rec step.Record) {
	l, kept := w.book.Ledger(validate)
	if kept {
		w.log = append(w.log, "    "+strings.ReplaceAll(strings.TrimSpace(l.Todo()), "\n", " | "))
		inProgress := strings.Count(l.Todo(), "[in-progress]")
		if l.Made()+inProgress > l.Max() || inProgress > 1 {
			w.t.Errorf("%d attempts made and %d in progress of %d", l.Made(), inProgress, l.Max())
		}
	}
	switch r := rec.(type) {
	case step.StageStarted:
		w.lookAtStart(&r, l)
	case step.StageFailed:
		if r.Stage == create && r.Reason == feedback.ReasonAttemptFailed {
			w.reached["create failed"]++
		}
	case step.StageStale:
		if r.Anew {
			w.reached["anew"]++
			w.overridden = false
			if kept {
				w.t.Errorf("the loop begins anew, and its old ledger is kept:\n%s", l.Todo())
			}
		}
	case step.FeedbackReceived:
		if r.Source == validate && r.Round != l.Number() {
			w.t.Errorf("the machine's round is %d, the ledger's attempt %d", r.Round, l.Number())
		}
	case step.FeedbackRouted:
		if r.Source == validate {
			w.lookAtRouting(&r, l)
		}
	case step.EscalationRaised:
		w.escalation = r.Escalation.ID
	case step.EscalationDecided:
		w.lookAtDecision(&r, l)
	case step.RunFinished:
		w.lookAtEnd(&r, l)
	}
}

func (w *world) lookAtStart(r *step.StageStarted, l *attempts.Ledger) {
	switch r.Stage {
	case create:
		if !strings.Contains(l.Todo(), "[in-progress]") {
			w.t.Errorf("an attempt is made that is not entered:\n%s", l.Todo())
		}
		if r.Attempt > 1 {
			w.reached["retried"]++
		}
	case validate:
		if !strings.Contains(l.Todo(), "[in-progress]") {
			w.t.Errorf("what is validated is not in progress:\n%s", l.Todo())
		}
		if !strings.Contains(w.before, "[in-progress]") {
			w.reached["again"]++
		}
	case review, dependent: // the loop was left
		exit, err := l.Exit()
		if err != nil || exit != attempts.Passed && !w.overridden {
			w.t.Errorf("the loop was left and the ledger says %s, %v:\n%s", exit, err, l.Todo())
		}
	}
}

// lookAtRouting is where the machine decides whether the loop goes on: the ledger must say the same, from what was
// entered before.
func (w *world) lookAtRouting(r *step.FeedbackRouted, l *attempts.Ledger) {
	if strings.Contains(w.before, "[in-progress]") || w.before == "" {
		w.t.Errorf("the exit was decided before the ledger was updated:\n%s", w.before)
	}
	want := map[feedback.Action]attempts.Exit{
		feedback.Accept: attempts.Passed, feedback.ReImplement: attempts.GoOn, feedback.Escalate: attempts.Exhausted,
	}[r.Action]
	exit, err := l.Exit()
	if r.Action == feedback.Escalate && exit == attempts.GoOn {
		w.drawn = true // into the escalation of a review that it was joined with
		want = exit
	}
	if err != nil || exit != want {
		w.t.Errorf("the machine says %s (%d/%d), the ledger %s, %v:\n%s", r.Action, r.Iteration, r.MaxIterations, exit, err, l.Todo())
	}
	next := l.Made()
	if r.Action == feedback.ReImplement {
		next++
	}
	if r.Iteration != next || r.MaxIterations != l.Max() {
		w.t.Errorf("the machine counts %d/%d, the ledger %d/%d", r.Iteration, r.MaxIterations, next, l.Max())
	}
	switch exit {
	case attempts.Passed:
		w.reached["passed"]++
		if strings.Contains(l.Todo(), "[not-started]") {
			w.t.Errorf("an attempt has passed and others are left open:\n%s", l.Todo())
		}
		if l.Made() == 1 {
			w.reached["passed at once"]++
		}
		if l.Made() == l.Max() && l.Max() > 1 {
			w.reached["passed last"]++
		}
	case attempts.Exhausted:
		w.reached["exhausted"]++
	case attempts.GoOn, attempts.UnknownExit:
	}
}

func (w *world) lookAtDecision(r *step.EscalationDecided, l *attempts.Ledger) {
	of := w.escalation
	if r.Closed {
		w.escalation = ""
	}
	ours := slices.ContainsFunc(w.records, func(o step.Record) bool {
		e, ok := o.(step.EscalationRaised)
		return ok && e.Escalation.ID == of && slices.Contains(e.Escalation.Sources, validate)
	})
	if !ours {
		return
	}
	switch r.Decision {
	case "override":
		w.reached["override"]++
		w.overridden = true
	case "retry", "refer-back":
		w.reached["grant"]++
		if r.To == "spec" {
			w.reached["sent back upstream"]++
			return // it begins anew
		}
		if exit, err := l.Exit(); err != nil || exit != attempts.GoOn {
			w.t.Errorf("%d attempts were granted, and the ledger says %s, %v", r.Rounds, exit, err)
		}
	}
}

// lookAtEnd holds a loop that ended against the shipped contract.
func (w *world) lookAtEnd(r *step.RunFinished, l *attempts.Ledger) {
	if l == nil {
		return
	}
	if strings.Contains(l.Todo(), "[not-started]") {
		w.t.Errorf("the run has ended and an attempt is left open:\n%s", l.Todo())
	}
	if r.Status == step.RunFailed {
		w.reached["failed"]++
	}
	if r.Status != step.RunSucceeded {
		return
	}
	made := l.Refinement()
	if strings.Contains(l.Todo(), "[in-progress]") || made.Attempts != len(made.History) || made.Attempts > made.MaxAttempts || made.Attempts < 1 {
		w.t.Errorf("%+v\n%s", made, l.Todo())
	}
	if last := made.History[len(made.History)-1].Result; last != attempts.Pass && !w.overridden {
		w.t.Errorf("the run has succeeded and the last attempt is %s", last)
	}
}
