package specs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
)

// expr reads an expression. What YAML made of one that it did not take for text is told apart from other
// mistakes, with the quoted rewrite.
func (r *reader) expr(n *yaml.Node, key, what string) *Expr {
	if r.isCEL(n) || n.Kind == yaml.MappingNode && len(n.Content) == 2 && strings.EqualFold(n.Content[0].Value, "cel") {
		if sc := r.cel(n, what); sc != nil {
			return &Expr{*sc, true}
		}
		return nil
	}
	if sc := r.ExprText(n, key, what); sc != nil {
		return &Expr{*sc, false}
	}
	return nil
}

// isCEL reports whether a mapping is an expression in CEL: its first key is cel. What else stands in it is
// not right, and reported.
func (r *reader) isCEL(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) > 0 &&
		n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Value == "cel"
}

// cel reads the text of {cel: …}.
func (r *reader) cel(n *yaml.Node, what string) *source.Scalar {
	var sc *source.Scalar
	readKeys(r, n, `the "cel" form of `+what, celKeys, &sc)
	return sc
}

var celKeys = []key[*source.Scalar]{
	{"cel", aText, "", "`{cel: \"…\"}` in place of a condition, of `items`, of a `prompt` or `message`, or of a value of `inputs`, " +
		"`outputs`, `env` and `with`: an expression in [CEL](#cel)",
		func(r *reader, n *yaml.Node, into **source.Scalar) { *into = r.ExprText(n, "cel", `"cel"`) }},
}

// message reads text for a process or a person that must not be empty, or {cel: …} in its place.
func (r *reader) message(n *yaml.Node, what string) *Text {
	if r.isCEL(n) {
		if sc := r.cel(n, what); sc != nil {
			return &Text{*sc, true}
		}
		return nil
	}
	if sc := r.Filled(n, what); sc != nil {
		return &Text{*sc, false}
	}
	return nil
}
