package compile

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// The kinds that the executor keys stand for, and the agent that stands in for those not named.
const (
	kindCommand  = "command"
	kindAgent    = "agent"
	defaultAgent = "default"
)

// executor compiles what a stage runs.
func (c *compiler) executor(i int) {
	s := c.stages[i]
	syn := s.syn
	switch {
	case syn.Run != nil:
		c.command(s)
	case syn.Agent != nil:
		c.agent(i)
	}
}

// command compiles run.
func (c *compiler) command(s *stageInfo) {
	n, run := s.node, s.syn.Run
	n.Kind = kindCommand
	n.Config = value.NewObject(value.Field{Name: "script", Value: run.Text})
	if s.syn.Shell != nil {
		c.unevaluated(s.syn.Shell, "shell")
		n.Config.Set("shell", s.syn.Shell.Value)
	}
	if expr.HasExpr(run.Text) {
		c.templateInRun(s)
	}
	c.checkKind(s, kindCommand, map[string]source.Scalar{"script": *run}, run.Span)
}

// agent compiles agent and its prompt.
func (c *compiler) agent(i int) {
	s := c.stages[i]
	n, syn := s.node, s.syn
	n.Kind = kindAgent
	n.Config = value.NewObject(value.Field{Name: "name", Value: syn.Agent.Value})
	if a := c.findAgent(syn.Agent.Value); a != nil {
		words := make(value.List, len(a.Command))
		for k, w := range a.Command {
			words[k] = w.Value
		}
		n.Config.Set("command", words)
		if a.Output != nil {
			n.Config.Set("output", a.Output.Value)
		}
	} else {
		c.missingAgent(s)
	}
	if s.prompt != nil {
		n.Prompt = c.text(s.prompt, "prompt", place{stage: i})
		n.PromptBrief, n.PromptOpenItems = promptNames(n.Prompt)
	}
	scalars := make(map[string]source.Scalar)
	if s.prompt != nil {
		scalars["prompt"] = *s.prompt
	}
	c.checkKind(s, kindAgent, scalars, syn.Agent.Span)
}

// findAgent gives the agent of a name, else the default one, else nil.
func (c *compiler) findAgent(name string) *specs.Agent {
	var def *specs.Agent
	for _, a := range c.opt.Agents {
		switch a.Name.Value {
		case name:
			return a
		case defaultAgent:
			def = a
		}
	}
	return def
}

// missingAgent reports an agent that pipe.yaml lacks, with the lines to add.
func (c *compiler) missingAgent(s *stageInfo) {
	name := s.syn.Agent.Value
	names := make([]string, len(c.opt.Agents))
	for i, a := range c.opt.Agents {
		names[i] = a.Name.Value
	}
	report := c.diags.Errorf
	if c.opt.AllowMissingAgents {
		report = c.diags.Warnf
	}
	d := report(CodeUnknownAgent, s.syn.Agent.Span, "pipe.yaml has no agent %q, and none called %q to stand in for it", name, defaultAgent)
	help := fmt.Sprintf("add to pipe.yaml, with the command that starts your agent:\nagents:\n  %s:\n    command: [./bin/my-agent]", name)
	if near := diag.Suggest(name, names); near != "" {
		help = near + " or " + help
	}
	d.Help = help
}

// promptNames says whether a prompt names brief and open_items itself.
func promptNames(t *plan.Template) (brief, items bool) {
	for _, p := range t.Parts {
		if p.Expr != nil {
			brief = brief || p.Expr.Reads(plan.ScopeBrief)
			items = items || p.Expr.Reads(plan.ScopeOpenItems)
		}
	}
	return brief, items
}

// checkKind fills in the defaults of a kind's config and lets the kind look at it.
func (c *compiler) checkKind(s *stageInfo, name string, scalars map[string]source.Scalar, at source.Span) {
	if len(c.opt.Kinds) == 0 {
		return
	}
	var kind *stage.Kind
	for i := range c.opt.Kinds {
		if c.opt.Kinds[i].Name == name {
			kind = &c.opt.Kinds[i]
		}
	}
	if kind == nil {
		c.diags.Errorf(CodeUnknownKind, at, "this program has no kind of stage called %q", name)
		return
	}
	for _, f := range kind.Config {
		if _, there := s.node.Config.Get(f.Name); !there && f.Default != nil {
			s.node.Config.Set(f.Name, f.Default)
		}
	}
	if kind.Check == nil {
		return
	}
	kind.Check(&stage.CheckPass{
		Stage: s.node.ID, Config: s.node.Config, Scalars: scalars, Span: at,
		Report: func(d diag.Diagnostic) { c.diags.Add(d) },
	})
}

// templateInRun reports ${{ }} in a script, once for each script, with the rewrite through env.
func (c *compiler) templateInRun(s *stageInfo) {
	run := *s.syn.Run
	from := strings.Index(run.Text, "${{")
	to := from + len("${{")
	if end := strings.Index(run.Text[from:], "}}"); end >= 0 {
		to = from + end + len("}}")
	}
	d := c.diags.Errorf(CodeTemplateInRun, run.At(from, to), "${{ }} is not evaluated in run, so that no value can become a piece of a script")
	d.Help = rewriteRun(s, run)
}

// rewriteRun gives the lines that hand a script its values through the environment.
func rewriteRun(s *stageInfo, run source.Scalar) string {
	pieces, _ := expr.SplitTemplate(run)
	names := make(map[string]string) // by expression
	taken := make(map[string]bool)
	for _, e := range s.syn.Env {
		taken[e.Name.Value] = true
	}
	var env, script strings.Builder
	for k, p := range pieces {
		if !p.IsExpr {
			script.WriteString(p.Text)
			continue
		}
		src := strings.TrimSpace(p.Expr.Text)
		name, ok := names[src]
		if !ok {
			name = envNameFor(src, taken)
			names[src], taken[name] = name, true
			fmt.Fprintf(&env, "\n  %s: %s", name, quoteYAML("${{ "+src+" }}"))
		}
		before, after := "", ""
		if k > 0 {
			before = pieces[k-1].Text
		}
		if k+1 < len(pieces) {
			after = pieces[k+1].Text
		}
		if strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`) {
			script.WriteString("$" + name)
		} else {
			script.WriteString(`"$` + name + `"`)
		}
	}
	if env.Len() == 0 {
		return "give the script its values through env"
	}
	return "give the script its values through env:\nenv:" + env.String() + "\nrun: |" + indent(script.String())
}

// envNameFor makes an environment variable's name of the last word of an expression.
func envNameFor(src string, taken map[string]bool) string {
	words := strings.FieldsFunc(src, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	name := "VALUE"
	for i := len(words) - 1; i >= 0; i-- {
		if w := strings.ToUpper(words[i]); (w[0] < '0' || w[0] > '9') && !strings.HasPrefix(w, "PIPE_") {
			name = w
			break
		}
	}
	switch name {
	case "PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "TMPDIR", "PWD", "IFS", "ENV":
		name = "INPUT_" + name // the shell has its own of that name
	}
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	return out
}

// quoteYAML writes a text as a quoted YAML scalar.
func quoteYAML(s string) string {
	if strings.ContainsAny(s, "\"\\\n") {
		if !strings.Contains(s, "\n") {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		s = strings.Join(strings.Fields(s), " ")
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return `"` + s + `"`
}

// indent puts a script under its key, cut after a few lines.
func indent(script string) string {
	const most = 8
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	var b strings.Builder
	for i, l := range lines {
		if i == most {
			b.WriteString("\n  …")
			break
		}
		b.WriteString("\n  " + l)
	}
	return b.String()
}
