package compile

import (
	"example.com/pipe/engine/compile/contract"
	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/graph"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/toolchain"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Options is what compiling needs beside the document.
type Options struct {
	Kinds  []stage.Kind   // the kinds of stages there are; without any, configs are not checked
	Agents []*specs.Agent // of pipe.yaml

	// PromptFile reads a prompt_file, whose name is relative to the pipeline. Nil: there are none to read.
	PromptFile func(name string) (*source.File, error)

	// Pipeline finds a pipeline by its name, or by a path relative to this one. Its error says in the author's
	// words why there is none. Nil: none can be found.
	Pipeline func(ref string) (*Child, error)

	// Contracts finds the contracts that stages name, and the one of routings. Nil: there are none.
	Contracts Contracts

	Unattended bool   // nobody is there to be asked, whatever the document says
	Version    string // of the program; one that is no number is taken for the newest

	Commands []*specs.Command // of pipe.yaml
	Plugins  []*specs.Plugin  // of pipe.yaml

	// FindCommand finds a command of the project that pipe.yaml does not name, by its role, in a folder relative to
	// the project. FindPlugin gives the program that is the plugin of a name. Nil: there are none to find.
	FindCommand func(dir, role string) (toolchain.Command, error)
	FindPlugin  func(name string) (string, error)

	// AllowMissingAgents makes a warning of an agent that pipe.yaml lacks: a shipped pipeline is checked
	// without the project that will run it. The plan of such a stage has no command and can't be run.
	AllowMissingAgents bool

	AllowMissingCommands bool // the same of a command of the project

	// ConfigUnread says that Agents, Commands and Plugins may lack some that pipe.yaml has, since it could not be
	// read in full: it is not said of any that it is missing. The mistakes in pipe.yaml keep the plan from being run.
	ConfigUnread bool
}

// Compile gives the plan of a document, and what is wrong with the document. The plan is nil if one of the
// diagnostics is an error. A document that specs reported errors of may be compiled too, for the sake of
// the other mistakes in it; its plan is worth nothing.
func Compile(doc *specs.Pipeline, opt Options) (*plan.Plan, diag.List) {
	c := &compiler{doc: doc, opt: opt, scalars: map[string]source.Scalar{}}
	if doc.File != nil {
		c.file = doc.File.Name
	}
	c.family = &family{file: c.file, done: map[string]*compiledChild{}, open: []string{c.file}, contracts: map[string]*contract.Contract{}, task: doc.Task != nil}
	c.known = scope.NewStages(&c.diags, doc.Incomplete)
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
	file  string
	diags diag.List

	family *family // this document, and those of the pipelines that it runs

	stages []*stageInfo  // of the document, and behind them those of finally
	known  *scope.Stages // the same stages, as others read them
	needs  graph.Needs   // as written, or the default; without cycles; of the stages before finally
	typer  *scope.Typer

	scalars map[string]source.Scalar // of the check of a kind that is under way: one map for all of them
}

// stageInfo is what is known of a stage while the plan is made.
type stageInfo struct {
	*scope.Stage
	syn  *specs.Stage
	node *plan.Node

	part  string // of a part of the stage before it: what its id ends in
	owner int    // the stage that it is a part of

	allAbove bool               // it gives no needs, so it waits for all above
	targeted bool               // a loop leads here
	child    *compiledChild     // the pipeline that it runs
	contract *contract.Contract // that holds for it
	command  *projectCommand    // of the project, that it runs
	prompt   *specs.Text        // of an agent, read from its file where it has one
}

// compile works through the document in the order in which later steps need earlier ones.
func (c *compiler) compile() *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Version: fixed.Pick(1, c.doc.Version), File: c.file,
		Name: fixed.Pick("", c.doc.Name), Description: fixed.Pick("", c.doc.Description)}
	c.settings(p)
	p.Inputs = fixed.Params(&c.diags, c.doc.Inputs, "input")
	p.Graph = c.graph(p.Inputs)
	p.Routing = c.routing(&p.Graph)
	p.Task = c.task()
	return p
}

// graph compiles the stages of the document, in the order in which later steps need earlier ones.
func (c *compiler) graph(inputs []plan.Param) plan.Graph {
	var g plan.Graph
	c.names(&g)
	c.loopTargets()
	c.order()
	for _, s := range c.stages {
		if s.isPart() {
			c.declarePart(s)
		} else {
			c.declare(s)
		}
	}
	c.typer = scope.NewTyper(c.family.file, fixed.ParamsType(inputs), c.known, c.needs, &c.diags,
		func(i int, visit func(string)) { eachText(c.stages[i], visit) })
	for i, s := range c.stages {
		if s.isPart() {
			c.part(i)
		} else {
			c.stage(i)
		}
	}
	c.stateFiles(&g)
	c.refineNames()
	g.Outputs = c.typer.Bindings(c.doc.Outputs, "output", scope.Place{Stage: scope.RunEnd})
	return g
}

// names gives each stage its id, and its node. Of stages with the same id the first keeps it.
func (c *compiler) names(g *plan.Graph) {
	infos := withParts(c.doc.Stages)
	g.Nodes = make([]plan.Node, len(infos))
	if len(c.doc.Finally) > 0 {
		g.Finally = &plan.Graph{Nodes: make([]plan.Node, len(c.doc.Finally))}
		for _, syn := range c.doc.Finally {
			infos = append(infos, stageInfo{syn: syn})
		}
	}
	// Those of all stages in one piece each: they are many, and none outlives the others.
	c.stages = make([]*stageInfo, 0, len(infos))
	known := make([]scope.Stage, len(infos))
	for i := range infos {
		s, syn := &infos[i], infos[i].syn
		s.Stage = &known[i]
		s.Target, s.Span = -1, spanOf(syn)
		if s.Final = i >= len(g.Nodes); s.Final {
			s.node = &g.Finally.Nodes[i-len(g.Nodes)]
		} else {
			s.node = &g.Nodes[i]
		}
		c.stages = append(c.stages, s)
		if s.isPart() {
			c.namePart(s)
			continue
		}
		s.node.At = syn.Span.Start
		if syn.ID != nil {
			s.ID = syn.ID.Value
			s.node.ID, s.node.At = s.ID, syn.ID.Span.Start
		}
		if first := c.known.Add(s.Stage); first != nil {
			d := c.diags.Errorf(CodeDuplicateStage, s.Span, "stage %q is already there, ids are unique in a pipeline", s.ID)
			d.Related = []diag.Related{{Span: first.Span, Message: "the first one is here"}}
		}
	}
}

// literal gives the template of a plain value at a place of this document, or of another that the plan names.
func (c *compiler) literal(v value.Value, at source.Span) plan.Template {
	t := plan.Template{Value: v, At: at.Start}
	if at.File != c.family.file {
		t.File = at.File
	}
	return t
}

// spanOf is where to point for a stage as a whole: its id, else where it begins.
func spanOf(syn *specs.Stage) source.Span {
	if syn.ID != nil {
		return syn.ID.Span
	}
	sp := syn.Span
	sp.End = sp.Start
	sp.End.Col++
	return sp
}
