package machine_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

var (
	histories = flag.Int("histories", 3000, "how many random histories TestSimulation makes")
	firstSeed = flag.Uint64("seed", 1, "the first seed of TestSimulation and TestRoutingIgnoresOrder")
)

// TestSimulation throws outcomes, delays, duplicates, late answers, cancels and crashes at random plans and
// holds the records against the invariants of checker.
func TestSimulation(t *testing.T) {
	var mu sync.Mutex
	var total simCounts
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				counts := simulate(t, shard)
				mu.Lock()
				defer mu.Unlock()
				total.add(counts)
			})
		}
	})
	t.Logf("%d histories: %+v", *histories, total)
	for name, n := range map[string]int{"rounds": total.rounds, "escalations": total.escalations, "crashes": total.crashes,
		"approvals": total.approvals, "cancels": total.cancels, "composites": total.composites, "retries": total.retries,
		"work by hand": total.hands, "rules about items": total.ruled, "an override that is void": total.again,
		"a finally": total.finals, "a cancel of a finally": total.abandoned, "deadlines": total.deadlines,
		"rejections that send back": total.rejections, "notifications": total.notified, "rollbacks": total.rollbacks, "a cancel of rollbacks": total.keptOn,
		"findings of a pipeline inside": total.taken} {
		if n == 0 {
			t.Errorf("no history had %s: the simulation no longer reaches them", name)
		}
	}
}

// shards is into how many parts that run side by side the histories are split.
const shards = 4

// simulate makes every shards-th history.
func simulate(t *testing.T, shard int) simCounts {
	var total simCounts
	for n := shard; n < *histories; n += shards {
		seed := *firstSeed + uint64(n)
		w := newWorld(t, seed, true)
		w.run()
		total.add(w.counts)
		if t.Failed() {
			t.Fatalf("seed %d breaks an invariant; its plan:\n%s\nits history:\n%s", seed, w.text, w.history())
		}
	}
	return total
}

// TestRoutingIgnoresOrder runs each plan with the same outcomes in two orders of ending: what is routed for
// each loop, the items with their ids and the end must be the same.
func TestRoutingIgnoresOrder(t *testing.T) {
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			for n := shard; n < *histories/4; n += shards {
				compareOrders(t, *firstSeed+uint64(n))
			}
		})
	}
}

func compareOrders(t *testing.T, seed uint64) {
	var worlds [2]*world
	for k := range worlds {
		w := newWorld(t, seed, false)
		w.rng = rand.New(rand.NewPCG(seed, uint64(k)+7))
		w.run()
		worlds[k] = w
	}
	if slices.ContainsFunc(worlds[:], func(w *world) bool { return w.m.Status() == step.RunCancelled }) {
		return // a person ended it, and what else went on had come further in one of them
	}
	if diff := cmp.Diff(worlds[0].summary(), worlds[1].summary()); diff != "" {
		t.Fatalf("seed %d: two orders of ending differ:\n%s\nplan:\n%s\none:\n%s\nother:\n%s", seed, diff,
			worlds[0].text, worlds[0].history(), worlds[1].history())
	}
}

type simCounts struct {
	hands, ruled, again                                                           int
	events, rounds, escalations, crashes, approvals, cancels, composites, retries int
	finals, abandoned, deadlines, rejections, notified, taken, rollbacks, keptOn  int
}

func (c *simCounts) add(o simCounts) {
	c.events += o.events
	c.rounds += o.rounds
	c.escalations += o.escalations
	c.crashes += o.crashes
	c.approvals += o.approvals
	c.cancels += o.cancels
	c.composites += o.composites
	c.retries += o.retries
	c.hands += o.hands
	c.ruled += o.ruled
	c.again += o.again
	c.finals += o.finals
	c.abandoned += o.abandoned
	c.deadlines += o.deadlines
	c.rejections += o.rejections
	c.notified += o.notified
	c.taken += o.taken
	c.rollbacks += o.rollbacks
	c.keptOn += o.keptOn
}

// world is what is around a machine: it carries out effects in any order and at any time.
type world struct {
	t       testing.TB
	seed    uint64
	rng     *rand.Rand
	chaos   bool
	text    string
	plan    *plan.Plan
	m       *machine.Machine
	check   *checker
	journal []step.Record
	log     []any // events, records and "crash", in order
	open    []step.Effect
	sent    []step.Event
	tree    string
	seen    string // the tree that the event of this step was made on
	now     step.Instant
	answers int
	routed  map[string]int // by source: how often it was routed
	counts  simCounts
	asked   []string       // stages that wait for an approval
	raised  map[string]int // by sources: how often they escalated
	hands   int            // how often somebody worked by hand
}

// newWorld makes a world with a random plan. Without chaos no stage asks how often it came to its start, none has a
// deadline, and none has a body with loops of its own: work that a routing cancels may have come further or less far.
func newWorld(t testing.TB, seed uint64, chaos bool) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	text := randomPlanText(rng, chaos)
	if !chaos {
		text = strings.ReplaceAll(text, "=again", "=true")
		text = strings.NewReplacer("lists:3,1", "list:2", "lists:1,3", "list:2").Replace(text)
		text = strings.ReplaceAll(text, " deadline=200", "") // what an order of ending can let pass
	}
	p := parsePlan(text)
	w := &world{t: t, seed: seed, rng: rng, chaos: chaos, text: text, plan: p, m: machine.New(p, toyEvaluator{}, nil),
		tree: "T0", routed: map[string]int{}, raised: map[string]int{}}
	w.check = newChecker(p, func() string { return w.seen })
	return w
}

// history gives what happened, for people.
func (w *world) history() string {
	var out strings.Builder
	for _, entry := range w.log {
		switch e := entry.(type) {
		case step.Event:
			fmt.Fprintf(&out, "> %s %+v\n", e.EventType(), e)
		case step.Record:
			fmt.Fprintf(&out, "  %s\n", describe(w.t, e))
		default:
			fmt.Fprintf(&out, "> %v\n", e)
		}
	}
	return out.String()
}

// run drives the machine until the run has ended.
func (w *world) run() {
	jobs := 8
	if w.chaos {
		jobs = 1 + w.rng.IntN(4)
	}
	w.step(step.Start{At: w.now, Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "sim", Jobs: jobs, Unattended: w.plan.Unattended}})
	for n := 0; !w.m.Status().Ended(); n++ {
		if n > 3000 {
			w.t.Errorf("the run does not end")
			return
		}
		if w.t.Failed() {
			return
		}
		w.move(n)
	}
	if open := w.m.OpenEffects(); len(open) > 0 {
		w.t.Errorf("a finished run has open effects: %v", open)
	}
	w.refold()
}

// move does one thing: an answer to an effect, a person's answer, a disturbance.
func (w *world) move(n int) {
	if w.chaos {
		switch p := w.rng.IntN(1000); {
		case p < 40 && len(w.sent) > 0: // a duplicate, or a late answer
			w.step(w.sent[w.rng.IntN(len(w.sent))])
			return
		case p < 80:
			w.crash()
			return
		case p < 83, p < 150 && (w.finalRuns() || w.m.Status() == step.RunRollingBack):
			w.counts.cancels++
			w.take(w.answer(step.Cancel))
			return
		case p < 190 && p >= 155:
			w.person(n)
			return
		case p < 195 && p >= 190: // time passes and nobody lives
			w.now += 400_000
			w.crash()
			return
		}
	}
	if len(w.open) == 0 || w.atRest() && (!w.chaos || w.rng.IntN(10) > 0) {
		w.person(n)
		return
	}
	at := w.rng.IntN(len(w.open))
	e := w.open[at]
	w.open = slices.Delete(w.open, at, at+1)
	w.carryOut(e)
}

// finalRuns reports whether what stands in a finally runs.
func (w *world) finalRuns() bool {
	for _, runs := range w.check.finally {
		if runs {
			return true
		}
	}
	return false
}

func (w *world) atRest() bool {
	s := w.m.Status()
	return (s == step.RunIsPaused || s == step.RunIsWaiting) && !w.m.Cancelling()
}

func (w *world) carryOut(e step.Effect) {
	switch e := e.(type) {
	case step.Dispatch:
		w.step(w.outcome(e.Started))
	case step.Notify:
		w.counts.notified++
		w.step(step.Notified{At: w.now, Effect: e.Effect})
	case step.Rollback:
		w.step(step.RolledBack{At: w.now, Effect: e.Started.Effect, Class: []string{"", "", "exit"}[w.dice(3, "undo", e.Started.Stage)]})
	case step.Stop:
		if slices.ContainsFunc(w.open, func(o step.Effect) bool { _, ok := o.(step.Rollback); return ok && o.EffectID() == e.Effect }) {
			w.open = slices.DeleteFunc(w.open, func(o step.Effect) bool { return o.EffectID() == e.Effect })
			w.step(step.RolledBack{At: w.now, Effect: e.Effect, Class: "cancelled"})
			return
		}
		if slices.ContainsFunc(w.open, func(o step.Effect) bool { _, ok := o.(step.Notify); return ok && o.EffectID() == e.Effect }) {
			w.open = slices.DeleteFunc(w.open, func(o step.Effect) bool { return o.EffectID() == e.Effect })
			w.step(step.Notified{At: w.now, Effect: e.Effect, Class: "cancelled"})
			return
		}
		w.open = slices.DeleteFunc(w.open, func(o step.Effect) bool { return o.EffectID() == e.Effect })
		w.step(step.StageEnded{At: w.now, Effect: e.Effect, Class: "cancelled"})
	case step.Timer:
		w.now = max(w.now, e.Until)
		w.step(step.TimerFired{At: w.now, Effect: e.Effect})
	case step.ReadTree:
		w.step(step.TreeRead{At: w.now, Effect: e.Effect, Tree: step.Tree{Hash: w.tree, Tracked: w.tree}})
	}
}

// dice gives a number below n that follows from the seed and the words alone.
func (w *world) dice(n int, words ...any) int {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, words)
	return int(h.Sum64() % uint64(n))
}

// outcome makes the answer to a dispatch: by chance, or, without chaos, as follows from what was routed.
func (w *world) outcome(s *step.StageStarted) step.StageEnded {
	key := []any{s.Stage, s.Attempt, w.routed[s.Stage]}
	if w.chaos {
		key = append(key, s.Effect)
	}
	roll := func(n int, what string) int { return w.dice(n, append([]any{what}, key...)...) }
	e := step.StageEnded{At: w.now, Effect: s.Effect, DurationMS: 5}
	if roll(100, "fails") < 8 {
		e.Class = []string{"exit", "timeout", "review_unavailable", "invalid_output"}[roll(4, "class")]
	}
	n := w.m.Node(s.Stage)
	if n.Loop != nil || roll(100, "finds") < 5 {
		e.Result = w.findings(s, roll)
	}
	if s.WantTree {
		same := w.dice(100, "same", s.Stage, len(s.BriefIDs)) < 10
		if w.chaos {
			same = roll(100, "same") < 20
		}
		hash := s.Base // without chaos what others do beside it does not count
		if !same {
			w.tree = fmt.Sprintf("T-%s-%d-%s", s.Stage, s.Iteration, s.Effect)
		}
		if !same || w.chaos {
			hash = w.tree
		}
		e.Tree = &step.Tree{Hash: hash, Tracked: hash}
	}
	if s.Since != "" && roll(2, "lines") == 0 {
		e.Lines = []step.Lines{{File: "f", First: 1, Last: 2}}
	}
	if len(s.BriefIDs) > 0 && w.dice(100, "disputes", s.Stage, s.BriefIDs) < 30 && e.Result == nil {
		e.Result = &feedback.Result{Replies: []feedback.Reply{{ID: s.BriefIDs[0], Status: feedback.Disputed, Reason: "so"}}}
	}
	return e
}

func (w *world) findings(s *step.StageStarted, roll func(int, string) int) *feedback.Result {
	r := &feedback.Result{Items: []feedback.Item{}}
	if roll(100, "clean") < 35 {
		return r
	}
	for k := range 1 + roll(3, "count") {
		severity := feedback.Blocking
		if roll(4, fmt.Sprint("severity", k)) == 0 {
			severity = feedback.Advisory
		}
		item := feedback.Item{Severity: severity, File: "f", Line: 1 + roll(3, fmt.Sprint("line", k)),
			Description: fmt.Sprintf("%s finds %d", s.Stage, roll(4, fmt.Sprint("text", k)))}
		if roll(3, fmt.Sprint("alike", k)) == 0 {
			item.Description, item.Line = "all find this", 1
		}
		if len(s.OpenItems) > 0 && roll(5, fmt.Sprint("named", k)) == 0 {
			item.ID = s.OpenItems[roll(len(s.OpenItems), fmt.Sprint("name", k))].ID
			item.Description = fmt.Sprintf("%s in the words of round %d", item.ID, s.Iteration)
		}
		r.Items = append(r.Items, item)
	}
	if w.chaos && len(s.OpenItems) > 0 && roll(3, "replies") == 0 {
		id := s.OpenItems[roll(len(s.OpenItems), "which")].ID
		r.Replies = []feedback.Reply{{ID: id, Status: []feedback.Status{feedback.Fixed, feedback.NotFixed, feedback.Withdrawn, feedback.Disputed}[roll(4, "status")], Reason: "so"}}
	}
	return r
}

// person answers what is open, or says something that does not fit.
func (w *world) person(n int) {
	kinds := []step.AnswerKind{step.Approve, step.DecideOverride, step.DecideRetry, step.DecideReferBack,
		step.Reject, step.DecideAbort}
	kind := step.Approve
	if w.m.Status() == step.RunIsPaused || (w.chaos && w.rng.IntN(2) == 0) {
		k := w.rng.IntN(100)
		if !w.chaos {
			sources := w.check.raised[w.firstRaised()].Sources
			k = w.dice(100, "decision", sources, w.raised[fmt.Sprint(sources)])
		}
		kind = kinds[[]int{1, 1, 2, 3}[k%4]]
		if w.chaos && k < 6 {
			kind = kinds[4+k%2]
		}
		if n > 400 {
			kind = step.DecideOverride
			if e := w.check.raised[w.firstRaised()]; len(e.Sources) == 1 && e.Target == "" && !w.check.asking[e.Sources[0]] {
				kind = step.DecideRetry // it runs again since another decision
			}
		}
	}
	if e := w.check.raised[w.firstRaised()]; kind == step.DecideOverride && e.NothingToAccept != "" {
		if kind = step.DecideReferBack; n > 400 || w.raised[fmt.Sprint(e.Sources)] > 3 { // the last attempt gave nothing that could be accepted
			kind = step.DecideAbort
		}
	}
	a := w.answer(kind)
	if w.chaos && w.rng.IntN(10) == 0 { // work by hand before the answer
		w.byHand()
	}
	w.take(a)
}

// byHand changes the workspace as a person would.
func (w *world) byHand() {
	w.hands++
	w.counts.hands++
	w.tree = fmt.Sprintf("T-hand-%d", w.hands)
	w.check.person = true // what is looked at again for it is in no bound
	w.check.person = true // what stood on it runs again
}

// resumed is the resume of another process, which looks at the workspace as a driver does.
func (w *world) resumed() step.Resumed {
	e := step.Resumed{At: w.now}
	if _, known := w.m.LastTree(); !known || w.m.Cancelling() {
		return e
	}
	for _, o := range w.m.OpenEffects() {
		if d, ok := o.(step.Dispatch); ok && w.m.Node(d.Started.Stage).Writes {
			return e
		}
	}
	e.Tree = &step.Tree{Hash: w.tree, Tracked: w.tree}
	return e
}

// take gives an answer to the machine, and another process that goes on where the one that took it does not.
func (w *world) take(a step.Answer) {
	w.step(a)
	if w.chaos && !a.Live {
		if w.rng.IntN(5) == 0 {
			w.byHand()
		}
		w.step(w.resumed())
	}
}

func (w *world) answer(kind step.AnswerKind) step.Answer {
	w.answers++
	a := step.Answer{At: w.now, ID: fmt.Sprintf("A%d", w.answers), Kind: kind, By: "maria", Reason: "because", Note: "note",
		Outputs: value.NewObject(), Tree: step.Tree{Hash: w.tree, Tracked: w.tree}, Live: true}
	if w.chaos {
		a.Live = w.rng.IntN(4) > 0
		a.Rounds = w.rng.IntN(3)
		a.Rollback = (kind == step.Cancel || kind == step.DecideAbort) && w.rng.IntN(2) == 0
	}
	if id := w.firstRaised(); id != "" && kind >= step.DecideRetry && kind <= step.DecideAbort {
		a.Escalation, a.Stage = id, w.check.raised[id].Sources[0]
	}
	if e, ok := w.check.raised[a.Escalation]; ok && e.Target == "" && kind == step.DecideReferBack {
		a.Kind = step.DecideRetry
	}
	if (kind == step.Approve || kind == step.Reject) && len(w.asked) > 0 {
		a.Stage = w.asked[w.rng.IntN(len(w.asked))]
	}
	return a
}

// firstRaised gives the id of the open escalation whose sources come first.
func (w *world) firstRaised() string {
	first := ""
	for id, e := range w.check.raised {
		if first == "" || fmt.Sprint(e.Sources) < fmt.Sprint(w.check.raised[first].Sources) {
			first = id
		}
	}
	return first
}

// step gives an event to the machine, journals what follows, and holds it against the invariants.
func (w *world) step(ev step.Event) {
	w.now += 10
	w.counts.events++
	w.sent = append(w.sent, ev)
	w.log = append(w.log, ev)
	if w.seen = w.tree; ev.EventType() == "answer" {
		w.seen = ev.(step.Answer).Tree.Tracked
	}
	w.check.now, w.check.retried = ev.When(), false
	ready := w.m.Step(ev)
	for _, r := range ready.Records {
		w.journal = append(w.journal, r)
		w.log = append(w.log, r)
		w.check.record(r)
		w.count(r)
	}
	w.open = append(w.open, ready.Effects...)
	for _, b := range w.check.broken {
		w.t.Errorf("%s", b)
	}
	if len(w.m.OpenEffects()) == 0 && w.m.Status() == step.RunRunning && w.lives(ev) {
		w.t.Errorf("the run goes on and nothing is open")
	}
}

// lives reports whether the process that took ev also carries the run on.
func (w *world) lives(ev step.Event) bool {
	a, ok := ev.(step.Answer)
	return !ok || a.Live
}

func (w *world) count(r step.Record) {
	switch r := r.(type) {
	case step.FeedbackRouted:
		w.routed[r.Source]++
		if r.Action == feedback.ReImplement {
			w.counts.rounds++
		}
	case step.EscalationRaised:
		w.counts.escalations++
		if r.Escalation.Again != "" {
			w.counts.again++
		}
		if r.Escalation.Reason == feedback.ReasonSameItem || r.Escalation.Reason == feedback.ReasonDisputed {
			w.counts.ruled++
		}
		w.raised[fmt.Sprint(r.Escalation.Sources)]++
	case step.ApprovalAsked:
		w.unasked(r.Stage)
		w.asked = append(w.asked, r.Stage)
	case step.ApprovalAnswered:
		w.counts.approvals++
		if r.By == "timeout" {
			w.counts.deadlines++
		}
		w.unasked(r.Stage)
	case step.StageStale:
		w.unasked(r.Stage)
	case step.StageNotRun:
		w.unasked(r.Stage)
	case step.StageCancelled:
		w.unasked(r.Stage)
	case step.RetryScheduled:
		w.counts.retries++
	case step.FinallyStarted:
		w.counts.finals++
	case step.RunCancelling:
		if r.Finally {
			w.counts.abandoned++
		}
		if w.check.undone.stopped {
			w.counts.keptOn++
		}
	case step.RollbackStarted:
		w.counts.rollbacks++
	case step.EscalationDecided:
		if r.By == "timeout" {
			w.counts.deadlines++
		}
	case step.StageRejected:
		w.counts.rejections++
	case step.FeedbackReceived:
		if n := w.m.Node(r.Source); r.Items > 0 && n.OnEscalation == plan.EscalationFinds {
			w.counts.taken++
		}
	case step.StageStarted:
		if r.Composite {
			w.counts.composites++
		}
	}
}

func (w *world) unasked(stage string) {
	w.asked = slices.DeleteFunc(w.asked, func(s string) bool { return s == stage })
}

// refold folds the journal into a new machine, whose state must be the same to the byte.
func (w *world) refold() *machine.Machine {
	m := machine.New(w.plan, toyEvaluator{}, nil)
	for _, r := range w.journal {
		m.Apply(throughJSON(w.t, r))
	}
	if live, folded := w.m.Dump(), m.Dump(); !bytes.Equal(live, folded) {
		w.t.Errorf("folding the records gives another state (-live +folded):\n%s", cmp.Diff(string(live), string(folded)))
	}
	return m
}

// crash throws the machine and all that runs away and resumes from the journal.
func (w *world) crash() {
	w.counts.crashes++
	w.log = append(w.log, "crash")
	w.m = w.refold()
	w.open = nil
	if w.m.Status().Ended() {
		return
	}
	if w.atRest() && w.rng.IntN(4) == 0 {
		w.byHand()
	}
	w.step(w.resumed())
	stopping := map[string]bool{}
	for _, e := range w.m.OpenEffects() {
		if s, ok := e.(step.Stop); ok {
			stopping[s.Effect] = true
		}
	}
	w.open = nil
	for _, e := range w.m.OpenEffects() {
		d, ok := e.(step.Dispatch)
		if ok && (stopping[d.Started.Effect] || w.rng.IntN(3) > 0) {
			w.step(step.StageLost{At: w.now, Effect: d.Started.Effect})
		}
	}
	w.open = w.m.OpenEffects()
}

// summary is what must not depend on the order in which things end.
func (w *world) summary() string {
	var lines []string
	per := map[string][]string{}
	for _, r := range w.journal {
		switch r := r.(type) {
		case step.FeedbackRouted:
			per[r.Source] = append(per[r.Source], fmt.Sprintf("%s %d/%d %s", r.Action, r.Iteration, r.MaxIterations, r.Rule))
		case step.RunFinished:
			lines = append(lines, fmt.Sprintf("end: %s", r.Status))
		}
	}
	for source, routes := range per {
		lines = append(lines, fmt.Sprintf("%s: %s", source, strings.Join(routes, ", ")))
	}
	for _, id := range w.check.order {
		item := w.check.items[id]
		if w.m.Node(item.Sources[0]).Loop == nil {
			continue // of a stage beside the loops: a routing may have cancelled it before it said anything
		}
		lines = append(lines, fmt.Sprintf("item %s %v %q %s %d-%d", id, item.Sources, item.Description, item.Status, item.FirstRound, item.LastRound))
	}
	for path, s := range w.check.stages {
		if strings.Contains(path, "[") {
			continue // of a for_each that does not run again: its items ended or were cancelled
		}
		if strings.Contains(w.text, "rerun=path") && w.m.Node(path).Loop == nil {
			continue // what does not lie on the path keeps what it gave, if it had run before its needs failed in a later round
		}
		lines = append(lines, fmt.Sprintf("stage %s: %s", path, s.status))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
