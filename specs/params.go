package specs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs/read"
)

// params reads declared inputs or outputs, each in JSON Schema's words or in the short form.
func (r *reader) params(n *yaml.Node, what, of string, keys []key[Param]) []*Param {
	fs, ok := r.Fields(n, what)
	if !ok {
		return nil
	}
	out := make([]*Param, 0, len(fs))
	for _, f := range fs {
		name := Leaf[string]{Value: f.Name, Span: r.Doc.Span(f.Key)}
		if !r.GoodName(name, "the name of an "+of, read.ParamName) {
			continue
		}
		p := &Param{Name: name, Span: name.Span}
		out = append(out, p) // also one that is wrong: its name is declared
		v, done := r.Follow(f.Value)
		if v == nil {
			continue
		}
		r.param(v, p, of+` "`+read.Short(f.Name)+`"`, keys)
		done()
	}
	return out
}

func (r *reader) param(n *yaml.Node, p *Param, what string, keys []key[Param]) {
	switch {
	case n.Kind == yaml.MappingNode:
		readKeys(r, n, what, keys, p)
		p.Span.End = r.Doc.Whole(n).End
		if p.Items != nil && p.Type != nil && p.Type.Value != "array" {
			r.Diags.Errorf(read.CodeConflict, p.Items.Span, `"items" goes with the type "array", and %s has the type %q`, what, p.Type.Value)
			p.Items = nil
		}
		if len(p.Enum) > 0 && p.Type != nil && p.Type.Value != "string" {
			r.Diags.Errorf(read.CodeConflict, p.Enum[0].Span, `"enum" goes with the type "string", and %s has the type %q`, what, p.Type.Value)
			p.Enum = nil
		}
	case read.IsString(n):
		p.Type = r.typeName(n, what)
		p.Span.End = r.Doc.Span(n).End
	default:
		r.WrongKind(n, what, `a type such as "string" or a mapping with a "type"`)
	}
}

var typeNames = []string{"string", "integer", "number", "boolean", "object", "array"}

// typeName reads a type in its short form: one of typeNames, or one of them with "[]".
func (r *reader) typeName(n *yaml.Node, what string) *Leaf[string] {
	if !read.IsString(n) {
		r.WrongKind(n, "the type of "+what, "one of "+read.List(typeNames)+` or such a type with "[]"`)
		return nil
	}
	base := strings.TrimSuffix(n.Value, "[]")
	for _, t := range typeNames {
		if base == t {
			return &Leaf[string]{Value: n.Value, Span: r.Doc.Span(n)}
		}
	}
	msg := ""
	if near := nearestType(base); near != "" {
		msg = "; did you mean \"" + near + strings.TrimPrefix(n.Value, base) + "\"?"
	}
	r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), "unknown type %q of %s%s", read.Short(n.Value), what, msg).
		Help = "the types are " + read.List(typeNames) + `, and each of them with "[]" for a list`
	return nil
}

// nearestType also knows the words of other languages for a type.
func nearestType(name string) string {
	switch strings.ToLower(name) {
	case "int", "int64", "long":
		return "integer"
	case "float", "double", "float64":
		return "number"
	case "bool":
		return "boolean"
	case "str", "text":
		return "string"
	case "map", "dict":
		return "object"
	case "list":
		return "array"
	}
	return diag.Nearest(name, typeNames)
}

var itemKeys = []key[Param]{
	{"type", aType, "any", "the type",
		func(r *reader, n *yaml.Node, p *Param) { p.Type = r.typeName(n, `"`+p.Name.Value+`"`) }},
}

var outputKeys = []key[Param]{
	itemKeys[0],
	{"items", Value{Form: "type, mapping", Keys: "declaration"}, "any", "the type of the elements, where the type is `array`",
		func(r *reader, n *yaml.Node, p *Param) {
			if n.Kind != yaml.MappingNode {
				p.Items = r.typeName(n, `the items of "`+p.Name.Value+`"`)
				return
			}
			inner := &Param{Name: p.Name}
			readKeys(r, n, `"items"`, itemKeys, inner)
			p.Items = inner.Type
		}},
	{"description", aText, "", "for people",
		func(r *reader, n *yaml.Node, p *Param) {
			p.Description = r.Str(n, `"description" of "`+p.Name.Value+`"`)
		}},
	{"enum", someTexts, "any", "the words that a string may be",
		func(r *reader, n *yaml.Node, p *Param) {
			ok := r.List(n, `"enum"`, "strings", func(n *yaml.Node) {
				if s := r.Text(n, `an entry of "enum"`); s != nil {
					p.Enum = append(p.Enum, Leaf[string]{Value: s.Text, Span: s.Span})
				}
			})
			if ok && len(n.Content) == 0 {
				r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"enum" is empty; no value could be given`)
			}
		}},
	{"required", aFlag, "see right", "`false`: it may be missing, and is null then. Without it, what has no default is required",
		func(r *reader, n *yaml.Node, p *Param) { p.Required = r.Boolean(n, `"required"`) }},
}

var inputKeys = append(outputKeys[:len(outputKeys):len(outputKeys)], key[Param]{
	"default", Value{Form: "any value"}, "", "of an input: its value where none is given",
	func(r *reader, n *yaml.Node, p *Param) { p.Default = r.constant(n, `"default" of "`+p.Name.Value+`"`) },
})
