package specs

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// Contract is the syntax tree of a contract document. A nil field is a key that is not there, or one whose
// value was reported as wrong.
type Contract struct {
	File *source.File
	Span source.Span

	Name        *Leaf[string]
	Description *Leaf[string]
	Version     *Leaf[string] // the author's own: a whole number or a text
	Inputs      *Schema       // input_schema
	Outputs     *Schema       // output_schema
	PreChecks   []*Check
	PostChecks  []*Check
	Cacheable   *Leaf[bool]
}

// Schema is input_schema or output_schema: what must be there and what may be. No name stands twice in the
// schemas of a contract; only an optional input has a default.
type Schema struct {
	Required []*Param
	Optional []*Param
	Span     source.Span
}

// wordsOfExpr are names that mean something else in an expression.
var wordsOfExpr = [...]string{"true", "false", "nil", "null", "and", "or", "not", "in", "contains", "matches", "startsWith", "endsWith", "let", "if", "else"}

// ParseContract reads a contract document: YAML or, where the file's name ends in ".md", the YAML between the
// two lines "---" with which it begins. The tree holds what could be read and is never nil.
func ParseContract(f *source.File) (*Contract, diag.List) {
	var diags diag.List
	c := &Contract{File: f}
	if IsMarkdown(f.Name) {
		if f = document.FrontMatter(f, &diags); f == nil {
			return c, diags
		}
	}
	doc := document.Load(f, &diags)
	n := doc.Content()
	if n == nil {
		if !diags.HasErrors() {
			diags.Errorf(document.CodeEmpty, document.Point(f, 0), "the contract holds no keys").
				Help = "a contract has at least the key name; then input_schema, output_schema, pre_checks, post_checks"
		}
		return c, diags
	}
	r := newReader(doc, &diags)
	n, done := r.Follow(n)
	if n == nil {
		return c, diags
	}
	defer done()
	c.Span = r.Doc.Whole(n)
	fs, ok := readKeys(r, n, "the contract", contractKeys, c)
	if !ok {
		return c, diags
	}
	if !has(fs, "name") {
		r.Missing(n, document.Point(f, r.Doc.Offset(n)), "the contract", "name", "add a line such as: name: task-summary")
	}
	r.distinct(c)
	return c, diags
}

var contractKeys = []key[Contract]{
	{"name", aName, Required, "lower-case letters, digits and dashes, beginning with a letter: the file's name without its ending",
		func(r *reader, n *yaml.Node, c *Contract) {
			c.Name = r.Name(n, `"name" of the contract`, read.PipelineName)
		}},
	{"description", aText, "", "for people",
		func(r *reader, n *yaml.Node, c *Contract) { c.Description = r.Str(n, `"description" of the contract`) }},
	{"version", Value{Form: "whole number, text"}, "", "the author's own",
		func(r *reader, n *yaml.Node, c *Contract) { c.Version = r.contractVersion(n) }},
	{"input_schema", keysOf("schema"), "", "what a stage must be given and may be given",
		func(r *reader, n *yaml.Node, c *Contract) { c.Inputs = r.schema(n, "input_schema", "input") }},
	{"output_schema", keysOf("schema"), "", "what it must give and may give",
		func(r *reader, n *yaml.Node, c *Contract) { c.Outputs = r.schema(n, "output_schema", "output") }},
	{"pre_checks", listOf("checks", "check"), "", "[checks](#checks), as of a stage, that read inputs by their bare names",
		func(r *reader, n *yaml.Node, c *Contract) { c.PreChecks = r.checks(n, `"pre_checks"`) }},
	{"post_checks", listOf("checks", "check"), "", "checks that read inputs and outputs by their bare names",
		func(r *reader, n *yaml.Node, c *Contract) { c.PostChecks = r.checks(n, `"post_checks"`) }},
	{"cacheable", aFlag, "the stage decides", "`true`: stages that say nothing about `cache` have it, where they can; `false`: none may",
		func(r *reader, n *yaml.Node, c *Contract) { c.Cacheable = r.Boolean(n, `"cacheable"`) }},
}

// contractVersion reads the author's version, which is not the language's: a whole number or a text.
func (r *reader) contractVersion(n *yaml.Node) *Leaf[string] {
	const what, want = `"version" of the contract`, "a whole number or a text"
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!int":
		return &Leaf[string]{Value: n.Value, Span: r.Doc.Span(n)}
	case n.Kind == yaml.ScalarNode && n.Tag == "!!float":
		r.WrongKind(n, what, want)
		r.Advise("quote it: version: " + document.Quote(read.Short(n.Value)))
		return nil
	case read.IsNull(n), n.Kind != yaml.ScalarNode:
		r.WrongKind(n, what, want)
		return nil
	}
	return r.Str(n, what)
}

// schema reads one of the two schemas.
func (r *reader) schema(n *yaml.Node, name, of string) *Schema {
	s := &Schema{Span: r.Doc.Whole(n)}
	list := func(n *yaml.Node, section string) []*Param {
		what := fmt.Sprintf("%q of %q", section, name)
		var out []*Param
		ok := r.List(n, what, of+"s, each with a name and a type", func(n *yaml.Node) {
			if p := r.schemaEntry(n, what, of, section == "required"); p != nil {
				out = append(out, p)
			}
		})
		if !ok && n.Kind == yaml.MappingNode && len(n.Content) >= 2 {
			r.Advise(fmt.Sprintf("write an entry for each: - {name: %s, type: string}", read.Short(n.Content[0].Value)))
		}
		return out
	}
	_, ok := readKeys(r, n, `"`+name+`"`, schemaTable(list), s)
	if !ok {
		if n.Kind == yaml.SequenceNode {
			r.Advise("put the list under required or optional")
		}
		return nil
	}
	return s
}

// schemaTable gives the keys of a schema, whose entries are read by list.
func schemaTable(list func(n *yaml.Node, section string) []*Param) []key[Schema] {
	return []key[Schema]{
		{"required", listOf("entries", "entry"), "", "what must be there",
			func(_ *reader, n *yaml.Node, s *Schema) { s.Required = list(n, "required") }},
		{"optional", listOf("entries", "entry"), "", "what may be missing",
			func(_ *reader, n *yaml.Node, s *Schema) { s.Optional = list(n, "optional") }},
	}
}

// schemaEntry reads an entry of required or optional; nil if it has no name.
func (r *reader) schemaEntry(n *yaml.Node, what, of string, required bool) *Param {
	if n.Kind != yaml.MappingNode {
		r.WrongKind(n, "an entry of "+what, "a mapping with a name and a type")
		if read.IsString(n) && read.BareName.MatchString(n.Value) {
			r.Advise("write - {name: " + n.Value + ", type: string}, with the type that it has")
		}
		return nil
	}
	p := &Param{}
	label := "an entry of " + what
	if name := nameOf(n); name != "" {
		label = fmt.Sprintf("%s %q", of, read.Short(name))
		p.Name.Value = read.Short(name) // for what is said of its other keys
	}
	fs, _ := r.Fields(n, label)
	named := find(fs, "name")
	r.param(n, p, label, schemaKeys)
	p.Span = r.Doc.Whole(n)
	if named == nil {
		r.Missing(n, r.Doc.Span(n), label, "name", "give the name by which checks read it: name: summary")
		return nil
	}
	if !p.Name.Span.IsValid() {
		return nil // its name was reported
	}
	switch {
	case p.Default == nil:
	case of == "output":
		r.Diags.Errorf(read.CodeConflict, p.Default.Span, "output %q has a default, and only inputs have one", p.Name.Value).
			Help = "drop it: who reads an optional output says what stands for a missing one, such as x ?? \"\""
		p.Default = nil
	case required:
		r.Diags.Errorf(read.CodeConflict, p.Default.Span, "input %q is required, so its default is never used", p.Name.Value).
			Help = "move it to optional, or drop default"
		p.Default = nil
	}
	return p
}

// nameOf gives the name of an entry as written, for messages.
func nameOf(n *yaml.Node) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// schemaKeys are those of an entry of a schema: a declaration that holds its own name, and is required by
// where it stands.
var schemaKeys = append([]key[Param]{
	{"name", aName, Required, "letters, digits and `_`: checks read it by this name",
		func(r *reader, n *yaml.Node, p *Param) {
			l := r.Name(n, `"name"`, read.BareName)
			switch {
			case l == nil:
			case slices.Contains(wordsOfExpr[:], l.Value):
				r.Diags.Errorf(read.CodeValue, l.Span, "%q is a word of expressions, so a check could not read what has this name", l.Value).
					Help = "give it another name"
			default:
				p.Name = *l
			}
		}},
}, slices.DeleteFunc(slices.Clone(inputKeys), func(k key[Param]) bool { return k.name == "required" })...)

// distinct reports names that stand twice in the schemas: checks read inputs and outputs in one scope.
func (r *reader) distinct(c *Contract) {
	type place struct {
		of string
		at source.Span
	}
	seen := map[string]place{}
	for _, s := range []struct {
		of     string
		schema *Schema
	}{{"input", c.Inputs}, {"output", c.Outputs}} {
		if s.schema == nil {
			continue
		}
		for _, p := range slices.Concat(s.schema.Required, s.schema.Optional) {
			first, twice := seen[p.Name.Value]
			if !twice {
				seen[p.Name.Value] = place{s.of, p.Name.Span}
				continue
			}
			msg, help := "the %s %q is declared twice", ""
			if first.of != s.of {
				msg, help = "the %s %q is also an input, and checks read both by their bare names", "give one of them another name, such as new_"+p.Name.Value
			}
			d := r.Diags.Errorf(read.CodeDuplicateKey, p.Name.Span, msg, s.of, p.Name.Value)
			d.Help, d.Related = help, []diag.Related{{Span: first.at, Message: "first declared here"}}
		}
	}
}

// IsMarkdown reports whether a file is Markdown by its name.
func IsMarkdown(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".md") }

// IsContract reports whether a document is a contract rather than a pipeline, or a text, by what stands at the
// beginning of its lines: a key that only a contract has, and no stages. Of Markdown it looks at the front
// matter alone.
func IsContract(f *source.File) bool {
	found := false
	markdown := IsMarkdown(f.Name)
	for n := 1; n <= f.Lines(); n++ {
		if markdown && document.IsFence(f.Line(n)) != (n == 1) { // no front matter, or its end
			break
		}
		key, _, ok := strings.Cut(f.Line(n), ":")
		if !ok {
			continue
		}
		switch strings.Trim(key, `"' `) {
		case "stages":
			if key[0] != ' ' {
				return false
			}
		case "input_schema", "output_schema", "pre_checks", "post_checks", "cacheable":
			found = found || key[0] != ' '
		}
	}
	return found
}
