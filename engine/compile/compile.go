package compile

import (
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Options is what compiling needs beside the document.
type Options struct {
	Kinds  []stage.Kind   // the kinds of stages there are; without any, configs are not checked
	Agents []*specs.Agent // of pipe.yaml

	// PromptFile reads a prompt_file, whose name is relative to the pipeline. Nil: there are none to read.
	PromptFile func(name string) (*source.File, error)

	// AllowMissingAgents makes a warning of an agent that pipe.yaml lacks: a shipped pipeline is checked
	// without the project that will run it. The plan of such a stage has no command and can't be run.
	AllowMissingAgents bool
}

// Compile gives the plan of a document, and what is wrong with the document. The plan is nil if one of the
// diagnostics is an error. A document that specs reported errors of may be compiled too, for the sake of
// the other mistakes in it; its plan is worth nothing.
func Compile(doc *specs.Pipeline, opt Options) (*plan.Plan, diag.List) {
	c := &compiler{
		doc: doc, opt: opt,
		index: make(map[string]int, len(doc.Stages)),
		envs:  make(map[string]*expr.Env), common: make(map[string]*expr.Program), feedbackType: feedbackType(),
	}
	p := c.compile()
	if c.diags.HasErrors() {
		p = nil
	}
	return p, c.diags
}

// compiler is the work on one document.
type compiler struct {
	doc   *specs.Pipeline
	opt   Options
	diags diag.List

	stages []*stageInfo
	index  map[string]int // of stages by id; of two with one id the first
	ids    []string       // of all stages that have one, in order, for suggestions

	inputs       value.Type               // of the run's inputs
	feedbackType value.Type               // of a stage's feedback in a scope
	envs         map[string]*expr.Env     // of the places where expressions stand, without stages
	common       map[string]*expr.Program // by text: what stages compile that speaks of no stage; many say the same
	before       map[edge]bool            // answers of which stage runs before which
}

// edge asks whether stage to runs before stage from, directly or not.
type edge struct{ from, to int }

// stageInfo is what is known of a stage while the plan is made.
type stageInfo struct {
	syn  *specs.Stage
	id   string // "" where the document gives none that can be used
	node *plan.Node

	needs      []int // as written, or the default; without cycles
	allAbove   bool  // needs is the default
	targetedBy []int // stages whose loops lead here

	outputs   value.Type      // what a successful try gives
	known     value.Type      // of the stage in a scope, where it has succeeded
	maybe     value.Type      // the same where its outputs may not be there
	mayMiss   string          // why outputs may not be there, "can be skipped"; "" if they always are
	mayMissAt source.Span     // the key that says so
	sure      map[string]bool // ids of the stages that have succeeded if its when holds
	prompt    *source.Scalar  // of an agent, read from its file where it has one
}

// compile works through the document in the order in which later steps need earlier ones.
func (c *compiler) compile() *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Version: 1}
	if c.doc.Name != nil {
		p.Name = c.doc.Name.Value
	}
	if c.doc.Description != nil {
		p.Description = c.doc.Description.Value
	}
	if c.doc.Version != nil {
		p.Version = c.doc.Version.Value
	}
	if c.doc.File != nil {
		p.File = c.doc.File.Name
	}
	p.Inputs = c.params(c.doc.Inputs, "input")
	c.inputs = paramsType(p.Inputs)
	p.Graph.Nodes = make([]plan.Node, len(c.doc.Stages))
	c.names(p.Graph.Nodes)
	c.loopTargets()
	c.graph()
	for i := range c.stages {
		c.declare(i)
	}
	c.ask()
	for i := range c.stages {
		c.stage(i)
	}
	p.Graph.Outputs = c.runOutputs()
	return p
}
