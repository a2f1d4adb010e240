package specs

import "example.com/pipe/engine/source"

// Stage is one entry of stages or finally.
type Stage struct {
	Span source.Span // of the whole entry

	ID          *Leaf[string]
	Description *Leaf[string]
	Role        *Leaf[string]

	// What runs: one of Run, Agent, Command, Uses and Pipeline, with what goes with it.
	Run          *source.Scalar
	Shell        *Leaf[string]
	Agent        *Leaf[string]
	Prompt       *Text
	PromptFile   *Leaf[string]
	Command      *Leaf[string] // a command of the project, by its role
	Uses         *Leaf[string] // a kind or a plugin, by its name
	Pipeline     *Leaf[string] // by its name, or by a path relative to this document
	With         *With         // of Uses and Pipeline, but for uses: approval, whose is Gate
	OnEscalation *Leaf[string] // of Pipeline: escalate, fail or findings
	Refine       *RefineLoop   // what its create says stands in the fields above
	Gate         *Approval     // of uses: approval, always there then; its Required is true

	Needs    *Needs
	When     *Expr
	ForEach  *ForEach
	Contract *Leaf[string]
	Inputs   []*Entry
	Outputs  []*Param

	PreChecks  []*Check
	PostChecks []*Check
	Feedback   *Feedback
	Loop       *Loop
	Verifiers  *Verifiers

	Retry            *Retry
	Timeout          *Leaf[Duration]
	Env              []*Entry
	Dir              *source.Scalar
	Writes           *Leaf[bool]
	AllowedPaths     *Globs
	Cache            *Leaf[bool]
	RequiresApproval *Approval
	OnInterrupt      *Leaf[string]
	Rollback         *Rollback
	Discovery        *Leaf[bool]
	ContinueOnError  *Leaf[bool]

	keys []keyPlace // all keys that it has, in the order of the document
}

// keyPlace is a key and where it begins.
type keyPlace struct {
	name string
	at   source.Pos
}

// Key gives where the stage has a key, whatever became of its value.
func (s *Stage) Key(name string) (source.Span, bool) {
	for _, k := range s.keys {
		if k.name == name {
			end := source.Pos{Line: k.at.Line, Col: k.at.Col + len(name)}
			return source.Span{File: s.Span.File, Start: k.at, End: end}, true
		}
	}
	return source.Span{}, false
}

// With is what a kind, a plugin or a pipeline is given.
type With struct {
	Entries []*Entry
	Span    source.Span // of the key
}

// ForEach is for_each. Of Items and List at most one is there.
type ForEach struct {
	Items       *Expr // an expression that gives a list
	List        *Data // a list written out, of the kind SequenceData
	As          *Leaf[string]
	MaxParallel *Leaf[int]
	Span        source.Span
}

// Globs is a list of patterns of paths, which may hold ${{ }}.
type Globs struct {
	List []*source.Scalar
	Span source.Span
}

// Needs lists the stages that a stage waits for. An empty list starts at once.
type Needs struct {
	IDs  []Leaf[string]
	Span source.Span
}

// Check is an entry of pre_checks or post_checks.
type Check struct {
	Description *Leaf[string]
	Validation  *Expr
	Span        source.Span
}

// Loop is feedback_loop, what defaults say of it, or the form of on_reject that names a target: of that only
// TargetStage and MaxIterations can be there.
type Loop struct {
	TargetStage   *Leaf[string]
	MaxIterations *Leaf[int]
	OnExhausted   *Leaf[string]
	Rerun         *Leaf[string]
	Convergence   *Convergence
	Span          source.Span
}

// Feedback is feedback: where a review's items come from. A command of pipe.yaml has the same keys.
type Feedback struct {
	Format      *Leaf[string]
	Path        *Leaf[string]
	Pattern     *Leaf[string]
	OKExitCodes []Leaf[int]
	Severity    []*Severity
	Span        source.Span
}

// Severity says what a tool's word for how severe a finding is means.
type Severity struct {
	Word    Leaf[string]  // as the tool has it, in lower case
	Meaning *Leaf[string] // blocking, advisory or informational
}

// Retry is retry.
type Retry struct {
	MaxAttempts  *Leaf[int]
	Backoff      *Leaf[string]
	InitialDelay *Leaf[Duration]
	MaxDelay     *Leaf[Duration]
	On           []Leaf[string]
	Span         source.Span
}

// Approval is requires_approval, or what uses: approval is given: true, a message, or a mapping.
type Approval struct {
	Required  bool
	Message   *Text
	Approvers []Leaf[string]
	Timeout   *Leaf[Duration]
	OnTimeout *Leaf[string] // reject, approve or fail
	OnReject  *Leaf[string] // fail or skip
	Return    *Loop         // on_reject with a target; OnReject is nil then
	Span      source.Span
}
