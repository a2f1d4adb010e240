package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/contract"
	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Child is a pipeline that another one runs, as Options.Pipeline finds it.
type Child struct {
	Name  string // by which people know it
	Doc   *specs.Pipeline
	Diags diag.List // of its shape

	// What it finds itself, relative to its own file; see Options.
	PromptFile func(name string) (*source.File, error)
	Pipeline   func(ref string) (*Child, error)

	AllowMissingAgents, AllowMissingCommands bool // see Options
}

// maxStages bounds the stages of a plan with all that its pipelines run: a few documents that each run the
// next one twice would else make a plan of any size.
const maxStages = 100_000

// maxDeep bounds how deep pipelines run one another: a path, and what is kept of a plan, grows with each.
const maxDeep = 30

// compiledChild is a pipeline as the stages that run it see it.
type compiledChild struct {
	*Child
	inputs  []plan.Param
	graph   plan.Graph
	outputs []plan.Param
	stages  int // with those of the pipelines that it runs
}

// family is what the compilers of a pipeline and of those that it runs have in common.
type family struct {
	file     string // of the pipeline itself: the plan's
	done     map[string]*compiledChild
	open     []string // the files under way, the plan's first
	stages   int      // of all graphs, counted as often as they are in the plan
	task     bool     // the pipeline itself says what a run works on
	worktree bool     // the run has a worktree of its own
	over     bool     // there are too many, and that was reported

	contracts map[string]*contract.Contract // by name; nil: it is not there, or was reported
}

// child finds and compiles the pipeline that a stage runs, and declares its outputs as the stage's. A pipeline
// that several stages run is compiled once.
func (c *compiler) child(s *stageInfo) {
	ref := s.syn.Pipeline
	fixed.Unevaluated(&c.diags, ref, "pipeline")
	s.node.Pipeline = ref.Value
	s.node.OnEscalation = fixed.PickWord(plan.UnknownOnEscalation, s.syn.OnEscalation)
	if c.opt.Pipeline == nil {
		c.diags.Errorf(CodePipeline, ref.Span, "pipeline %q can't be found here, there are no files beside this pipeline", ref.Value)
		return
	}
	ch, err := c.opt.Pipeline(ref.Value)
	if err != nil {
		d := c.diags.Errorf(CodePipeline, ref.Span, "%v", err)
		d.Help = `a name is looked up as "pipe run" does; a path, which has a "/" or ends in .yaml, is relative to this file`
		return
	}
	s.node.Pipeline = ch.Name
	s.child = c.compileChild(ch, ref.Span)
	if s.child == nil {
		return
	}
	if w := ch.Doc.Workspace; w != nil && w.Value == plan.Worktree.String() && !c.family.worktree {
		d := c.diags.Errorf(CodePipeline, ref.Span, "pipeline %q wants a worktree of its own, and a run has one workspace", ch.Name)
		d.Related = []diag.Related{{Span: w.Span, Message: "it says so here"}}
		d.Help = "write workspace: worktree in the pipeline that is run"
	}
	s.node.Outputs = s.child.outputs
	if s.node.OnEscalation == plan.EscalationFinds { // it may end in the middle
		s.node.Outputs = slices.Clone(s.node.Outputs)
		for k := range s.node.Outputs {
			s.node.Outputs[k].Required = false
		}
	}
	if c.family.stages+s.child.stages > maxStages { // it is left out: nobody can walk over what is that large
		if !c.family.over {
			c.family.over = true
			c.diags.Errorf(CodePipeline, ref.Span, "with the pipelines that it runs, this one has more than %d stages", maxStages)
		}
		return
	}
	c.family.stages += s.child.stages
	body := s.child.graph
	s.node.Body = &body
}

// compileChild compiles a pipeline that another one runs. Nil: it was reported.
func (c *compiler) compileChild(ch *Child, at source.Span) *compiledChild {
	file := ch.Doc.File.Name
	if k := slices.Index(c.family.open, file); k >= 0 {
		d := c.diags.Errorf(CodeCycle, at, "pipelines run each other in a circle: %s", strings.Join(append(slices.Clone(c.family.open[k:]), file), " → "))
		d.Help = "to do something again use feedback_loop, which is bounded, or for_each"
		return nil
	}
	if done, ok := c.family.done[file]; ok {
		return done
	}
	if len(c.family.open) > maxDeep {
		c.diags.Errorf(CodePipeline, at, "pipelines run one another more than %d levels deep here", maxDeep)
		return nil
	}
	opt := c.opt
	opt.PromptFile, opt.Pipeline = ch.PromptFile, ch.Pipeline
	opt.AllowMissingAgents, opt.AllowMissingCommands = ch.AllowMissingAgents, ch.AllowMissingCommands
	in := &compiler{doc: ch.Doc, opt: opt, file: file, family: c.family, scalars: c.scalars}
	in.known = scope.NewStages(&in.diags, ch.Doc.Incomplete)
	c.family.open = append(c.family.open, file)
	before := c.family.stages
	out := &compiledChild{Child: ch}
	in.pipeRelease()
	out.inputs = fixed.Params(&in.diags, ch.Doc.Inputs, "input")
	out.graph = in.graph(out.inputs)
	out.stages = len(out.graph.Nodes) + c.family.stages - before
	c.family.stages = before
	c.family.open = c.family.open[:len(c.family.open)-1]
	for _, b := range out.graph.Outputs {
		out.outputs = append(out.outputs, plan.Param{Name: b.Name, Type: b.Type, Required: true, At: b.Value.At})
	}
	c.diags.Add(ch.Diags...)
	c.diags.Add(in.diags...)
	c.family.done[file] = out
	return out
}

// body compiles what a stage gives the pipeline that it runs, and what only goes with some of the keys.
func (c *compiler) body(i int) {
	s := c.stages[i]
	if s.child == nil {
		return
	}
	s.node.Inputs = c.childInputs(i)
	if l := s.syn.Loop; l != nil && s.node.OnEscalation != plan.EscalationFinds {
		d := c.diags.Errorf(CodePipeline, l.Span, "feedback_loop of %s has no items to send: those of a pipeline stay inside of it", c.known.Label(i))
		d.Help = "write on_escalation: findings, which makes the items that are open at an escalation inside those of the stage"
	}
	if s.targeted && !readsBack(s.node.Inputs) {
		d := c.diags.Warnf(CodePipeline, s.Span, "what is sent back to %s does not reach the pipeline that it runs", c.known.Label(i))
		d.Help = fmt.Sprintf("give pipeline %q an input for it, such as notes: \"${{ brief }}\" in with", s.child.Name)
	}
}

// readsBack reports whether one of the inputs reads what was sent back.
func readsBack(inputs []plan.Binding) bool {
	n := plan.Node{Inputs: inputs}
	for e := range n.Exprs() {
		if e.Reads(plan.ScopeBrief) || e.Reads(plan.ScopeOpenItems) {
			return true
		}
	}
	return false
}

// childInputs gives each input of the pipeline that a stage runs its value: what with says, else the default,
// else null.
func (c *compiler) childInputs(i int) []plan.Binding {
	s := c.stages[i]
	fields := make([]withField, len(s.child.inputs))
	for k, in := range s.child.inputs {
		fields[k] = withField{name: in.Name, typ: in.Type, doc: in.Description, required: in.Required}
		if !in.Required && in.Default == nil {
			fields[k].typ = in.Type.OrNull()
		}
	}
	given := c.with(i, fields, fmt.Sprintf("pipeline %q", s.child.Name), "input")
	out := make([]plan.Binding, len(s.child.inputs))
	for k, in := range s.child.inputs {
		out[k] = plan.Binding{Name: in.Name, Type: fields[k].typ, Value: c.literal(in.Default, s.syn.Pipeline.Span)}
		if b := findBinding(given, in.Name); b != nil {
			out[k].Value = b.Value
		}
	}
	return out
}

func findBinding(bs []plan.Binding, name string) *plan.Binding {
	for i := range bs {
		if bs[i].Name == name {
			return &bs[i]
		}
	}
	return nil
}

// withField is what "with" may hold under a name.
type withField struct {
	name     string
	typ      value.Type
	doc      string
	required bool
}

// with compiles what a stage gives a kind, a plugin or a pipeline: each value must be of the type that the
// field declares. what names who is given it, and noun what it calls a field.
func (c *compiler) with(i int, fields []withField, what, noun string) []plan.Binding {
	s := c.stages[i]
	var entries []*specs.Entry
	missingAt := s.executorSpan()
	if s.syn.With != nil {
		entries, missingAt = s.syn.With.Entries, s.syn.With.Span
	}
	names := make([]string, len(fields))
	for k, f := range fields {
		names[k] = f.name
	}
	var out []plan.Binding
	given := make(map[string]bool, len(entries))
	for _, e := range entries {
		name := e.Name.Value
		given[name] = true
		k := slices.Index(names, name)
		if k < 0 {
			d := c.diags.Errorf(CodeWith, e.Name.Span, "%s has no %s %q", what, noun, name)
			switch near := diag.Suggest(name, names); {
			case near != "":
				d.Help = near
				given[diag.Nearest(name, names)] = true // which is then not missing as well
			case len(names) == 0:
				d.Help = "it has none"
			default:
				d.Help = "it has " + strings.Join(names, ", ")
			}
		}
		if e.Value == nil {
			continue
		}
		v, typ := c.typer.Data(e.Value, scope.Place{Stage: i, Key: "with " + name})
		if k < 0 || !c.fits(&v, typ, e.Value.Span, fields[k], what, noun) {
			continue
		}
		out = append(out, plan.Binding{Name: name, Type: fields[k].typ, Value: v})
	}
	for _, f := range fields {
		if f.required && !given[f.name] {
			d := c.diags.Errorf(CodeWith, missingAt, "%s needs the %s %q", what, noun, f.name)
			d.Help = fmt.Sprintf("add it: with: {%s: …}", f.name)
			if f.doc != "" {
				d.Help += ", " + f.doc
			}
		}
	}
	return out
}

// fits reports a value that is not of its field's type.
func (c *compiler) fits(v *plan.Template, typ value.Type, at source.Span, f withField, what, noun string) bool {
	var problem string
	if v.IsLiteral() {
		if err := f.typ.Check(v.Value); err != nil {
			problem = err.Error()
		}
	} else if !value.Assignable(typ, f.typ) {
		problem = fmt.Sprintf("want %s, got %s", fixed.TypeName(f.typ), fixed.TypeName(typ))
	}
	if problem == "" {
		return true
	}
	d := c.diags.Errorf(CodeWith, at, "the %s %q of %s does not fit: %s", noun, f.name, what, problem)
	d.Help = f.doc
	return false
}
