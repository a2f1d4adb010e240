package compile

import (
	"path"
	"strings"

	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// declare works out what other stages may know of a stage, before any expression is compiled.
func (c *compiler) declare(i int) {
	s := c.stages[i]
	n := s.node
	if s.syn.Description != nil {
		n.Description = s.syn.Description.Value
		c.plainText(s.syn.Description)
	}
	n.Role = c.role(i)
	n.Outputs = c.params(s.syn.Outputs, "output")
	s.outputs = paramsType(n.Outputs)
	n.ContinueOnError = s.syn.ContinueOnError != nil && s.syn.ContinueOnError.Value
	switch {
	case s.syn.When != nil:
		s.mayMiss, s.mayMissAt = "can be skipped", s.syn.When.Span
		s.sure = succeededIn(s.syn.When.Text)
	case n.ContinueOnError:
		s.mayMiss, s.mayMissAt = "can fail and go on", s.syn.ContinueOnError.Span
	}
	s.known = stageType(s.outputs, c.feedbackType)
	s.maybe = stageType(maybeMissing(s.outputs), c.feedbackType)
	c.loadPrompt(s)
}

// stage compiles what a stage does.
func (c *compiler) stage(i int) {
	s := c.stages[i]
	n, syn := s.node, s.syn
	c.loop(i)
	at := place{stage: i}
	if syn.When != nil {
		at.key = "when"
		n.When = c.expression(syn.When, value.Of(value.Bool), at)
	}
	n.Inputs = c.bindings(syn.Inputs, "input", at)
	n.PreChecks = c.checks(syn.PreChecks, "pre_checks", at)
	n.PostChecks = c.checks(syn.PostChecks, "post_checks", place{stage: i, post: true})
	n.Env = c.environment(syn.Env, at)
	n.Dir = c.dir(syn.Dir, at)
	n.Feedback = c.feedback(syn.Feedback)
	n.Retry = c.retry(syn.Retry)
	n.Timeout = c.timeout(syn.Timeout)
	n.Writes = n.Role == plan.Implementation
	if syn.Writes != nil {
		n.Writes = syn.Writes.Value
	}
	if a := syn.RequiresApproval; a != nil && a.Required {
		n.Approval = &plan.Approval{Message: c.text(a.Message, "requires_approval", at)}
	}
	n.OnInterrupt = pickWord(plan.RunAgain, syn.OnInterrupt)
	c.executor(i)
}

// text compiles a text that is read by a process or a person; nil for nil.
func (c *compiler) text(sc *source.Scalar, key string, at place) *plan.Template {
	if sc == nil {
		return nil
	}
	at.key = key
	t, _ := c.template(sc, false, at)
	return &t
}

func (c *compiler) checks(cs []*specs.Check, key string, at place) []plan.Check {
	at.key = key
	var out []plan.Check
	for _, ck := range cs {
		if ck.Validation == nil {
			continue
		}
		e := c.expression(ck.Validation, value.Of(value.Bool), at)
		if e == nil {
			continue
		}
		p := plan.Check{Description: e.Source, Validation: *e}
		if ck.Description != nil {
			p.Description = ck.Description.Value
		}
		out = append(out, p)
	}
	return out
}

// environment compiles a stage's environment.
func (c *compiler) environment(es []*specs.Entry, at place) []plan.Binding {
	out := make([]plan.Binding, 0, len(es))
	for _, e := range es {
		name := e.Name.Value
		if e.Value == nil {
			continue
		}
		at.key = "env " + name
		t, ok := c.envValue(e.Value, name, at)
		if ok {
			out = append(out, plan.Binding{Name: name, Type: value.Of(value.String), Value: t})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// envValue compiles the value of an environment variable, which is a scalar.
func (c *compiler) envValue(d *specs.Data, name string, at place) (plan.Template, bool) {
	switch d.Kind {
	case specs.ScalarData:
		if d.Scalar == nil {
			return plan.Template{}, false
		}
		t, _ := c.template(d.Scalar, false, at)
		return t, true
	case specs.ValueData:
		if d.Value == nil {
			dd := c.diags.Errorf(CodeType, d.Span, "env %s has no value", name)
			dd.Help = `write "" for an empty one`
			return plan.Template{}, false
		}
		s, err := value.Format(d.Value)
		if err != nil {
			c.diags.Errorf(CodeType, d.Span, "env %s: %v", name, err)
			return plan.Template{}, false
		}
		return plan.Template{Value: s, At: d.Span.Start}, true
	case specs.MappingData, specs.SequenceData:
		dd := c.diags.Errorf(CodeType, d.Span, "env %s is a text, not a list or a mapping", name)
		dd.Help = "give it an expression, whose value becomes compact JSON, or write the JSON in quotes"
	case specs.UnknownData:
	}
	return plan.Template{}, false
}

// dir compiles a stage's folder, which lies in the workspace.
func (c *compiler) dir(sc *source.Scalar, at place) *plan.Template {
	t := c.text(sc, "dir", at)
	if t != nil && t.IsLiteral() {
		c.inWorkspace(sc.Text, sc.Span, "dir")
	}
	return t
}

// inWorkspace reports a path that leads out of the workspace.
func (c *compiler) inWorkspace(p string, at source.Span, key string) {
	clean := path.Clean(p)
	if path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(p, 0) {
		d := c.diags.Errorf(CodePath, at, "%s %q leads out of the workspace", key, p)
		d.Help = "write a path relative to the workspace, without .. in front"
	}
}

// loadPrompt finds the text of an agent's prompt.
func (c *compiler) loadPrompt(s *stageInfo) {
	s.prompt = s.syn.Prompt
	f := s.syn.PromptFile
	if f == nil || s.prompt != nil {
		return // both are a conflict of keys, which specs reports
	}
	if expr.HasExpr(f.Value) {
		c.unevaluated(f, "prompt_file")
		return
	}
	if c.opt.PromptFile == nil {
		c.diags.Errorf(CodePromptFile, f.Span, "prompt_file %q can't be read here, there are no files beside this pipeline", f.Value)
		return
	}
	file, err := c.opt.PromptFile(f.Value)
	if err != nil {
		d := c.diags.Errorf(CodePromptFile, f.Span, "prompt_file %q: %v", f.Value, err)
		d.Help = "the path is relative to the pipeline's own file"
		return
	}
	sc := wholeFile(file)
	s.prompt = &sc
}

// wholeFile gives a file's text as one scalar whose characters know their places.
func wholeFile(f *source.File) source.Scalar {
	text := f.Text()
	marks := make([]source.Mark, f.Lines())
	for n := range marks {
		marks[n] = source.Mark{Offset: f.LineStart(n + 1), Pos: source.Pos{Line: n + 1, Col: 1}}
	}
	return source.NewScalar(text, f.Span(0, len(text)), marks)
}

// eachText visits the texts of a stage that may hold expressions.
func (c *compiler) eachText(s *stageInfo, visit func(string)) {
	scalar := func(sc *source.Scalar) {
		if sc != nil {
			visit(sc.Text)
		}
	}
	var data func(d *specs.Data)
	data = func(d *specs.Data) {
		if d == nil {
			return
		}
		scalar(d.Scalar)
		for _, e := range d.Fields {
			data(e.Value)
		}
		for _, it := range d.Items {
			data(it)
		}
	}
	scalar(s.syn.When)
	scalar(s.syn.Dir)
	scalar(s.prompt)
	for _, es := range [][]*specs.Entry{s.syn.Inputs, s.syn.Env} {
		for _, e := range es {
			data(e.Value)
		}
	}
	for _, cs := range [][]*specs.Check{s.syn.PreChecks, s.syn.PostChecks} {
		for _, ck := range cs {
			scalar(ck.Validation)
		}
	}
	if s.syn.RequiresApproval != nil {
		scalar(s.syn.RequiresApproval.Message)
	}
}
