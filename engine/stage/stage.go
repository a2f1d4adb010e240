// Package stage is the contract of a stage kind: how a kind of work (a command, an agent, a plugin) is
// offered to the engine.
//
// A Kind is a value in the literal list of cmd/pipe/kinds.go. It declares its config, from which checking
// and the reference derive; Check looks at a config at author time; Run carries out one
// Call and gives an Outcome. The driver prepares the call's files, enforces the time limit, and reads the
// outputs and items that the process left; the machine decides what an outcome means.
package stage

import (
	"context"
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// Kind is a kind of work.
type Kind struct {
	Name   string
	Doc    string
	Config []Field // the keys of its config
	Given  string  // the key of its config that a process finds as config in PIPE_INPUT; "": all of it
	Called string  // the key of its config that a process finds as kind there; "": the kind's own name

	Outputs   []Field // that it gives whenever it succeeds: a stage has them without declaring them
	Elsewhere bool    // what it judges does not lie in the workspace, so that a target may act and leave its tree as it was
	Judges    bool    // it does no work of its own: it only looks at what others did, so nothing can be sent back to it
	Check     func(*CheckPass)
	Run       func(context.Context, *Call) (Outcome, error)
}

// Field declares a key of a kind's config.
type Field struct {
	Name     string
	Type     value.Type
	Doc      string
	Default  value.Value
	Example  string
	Required bool
}

// CheckPass is what a kind's Check may look at: the config as written, with the scalars it came from.
type CheckPass struct {
	Stage   string
	Config  *value.Object
	Scalars map[string]source.Scalar // by config key; only looked up, never ranged over
	Span    source.Span              // of the executor key
	Report  func(diag.Diagnostic)
}

// Class is a failure class. The empty class is success.
type Class string

// The failure classes. None of them consumes a feedback round.
const (
	OK                Class = ""
	Exit              Class = "exit"
	Signal            Class = "signal"
	Timeout           Class = "timeout"
	Idle              Class = "idle"
	Protocol          Class = "protocol"
	Unavailable       Class = "unavailable"
	UsageLimit        Class = "usage_limit"
	Auth              Class = "auth"
	PermissionDenied  Class = "permission_denied"
	InvalidOutput     Class = "invalid_output"
	ReviewUnavailable Class = "review_unavailable"
	Findings          Class = "findings"
	FailedCheck       Class = "check"
	Cancelled         Class = "cancelled"
	Interrupted       Class = "interrupted"
	Rejected          Class = "rejected" // a person refused the approval
)

// Call is one try of a stage, ready to carry out.
type Call struct {
	Run, TaskID, Pipeline string
	Effect                string // id of the effect; in the environment of every process as PIPE_EFFECT
	Stage                 string // path of the instance
	Kind                  string
	Iteration, Attempt    int
	Key                   string // PIPE_IDEMPOTENCY_KEY: the same over tries and resumes

	Config *value.Object // of the kind
	Inputs *value.Object
	Prompt string // of an agent, with brief and items in it
	Brief  string
	Items  []feedback.Item // open items handed to the stage

	Envelope  *envelope.Envelope       // with work that is sent to the stage; nil: none is
	Discovery *envelope.DiscoveryInput // of a stage that only looks around
	Validates bool                     // what a refine loop made: its answer may say PASS or FAIL

	Env       []string  // the whole environment, PIPE_ variables included
	Dir       string    // absolute; inside the workspace
	Workspace string    // absolute
	StageDir  string    // absolute; holds stdout.log, stderr.log, output, feedback, input.json, brief.md, scratch/
	Deadline  time.Time // the end of the time limit; the context ends then
}

// Outcome is what one try gave. Paths in it are inside the call's StageDir.
type Outcome struct {
	Class    Class
	ExitCode int    // -1: none
	Message  string // one line, for people: why it failed
	Outputs  *value.Object
	Result   *feedback.Result // items and replies given on the result channel; nil: none there

	Diagnosis *envelope.Diagnosis // what a review learnt beside its items
}
