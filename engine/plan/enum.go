package plan

import "time"

// Duration is a length of time whose text form is Go's ("30m0s").
type Duration time.Duration

// OnExhausted says what happens when a loop may not go on.
type OnExhausted uint8

// What happens when a loop may not go on: a person is asked, or the run fails.
const (
	UnknownOnExhausted OnExhausted = iota
	Escalate
	FailRun
)

// Rerun says what runs again when a loop sends work back.
type Rerun uint8

// What runs again: all that needs the target, or only what lies between target and source.
const (
	UnknownRerun Rerun = iota
	Downstream
	Path
)

// Backoff says how the delay between tries grows.
type Backoff uint8

// How the delay between tries grows.
const (
	UnknownBackoff Backoff = iota
	Exponential
	Linear
	Fixed
)

// OnInterrupt says what happens to a try that our own death ended.
type OnInterrupt uint8

// What happens to a try that our own death ended: it runs again, a person is asked, or it has failed.
const (
	UnknownOnInterrupt OnInterrupt = iota
	RunAgain
	Ask
	FailStage
)

// RollbackStrategy says how what a stage did is undone.
type RollbackStrategy uint8

// How what a stage did is undone: the commits made since are reverted, files are put back, what the run remembers
// of the stage is cleared away, a person is told, or a script does it.
const (
	UnknownRollback RollbackStrategy = iota
	GitRevert
	FileRestore
	MemoryCleanup
	Manual
	RunScript
)

// Workspace says where a run works.
type Workspace uint8

// Where a run works: in the project's own tree, or in a git worktree of the run's own.
const (
	UnknownWorkspace Workspace = iota
	InPlace
	Worktree
)

// OnTimeout says what an approval that nobody answered in time becomes.
type OnTimeout uint8

// What an approval that nobody answered in time becomes: a rejection, an approval, or a failure of the stage.
const (
	UnknownOnTimeout OnTimeout = iota
	TimeoutRejects
	TimeoutApproves
	TimeoutFails
)

// OnReject says what a rejected approval becomes.
type OnReject uint8

// What a rejected approval becomes: the stage fails, is skipped, or work is sent back through its loop.
const (
	UnknownOnReject OnReject = iota
	RejectFails
	RejectSkips
	RejectReturns
)

// OnEscalation says what an escalation inside a pipeline of the run becomes.
type OnEscalation uint8

// What an escalation inside becomes: one of the run, a failure of the stage, or items of the stage.
const (
	UnknownOnEscalation OnEscalation = iota
	EscalateRun
	EscalationFails
	EscalationFinds
)

// OnEscalated says what an escalation that nobody decided in time becomes.
type OnEscalated uint8

// What an escalation that nobody decided in time becomes: the run is cancelled, or it fails.
const (
	UnknownOnEscalated OnEscalated = iota
	AbortRun
	FailEscalated
)

// Language says which language an expression is written in.
type Language uint8

// The languages of expressions. The zero value is expr.
const (
	ExprLanguage Language = iota
	CELLanguage
)
