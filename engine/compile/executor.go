package compile

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// The kinds that the executor keys stand for, and the agent that stands in for those not named.
const (
	kindCommand  = "command"
	kindAgent    = "agent"
	defaultAgent = "default"
)

// An agent with the output form textForm gives what it wrote to stdout as the output textOutput.
const (
	textForm   = "text"
	textOutput = "text"
)

// executor compiles what a stage runs.
func (c *compiler) executor(i int) {
	s := c.stages[i]
	syn := s.syn
	switch {
	case syn.Run != nil:
		c.command(s)
	case syn.Agent != nil:
		c.agent(i)
	case syn.Uses != nil:
		c.uses(i)
	case syn.Pipeline != nil:
		c.body(i)
	case syn.Command != nil:
		c.runCommand(i)
	}
}

// command compiles run.
func (c *compiler) command(s *stageInfo) {
	n, run := s.node, s.syn.Run
	n.Kind = kindCommand
	n.Config = value.NewObject(value.Field{Name: "script", Value: run.Text})
	if s.syn.Shell != nil {
		fixed.Unevaluated(&c.diags, s.syn.Shell, "shell")
		n.Config.Set("shell", s.syn.Shell.Value)
	}
	templateInRun(run, &c.diags, func() string { return rewriteRun(s) })
	c.checkKind(s, kindCommand, "script", run, run.Span)
}

// agent compiles agent and its prompt.
func (c *compiler) agent(i int) {
	s := c.stages[i]
	n, syn := s.node, s.syn
	n.Kind = kindAgent
	n.Config = value.NewObject(value.Field{Name: "name", Value: syn.Agent.Value})
	if a := findAgent(c.opt.Agents, syn.Agent.Value); a != nil {
		n.Config.Set("command", words(a.Command))
		if a.Output != nil {
			n.Config.Set("output", a.Output.Value)
		}
	} else {
		c.missingAgent(s)
	}
	if s.prompt != nil {
		n.Prompt = c.text(s.prompt, "prompt", scope.Place{Stage: i})
		n.PromptBrief, n.PromptOpenItems = promptNames(n.Prompt)
	}
	var text *source.Scalar
	if s.prompt != nil && !s.prompt.CEL {
		text = &s.prompt.Scalar
	}
	c.checkKind(s, kindAgent, "prompt", text, syn.Agent.Span)
}

// textOutputs adds the output that an agent with output: text gives, where the stage does not declare it.
func (c *compiler) textOutputs(s *stageInfo) {
	if s.syn.Agent == nil {
		return
	}
	a := findAgent(c.opt.Agents, s.syn.Agent.Value)
	if a == nil || a.Output == nil || a.Output.Value != textForm {
		return
	}
	n := s.node
	i := slices.IndexFunc(n.Outputs, func(p plan.Param) bool { return p.Name == textOutput })
	if i < 0 {
		n.Outputs = append(n.Outputs, plan.Param{
			Name: textOutput, Type: value.Of(value.String), Description: "what the agent wrote to stdout", Required: true,
			At: s.syn.Agent.Span.Start,
		})
		return
	}
	switch own := &n.Outputs[i]; {
	case own.Type.IsAny():
		own.Type = value.Of(value.String)
	case !value.Assignable(own.Type, value.Of(value.String)):
		d := c.diags.Errorf(fixed.CodeType, s.outputSpan(textOutput), "output %q is %s here, and the agent %q gives it as string", textOutput, fixed.TypeName(own.Type), s.syn.Agent.Value)
		d.Help = "drop it here, it is an output of every agent with output: text, or make it a string"
		d.Related = []diag.Related{{Span: a.Output.Span, Message: "the agent gives a text by this"}}
	}
}

// findAgent gives the agent of a name, else the default one, else nil.
func findAgent(agents []*specs.Agent, name string) *specs.Agent {
	var def *specs.Agent
	for _, a := range agents {
		switch a.Name.Value {
		case name:
			return a
		case defaultAgent:
			def = a
		}
	}
	return def
}

// missingAgent reports an agent that pipe.yaml lacks, with the lines to add.
func (c *compiler) missingAgent(s *stageInfo) {
	if c.opt.ConfigUnread {
		return
	}
	name := s.syn.Agent.Value
	names := make([]string, len(c.opt.Agents))
	for i, a := range c.opt.Agents {
		names[i] = a.Name.Value
	}
	report := c.diags.Errorf
	if c.opt.AllowMissingAgents {
		report = c.diags.Warnf
	}
	d := report(CodeUnknownAgent, s.syn.Agent.Span, "pipe.yaml has no agent %q, and none called %q to stand in for it", name, defaultAgent)
	help := fmt.Sprintf("add to pipe.yaml, with the command that starts your agent:\nagents:\n  %s:\n    command: [./bin/my-agent]\n    output: json", name)
	if near := diag.Suggest(name, names); near != "" {
		help = near + " or " + help
	}
	d.Help = help
}

// promptNames says whether a prompt names brief and open_items itself.
func promptNames(t *plan.Template) (brief, items bool) {
	for _, p := range t.Parts {
		if p.Expr != nil {
			brief = brief || p.Expr.Reads(plan.ScopeBrief)
			items = items || p.Expr.Reads(plan.ScopeOpenItems)
		}
	}
	return brief, items
}

// checkKind fills in the defaults of a kind's config and lets the kind look at it. The text, if there is one,
// is what the document has for key.
func (c *compiler) checkKind(s *stageInfo, name, key string, text *source.Scalar, at source.Span) {
	if len(c.opt.Kinds) == 0 {
		return
	}
	kind := c.kind(name)
	if kind == nil {
		c.diags.Errorf(CodeUnknownKind, at, "this program has no kind of stage called %q", name)
		return
	}
	for _, f := range kind.Config {
		if _, there := s.node.Config.Get(f.Name); !there && f.Default != nil {
			s.node.Config.Set(f.Name, f.Default)
		}
	}
	if kind.Check == nil {
		return
	}
	clear(c.scalars)
	if text != nil {
		c.scalars[key] = *text
	}
	kind.Check(&stage.CheckPass{
		Stage: s.node.ID, Config: s.node.Config, Scalars: c.scalars, Span: at,
		Report: func(d diag.Diagnostic) { c.diags.Add(d) },
	})
}
