package specs

import (
	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// ParseProject reads pipe.yaml. The tree holds what could be read and is never nil; an empty file is a
// project without settings.
func ParseProject(f *source.File) (*Project, diag.List) {
	var diags diag.List
	doc := load(f, &diags)
	p := &Project{File: f}
	n := doc.content()
	if n == nil {
		return p, diags
	}
	r := newReader(doc, &diags)
	if n, done := r.follow(n); n != nil {
		readKeys(r, n, "pipe.yaml", projectKeys, p)
		done()
	}
	return p, diags
}

var projectKeys = []key[Project]{
	{"agents", func(r *reader, n *yaml.Node, p *Project) {
		fs, _ := r.fields(n, `"agents"`)
		for _, f := range fs {
			name := Leaf[string]{f.name, r.nodeSpan(f.key)}
			if !r.goodName(name, "the name of an agent", paramName) {
				continue
			}
			if v, done := r.follow(f.value); v != nil {
				p.Agents = append(p.Agents, r.agent(name, v))
				done()
			}
		}
	}},
	{"environment", func(r *reader, n *yaml.Node, p *Project) { p.Environment = r.word(n, `"environment"`, "clean") }},
	{"state", func(r *reader, n *yaml.Node, p *Project) { p.State = r.str(n, `"state"`) }},
}

// agent reads an entry of agents. It is never nil: a stage may name it also when it is wrong.
func (r *reader) agent(name Leaf[string], n *yaml.Node) *Agent {
	a := &Agent{Name: name, Span: name.Span}
	what := `agent "` + short(name.Value) + `"`
	fs, ok := readKeys(r, n, what, agentKeys, a)
	if !ok {
		return a
	}
	a.Span.End = r.wholeSpan(n).End
	if !has(fs, "command") {
		r.missing(n, name.Span, what, "command", "give the program and its arguments: command: [./bin/agent, --flag]")
	}
	return a
}

var agentKeys = []key[Agent]{
	{"command", func(r *reader, n *yaml.Node, a *Agent) {
		ok := r.list(n, `"command"`, "strings: the program and its arguments", func(n *yaml.Node) {
			if s := r.text(n, `an entry of "command"`); s != nil {
				a.Command = append(a.Command, Leaf[string]{s.Text, s.Span})
			}
		})
		switch {
		case ok && len(n.Content) == 0:
			r.diags.Errorf(codeValue, r.nodeSpan(n), `"command" is empty; its first entry is the program`)
		case ok && len(a.Command) > 0 && a.Command[0].Value == "":
			r.diags.Errorf(codeValue, a.Command[0].Span, `the program in "command" is empty`)
		case !ok && isString(n):
			(*r.diags)[len(*r.diags)-1].Help = "write it as a list: command: [" + short(n.Value) + "]"
		}
	}},
	{"output", func(r *reader, n *yaml.Node, a *Agent) { a.Output = r.word(n, `"output"`, "json", "text") }},
}
