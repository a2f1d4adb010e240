// Package plan holds the compiled pipeline: names resolved, the graph ordered, types known, expressions
// kept as source with a type and a place. It is data only, with a JSON form (plan.json, which a run
// freezes and resume reads) and a text dump that tests compare.
//
// A Plan holds a Graph of Nodes. A Node is one stage; its Needs are indexes of nodes of the same graph,
// already reduced (what another need implies is left out). A node with a Body runs a graph of its own
// inside the same run (pipeline:), a node with ForEach runs once for each item (for_each:). What stands in a
// graph's Finally runs when the rest of the graph has ended, whatever came of it.
//
// Package compile makes plans from documents; package machine runs them; package check advises on them.
package plan

import (
	"slices"
	"strings"

	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// Format is the number of plan.json's form; fields are only added within it.
const Format = 1

// Plan is a pipeline ready to run.
type Plan struct {
	Format      int     `json:"format"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Version     int     `json:"version"` // of the language
	File        string  `json:"file,omitempty"`
	Inputs      []Param `json:"inputs,omitempty"`
	Graph       Graph   `json:"graph"`

	Workspace  Workspace   `json:"workspace,omitzero"` // zero: in place
	Unattended bool        `json:"unattended,omitempty"`
	Escalation *Escalation `json:"escalation,omitempty"`
	Routing    *Contract   `json:"routing,omitempty"` // evaluated at every routing: cross-stage-feedback
	Task       *Task       `json:"task,omitempty"`
}

// WithDefaults gives the inputs of a run in their declared order: those given, and the defaults of the others.
func (p *Plan) WithDefaults(given *value.Object) *value.Object {
	out := value.NewObject()
	for _, in := range p.Inputs {
		v, ok := given.Get(in.Name)
		if !ok {
			v = in.Default
		}
		out.Set(in.Name, v)
	}
	return out
}

// Graph is a set of stages with their order: nodes stand in the order of the document.
type Graph struct {
	Nodes   []Node    `json:"nodes"`
	Outputs []Binding `json:"outputs,omitempty"` // evaluated when the graph has ended well
	Finally *Graph    `json:"finally,omitempty"` // one after another, without needs, loops and outputs; ids are unique in both
}

// HasFinally reports whether something runs at the end of the graph, or of one inside it.
func (g *Graph) HasFinally() bool {
	return g.Finally != nil || slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Body != nil && n.Body.HasFinally() })
}

// Param declares an input or an output.
type Param struct {
	Name        string      `json:"name"`
	Type        value.Type  `json:"type"`
	Description string      `json:"description,omitempty"`
	Required    bool        `json:"required,omitempty"`
	Default     value.Value `json:"default,omitempty"`
	At          source.Pos  `json:"at,omitzero"`
}

// Role says what a stage is for.
type Role uint8

// The roles of stages.
const (
	UnknownRole Role = iota
	Work
	Implementation
	Review
)

// Node is one stage.
type Node struct {
	ID          string     `json:"id"`
	Description string     `json:"description,omitempty"`
	Role        Role       `json:"role"`
	Kind        string     `json:"kind"` // of the executor: "command", "agent", "approval", …; "" with a Body
	At          source.Pos `json:"at,omitzero"`

	Needs []int `json:"needs,omitempty"` // indexes into the graph's nodes, sorted, reduced

	When       *Expr     `json:"when,omitempty"`
	Inputs     []Binding `json:"inputs,omitempty"`
	Outputs    []Param   `json:"outputs,omitempty"`
	PreChecks  []Check   `json:"pre_checks,omitempty"`
	PostChecks []Check   `json:"post_checks,omitempty"`

	Feedback *Feedback `json:"feedback,omitempty"` // where a review's items are read from; nil: PIPE_FEEDBACK
	Loop     *Loop     `json:"feedback_loop,omitempty"`

	Retry   Retry     `json:"retry"`
	Timeout Duration  `json:"timeout"`
	Env     []Binding `json:"env,omitempty"`
	Dir     *Template `json:"dir,omitempty"`
	Prompt  *Template `json:"prompt,omitempty"` // of an agent

	// Whether the prompt names brief and open_items itself. What it does not name, and there is, is
	// appended at dispatch.
	PromptBrief     bool `json:"prompt_brief,omitempty"`
	PromptOpenItems bool `json:"prompt_open_items,omitempty"`

	Config *value.Object `json:"config,omitempty"` // of the kind, as it declares it; nothing here is evaluated
	With   []Binding     `json:"with,omitempty"`   // of the kind too: what is evaluated at the start

	Writes          bool        `json:"writes,omitempty"`
	Approval        *Approval   `json:"requires_approval,omitempty"`
	OnInterrupt     OnInterrupt `json:"on_interrupt"`
	ContinueOnError bool        `json:"continue_on_error,omitempty"`

	ForEach *ForEach `json:"for_each,omitempty"`

	// Of a pipeline inside the run: what it is, and what becomes of its escalations. Its inputs are Inputs.
	Pipeline     string       `json:"pipeline,omitempty"`
	Body         *Graph       `json:"body,omitempty"`
	OnEscalation OnEscalation `json:"on_escalation,omitzero"` // zero: the run's own escalation

	Contract     string     `json:"contract,omitempty"` // its checks are among the node's
	Cache        bool       `json:"cache,omitempty"`
	Discovery    bool       `json:"discovery,omitempty"` // it gets the run's task in PIPE_INPUT
	Refine       *Refine    `json:"refine,omitempty"`    // of the validation of a refine loop, a node of its own
	Rollback     *Rollback  `json:"rollback,omitempty"`
	AllowedPaths []Template `json:"allowed_paths,omitempty"` // globs; none: all
}

// Loop is a feedback loop: its stage is the source, Target the stage that acts on what it finds.
type Loop struct {
	Target        int         `json:"target"` // index of a node that the source needs, directly or not
	MaxIterations int         `json:"max_iterations"`
	OnExhausted   OnExhausted `json:"on_exhausted"`
	Rerun         Rerun       `json:"rerun"`
	OnReject      bool        `json:"on_reject,omitempty"` // taken when a person rejects the approval, not on findings

	// Self says that it is the loop of a stage with itself: the source is the stage's verifiers, or the
	// validation of its refine loop, a node that stands behind the stage ("implement/verifiers",
	// "plan/validate") and that all who need the stage need too. It counts anew each time that anything else
	// makes the stage run again.
	Self bool `json:"self,omitempty"`

	Convergence Convergence `json:"convergence"`
}

// Convergence is the rules that end a loop before its cap.
type Convergence struct {
	SameItem    int  `json:"same_item"`              // rounds in a row in which an item was not fixed; 0: off
	Disputed    int  `json:"disputed"`               // how often the target disputed one item; 0: off
	NoChange    bool `json:"no_change"`              // the target left tree and outputs as they were
	RatchetFrom int  `json:"ratchet_from,omitempty"` // from this iteration a new item blocks only on changed lines; 0: off
}

// Task is what a run works on, evaluated from its inputs when it starts.
type Task struct {
	Key      Template   `json:"key"`
	Body     *Template  `json:"body,omitempty"`
	BodyFile *Template  `json:"body_file,omitempty"` // relative to the workspace; instead of Body
	Repos    []Template `json:"repos,omitempty"`
}

// Refine says what a refine loop is called, and where its findings are kept for people and for the create step.
type Refine struct {
	Name         string    `json:"name"`                    // "plan": the list of its attempts is planRefinement in status.json
	FeedbackFile *Template `json:"feedback_file,omitempty"` // relative to the workspace
}

// Rollback says how what a stage did is undone when the run fails.
type Rollback struct {
	Strategy    RollbackStrategy `json:"strategy"`
	Description string           `json:"description,omitempty"`
	Run         string           `json:"run,omitempty"` // a script: of the strategy run
	Env         []Binding        `json:"env,omitempty"` // of the script
}

// Feedback says where the items of a review are read from.
type Feedback struct {
	Format      string `json:"format"`            // one of convert.Formats
	Path        string `json:"path,omitempty"`    // relative to the workspace; below StageDirVar: to the scratch folder of the try
	Pattern     string `json:"pattern,omitempty"` // of lines
	OKExitCodes []int  `json:"ok_exit_codes"`     // null: any

	Severity map[string]string `json:"severity,omitempty"` // by the tool's own word, in lower case: blocking, advisory or informational; only looked up
}

// StageDirVar is how a path of a report begins that lies in the scratch folder of a try, as scripts know it:
// such a report is no part of the tree, and no other try can take it for its own.
const StageDirVar = "$PIPE_STAGE_DIR"

// InStageDir gives the path of a report that lies in the scratch folder, relative to it.
func (f *Feedback) InStageDir() (name string, ok bool) {
	return strings.CutPrefix(f.Path, StageDirVar+"/")
}

// Check is a condition that must hold before or after a stage.
type Check struct {
	Description string `json:"description"`
	Validation  Expr   `json:"validation"`
	Contract    string `json:"contract,omitempty"` // whose check it is: it reads inputs and outputs by their bare names
}

// Contract is a contract's name with its checks.
type Contract struct {
	Name       string  `json:"name"`
	PreChecks  []Check `json:"pre_checks,omitempty"`
	PostChecks []Check `json:"post_checks,omitempty"`
}

// Binding gives a name a value: an input, an output of the run, an environment variable.
type Binding struct {
	Name  string     `json:"name"`
	Type  value.Type `json:"type"`
	Value Template   `json:"value"`
}

// Retry says how often and when a failed try is made again.
type Retry struct {
	MaxAttempts  int      `json:"max_attempts"` // all tries counted, 1 to 10
	Backoff      Backoff  `json:"backoff"`
	InitialDelay Duration `json:"initial_delay"`
	MaxDelay     Duration `json:"max_delay"`
	On           []string `json:"on,omitempty"` // failure classes; empty: each that may be retried
}

// Approval asks a person before the stage starts. In a stage of the kind approval it is all there is.
type Approval struct {
	Message   *Template `json:"message,omitempty"`
	Approvers []string  `json:"approvers,omitempty"` // who may answer; none: anybody
	Timeout   Duration  `json:"timeout,omitzero"`    // zero: it waits for ever
	OnTimeout OnTimeout `json:"on_timeout,omitzero"` // zero where there is no timeout and none was given
	OnReject  OnReject  `json:"on_reject,omitzero"`  // zero: the stage fails
}

// Escalation says what follows from an escalation beside waiting.
type Escalation struct {
	Timeout   Duration    `json:"timeout,omitzero"`    // zero: it waits for ever
	OnTimeout OnEscalated `json:"on_timeout,omitzero"` // zero where there is no timeout
	Notify    []Notify    `json:"notify,omitempty"`
}

// Notify is a script that is run when a person is asked to decide.
type Notify struct {
	Run string     `json:"run"`
	At  source.Pos `json:"at,omitzero"`
}

// ForEach runs a node once for each item.
type ForEach struct {
	Items       Template `json:"items"` // gives a list
	As          string   `json:"as"`
	MaxParallel int      `json:"max_parallel,omitempty"` // 0: as many as the run's jobs
}

// Expr is an expression: its source, the type it must give, what it reads, and where it stands.
type Expr struct {
	Source   string     `json:"source"`
	Language Language   `json:"language,omitzero"` // zero: expr
	Type     value.Type `json:"type"`
	Scope    value.Type `json:"scope,omitzero"` // an object type that holds just the names it reads, with their types
	File     string     `json:"file,omitempty"` // where it is not the plan's: a prompt_file
	At       source.Pos `json:"at,omitzero"`    // of its first character
}

// Template is a value with expressions in it. Exactly one form holds: a literal Value (Parts, Fields and
// Items empty), Parts of text and expressions (one expression alone keeps its type), or a Fields or Items
// tree of templates.
type Template struct {
	Value  value.Value `json:"value,omitempty"`
	Parts  []Part      `json:"parts,omitempty"`
	Fields []Binding   `json:"fields,omitempty"`
	Items  []Template  `json:"items,omitempty"`
	File   string      `json:"file,omitempty"` // where it is not the plan's: a prompt_file
	At     source.Pos  `json:"at,omitzero"`
}

// Part is a piece of a template: text, or an expression.
type Part struct {
	Text string `json:"text,omitempty"`
	Expr *Expr  `json:"expr,omitempty"`
}

// Evaluator evaluates expressions. The machine is given one; it must be deterministic and bounded by
// counted steps. An error says what went wrong in the author's words; it is an EvalError, which names the
// place in the file.
type Evaluator interface {
	Eval(e Expr, scope *value.Object) (value.Value, error)
}
