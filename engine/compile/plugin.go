package compile

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// kindPlugin is the kind that the names of plugins stand for.
const kindPlugin = "plugin"

// namedPlugin gives the plugin of pipe.yaml of a name; nil if there is none. It comes before a kind of that name:
// a later pipe may bring a kind that a project has a plugin for.
func (c *compiler) namedPlugin(name string) *specs.Plugin {
	for _, p := range c.opt.Plugins {
		if p.Name.Value == name {
			return p
		}
	}
	return nil
}

// words gives a program and its arguments as a config has them.
func words(command []specs.Leaf[string]) value.List {
	out := make(value.List, len(command))
	for i, w := range command {
		out[i] = w.Value
	}
	return out
}

// foundPlugin compiles a stage whose plugin is a program of the PATH, if there is one of its name.
func (c *compiler) foundPlugin(i int) {
	name := c.stages[i].syn.Uses
	if c.opt.FindPlugin == nil {
		c.unknownKind(name, nil)
		return
	}
	file, err := c.opt.FindPlugin(name.Value)
	if err != nil {
		c.unknownKind(name, err)
		return
	}
	c.plugin(i, value.List{file}, "")
}

// unknownKind reports a kind that is not there, with the lines that make a plugin of it.
func (c *compiler) unknownKind(name *specs.Leaf[string], why error) {
	if c.opt.ConfigUnread {
		return
	}
	d := c.diags.Errorf(CodeUnknownKind, name.Span, "there is no kind or plugin %q", name.Value)
	if why != nil {
		d.Message += fmt.Sprintf(", and no program for it: %v", why)
	}
	names := c.usable()
	d.Help = fmt.Sprintf("there are %s; a plugin is named in pipe.yaml, or is a program pipe-stage-%s of the PATH:\nplugins:\n  %s: {command: [./plugins/%s]}",
		strings.Join(names, ", "), name.Value, name.Value, name.Value)
	if near := diag.Suggest(name.Value, names); near != "" {
		d.Help = near
	}
}

// plugin compiles a stage that a plugin carries out: one of pipe.yaml, or the program that was found. What
// stands in with is all its own, and is evaluated when the stage starts.
func (c *compiler) plugin(i int, command value.List, result string) {
	s := c.stages[i]
	n := s.node
	n.Kind = kindPlugin
	n.Config = value.NewObject(value.Field{Name: "name", Value: s.syn.Uses.Value}, value.Field{Name: "command", Value: command})
	if result != "" {
		n.Config.Set("result", result)
	}
	if w := s.syn.With; w != nil && len(w.Entries) > 0 {
		given := c.typer.Bindings(w.Entries, "with", scope.Place{Stage: i})
		n.With = []plan.Binding{{Name: "with", Type: value.Of(value.ObjectKind), Value: plan.Template{Fields: given, At: w.Span.Start}}}
	}
	c.checkKind(s, kindPlugin, "", nil, s.syn.Uses.Span)
}
