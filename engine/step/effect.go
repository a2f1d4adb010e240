package step

import "example.com/pipe/engine/feedback"

// Effect is something to be done outside. Each is answered by an event that names its id; it is carried out
// at least once, and carrying it out is idempotent by (run, id).
type Effect interface {
	EffectID() string
}

// Dispatch runs a try of a stage. It is answered by StageEnded or StageLost.
type Dispatch struct {
	Started *StageStarted
}

// Stop ends the running try of a Dispatch. The answer to that Dispatch answers it too.
type Stop struct {
	Effect string // of the Dispatch
}

// Timer waits until an instant. It is answered by TimerFired.
type Timer struct {
	Effect string
	Until  Instant
}

// ReadTree reads the state of the workspace. It is answered by TreeRead.
type ReadTree struct {
	Effect string
	Since  string // a tree's hash: TreeRead lists what differs from it; "": nothing is listed

	Stage string // whose start the tree is read for, where a rollback may go back to it
	Keep  bool   // what the files hold is kept until the end of the run
	Head  bool   // TreeRead names the commit that is checked out
}

// Notify runs a script that tells somebody of an escalation. It is answered by Notified.
type Notify struct {
	Effect     string
	Escalation feedback.Escalation
	Run        string // the script
}

// Rollback undoes what a stage did. It is answered by RolledBack.
type Rollback struct {
	Started *RollbackStarted
}

// EffectID implements Effect.
func (e Dispatch) EffectID() string { return e.Started.Effect }
func (e Stop) EffectID() string     { return e.Effect }
func (e Timer) EffectID() string    { return e.Effect }
func (e ReadTree) EffectID() string { return e.Effect }
func (e Notify) EffectID() string   { return e.Effect }
func (e Rollback) EffectID() string { return e.Started.Effect }
