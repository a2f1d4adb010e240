package specs

import (
	"math"
	"strconv"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// Convergence is convergence: the rules that end a loop before its cap. 0 and false switch a rule off.
type Convergence struct {
	SameItem    *Leaf[int]
	Disputed    *Leaf[int]
	NoChange    *Leaf[bool]
	RatchetFrom *Leaf[int]
	Span        source.Span
}

// convergence reads convergence.
func (r *reader) convergence(n *yaml.Node) *Convergence {
	c := &Convergence{Span: r.Doc.Whole(n)}
	if _, ok := readKeys(r, n, `"convergence"`, convergenceKeys, c); !ok {
		if n.Kind == yaml.ScalarNode && !read.IsNull(n) {
			r.Advise("each rule is switched off by itself: convergence: {same_item: false, disputed: false, no_change: false}")
		}
		return nil
	}
	return c
}

// limit reads how often something happens before a rule ends a loop; false, which is 0 then, never.
func (r *reader) limit(n *yaml.Node, what string, low int64) *Leaf[int] {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		b := r.Boolean(n, what)
		if b == nil {
			return nil
		}
		if b.Value {
			r.Diags.Errorf(read.CodeValue, b.Span, "%s must be a whole number from %d on, or false, not true", what, low).Help = "without the key the default holds"
			return nil
		}
		return &Leaf[int]{Value: 0, Span: b.Span}
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		r.WrongKind(n, what, "a whole number from "+strconv.FormatInt(low, 10)+" on, or false")
		return nil
	}
	l := r.Integer(n, what, low, math.MaxInt32)
	if l == nil {
		r.Advise("write false to switch the rule off")
	}
	return l
}

var aLimit = Value{Form: "whole number, false"}

var convergenceKeys = []key[Convergence]{
	{"same_item", aLimit, "2", "the loop ends when the same item was not fixed in this many rounds in a row; `false`: whatever is left",
		func(r *reader, n *yaml.Node, c *Convergence) { c.SameItem = r.limit(n, `"same_item"`, 1) }},
	{"disputed", aLimit, "2", "the loop ends when the target has disputed the same item this often, and the review holds on to it; `false`: " +
		"however often",
		func(r *reader, n *yaml.Node, c *Convergence) { c.Disputed = r.limit(n, `"disputed"`, 1) }},
	{"no_change", aFlag, "true", "the loop ends when the target was sent work, left the tree and its outputs as they were, and disputed nothing",
		func(r *reader, n *yaml.Node, c *Convergence) { c.NoChange = r.Boolean(n, `"no_change"`) }},
	{"ratchet_from", aLimit, "false", "from this iteration on, at least the second, an item that is new blocks only on lines that were " +
		"changed since the review before; elsewhere it is advisory",
		func(r *reader, n *yaml.Node, c *Convergence) { c.RatchetFrom = r.limit(n, `"ratchet_from"`, 2) }},
}
