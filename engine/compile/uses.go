package compile

import (
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// ownKeys are the kinds that have a key of their own beside uses.
var ownKeys = map[string]string{kindCommand: "run", kindAgent: "agent", kindVerifiers: "verifiers, beside what the stage runs,"}

// uses compiles a stage of a kind that is named.
func (c *compiler) uses(i int) {
	s := c.stages[i]
	name := s.syn.Uses
	n := s.node
	switch kind := c.kind(name.Value); {
	case s.syn.Gate != nil:
		n.Kind = kindApproval
	case c.namedPlugin(name.Value) != nil:
		p := c.namedPlugin(name.Value)
		c.plugin(i, words(p.Command), fixed.Pick("", p.Result))
	case ownKeys[name.Value] != "":
		d := c.diags.Errorf(CodeUnknownKind, name.Span, "the kind %q has a key of its own", name.Value)
		d.Help = "write " + ownKeys[name.Value] + " in place of uses"
	case kind != nil && kind.Name != kindPlugin:
		n.Kind = kind.Name
		c.kindConfig(i, kind)
	default:
		c.foundPlugin(i)
	}
}

// kind gives a kind of stage by its name; nil if there is none.
func (c *compiler) kind(name string) *stage.Kind {
	for i := range c.opt.Kinds {
		if c.opt.Kinds[i].Name == name {
			return &c.opt.Kinds[i]
		}
	}
	return nil
}

// kindConfig fills in the config of a kind from with: what is written out is config, what holds expressions is
// evaluated at the start.
func (c *compiler) kindConfig(i int, kind *stage.Kind) {
	s := c.stages[i]
	fields := make([]withField, len(kind.Config))
	for k, f := range kind.Config {
		fields[k] = withField{name: f.Name, typ: f.Type, doc: f.Doc, required: f.Required && f.Default == nil}
	}
	s.node.Config = value.NewObject()
	given := c.with(i, fields, `kind "`+kind.Name+`"`, "key")
	for _, b := range given {
		if b.Value.IsLiteral() {
			s.node.Config.Set(b.Name, b.Value.Value)
		} else {
			s.node.With = append(s.node.With, b)
		}
	}
	for _, f := range kind.Config {
		if f.Default != nil && findBinding(given, f.Name) == nil {
			s.node.Config.Set(f.Name, f.Default)
		}
	}
	if kind.Check == nil {
		return
	}
	kind.Check(&stage.CheckPass{
		Stage: s.node.ID, Config: s.node.Config, Scalars: withScalars(s.syn.With), Span: s.syn.Uses.Span,
		Report: func(d diag.Diagnostic) { c.diags.Add(d) },
	})
}

// withScalars gives the texts of with that are no expressions, by their names.
func withScalars(w *specs.With) map[string]source.Scalar {
	out := map[string]source.Scalar{}
	if w == nil {
		return out
	}
	for _, e := range w.Entries {
		if e.Value != nil && e.Value.Kind == specs.ScalarData && e.Value.Scalar != nil {
			out[e.Name.Value] = *e.Value.Scalar
		}
	}
	return out
}

// usable gives the names that uses may give, sorted.
func (c *compiler) usable() []string {
	names := []string{kindApproval}
	for i := range c.opt.Kinds {
		if name := c.opt.Kinds[i].Name; ownKeys[name] == "" && name != kindPlugin {
			names = append(names, name)
		}
	}
	for _, p := range c.opt.Plugins {
		names = append(names, p.Name.Value)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// executorSpan is where to point for what a stage runs.
func (s *stageInfo) executorSpan() source.Span {
	for _, key := range []string{"run", "agent", "command", "uses", "pipeline", "refine_loop"} {
		if at, there := s.syn.Key(key); there {
			return at
		}
	}
	return s.Span
}

// gateOutputs is what an approval gives.
func gateOutputs() []plan.Param {
	s := value.Of(value.String)
	return []plan.Param{
		{Name: plan.ApprovalBy, Type: s, Description: "who answered", Required: true},
		{Name: plan.ApprovalReason, Type: s, Description: "what they said; may be empty", Required: true},
	}
}
