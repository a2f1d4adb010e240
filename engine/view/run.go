package view

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
)

// Interrupted is the status of a run that has neither ended nor waits and that no process carries on. It is
// derived and stands in no record.
const Interrupted = "interrupted"

// Run is a run as a reader sees it. New makes one, Apply feeds it.
type Run struct {
	plan *plan.Plan
	info machine.RunInfo

	status   machine.RunStatus
	reason   string
	started  machine.Instant
	finished machine.Instant
	last     machine.Instant
	free     bool // no process carries the run on
	outputs  *value.Object

	stages  []*stage
	byPath  map[string]*stage
	sorted  bool // false: an instance was added at the end of stages since they were last put in order
	loops   []*loop
	loopOf  map[string]*loop // by source: a stage has one loop
	ledger  feedback.Ledger
	asked   []*stage // stages with an open approval, in the order in which they asked
	open    []*escalation
	tries   int // of stages, dispatched
	history []entry
}

// loop is a feedback loop: its counter, and what was last done or decided about it, "" before that.
type loop struct {
	feedback.Counter
	last string
}

// New returns the view of a run of p before its first record: every stage is pending.
func New(p *plan.Plan) *Run {
	r := &Run{
		plan: p, sorted: true,
		byPath: make(map[string]*stage, len(p.Graph.Nodes)),
		loopOf: make(map[string]*loop),
	}
	r.addGraph(&p.Graph, "", nil)
	return r
}

// addGraph adds the stages of a graph, and of the bodies that have no for_each: of those, how many
// instances there are is known only when they start.
func (r *Run) addGraph(g *plan.Graph, prefix string, order []int) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		s := r.add(prefix+n.ID, n, append(slices.Clip(order), i))
		if n.Loop != nil {
			r.addLoop(s.path, prefix+g.Nodes[n.Loop.Target].ID, n.Loop.MaxIterations)
		}
		if n.Body != nil && n.ForEach == nil {
			r.addGraph(n.Body, s.path+"/", s.order)
		}
	}
}

func (r *Run) add(path string, n *plan.Node, order []int) *stage {
	s := &stage{path: path, node: n, order: order, status: machine.Pending}
	r.stages = append(r.stages, s)
	r.byPath[path] = s
	return s
}

func (r *Run) addLoop(source, target string, limit int) *loop {
	pair := feedback.Pair{Source: source, Target: target}
	l := &loop{Counter: feedback.Counter{Pair: pair, Iteration: 1, Cap: limit}}
	r.loops = append(r.loops, l)
	r.loopOf[source] = l
	return l
}

// SetHeld tells whether a process holds the run's lock: without one a run that neither ended nor waits for
// a person is interrupted.
func (r *Run) SetHeld(held bool) { r.free = !held }

// Info names the run; it is empty before the first record.
func (r *Run) Info() machine.RunInfo { return r.info }

// Status is where the run stands by its records.
func (r *Run) Status() machine.RunStatus { return r.status }

// Reason says why the run has its status: the rule of an escalation, "approval", "cancelled"; often empty.
func (r *Run) Reason() string { return r.reason }

// StatusWord is the status as people and programs see it: Interrupted where SetHeld(false) says so.
func (r *Run) StatusWord() string {
	if r.free && (r.status == machine.RunRunning || r.status == machine.UnknownRunStatus) {
		return Interrupted
	}
	if r.status == machine.UnknownRunStatus {
		return machine.RunRunning.String()
	}
	return r.status.String()
}

// Started and Finished are the times of the first and of the last record; Finished is 0 before the end.
func (r *Run) Started() machine.Instant { return r.started }

// Finished is the time of the run's end, 0 before it.
func (r *Run) Finished() machine.Instant { return r.finished }

// Last is the time of the last record that was applied.
func (r *Run) Last() machine.Instant { return r.last }

// Outputs are what the run gave; nil before its end.
func (r *Run) Outputs() *value.Object { return r.outputs }

// Paths gives the paths of all stages in the order of the plan.
func (r *Run) Paths() []string {
	stages := r.ordered()
	out := make([]string, len(stages))
	for i, s := range stages {
		out[i] = s.path
	}
	return out
}

// StageStatus gives where a stage stands, and whether there is such a stage.
func (r *Run) StageStatus(path string) (machine.StageStatus, bool) {
	s, ok := r.byPath[path]
	if !ok {
		return machine.UnknownStageStatus, false
	}
	return s.status, true
}

// Waits reports whether the run waits for a person and nothing else can go on.
func (r *Run) Waits() bool {
	return r.status == machine.RunIsPaused || r.status == machine.RunIsWaiting
}

// ordered gives the stages in the order of the plan; instances stand by their index.
func (r *Run) ordered() []*stage {
	if !r.sorted {
		slices.SortStableFunc(r.stages, func(a, b *stage) int { return slices.Compare(a.order, b.order) })
		r.sorted = true
	}
	return r.stages
}
