package compile

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// defaultAs is what an item of a for_each is called where nothing else is said.
const defaultAs = "item"

// outputs works out what others see of a stage's outputs: of a for_each, lists in the order of its items.
func (s *stageInfo) outputs() {
	s.Own = fixed.ParamsType(s.node.Outputs)
	s.Outputs = s.Own
	if s.syn.ForEach == nil {
		return
	}
	fields := make([]value.FieldType, len(s.Own.Fields))
	for i, f := range s.Own.Fields {
		if s.node.ContinueOnError || s.rejectSkips() {
			f.Type = f.Type.OrNull() // of an item that failed or was skipped
		}
		fields[i] = value.FieldType{Name: f.Name, Type: value.ListOf(f.Type)}
	}
	s.Outputs = value.ObjectOf(fields...)
}

// forEach compiles the items of a stage, and with their type what each is.
func (c *compiler) forEach(i int) {
	s := c.stages[i]
	f := s.syn.ForEach
	if f == nil {
		return
	}
	out := &plan.ForEach{As: fixed.Pick(defaultAs, f.As), MaxParallel: fixed.Pick(0, f.MaxParallel)}
	at := scope.Place{Stage: i, Key: "items", Group: true}
	elem := value.Of(value.Any)
	switch {
	case f.Items != nil:
		out.Items, elem = c.items(f.Items, at)
	case f.List != nil:
		var t value.Type
		out.Items, t = c.typer.Data(f.List, at)
		elem = t.ElemType()
		if len(f.List.Items) == 0 {
			d := c.diags.Warnf(CodeForEach, f.List.Span, "items is empty, so %s never runs", c.known.Label(i))
			d.Help = "give a list, or an expression that gives one"
		}
	}
	s.node.ForEach = out
	s.Each = value.ObjectOf(
		value.FieldType{Name: out.As, Type: elem},
		value.FieldType{Name: plan.EachIndex, Type: value.Of(value.Int)},
	)
}

// items compiles the expression of a for_each's items, which gives a list, and the type of its elements.
func (c *compiler) items(x *specs.Expr, at scope.Place) (plan.Template, value.Type) {
	out := c.literal(nil, x.Span)
	e, typ := c.typer.Typed(x, value.Of(value.ListKind), at)
	if e == nil {
		return out, value.Of(value.Any)
	}
	out.Parts = []plan.Part{{Expr: e}}
	return out, typ.ElemType()
}

// loopBetween reports a loop between two stages of which one runs for each of some items and the other not, or
// for other items.
func (c *compiler) loopBetween(i int, at source.Span) {
	s := c.stages[i]
	t := c.stages[s.node.Loop.Target]
	if t.syn.ForEach == nil || sameItems(s.syn.ForEach, t.syn.ForEach) {
		return
	}
	d := c.diags.Errorf(CodeLoopTarget, at, "stage %q runs for each of its items, and %s for other ones, so nothing says which of them a finding concerns", t.node.ID, c.known.Label(i))
	if s.syn.ForEach == nil {
		d.Message = fmt.Sprintf("stage %q runs for each of its items, and %s once for all, so nothing says which of them a finding concerns", t.node.ID, c.known.Label(i))
	}
	d.Related = []diag.Related{{Span: t.syn.ForEach.Span, Message: "its for_each is here"}}
	d.Help = fmt.Sprintf("give %s a for_each with the same items, written in the same way: each instance is then reviewed by its own", c.known.Label(i))
}

// sameItems reports whether two for_each run over the same items: they say so in the same words.
func sameItems(a, b *specs.ForEach) bool {
	switch {
	case a == nil || b == nil:
		return false
	case a.Items != nil && b.Items != nil:
		return a.Items.CEL == b.Items.CEL && a.Items.Text == b.Items.Text
	case a.List != nil && b.List != nil:
		return sameData(a.List, b.List)
	}
	return a.Items == nil && b.Items == nil && a.List == nil && b.List == nil // both were reported as wrong
}

// sameData reports whether two values are written in the same words.
func sameData(a, b *specs.Data) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || (a.Scalar == nil) != (b.Scalar == nil) || (a.Scalar != nil && a.Scalar.Text != b.Scalar.Text) || !value.Equal(a.Value, b.Value) {
		return false
	}
	return slices.EqualFunc(a.Items, b.Items, sameData) && slices.EqualFunc(a.Fields, b.Fields, func(x, y *specs.Entry) bool {
		return x.Name.Value == y.Name.Value && sameData(x.Value, y.Value)
	})
}
