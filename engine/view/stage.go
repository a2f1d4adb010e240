package view

import (
	"strings"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// stage is one stage, or one instance of it, as a reader sees it.
type stage struct {
	path  string
	node  *plan.Node // nil: a path that the plan does not know
	order []int      // place in the plan: index of the node, of the item, of the node in the body, …

	status    step.StageStatus
	iteration int
	attempts  int
	effect    string // of the try that runs or ran last
	started   step.Instant
	duration  int64 // of the last try, in ms; meaningless before one ended
	ended     bool  // a try of this iteration ended
	outputs   *value.Object
	cached    bool // an earlier execution gave the outputs
	failure   *failure
	history   []entry
	marks
}

// marks are what else is to be said of a stage.
type marks struct {
	approval *approval // nil: none is asked for
	undone   *rollback // nil: what it did stands
}

// failure says how the last try failed.
type failure struct {
	class    string
	exitCode *int
	message  string
	reason   string
}

// approval is what a person is asked before a stage.
type approval struct {
	asked   step.Instant
	message string
	rounds  int
	again   string

	approvers []string
	deadline
}

// deadline is when a question is answered although nobody did, and how; the zero deadline never passes.
type deadline struct {
	until     step.Instant
	onTimeout string
}

// text says what the deadline means; "" for none.
func (d deadline) text() string {
	if d.until == 0 {
		return ""
	}
	return "without an answer until " + d.until.String() + " it counts as: " + d.onTimeout
}

// entry is a record that concerns a stage or the run, without its bulky fields.
type entry struct {
	at  step.Instant
	rec step.Record
}

// id is the stage's own id, without the path to it.
func (s *stage) id() string {
	if s.node != nil {
		return s.node.ID
	}
	return s.path
}

// owner is the path of the stage whose work this one verifies, "" for one that is not such a part: it stands right
// behind that stage, in its loop with itself.
func (s *stage) owner() string {
	if s.node == nil || s.node.Loop == nil || !s.node.Loop.Self {
		return ""
	}
	base, item := splitIndex(s.path)
	cut := strings.LastIndexByte(base, '/')
	if cut < 0 {
		return ""
	}
	if item >= 0 {
		return base[:cut] + s.path[len(base):]
	}
	return base[:cut]
}

// indent sets a part of a stage apart from the stages.
func (s *stage) indent() string {
	if s.owner() == "" {
		return ""
	}
	return "  "
}

func (s *stage) role() plan.Role {
	if s.node != nil {
		return s.node.Role
	}
	return plan.UnknownRole
}

// come opens an iteration: what the last one gave no longer holds.
func (s *stage) come(iteration int) {
	if iteration == s.iteration {
		return
	}
	s.iteration, s.attempts, s.started, s.ended = iteration, 0, 0, false
	s.outputs, s.failure, s.cached = nil, nil, false
}

// start begins a try.
func (s *stage) start(rec *step.StageStarted) {
	s.come(rec.Iteration)
	if s.started == 0 {
		s.started = rec.At
	}
	s.status, s.attempts, s.effect = step.Running, rec.Attempt, rec.Effect
	s.outputs, s.failure = nil, nil
}

// end closes the try.
func (s *stage) end(status step.StageStatus, iteration, attempt int, ms int64) {
	s.come(iteration)
	s.status, s.duration, s.ended = status, ms, true
	if attempt > 0 {
		s.attempts = attempt
	}
}

// isDone reports whether the stage is over, unless it has to run again.
func (s *stage) isDone() bool {
	switch s.status {
	case step.Succeeded, step.Skipped, step.Failed, step.NotRun, step.Cancelled:
		return true
	}
	return false
}
