package compile

import (
	"fmt"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// settings compiles what a document says of the run as a whole.
func (c *compiler) settings(p *plan.Plan) {
	c.pipeRelease()
	if w := c.doc.Workspace; w != nil {
		p.Workspace = fixed.PickWord(plan.InPlace, w)
	}
	c.family.worktree = p.Workspace == plan.Worktree
	c.opt.Unattended = c.opt.Unattended || !fixed.Pick(true, c.doc.Attended)
	p.Unattended = c.opt.Unattended
	e := c.doc.Escalation
	if e == nil {
		return
	}
	if !fixed.Pick(true, c.doc.Attended) {
		d := c.diags.Warnf(CodeUnattended, e.Span, "nobody attends the run, so no escalation waits, and this never holds")
		d.Help = "drop escalation, or attended: false"
		d.Related = []diag.Related{{Span: c.doc.Attended.Span, Message: "nobody attends the run by this"}}
	}
	p.Escalation = &plan.Escalation{}
	if e.Timeout != nil {
		p.Escalation.Timeout = plan.Duration(e.Timeout.Value)
		p.Escalation.OnTimeout = fixed.PickWord(plan.AbortRun, e.OnTimeout)
	}
	for _, n := range e.Notify {
		templateInRun(n.Run, &c.diags, func() string {
			return "what the script is told stands in its environment and in the file of PIPE_ESCALATION"
		})
		p.Escalation.Notify = append(p.Escalation.Notify, plan.Notify{Run: n.Run.Text, At: n.Run.Span.Start})
	}
}

// task compiles what a run works on, which is known before any stage has run.
func (c *compiler) task() *plan.Task {
	t := c.doc.Task
	if t == nil || t.Key == nil {
		return nil
	}
	compiled := func(sc *source.Scalar, key string) *plan.Template {
		if sc == nil {
			return nil
		}
		out, _ := c.typer.Template(sc, false, scope.Place{Stage: scope.RunStart, Key: key + " of the task"})
		return &out
	}
	out := &plan.Task{Key: *compiled(t.Key, "key"), Body: compiled(t.Body, "body"), BodyFile: compiled(t.BodyFile, "body_file")}
	if f := out.BodyFile; f != nil && f.IsLiteral() {
		fixed.InWorkspace(&c.diags, t.BodyFile.Text, t.BodyFile.Span, "body_file")
	}
	for _, sc := range t.Repos {
		out.Repos = append(out.Repos, *compiled(sc, "repos"))
	}
	return out
}

// discovery compiles whether a stage is given the task of the run, which is that of the pipeline that is run.
func (c *compiler) discovery(s *stageInfo) {
	l := s.syn.Discovery
	if l == nil || !l.Value {
		return
	}
	s.node.Discovery = true
	if c.family.task {
		return
	}
	d := c.diags.Errorf(CodeTask, l.Span, "stage %q is to be given the task of the run, and the pipeline has none", s.ID)
	if c.file != c.family.file {
		d.Message = fmt.Sprintf("stage %q is to be given the task of the run, and the pipeline that is run, %s, has none", s.ID, c.family.file)
	}
	d.Help = `say there what a run works on: task: {key: "${{ inputs.issue }}", body: "${{ inputs.task }}"}`
}

// rollback compiles how what a stage did is undone.
func (c *compiler) rollback(i int) {
	s := c.stages[i]
	b := s.syn.Rollback
	if b == nil || b.Strategy == nil {
		return
	}
	out := &plan.Rollback{Strategy: fixed.PickWord(plan.UnknownRollback, b.Strategy), Description: fixed.Pick("", b.Description)}
	fixed.PlainText(&c.diags, b.Description)
	if b.Run != nil {
		templateInRun(b.Run, &c.diags, func() string {
			return `give it values through its env: rollback: {env: {NAME: "${{ … }}"}}`
		})
		out.Run = b.Run.Text
	}
	out.Env = c.environment(b.Env, scope.Place{Stage: i})
	s.node.Rollback = out
}

// pipeRelease reports a document that needs a newer program than this one. A program that was built from no
// release is taken for the newest.
func (c *compiler) pipeRelease() {
	want := c.doc.Pipe
	have, ok := specs.ParseRelease(c.opt.Version)
	if want == nil || !ok || have.Compare(want.Value) >= 0 {
		return
	}
	d := c.diags.Errorf(CodeNewerPipe, want.Span, "this pipeline needs a newer pipe: at least %s, and this one is %s", want.Value, have)
	d.Help = "install a newer pipe; what else is wrong here may only be unknown to this one"
}
