package step

import (
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/value"
)

// Record is a decision: what Step decided and Apply folds into the state. Its JSON form is one object whose
// "type" is RecordType. Fields are only added, never renamed or re-meant.
type Record interface {
	RecordType() string
}

// RunStarted is the first record of a run.
type RunStarted struct {
	Run    RunInfo            `json:"run"`
	At     Instant            `json:"at"`
	Inputs *value.Object      `json:"inputs"`
	Loops  []feedback.Counter `json:"loops,omitempty"`
	Task   *envelope.Issue    `json:"task,omitempty"`
	Prior  []History          `json:"prior,omitempty"`
}

// RunWaiting says that nothing can go on before an approval is answered.
type RunWaiting struct {
	At     Instant `json:"at"`
	Reason string  `json:"reason"` // "approval"
}

// RunPaused says that nothing can go on before an escalation is decided.
type RunPaused struct {
	At     Instant `json:"at"`
	Reason string  `json:"reason"` // of the first open escalation
	Tree   Tree    `json:"tree"`   // what the person is shown
}

// RunResumed says that the run goes on, after a wait, a pause, or with a new process.
type RunResumed struct {
	At    Instant `json:"at"`
	Ended int     `json:"ended,omitempty"` // processes left over that were ended
	Tree  *Tree   `json:"tree,omitempty"`  // the workspace as it was found, where somebody looked
}

// RunCancelling says that the run is being stopped.
type RunCancelling struct {
	At      Instant `json:"at"`
	By      string  `json:"by,omitempty"`
	Reason  string  `json:"reason"`            // "cancelled", "aborted"
	Why     string  `json:"why,omitempty"`     // in a person's words; those of an abort are in the escalation's record
	Finally bool    `json:"finally,omitempty"` // what stands in finally is stopped as well, and what is left of it does not start

	Rollback bool `json:"rollback,omitempty"` // what the stages did is undone
}

// RunFinished is the last record of a run.
type RunFinished struct {
	At        Instant         `json:"at"`
	Status    RunStatus       `json:"status"`
	Reason    string          `json:"reason,omitempty"`
	Outputs   *value.Object   `json:"outputs,omitempty"`
	OpenItems []feedback.Item `json:"open_items,omitempty"`
}

// StageStarted says that a try of a stage was dispatched, with all that was evaluated for it. A composite
// stage (for_each, a body) has no effect.
type StageStarted struct {
	Stage        string          `json:"stage"`
	Iteration    int             `json:"iteration"`
	Attempt      int             `json:"attempt"`
	Effect       string          `json:"effect,omitempty"`
	Key          string          `json:"key,omitempty"` // idempotency key
	At           Instant         `json:"at"`
	Inputs       *value.Object   `json:"inputs,omitempty"`
	Env          *value.Object   `json:"env,omitempty"` // name → string
	Dir          string          `json:"dir,omitempty"`
	Prompt       string          `json:"prompt,omitempty"`
	Brief        string          `json:"brief,omitempty"`
	BriefIDs     []string        `json:"brief_items,omitempty"` // items handed over with this start
	OpenItems    []feedback.Item `json:"open_items,omitempty"`
	WantTree     bool            `json:"want_tree,omitempty"`     // the outcome must carry the tree
	Base         string          `json:"base,omitempty"`          // tree before the first try: of a target, and where cache or allowed_paths ask for it
	With         *value.Object   `json:"with,omitempty"`          // of the kind's config, what was evaluated
	AllowedPaths []string        `json:"allowed_paths,omitempty"` // globs
	Items        value.List      `json:"items,omitempty"`         // of a for_each: one instance each
	Composite    bool            `json:"composite,omitempty"`

	Envelope     *envelope.Envelope       `json:"envelope,omitempty"`      // with work that is sent to it
	Discovery    *envelope.DiscoveryInput `json:"discovery,omitempty"`     // of a stage that only looks around
	Refine       *RefineAttempt           `json:"refine,omitempty"`        // of both halves of a refine loop
	FeedbackFile string                   `json:"feedback_file,omitempty"` // of both halves of a refine loop: where its findings are kept, relative to the workspace

	Since string `json:"since,omitempty"` // tree of the last review: the outcome must carry the lines changed since, where items name them
}

// RefineAttempt says which attempt of a refine loop a try belongs to.
type RefineAttempt struct {
	Attempt int `json:"attempt"` // from 1
	Max     int `json:"max_attempts"`
}

// StageSucceeded says that a stage gave what it must.
type StageSucceeded struct {
	Stage      string        `json:"stage"`
	Iteration  int           `json:"iteration"`
	Attempt    int           `json:"attempt"`
	Effect     string        `json:"effect,omitempty"`
	At         Instant       `json:"at"`
	ExitCode   *int          `json:"exit_code,omitempty"`
	DurationMS int64         `json:"duration_ms"`
	Outputs    *value.Object `json:"outputs,omitempty"`
	Tree       *Tree         `json:"tree,omitempty"`
	Reason     string        `json:"reason,omitempty"` // "override": a person took it as succeeded
	Cached     bool          `json:"cached,omitempty"` // an earlier execution gave this
}

// StageFailed says that a stage failed for good in this iteration.
type StageFailed struct {
	Stage      string  `json:"stage"`
	Iteration  int     `json:"iteration"`
	Attempt    int     `json:"attempt"`
	Effect     string  `json:"effect,omitempty"`
	At         Instant `json:"at"`
	Class      string  `json:"class"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	DurationMS int64   `json:"duration_ms"`
	Message    string  `json:"message,omitempty"`
	Reason     string  `json:"reason,omitempty"` // the rule, where a loop was exhausted
}

// StageSkipped says that a stage's "when" was false, or that a person rejected it and on_reject is skip.
type StageSkipped struct {
	Stage     string  `json:"stage"`
	Iteration int     `json:"iteration"`
	At        Instant `json:"at"`
	Reason    string  `json:"reason,omitempty"` // "rejected"
}

// StageRejected says that a person rejected the start of a stage whose on_reject sends work back: it waits for
// the routing.
type StageRejected struct {
	Stage     string  `json:"stage"`
	Iteration int     `json:"iteration"`
	At        Instant `json:"at"`
}

// StageNotRun says that a stage can't run since one that it needs failed.
type StageNotRun struct {
	Stage  string  `json:"stage"`
	At     Instant `json:"at"`
	Needed string  `json:"needed,omitempty"` // path of the stage that failed
	Gone   bool    `json:"gone,omitempty"`   // the for_each has fewer items than it had, and this is none of them
}

// StageCancelled says that a stage was stopped, or never started, because the run was cancelled.
type StageCancelled struct {
	Stage  string  `json:"stage"`
	Effect string  `json:"effect,omitempty"`
	At     Instant `json:"at"`
}

// StageInterrupted says that our own death ended a try: it counts as no attempt.
type StageInterrupted struct {
	Stage     string  `json:"stage"`
	Iteration int     `json:"iteration"`
	Attempt   int     `json:"attempt"`
	Effect    string  `json:"effect"`
	At        Instant `json:"at"`
}

// StageStale says that what a stage gave no longer holds and that it runs again.
type StageStale struct {
	Stage  string     `json:"stage"`
	At     Instant    `json:"at"`
	Cause  StaleCause `json:"cause"`
	Cancel bool       `json:"cancel,omitempty"` // its running try is stopped first
	Anew   bool       `json:"anew,omitempty"`   // of the source of a stage's loop with itself: it counts from 1 again
}

// RetryScheduled says that a failed try is made again.
type RetryScheduled struct {
	Stage      string  `json:"stage"`
	Iteration  int     `json:"iteration"`
	Attempt    int     `json:"attempt"` // the one to come
	Failed     string  `json:"failed"`  // effect of the try that failed
	Effect     string  `json:"effect"`  // of the timer
	At         Instant `json:"at"`
	Until      Instant `json:"until"`
	Class      string  `json:"class"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	DurationMS int64   `json:"duration_ms"`
	Message    string  `json:"message,omitempty"`
}

// RetryDue says that the wait before a try is over.
type RetryDue struct {
	Stage  string `json:"stage"`
	Effect string `json:"effect"`
}

// CheckFailed names a check that did not hold.
type CheckFailed struct {
	Stage       string        `json:"stage"`
	When        string        `json:"when"` // "pre" or "post"
	Description string        `json:"description"`
	Validation  string        `json:"validation"`
	Values      *value.Object `json:"values,omitempty"`
}

// TreeAsked says that the state of the workspace is needed.
type TreeAsked struct {
	Effect    string  `json:"effect"`
	Purpose   Purpose `json:"purpose"`
	Stage     string  `json:"stage,omitempty"`
	Iteration int     `json:"iteration,omitempty"`
	Since     string  `json:"since,omitempty"` // a tree's hash: what differs from it is to be listed
	At        Instant `json:"at"`
}

// TreeRecorded says what the workspace's state was.
type TreeRecorded struct {
	Effect  string  `json:"effect"`
	Purpose Purpose `json:"purpose"`
	Stage   string  `json:"stage,omitempty"`
	Tree    Tree    `json:"tree"`
	At      Instant `json:"at"`
}

// FeedbackReceived says that a review, or a target's reply, was taken in.
type FeedbackReceived struct {
	Source   string   `json:"source"`
	Target   string   `json:"target,omitempty"`
	At       Instant  `json:"at"`
	Round    int      `json:"iteration"`
	Items    int      `json:"items"`              // in the result
	Blocking int      `json:"blocking"`           // of those
	Advisory []string `json:"advisory,omitempty"` // "description (file)" of each advisory item, for the log
	Summary  string   `json:"summary,omitempty"`
	Given    []string `json:"given,omitempty"`    // ids that the result gave or confirmed and that are open and blocking
	Disputed int      `json:"disputed,omitempty"` // items that a target disputed

	Diagnosis *envelope.Diagnosis `json:"diagnosis,omitempty"` // what the review learnt beside its items
}

// FeedbackRouted says what follows from a review.
type FeedbackRouted struct {
	Source        string          `json:"source"`
	Target        string          `json:"target"`
	At            Instant         `json:"at"`
	Action        feedback.Action `json:"action"`
	Iteration     int             `json:"iteration"` // after the action
	MaxIterations int             `json:"max_iterations"`
	Rule          string          `json:"rule,omitempty"`  // why it escalates: one of feedback's reasons
	Items         []string        `json:"items,omitempty"` // that are open and block; where a rule about items fired, those
}

// ItemOpened and ItemChanged give an item's whole state.
type ItemOpened struct {
	Item feedback.Item `json:"item"`
}

// ItemChanged gives an item's whole new state.
type ItemChanged struct {
	Item feedback.Item `json:"item"`
}

// ApprovalAsked says that a stage waits for a person.
type ApprovalAsked struct {
	Stage     string  `json:"stage"`
	Iteration int     `json:"iteration"`
	At        Instant `json:"at"`
	Message   string  `json:"message,omitempty"`
	Tree      Tree    `json:"tree"`
	Rounds    int     `json:"rounds,omitempty"` // the approval also holds for this many rounds of feedback, at the most
	Again     string  `json:"again,omitempty"`  // why it is asked once more

	Approvers []string `json:"approvers,omitempty"`  // who may answer; none: anybody
	Effect    string   `json:"effect,omitempty"`     // of the timer, where there is a deadline
	Until     Instant  `json:"until,omitempty"`      // the deadline
	OnTimeout string   `json:"on_timeout,omitempty"` // what it becomes then
}

// ApprovalAnswered is a person's word on a stage.
type ApprovalAnswered struct {
	Stage    string  `json:"stage"`
	Answer   string  `json:"answer"` // id; "" where nobody answered: By says why
	Approved bool    `json:"approved"`
	By       string  `json:"by"`
	Reason   string  `json:"reason,omitempty"`
	At       Instant `json:"at"`
	Tree     Tree    `json:"tree"`
	Warning  string  `json:"warning,omitempty"`
}

// EscalationRaised asks a person what to do with what could not be resolved.
type EscalationRaised struct {
	At         Instant             `json:"at"`
	Escalation feedback.Escalation `json:"escalation"`
	Effect     string              `json:"effect,omitempty"`     // of the timer, where there is a deadline
	Until      Instant             `json:"until,omitempty"`      // the deadline
	OnTimeout  string              `json:"on_timeout,omitempty"` // what it becomes then
}

// EscalationDecided is a person's decision.
type EscalationDecided struct {
	ID       string        `json:"id"`
	Answer   string        `json:"answer"`   // id; "" where nobody answered
	Decision string        `json:"decision"` // retry, refer-back, override, abort; fail where the deadline passed and on_timeout is fail
	At       Instant       `json:"at"`
	By       string        `json:"by"`
	Reason   string        `json:"reason,omitempty"`
	Note     string        `json:"note,omitempty"`
	To       string        `json:"to,omitempty"`
	Rounds   int           `json:"rounds,omitempty"`
	Items    []string      `json:"items,omitempty"`
	Outputs  *value.Object `json:"outputs,omitempty"`
	Closed   bool          `json:"closed"` // false: blocking items are left, the escalation stays open

	Covered   []string `json:"covered,omitempty"`   // stages whose approval also holds for the rounds that were granted
	Unchecked bool     `json:"unchecked,omitempty"` // of an override: the tree is compared again before anything starts on it
	Tree      Tree     `json:"tree"`
	Warning   string   `json:"warning,omitempty"`
}

// NotifyStarted says that a script tells somebody of an escalation.
type NotifyStarted struct {
	Effect     string  `json:"effect"`
	Escalation string  `json:"escalation"`
	Run        string  `json:"run"` // the script
	At         Instant `json:"at"`
}

// NotifyFinished says that such a script has ended, well or not: nothing depends on it.
type NotifyFinished struct {
	Effect     string  `json:"effect"`
	Escalation string  `json:"escalation"`
	At         Instant `json:"at"`
	Class      string  `json:"class,omitempty"` // "" is success
	Message    string  `json:"message,omitempty"`
}

// FinallyStarted says that all else of a graph has ended and that what stands in its finally begins.
type FinallyStarted struct {
	Stage  string    `json:"stage,omitempty"` // the stage that runs the graph; "": the run
	Status RunStatus `json:"status"`          // what came of the rest
	Reason string    `json:"reason,omitempty"`
	At     Instant   `json:"at"`
}

// FinallyFinished says that it has ended.
type FinallyFinished struct {
	Stage  string    `json:"stage,omitempty"`
	Status RunStatus `json:"status"` // what came of it: succeeded, failed or cancelled
	At     Instant   `json:"at"`
}

// RollbackStarted says that what a stage did is being undone.
type RollbackStarted struct {
	Effect   string        `json:"effect,omitempty"` // "": it could not begin
	Stage    string        `json:"stage"`
	Strategy string        `json:"strategy"`
	At       Instant       `json:"at"`
	Base     string        `json:"base,omitempty"` // tree before the stage's first try, where the strategy asks for it
	Head     string        `json:"head,omitempty"` // the commit that was checked out then
	Env      *value.Object `json:"env,omitempty"`  // of a script: name → string
}

// RollbackFinished says what came of it.
type RollbackFinished struct {
	Effect   string   `json:"effect,omitempty"`
	Stage    string   `json:"stage"`
	At       Instant  `json:"at"`
	Class    string   `json:"class,omitempty"` // "" is success
	Message  string   `json:"message,omitempty"`
	Recovery string   `json:"recovery,omitempty"` // the git ref, or the folder, that holds what was there before
	Files    []string `json:"files,omitempty"`
}

// AnswerRefused says why an answer had no effect.
type AnswerRefused struct {
	Answer string  `json:"answer"`
	Why    string  `json:"why"`
	At     Instant `json:"at"`
}

// EventIgnored says that an event did not fit, and why.
type EventIgnored struct {
	Event  string `json:"event"`
	Effect string `json:"effect,omitempty"`
	Why    string `json:"why"`
}
