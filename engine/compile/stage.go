package compile

import (
	"slices"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// declare works out what other stages may know of a stage, before any expression is compiled.
func (c *compiler) declare(s *stageInfo) {
	n := s.node
	n.Description = fixed.Pick("", s.syn.Description)
	fixed.PlainText(&c.diags, s.syn.Description)
	c.findCommand(s)
	n.Role = role(s, &c.diags)
	n.Outputs = fixed.Params(&c.diags, s.syn.Outputs, "output")
	n.ContinueOnError = fixed.Pick(false, s.syn.ContinueOnError)
	switch {
	case s.syn.Gate != nil:
		n.Outputs = gateOutputs()
	case s.syn.Pipeline != nil:
		s.NoProcess = true
		c.child(s)
	}
	c.textOutputs(s)
	c.kindOutputs(s)
	c.contractOutputs(s)
	s.outputs()
	if s.syn.When != nil {
		s.Sure = scope.SucceededIn(plain(s.syn.When.Text, s.syn.When.CEL))
	}
	switch {
	case s.rejectSkips():
		s.MayMiss, s.MayMissAt = "is skipped when it is rejected", s.asked().OnReject.Span
	case s.syn.When != nil:
		s.MayMiss, s.MayMissAt = "can be skipped", s.syn.When.Span
	case n.OnEscalation == plan.EscalationFinds:
		s.MayMiss, s.MayMissAt = "may end in the middle, at an escalation", s.syn.OnEscalation.Span
	case n.ContinueOnError:
		s.MayMiss, s.MayMissAt = "can fail and go on", s.syn.ContinueOnError.Span
	}
	c.loadPrompt(s)
}

// rejectSkips reports whether a stage is skipped when a person rejects it.
func (s *stageInfo) rejectSkips() bool {
	a := s.asked()
	return a != nil && a.OnReject != nil && a.OnReject.Value == plan.RejectSkips.String()
}

// stage compiles what a stage does.
func (c *compiler) stage(i int) {
	s := c.stages[i]
	n, syn := s.node, s.syn
	c.loop(i)
	c.forEach(i)
	at := scope.Place{Stage: i}
	if syn.When != nil {
		n.When = c.typer.Expression(syn.When, value.Of(value.Bool), scope.Place{Stage: i, Key: "when", Group: true})
	}
	n.Inputs = c.typer.Bindings(syn.Inputs, "input", at)
	n.PreChecks = c.checks(syn.PreChecks, "pre_checks", at)
	n.PostChecks = c.checks(syn.PostChecks, "post_checks", scope.Place{Stage: i, Post: true})
	n.Env = c.environment(syn.Env, at)
	n.Dir = c.dir(syn.Dir, at)
	n.Feedback = fixed.Feedback(syn.Feedback, s.command.reads(), &c.diags)
	n.Retry = fixed.Retry(c.doc.Defaults, syn.Retry, &c.diags)
	n.Timeout = fixed.Timeout(c.doc.Defaults, syn.Timeout)
	n.OnInterrupt = fixed.PickWord(plan.RunAgain, syn.OnInterrupt)
	c.approval(i)
	c.rollback(i)
	c.discovery(s)
	c.executor(i)
	c.changes(i)
	c.underContract(i)
	if n.Body != nil || syn.Gate != nil { // nothing is tried
		n.Retry, n.Timeout = plan.Retry{MaxAttempts: 1, Backoff: plan.Exponential}, 0
	}
}

// text compiles a text that is read by a process or a person; nil for nil.
func (c *compiler) text(text *specs.Text, key string, at scope.Place) *plan.Template {
	if text == nil {
		return nil
	}
	at.Key = key
	t := c.typer.Text(text, at)
	return &t
}

func (c *compiler) checks(cs []*specs.Check, key string, at scope.Place) []plan.Check {
	at.Key = key
	var out []plan.Check
	for _, ck := range cs {
		if ck.Validation == nil {
			continue
		}
		e := c.typer.Expression(ck.Validation, value.Of(value.Bool), at)
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
func (c *compiler) environment(es []*specs.Entry, at scope.Place) []plan.Binding {
	out := make([]plan.Binding, 0, len(es))
	for _, e := range es {
		name := e.Name.Value
		if e.Value == nil {
			continue
		}
		at.Key = "env " + name
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
func (c *compiler) envValue(d *specs.Data, name string, at scope.Place) (plan.Template, bool) {
	switch d.Kind {
	case specs.ScalarData:
		if d.Scalar == nil {
			return plan.Template{}, false
		}
		t, _ := c.typer.Template(d.Scalar, false, at)
		return t, true
	case specs.CELData:
		if d.Scalar == nil {
			return plan.Template{}, false
		}
		return c.typer.Text(&specs.Text{Scalar: *d.Scalar, CEL: true}, at), true
	case specs.ValueData:
		if d.Value == nil {
			dd := c.diags.Errorf(fixed.CodeType, d.Span, "env %s has no value", name)
			dd.Help = `write "" for an empty one`
			return plan.Template{}, false
		}
		s, err := value.Format(d.Value)
		if err != nil {
			c.diags.Errorf(fixed.CodeType, d.Span, "env %s: %v", name, err)
			return plan.Template{}, false
		}
		return plan.Template{Value: s, At: d.Span.Start}, true
	case specs.MappingData, specs.SequenceData:
		dd := c.diags.Errorf(fixed.CodeType, d.Span, "env %s is a text, not a list or a mapping", name)
		dd.Help = "give it an expression, whose value becomes compact JSON, or write the JSON in quotes"
	case specs.UnknownData:
	}
	return plan.Template{}, false
}

// dir compiles a stage's folder, which lies in the workspace.
func (c *compiler) dir(sc *source.Scalar, at scope.Place) *plan.Template {
	if sc == nil {
		return nil
	}
	at.Key = "dir"
	t, _ := c.typer.Template(sc, false, at)
	if t.IsLiteral() {
		fixed.InWorkspace(&c.diags, sc.Text, sc.Span, "dir")
	}
	return &t
}

// loadPrompt finds the text of an agent's prompt.
func (c *compiler) loadPrompt(s *stageInfo) {
	s.prompt = s.syn.Prompt
	f := s.syn.PromptFile
	if f == nil || s.prompt != nil {
		return // both are a conflict of keys, which specs reports
	}
	if expr.HasExpr(f.Value) {
		fixed.Unevaluated(&c.diags, f, "prompt_file")
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
	s.prompt = &specs.Text{Scalar: sc}
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

// plain gives a text for those who look for names in it.
func plain(text string, cel bool) string {
	if cel {
		return expr.PlainCEL(text)
	}
	return text
}

// eachText visits the texts of a stage that may hold expressions.
func eachText(s *stageInfo, visit func(string)) {
	scalar := func(sc *source.Scalar) {
		if sc != nil {
			visit(sc.Text)
		}
	}
	if s.syn.When != nil {
		visit(plain(s.syn.When.Text, s.syn.When.CEL))
	}
	scalar(s.syn.Dir)
	if s.syn.Refine != nil {
		scalar(s.syn.Refine.FeedbackFile)
	}
	if s.prompt != nil {
		visit(plain(s.prompt.Text, s.prompt.CEL))
	}
	var with []*specs.Entry
	if s.syn.With != nil {
		with = s.syn.With.Entries
	}
	if s.syn.Rollback != nil {
		with = slices.Concat(with, s.syn.Rollback.Env)
	}
	for _, es := range [][]*specs.Entry{s.syn.Inputs, with, s.syn.Env} {
		for _, e := range es {
			dataText(e.Value, visit)
		}
	}
	for _, ck := range slices.Concat(s.syn.PreChecks, s.syn.PostChecks) {
		if ck.Validation != nil {
			visit(plain(ck.Validation.Text, ck.Validation.CEL))
		}
	}
	if a := s.asked(); a != nil && a.Message != nil {
		visit(plain(a.Message.Text, a.Message.CEL))
	}
	if g := s.syn.AllowedPaths; g != nil {
		for _, sc := range g.List {
			visit(sc.Text)
		}
	}
	if f := s.syn.ForEach; f != nil {
		if f.Items != nil {
			visit(plain(f.Items.Text, f.Items.CEL))
		}
		dataText(f.List, visit)
	}
}

// dataText visits the texts of a value that may hold expressions.
func dataText(d *specs.Data, visit func(string)) {
	if d == nil {
		return
	}
	if d.Scalar != nil {
		visit(plain(d.Scalar.Text, d.Kind == specs.CELData))
	}
	for _, e := range d.Fields {
		dataText(e.Value, visit)
	}
	for _, it := range d.Items {
		dataText(it, visit)
	}
}
