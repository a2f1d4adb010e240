package specs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// ParseProject reads pipe.yaml. The tree holds what could be read and is never nil; an empty file is a
// project without settings.
func ParseProject(f *source.File) (*Project, diag.List) {
	var diags diag.List
	doc := document.Load(f, &diags)
	p := &Project{File: f}
	n := doc.Content()
	if n == nil {
		return p, diags
	}
	r := newReader(doc, &diags)
	if n, done := r.Follow(n); n != nil {
		readKeys(r, n, "pipe.yaml", projectKeys, p)
		done()
	}
	return p, diags
}

var projectKeys = []key[Project]{
	{"agents", namesOf("agents", "agent"), "", "the programs that agents are, by name; `default` stands in for those that are not there",
		func(r *reader, n *yaml.Node, p *Project) {
			r.named(n, `"agents"`, "an agent", func(name Leaf[string], n *yaml.Node) {
				p.Agents = append(p.Agents, r.agent(name, n))
			})
		}},
	{"commands", namesOf("commands", "command"), "found by the project's kind", "what `command: NAME` runs, by name: a script, or a script with the form " +
		"of its report",
		func(r *reader, n *yaml.Node, p *Project) {
			r.named(n, `"commands"`, "a command", func(name Leaf[string], n *yaml.Node) {
				p.Commands = append(p.Commands, r.command(name, n))
			})
		}},
	{"plugins", namesOf("plugins", "plugin"), "", "the programs that `uses: NAME` runs, by name",
		func(r *reader, n *yaml.Node, p *Project) {
			r.named(n, `"plugins"`, "a plugin", func(name Leaf[string], n *yaml.Node) {
				p.Plugins = append(p.Plugins, r.plugin(name, n))
			})
		}},
	{"environment", words("clean"), "all of ours", "`clean`: processes get only PATH, HOME, LANG, TERM, TMPDIR and USER of our environment",
		func(r *reader, n *yaml.Node, p *Project) { p.Environment = r.Word(n, `"environment"`) }},
	{"state", aText, ".pipe", "the folder of the runs, which may lie outside the project",
		func(r *reader, n *yaml.Node, p *Project) { p.State = r.Str(n, `"state"`) }},
}

// named reads a mapping of names of our own choice, each with the function given.
func (r *reader) named(n *yaml.Node, what, of string, each func(name Leaf[string], n *yaml.Node)) {
	fs, _ := r.Fields(n, what)
	for _, f := range fs {
		name := Leaf[string]{Value: f.Name, Span: r.Doc.Span(f.Key)}
		if !r.GoodName(name, "the name of "+of, read.ParamName) {
			continue
		}
		if v, done := r.Follow(f.Value); v != nil {
			each(name, v)
			done()
		}
	}
}

// agent reads an entry of agents. It is never nil: a stage may name it also when it is wrong.
func (r *reader) agent(name Leaf[string], n *yaml.Node) *Agent {
	a := &Agent{Name: name, Span: name.Span}
	what := `agent "` + read.Short(name.Value) + `"`
	fs, ok := readKeys(r, n, what, agentKeys, a)
	if !ok {
		return a
	}
	a.Span.End = r.Doc.Whole(n).End
	if !has(fs, "command") {
		r.Missing(n, name.Span, what, "command", "give the program and its arguments: command: [./bin/agent, --flag]")
	}
	return a
}

var agentKeys = []key[Agent]{
	{"command", someTexts, Required, "the program and its arguments. A path with a slash is relative to the workspace",
		func(r *reader, n *yaml.Node, a *Agent) { a.Command = r.program(n) }},
	{"output", words("json", "text"), "only a log", "what its stdout means",
		func(r *reader, n *yaml.Node, a *Agent) { a.Output = r.Word(n, `"output"`) }},
}

// program reads a program and its arguments.
func (r *reader) program(n *yaml.Node) (words []Leaf[string]) {
	ok := r.List(n, `"command"`, "strings: the program and its arguments", func(n *yaml.Node) {
		if s := r.Text(n, `an entry of "command"`); s != nil {
			words = append(words, Leaf[string]{Value: s.Text, Span: s.Span})
		}
	})
	switch {
	case ok && len(n.Content) == 0:
		r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"command" is empty; its first entry is the program`)
	case ok && len(words) > 0 && words[0].Value == "":
		r.Diags.Errorf(read.CodeValue, words[0].Span, `the program in "command" is empty`)
	case !ok && read.IsString(n):
		r.Advise("write it as a list: command: [" + commandList(n.Value) + "]")
	}
	return words
}

// commandList writes a program and its arguments, given in one text, as the entries of a list. A text in which a
// shell would see more than words is left for its author to part.
func commandList(text string) string {
	words := strings.Fields(text)
	if strings.ContainsAny(text, "\"'\\`$|&;<>(){}*?~\r\n") || len(words) == 0 {
		return "PROGRAM, ARGUMENT, …"
	}
	for i, w := range words {
		if strings.ContainsAny(w, ",[]:#!%@") {
			words[i] = document.Quote(w)
		}
	}
	return read.Short(strings.Join(words, ", "))
}

// command reads an entry of commands: a script alone, or a mapping. It is never nil: a stage may name it
// also when it is wrong.
func (r *reader) command(name Leaf[string], n *yaml.Node) *Command {
	c := &Command{Name: name, Span: name.Span}
	what := `command "` + read.Short(name.Value) + `"`
	if n.Kind == yaml.ScalarNode {
		c.Run = r.script(n, what)
		return c
	}
	both := commandForm{f: Feedback{Span: r.Doc.Whole(n)}}
	fs, ok := readKeys(r, n, what, commandKeys, &both)
	if !ok {
		r.Advise("write it as a script, or as a mapping: {run: go test -json ./..., format: go-test}")
		return c
	}
	c.Run, c.Span.End = both.run, both.f.Span.End
	if !has(fs, "run") {
		r.Missing(n, name.Span, what, "run", "give the script: run: make test")
	}
	for _, k := range []string{"path", "pattern", "severity", "ok_exit_codes"} {
		if f := find(fs, k); f != nil && !has(fs, "format") {
			r.Diags.Errorf(read.CodeConflict, r.Doc.Span(f.Key), `%q of %s says how a report is read, and there is no "format"`, k, what).
				Help = "add the format of the report: " + read.List(formatWords)
			return c
		}
	}
	if has(fs, "format") {
		c.Feedback = &both.f
		r.formatKeys(n, fs, c.Feedback, what)
	}
	return c
}

// commandForm is what the keys of a command are read into.
type commandForm struct {
	run *source.Scalar
	f   Feedback
}

var commandKeys = func() []key[commandForm] {
	keys := []key[commandForm]{
		{"run", aScript, Required, "the script; it runs as the `run` of a stage does",
			func(r *reader, n *yaml.Node, c *commandForm) { c.run = r.script(n, `"run"`) }},
	}
	for _, k := range feedbackKeys {
		if k.name == "format" {
			k.fallback, k.doc = "a plain script", "how its report is read: see [formats](#formats). The other keys go with it"
		}
		keys = append(keys, key[commandForm]{k.name, k.value, k.fallback, k.doc,
			func(r *reader, n *yaml.Node, c *commandForm) { k.read(r, n, &c.f) }})
	}
	return keys
}()

// plugin reads an entry of plugins. It is never nil: a stage may name it also when it is wrong.
func (r *reader) plugin(name Leaf[string], n *yaml.Node) *Plugin {
	p := &Plugin{Name: name, Span: name.Span}
	if name.Value == usesApproval {
		r.Diags.Errorf(read.CodeValue, name.Span, "a plugin can't be called %q: uses: %s is the approval that comes with the language", usesApproval, usesApproval).
			Help = "give it another name, in uses as well"
	}
	what := `plugin "` + read.Short(name.Value) + `"`
	fs, ok := readKeys(r, n, what, pluginKeys, p)
	if !ok {
		return p
	}
	p.Span.End = r.Doc.Whole(n).End
	if !has(fs, "command") {
		r.Missing(n, name.Span, what, "command", "give the program and its arguments: command: [python3, plugins/deploy.py]")
	}
	return p
}

var pluginKeys = []key[Plugin]{
	{"command", someTexts, Required, "the program and its arguments. A path with a slash is relative to the workspace",
		func(r *reader, n *yaml.Node, p *Plugin) { p.Command = r.program(n) }},
	{"result", words("stdout"), "only a log", "`stdout`: its stdout is its result",
		func(r *reader, n *yaml.Node, p *Plugin) { p.Result = r.Word(n, `"result"`) }},
}
