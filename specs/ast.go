package specs

import "example.com/pipe/engine/source"

// Leaf is a decoded scalar with its place. A nil *Leaf is a key that is not there.
type Leaf[T any] struct {
	Value T
	Span  source.Span
}

// Pipeline is the syntax tree of a pipeline document. A nil field is a key that is not there, or one whose
// value was reported as wrong.
type Pipeline struct {
	File *source.File
	Span source.Span

	// Incomplete says that a syntax error hid a part of the document: what seems to be missing may stand there.
	Incomplete bool

	Name        *Leaf[string]
	Description *Leaf[string]
	Version     *Leaf[int]
	Inputs      []*Param
	Outputs     []*Entry // outputs of the run: a name and a template
	Defaults    *Defaults
	Stages      []*Stage
}

// Defaults holds what stages take when they do not say otherwise.
type Defaults struct {
	Span         source.Span
	Timeout      *Leaf[Duration]
	Retry        *Retry
	FeedbackLoop *Loop // without a target
}

// Param declares an input or an output, in JSON Schema's words or in the short form.
type Param struct {
	Name        Leaf[string]
	Type        *Leaf[string] // "string", "integer", "number", "boolean", "object", "array" or the short form "T[]"
	Items       *Leaf[string] // of an array: the type of its items, if given
	Description *Leaf[string]
	Enum        []Leaf[string]
	Default     *Data
	Required    *Leaf[bool]
	Span        source.Span
}

// Data is a value as written, with its place: a default, a template tree.
type Data struct {
	Span   source.Span
	Scalar *source.Scalar // a string scalar, which may hold ${{ }}
	Value  any            // a value.Value: of a scalar that is not a string; nil otherwise
	Fields []*Entry       // of a mapping
	Items  []*Data        // of a sequence
	Kind   DataKind
}

// DataKind says which field of a Data holds.
type DataKind uint8

// The kinds of data.
const (
	UnknownData  DataKind = iota
	ScalarData            // Scalar
	ValueData             // Value (null, bool, number)
	MappingData           // Fields
	SequenceData          // Items
)

// Entry is a named value of a mapping. Value is nil where it was reported as wrong.
type Entry struct {
	Name  Leaf[string]
	Value *Data
}

// Stage is one entry of stages.
type Stage struct {
	Span source.Span // of the whole entry

	ID          *Leaf[string]
	Description *Leaf[string]
	Role        *Leaf[string]

	Run        *source.Scalar
	Shell      *Leaf[string]
	Agent      *Leaf[string]
	Prompt     *source.Scalar
	PromptFile *Leaf[string]

	Needs   *Needs
	When    *source.Scalar
	Inputs  []*Entry
	Outputs []*Param

	PreChecks  []*Check
	PostChecks []*Check
	Feedback   *Feedback
	Loop       *Loop

	Retry            *Retry
	Timeout          *Leaf[Duration]
	Env              []*Entry
	Dir              *source.Scalar
	Writes           *Leaf[bool]
	RequiresApproval *Approval
	OnInterrupt      *Leaf[string]
	ContinueOnError  *Leaf[bool]
}

// Needs lists the stages that a stage waits for. An empty list starts at once.
type Needs struct {
	IDs  []Leaf[string]
	Span source.Span
}

// Check is an entry of pre_checks or post_checks.
type Check struct {
	Description *Leaf[string]
	Validation  *source.Scalar
	Span        source.Span
}

// Loop is feedback_loop.
type Loop struct {
	TargetStage   *Leaf[string]
	MaxIterations *Leaf[int]
	OnExhausted   *Leaf[string]
	Rerun         *Leaf[string]
	Span          source.Span
}

// Feedback is feedback: where a review's items come from.
type Feedback struct {
	Format      *Leaf[string]
	Path        *Leaf[string]
	Pattern     *Leaf[string]
	OKExitCodes []Leaf[int]
	Span        source.Span
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

// Approval is requires_approval: true, or a message.
type Approval struct {
	Required bool
	Message  *source.Scalar
	Span     source.Span
}

// Project is the syntax tree of pipe.yaml.
type Project struct {
	File        *source.File
	Agents      []*Agent
	Environment *Leaf[string] // "" or clean
	State       *Leaf[string] // folder of the runs
}

// Agent is an entry of pipe.yaml's agents.
type Agent struct {
	Name    Leaf[string]
	Command []Leaf[string]
	Output  *Leaf[string] // json or text
	Span    source.Span
}
