package machine

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// state is all that the machine knows of a run. Apply alone changes it. Maps in it are looked up by key and
// never ranged over.
type state struct {
	run     step.RunInfo
	status  step.RunStatus
	reason  string
	started step.Instant
	inputs  *value.Object

	root   *frame
	all    []*instance // in order of creation
	byPath map[string]*instance
	ready  []*instance // what may start now, in plan order
	ended  []*instance // reviews that ended and were not routed yet, in plan order
	closed []*instance // composites whose last part is done, in order

	effects    []*openEffect // recorded and not answered, in order of ids
	nextEffect int
	active     int         // open dispatches, notifications and reads of the tree
	deadlines  int         // open timers of approvals and escalations
	stopping   int         // instances whose try is being stopped
	held       []*instance // those that have the workspace, alone or with others
	writer     *instance

	ledger    feedback.Ledger
	loops     []*loop // in order of creation
	loopByKey map[feedback.Pair]*loop
	history   []feedback.HistoryEntry
	told      int                // how many entries of it are in records of escalations
	loopsTo   map[string][]*loop // by path of the target
	sent      sentBack

	escalations    []*escalation            // the open ones
	decided        []step.EscalationDecided // by which others were closed
	overrides      []override               // on which nothing has started yet
	nextEscalation int
	waiting        int       // approvals that were asked and not answered
	worked         bool      // a stage ended since the workspace was last looked at for a person
	workTree       step.Tree // the last one recorded after work of the run's own
	shown          step.Tree // what a person is shown at a pause
	isShown        bool

	cancelling bool
	abandoned  bool // what stands in finally is cancelled as well
	undo       undoing
	answers    map[string]bool
}

// openEffect is an effect that was recorded and not answered.
type openEffect struct {
	id      string
	inst    *instance // nil: of the run
	kind    effectKind
	until   step.Instant // of a timer
	purpose step.Purpose // of a tree
	since   string       // of a tree

	escalation string       // id: of a deadline of one, and of a notification
	notify     *step.Notify // of a notification

	rollback *step.RollbackStarted // of a rollback
}

type effectKind uint8

const (
	dispatchEffect effectKind = iota + 1
	timerEffect               // the wait before a try
	treeEffect
	deadlineEffect // of an approval, or of an escalation
	notifyEffect
	rollbackEffect
)

// loop is a feedback loop of two instances.
type loop struct {
	counter feedback.Counter
	last    string   // last action or decision: accept, re_implement, escalate, override, …
	pending []string // ids that the target was not handed yet
	summary string   // of the last review

	learnt *envelope.Diagnosis // by the last review, beside its items; nil: nothing
}

// escalation is one that is open.
type escalation struct {
	feedback.Escalation
	sources   []*instance
	target    *instance // nil: of an interrupted stage
	waived    []string  // ids of items
	timer     string    // effect of its deadline
	onTimeout string
}

// frame holds the instances of one graph.
type frame struct {
	graph  *graph
	owner  *instance // nil: the root
	live   bool
	prefix string
	slots  []*instance // by node
	undone int         // slots that are not done

	final   *frame         // what runs when the rest has ended; nil: nothing
	of      *frame         // of a final frame: whose it is
	outcome step.RunStatus // of a final frame that has begun: what came of the rest
}

// instance is a node in a frame, or one item of it.
type instance struct {
	path  string
	node  *plan.Node
	frame *frame
	slot  int
	item  int // -1: not an item of a for_each
	group *instance
	each  value.Value // of an item
	order []int       // of paths: slot, item, slot, item, …

	items []*instance // of a for_each that was started
	body  *frame

	status    step.StageStatus
	iteration int
	attempt   int
	effect    string
	class     string
	reason    string // the rule, where a loop was exhausted
	exitCode  *int
	outputs   *value.Object
	unmet     int // needs that are not met; of a slot
	met       bool
	done      bool
	undone    int  // items that are not done
	under     bool // it is under way, as an item that max_parallel counts
	turns     turns

	dispatched bool // a try of it was started in the run

	came     bool               // the iteration of the start that is under way was counted
	next     int                // attempt to come, after a retry
	redo     *step.StageStarted // an interrupted try to make again
	started  *step.StageStarted // the try that runs, or waits to be made again; of a composite the last start
	stopping bool               // its try is being stopped
	holding  bool               // it has the workspace

	approval  approval
	startTree *step.Tree // read for the start that is under way
	undo      undo

	accepted  bool // a review whose loop has settled
	unrouted  bool // a review that ended and waits to be routed
	round     bool // it runs because work was sent back to it
	blocked   bool // a target without progress: its dependents wait for a decision
	asks      bool // an interrupted try waits for a decision
	note      string
	brief     string
	briefIDs  []string
	base      string // hash of the tree before the round's first try
	before    *value.Object
	hadBefore bool
	changes   []string
	reviewed  string // hash of the tree that it reviewed last, where its ratchet asks for it
	disputed  bool
}

// approval is what people said about the start of an instance.
type approval struct {
	asked     bool
	approved  bool
	unchecked bool // approved in an earlier step: compare the tree before the start
	late      bool // an override stands for it: an item of a for_each takes its turn again
	tree      step.Tree
	items     []shownItem // that were open when it was asked, or answered
	timer     string      // effect of its deadline
	by        string      // who approved it
	reason    string
}

func newState(g *graph) state {
	s := state{
		byPath: map[string]*instance{}, loopByKey: map[feedback.Pair]*loop{},
		loopsTo: map[string][]*loop{}, answers: map[string]bool{},
		nextEffect: 1, nextEscalation: 1,
	}
	s.root = s.newFrame(g, nil, "")
	s.root.live = true
	return s
}

func (s *state) newFrame(g *graph, owner *instance, prefix string) *frame {
	f := &frame{graph: g, owner: owner, prefix: prefix, undone: len(g.Nodes)}
	f.slots = make([]*instance, len(g.Nodes))
	var order []int
	if owner != nil {
		order = owner.order
	}
	for i := range g.Nodes {
		f.slots[i] = s.newInstance(&instance{
			path: prefix + g.Nodes[i].ID, node: &g.Nodes[i], frame: f, slot: i, item: -1,
			order: append(slices.Clip(order), g.first+i), unmet: len(g.Nodes[i].Needs),
		})
	}
	if g.final != nil {
		f.final = s.newFrame(g.final, owner, prefix)
		f.final.of = f
	}
	return f
}

func (s *state) newInstance(i *instance) *instance {
	i.status = step.Pending
	s.all = append(s.all, i)
	s.byPath[i.path] = i
	return i
}

// isGroup reports whether i stands for all items of a for_each.
func (i *instance) isGroup() bool { return i.node.ForEach != nil && i.item < 0 }

// isComposite reports whether i runs no try of its own.
func (i *instance) isComposite() bool { return i.isGroup() || i.node.Body != nil }

// isSource reports whether i is a review whose findings are routed.
func (i *instance) isSource() bool { return i.node.Loop != nil && !i.isGroup() }

// writes reports whether i has the workspace alone while it runs.
func (i *instance) writes() bool { return i.node.Writes && !i.isComposite() }

// meets reports whether i satisfies those who need it. A review does only when its loop has settled.
func (i *instance) meets() bool {
	switch i.status {
	case step.Skipped:
		return true
	case step.Succeeded:
		return !i.blocked && (!i.isSource() || i.accepted)
	case step.Failed:
		return i.node.ContinueOnError
	}
	return false
}

// isDone reports whether nothing more is to come of i as things stand.
func (i *instance) isDone() bool {
	switch i.status {
	case step.Failed:
		return !i.isUndecided()
	case step.NotRun, step.Cancelled:
		return true
	}
	return i.meets()
}

// isFinal reports whether i stands in a finally.
func (i *instance) isFinal() bool { return i.frame.of != nil }

// failed reports whether i can't meet those who need it any more.
func (i *instance) failed() bool {
	return i.status == step.NotRun || i.status == step.Cancelled || (i.status == step.Failed && !i.node.ContinueOnError)
}

// wantsStart reports whether i may start as far as its needs and max_parallel go.
func (s *state) wantsStart(i *instance) bool {
	return s.wantsTurn(i) && (i.under || i.group == nil || !i.group.isFull())
}

// wantsTurn reports whether i may start as far as its needs go.
func (s *state) wantsTurn(i *instance) bool {
	if i.status != step.Pending && i.status != step.Stale {
		return false
	}
	if i.effect != "" || i.stopping || i.asks || i.approval.asked || !i.frame.live {
		return false
	}
	if i.group != nil && i.group.status != step.Running {
		return false
	}
	return s.needsMet(i)
}

// needsMet reports whether what i needs is there.
func (s *state) needsMet(i *instance) bool {
	switch {
	case i.isFinal(): // one after another
		return i.slot == 0 || i.frame.slots[i.slot-1].done
	case i.group == nil:
		return i.unmet == 0 || i.verifiesItems()
	}
	return s.itemNeedsMet(i)
}

// loosen takes the workspace back from what was about to start, where something that it needs runs again first.
func (s *state) loosen(i *instance) {
	if i.holding && (i.status == step.Pending || i.status == step.Stale) && i.effect == "" && !s.needsMet(i) {
		i.startTree = nil
		s.setHolding(i, false)
	}
}

// itemNeedsMet reports whether what one item of a for_each needs is there: the same item of a for_each, else
// the whole stage.
func (s *state) itemNeedsMet(i *instance) bool {
	for _, n := range i.node.Needs {
		need := i.frame.slots[n]
		if !need.met && !itemOf(need, i.item).met {
			return false
		}
	}
	return true
}

// itemOf gives the item of a group, or the instance itself where it has no such item.
func itemOf(i *instance, item int) *instance {
	if item >= 0 && i.isGroup() && item < len(i.items) {
		return i.items[item]
	}
	return i
}

// target gives the instance that a review sends work back to: the same item of a for_each, else the stage.
func (i *instance) target() *instance {
	return itemOf(i.frame.slots[i.node.Loop.Target], i.item)
}

// targetPath names what target gives, also where the target's for_each was skipped and has no items: a counter goes on
// when it has.
func targetPath(i *instance) string {
	t := i.target()
	if i.item >= 0 && t.isGroup() {
		return fmt.Sprintf("%s[%d]", t.path, i.item)
	}
	return t.path
}

// refresh makes what is derived from i's status true again: who waits for it, what may start, what is done.
func (s *state) refresh(i *instance) {
	s.countUnderway(i)
	if met := i.meets(); met != i.met {
		i.met = met
		s.tellDependents(i)
	}
	if done := i.isDone(); done != i.done {
		i.done = done
		s.tellOwner(i, done)
	}
	s.place(i)
	s.placeAll(i.parts())
	if i.isSelf() && !i.isGroup() {
		if t := i.target(); t.isDone() != t.done { // its failure was an attempt, and now it is known what comes of it
			s.refresh(t)
		}
	}
}

// placeAll does place for parts of which something else changed: those that have ended, or run, are not in the list.
func (s *state) placeAll(parts []*instance) {
	for _, part := range parts {
		if part.status == step.Pending || part.status == step.Stale {
			s.place(part)
		}
	}
}

// place puts i into the list of what may start, or takes it out. Items that max_parallel counts wait for their turn.
func (s *state) place(i *instance) {
	s.loosen(i)
	want := s.wantsTurn(i)
	if queues(i) {
		s.queue(i, want)
		return
	}
	s.ready = put(s.ready, i, want)
}

// put puts i into a list in plan order, or takes it out.
func put(list []*instance, i *instance, in bool) []*instance {
	at, found := slices.BinarySearchFunc(list, i, byOrder)
	switch {
	case in == found:
		return list
	case in:
		return slices.Insert(list, at, i)
	case at == 0: // what starts is the first, mostly: those behind it stay where they are
		list[0] = nil
		return list[1:]
	}
	return slices.Delete(list, at, at+1)
}

func byOrder(a, b *instance) int { return slices.Compare(a.order, b.order) }

func (s *state) tellDependents(i *instance) {
	if i.group != nil {
		for _, d := range i.frame.graph.dependents[i.slot] {
			if dep := i.frame.slots[d]; dep.isGroup() && i.item < len(dep.items) {
				s.place(dep.items[i.item])
			}
		}
		return
	}
	delta := 1
	if i.met {
		delta = -1
	}
	for _, d := range i.frame.graph.dependents[i.slot] {
		dep := i.frame.slots[d]
		dep.unmet += delta
		s.place(dep)
		s.placeAll(dep.items)
	}
}

// tellOwner keeps the count of parts that are not done, of a group or of a frame, and notes a composite
// whose last part is done.
func (s *state) tellOwner(i *instance, done bool) {
	delta := 1
	if done {
		delta = -1
	}
	owner, left := i.group, 0
	if owner != nil {
		owner.undone += delta
		left = owner.undone
	} else {
		i.frame.undone += delta
		owner, left = i.frame.owner, i.frame.undone
	}
	if i.isFinal() && i.slot+1 < len(i.frame.slots) {
		s.place(i.frame.slots[i.slot+1])
	}
	if owner != nil {
		s.noteClosed(owner, left == 0)
	}
}

func (s *state) noteClosed(owner *instance, closed bool) {
	if !closed || owner.status == step.Running {
		s.closed = put(s.closed, owner, closed)
	}
}

func (s *state) setUnrouted(i *instance, unrouted bool) {
	i.unrouted = unrouted
	s.ended = put(s.ended, i, unrouted)
}

// setHolding gives i the workspace, or takes it back.
func (s *state) setHolding(i *instance, holding bool) {
	if i.holding == holding {
		return
	}
	i.holding = holding
	if holding {
		s.held = append(s.held, i)
	} else {
		s.held = slices.DeleteFunc(s.held, func(o *instance) bool { return o == i })
	}
	if i.writes() {
		if s.writer = nil; holding {
			s.writer = i
		}
	}
}

func (s *state) open(e *openEffect) {
	s.effects = append(s.effects, e)
	s.nextEffect++
	s.count(e, 1)
	if e.inst != nil && e.kind != deadlineEffect {
		e.inst.effect = e.id
	}
}

// count keeps the counts of open effects.
func (s *state) count(e *openEffect, n int) {
	switch e.kind {
	case timerEffect:
	case deadlineEffect:
		s.deadlines += n
	default:
		s.active += n
	}
}

// search gives the place of an effect among the open ones. Ids are counted, so the shorter ones come first.
func (s *state) search(id string) (int, bool) {
	return slices.BinarySearchFunc(s.effects, id, func(e *openEffect, id string) int {
		return cmp.Or(cmp.Compare(len(e.id), len(id)), cmp.Compare(e.id, id))
	})
}

func (s *state) find(id string) *openEffect {
	if at, ok := s.search(id); ok {
		return s.effects[at]
	}
	return nil
}

// close ends an effect; one that is not open changes nothing.
func (s *state) close(id string) {
	at, ok := s.search(id)
	if !ok {
		return
	}
	e := s.effects[at]
	s.effects = slices.Delete(s.effects, at, at+1)
	s.count(e, -1)
	if e.inst != nil && e.inst.effect == id {
		e.inst.effect = ""
	}
}

// loopOf gives the loop of a review, with its counter at the start if it is new.
func (s *state) loopOf(i *instance) *loop {
	pair := feedback.Pair{Source: i.path, Target: targetPath(i)}
	if l := s.loopByKey[pair]; l != nil {
		return l
	}
	return &loop{counter: feedback.Counter{Pair: pair, Iteration: 1, Cap: i.node.Loop.MaxIterations}}
}

// keepLoop gives the loop of a review, kept in the state.
func (s *state) keepLoop(i *instance) *loop {
	l := s.loopOf(i)
	if s.loopByKey[l.counter.Pair] == nil {
		s.addLoop(l)
	}
	return l
}

func (s *state) addLoop(l *loop) {
	s.loops = append(s.loops, l)
	s.loopByKey[l.counter.Pair] = l
	s.loopsTo[l.counter.Target] = append(s.loopsTo[l.counter.Target], l)
}

func (s *state) escalationByID(id string) *escalation {
	for _, e := range s.escalations {
		if e.ID == id {
			return e
		}
	}
	return nil
}
