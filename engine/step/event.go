package step

import (
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/value"
)

// Event is something that happened: it goes into Step. Each names its time, and those that answer an
// effect name the effect.
type Event interface {
	EventType() string
	When() Instant
}

// RunInfo names a run. It stands in the journal's first step and never changes.
type RunInfo struct {
	Run      string `json:"run"`
	TaskID   string `json:"task_id"`
	Pipeline string `json:"pipeline"`
	Jobs     int    `json:"jobs"` // how many stages may run at once; at least 1

	Unattended bool `json:"unattended,omitempty"` // nobody is there to answer: what would wait for a person fails
}

// Start begins the run.
type Start struct {
	At     Instant            `json:"at"`
	Run    RunInfo            `json:"run"`
	Inputs *value.Object      `json:"inputs,omitempty"` // as given and already of their declared types; defaults are the machine's
	Loops  []feedback.Counter `json:"loops,omitempty"`  // where the loops of an earlier run of the same task stood
	Task   *envelope.Issue    `json:"task,omitempty"`   // what the run works on, where the pipeline has a task
	Prior  []History          `json:"prior,omitempty"`  // how often earlier runs of the same task sent work back, and why
}

// History is how often work was sent back to a stage, and why.
type History struct {
	Target  string                 `json:"target"` // path of the stage
	Defects []envelope.PriorDefect `json:"defects"`
}

// StageEnded answers a Dispatch: the try ended, well or not.
type StageEnded struct {
	At         Instant          `json:"at"`
	Effect     string           `json:"effect"`
	Class      string           `json:"class,omitempty"` // of stage.Class; "" is success
	ExitCode   *int             `json:"exit_code,omitempty"`
	Message    string           `json:"message,omitempty"`
	DurationMS int64            `json:"duration_ms"`
	Outputs    *value.Object    `json:"outputs,omitempty"`
	Result     *feedback.Result `json:"result,omitempty"` // normalised; nil: the stage gave none
	Tree       *Tree            `json:"tree,omitempty"`   // after the try, where the Dispatch asked for it
	Cached     bool             `json:"cached,omitempty"` // nothing ran: this is what an equal execution gave earlier

	Diagnosis *envelope.Diagnosis `json:"diagnosis,omitempty"` // what a review learnt beside its items
	Lines     []Lines             `json:"lines,omitempty"`     // what differs from the tree that Since of the Dispatch names, in files that items name
}

// Lines is a range of lines of a file that were changed or added.
type Lines struct {
	File  string `json:"file"`
	First int    `json:"first"` // 1-based
	Last  int    `json:"last"`
}

// StageLost answers a Dispatch whose try our own death, or Ctrl-C, ended.
type StageLost struct {
	At     Instant `json:"at"`
	Effect string  `json:"effect"`
}

// TimerFired answers a Timer.
type TimerFired struct {
	At     Instant `json:"at"`
	Effect string  `json:"effect"`
}

// Notified answers a Notify: its script ended, well or not.
type Notified struct {
	At      Instant `json:"at"`
	Effect  string  `json:"effect"`
	Class   string  `json:"class,omitempty"` // of stage.Class; "" is success
	Message string  `json:"message,omitempty"`
}

// TreeRead answers a ReadTree.
type TreeRead struct {
	At     Instant `json:"at"`
	Effect string  `json:"effect"`
	Tree   Tree    `json:"tree"`

	Refused string `json:"refused,omitempty"` // why nothing could go back to it, where ReadTree asks for what that takes
}

// Tree names the state of the workspace.
type Tree struct {
	Hash    string   `json:"hash"`              // of all files that count (feedback.md, "The tree")
	Tracked string   `json:"tracked"`           // of the tracked ones alone
	Changed []string `json:"changed,omitempty"` // files that differ from the tree that was named in the effect, sorted
	// Untracked are those of Changed that are there and not tracked, where an answer is compared with the tree.
	Untracked []string `json:"untracked,omitempty"`
	Head      string   `json:"head,omitempty"` // the commit that is checked out, where the effect asks for it; "" also where there is none yet
}

// Resumed says that a process has taken over the run.
type Resumed struct {
	At    Instant `json:"at"`
	Ended int     `json:"ended"`          // processes of the run that were still alive and were ended
	Tree  *Tree   `json:"tree,omitempty"` // the workspace as it is found; nil: nobody looked
}

// RolledBack answers a Rollback.
type RolledBack struct {
	At       Instant  `json:"at"`
	Effect   string   `json:"effect"`
	Class    string   `json:"class,omitempty"`    // of stage.Class; "" is success
	Message  string   `json:"message,omitempty"`  // one line for people: what was done, what was not, or what they must do
	Recovery string   `json:"recovery,omitempty"` // the git ref, or the folder, that holds what was there before
	Files    []string `json:"files,omitempty"`    // that were put back, sorted
}

// AnswerKind says what an Answer asks for.
type AnswerKind uint8

// The kinds of answers.
const (
	UnknownAnswer AnswerKind = iota
	Approve
	Reject
	Cancel
	DecideRetry
	DecideReferBack
	DecideOverride
	DecideAbort
)

// Answer is what a person, or a command, said about the run.
type Answer struct {
	At         Instant       `json:"at"`
	ID         string        `json:"id"` // of the answer, unique; a second one with the same id is ignored
	Kind       AnswerKind    `json:"kind"`
	Stage      string        `json:"stage,omitempty"`      // path: of the approval, or a source of the escalation; "": the only open one
	Escalation string        `json:"escalation,omitempty"` // the one that was seen; "": whatever is open
	By         string        `json:"by"`
	Reason     string        `json:"reason,omitempty"`
	Note       string        `json:"note,omitempty"`     // of refer-back
	To         string        `json:"to,omitempty"`       // of refer-back: path; "": the loop's target
	Rounds     int           `json:"rounds,omitempty"`   // of retry and refer-back: added to the caps; 0 means 1
	Items      []string      `json:"items,omitempty"`    // of override: ids; none: all of the escalation
	Outputs    *value.Object `json:"outputs,omitempty"`  // of override of an interrupted stage
	Rollback   bool          `json:"rollback,omitempty"` // of abort and cancel: what the stages did is undone
	Tree       Tree          `json:"tree"`               // when the answer is taken
	Live       bool          `json:"live"`               // the process that takes it also carries the run on; if not, nothing starts until Resumed
}

// EventType implements Event.
func (Start) EventType() string      { return "start" }
func (StageEnded) EventType() string { return "stage_ended" }
func (StageLost) EventType() string  { return "stage_lost" }
func (TimerFired) EventType() string { return "timer_fired" }
func (Notified) EventType() string   { return "notified" }
func (TreeRead) EventType() string   { return "tree_read" }
func (RolledBack) EventType() string { return "rolled_back" }
func (Resumed) EventType() string    { return "resumed" }
func (Answer) EventType() string     { return "answer" }

// When implements Event.
func (e Start) When() Instant      { return e.At }
func (e StageEnded) When() Instant { return e.At }
func (e StageLost) When() Instant  { return e.At }
func (e TimerFired) When() Instant { return e.At }
func (e Notified) When() Instant   { return e.At }
func (e TreeRead) When() Instant   { return e.At }
func (e RolledBack) When() Instant { return e.At }
func (e Resumed) When() Instant    { return e.At }
func (e Answer) When() Instant     { return e.At }
