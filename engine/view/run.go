package view

import (
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// Interrupted is the status of a run that has neither ended nor waits and that no process carries on. It is
// derived and stands in no record.
const Interrupted = "interrupted"

// Run is a run as a reader sees it. New makes one, Apply feeds it.
type Run struct {
	plan *plan.Plan
	info step.RunInfo

	status     step.RunStatus
	reason     string
	free       bool // no process carries the run on
	cancelling bool
	outputs    *value.Object

	tree    tree
	ledger  feedback.Ledger
	past    []feedback.HistoryEntry // of all loops, up to the last escalation
	tries   int                     // of stages, dispatched
	history []entry

	rollbacks []*rollback // in the order in which they began
	questions
	times
}

// times are when the run started and ended; 0: not yet.
type times struct{ started, finished step.Instant }

// questions are what a person is asked, and who answered.
type questions struct {
	asked []*stage // stages with an open approval, in the order of the plan
	open  []*escalation
	by    string // who gave the last answer since the run came to wait, "" before one
}

// New returns the view of a run of p before its first record: every stage is pending.
func New(p *plan.Plan) *Run { return &Run{plan: p, tree: newTree(p)} }

// SetHeld tells whether a process holds the run's lock: without one a run that neither ended nor waits for
// a person is interrupted.
func (r *Run) SetHeld(held bool) { r.free = !held }

// SetInfo names the run before its first record does: of a run that has only just begun.
func (r *Run) SetInfo(info step.RunInfo) { r.info = info }

// Info names the run; it is empty before the first record.
func (r *Run) Info() step.RunInfo { return r.info }

// Status is where the run stands by its records.
func (r *Run) Status() step.RunStatus { return r.status }

// Reason says why the run has its status: the rule of an escalation, "approval", "cancelled"; often empty.
func (r *Run) Reason() string { return r.reason }

// StatusWord is the status as people and programs see it: Interrupted where SetHeld(false) says so.
func (r *Run) StatusWord() string {
	if r.free && (r.status == step.RunRunning || r.status == step.RunRollingBack || r.status == step.UnknownRunStatus) {
		return Interrupted
	}
	if r.status == step.UnknownRunStatus {
		return step.RunRunning.String()
	}
	return r.status.String()
}

// Started and Finished are the times of the first and of the last record; Finished is 0 before the end.
func (r *Run) Started() step.Instant { return r.started }

// Finished is the time of the run's end, 0 before it.
func (r *Run) Finished() step.Instant { return r.finished }

// Outputs are what the run gave; nil before its end.
func (r *Run) Outputs() *value.Object { return r.outputs }

// Paths gives the paths of all stages in the order of the plan.
func (r *Run) Paths() []string {
	stages := r.tree.ordered()
	out := make([]string, len(stages))
	for i, s := range stages {
		out[i] = s.path
	}
	return out
}

// StageStatus gives where a stage stands, and whether there is such a stage.
func (r *Run) StageStatus(path string) (step.StageStatus, bool) {
	s, ok := r.tree.byPath[path]
	if !ok {
		return step.UnknownStageStatus, false
	}
	return s.status, true
}

// Answered says who gave the last answer to a run that waits or is paused with nothing left to answer and that
// no process carries on: it goes on with `pipe resume`. The bool is false for any other run.
func (r *Run) Answered() (by string, ok bool) {
	if !r.free || !r.Waits() || len(r.asked) > 0 || len(r.open) > 0 || r.by == "" {
		return "", false
	}
	return r.by, true
}

// Branch is the git branch of a run that works in a worktree of its own; "" of one that works in place.
func (r *Run) Branch() string {
	if r.plan.Workspace != plan.Worktree || r.info.Run == "" {
		return ""
	}
	return plan.BranchOf(r.info.Run)
}

// StatusText is the status as a line shows it: with its reason, or with who answered.
func (r *Run) StatusText() string {
	status := r.StatusWord()
	if by, ok := r.Answered(); ok {
		return status + " (answered" + byWhom(by) + ")"
	}
	if r.reason != "" && r.reason != status {
		status += " (" + oneLine(r.reason, maxText) + ")"
	}
	return status
}

// Waits reports whether the run waits for a person and nothing else can go on.
func (r *Run) Waits() bool {
	return r.status == step.RunIsPaused || r.status == step.RunIsWaiting
}
