package specs

import (
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// Leaf is a decoded scalar with its place. A nil *Leaf is a key that is not there.
type Leaf[T any] = read.Leaf[T]

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
	Pipe        *Leaf[Release] // the oldest program that knows all that is used here
	Workspace   *Leaf[string]  // in_place or worktree
	Attended    *Leaf[bool]
	Escalation  *Escalation
	Task        *Task
	Inputs      []*Param
	Outputs     []*Entry // outputs of the run: a name and a template
	Defaults    *Defaults
	Stages      []*Stage
	Finally     []*Stage
}

// Expr is an expression that stands alone: in expr, or in CEL where it is written {cel: …}. The scalar is
// the expression itself.
type Expr struct {
	source.Scalar
	CEL bool
}

// Text is a text for a process or a person. It may hold ${{ }}; with CEL the whole of it is one expression
// in CEL, whose value is the text, and ${{ }} means nothing in it.
type Text struct {
	source.Scalar
	CEL bool
}

// Escalation is escalation: what follows from an escalation beside waiting.
type Escalation struct {
	Timeout   *Leaf[Duration]
	OnTimeout *Leaf[string]
	Notify    []*Notify
	Span      source.Span
}

// Notify is an entry of notify: a script.
type Notify struct {
	Run  *source.Scalar
	Span source.Span
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
	Scalar *source.Scalar // a string scalar, which may hold ${{ }}; with CELData the expression
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
	CELData               // Scalar, which is all of an expression in CEL: {cel: …}
)

// Entry is a named value of a mapping. Value is nil where it was reported as wrong.
type Entry struct {
	Name  Leaf[string]
	Value *Data
}
