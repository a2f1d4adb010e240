package compile

import (
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// kindOutputs adds the outputs that the kind which a stage names gives, where the stage does not declare them.
func (c *compiler) kindOutputs(s *stageInfo) {
	kind := c.usedKind(s)
	if kind == nil {
		return
	}
	n := s.node
	for _, f := range kind.Outputs {
		i := slices.IndexFunc(n.Outputs, func(p plan.Param) bool { return p.Name == f.Name })
		if i < 0 {
			n.Outputs = append(n.Outputs, plan.Param{Name: f.Name, Type: f.Type, Description: f.Doc, Required: true, At: s.syn.Uses.Span.Start})
			continue
		}
		switch own := &n.Outputs[i]; {
		case own.Type.IsAny():
			own.Type = f.Type
		case !value.Assignable(own.Type, f.Type):
			d := c.diags.Errorf(fixed.CodeType, s.outputSpan(f.Name), "output %q is %s here, and the kind %q gives it as %s", f.Name, fixed.TypeName(own.Type), kind.Name, fixed.TypeName(f.Type))
			d.Help = "drop it here, it is an output of every stage of this kind"
			d.Related = []diag.Related{{Span: s.syn.Uses.Span, Message: "the kind is named here"}}
		}
	}
}

// kindConvergence gives the rules that the kind which a stage names has for its loop, below those that a document
// gives; nil for none.
func (c *compiler) kindConvergence(s *stageInfo) *specs.Convergence {
	if kind := c.usedKind(s); kind != nil && kind.Elsewhere {
		return &specs.Convergence{NoChange: &specs.Leaf[bool]{Value: false}}
	}
	return nil
}

// usedKind is the kind that a stage names; nil for none.
func (c *compiler) usedKind(s *stageInfo) *stage.Kind {
	if s.syn.Uses == nil || s.syn.Gate != nil || c.namedPlugin(s.syn.Uses.Value) != nil {
		return nil
	}
	return c.kind(s.syn.Uses.Value)
}
