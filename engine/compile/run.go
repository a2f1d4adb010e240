package compile

import (
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// settings compiles what a document says of the run as a whole.
func (c *compiler) settings(p *plan.Plan) {
	c.pipeRelease()
	if w := c.doc.Workspace; w != nil {
		p.Workspace = pickWord(plan.InPlace, w)
	}
	c.family.worktree = p.Workspace == plan.Worktree
	c.opt.Unattended = c.opt.Unattended || !pick(true, c.doc.Attended)
	p.Unattended = c.opt.Unattended
	e := c.doc.Escalation
	if e == nil {
		return
	}
	if !pick(true, c.doc.Attended) {
		d := c.diags.Warnf(CodeUnattended, e.Span, "nobody attends the run, so no escalation waits, and this never holds")
		d.Help = "drop escalation, or attended: false"
		d.Related = []diag.Related{{Span: c.doc.Attended.Span, Message: "nobody attends the run by this"}}
	}
	p.Escalation = &plan.Escalation{}
	if e.Timeout != nil {
		p.Escalation.Timeout = plan.Duration(e.Timeout.Value)
		p.Escalation.OnTimeout = pickWord(plan.AbortRun, e.OnTimeout)
	}
	for _, n := range e.Notify {
		templateInRun(n.Run, &c.diags, func() string {
			return "what the script is told stands in its environment and in the file of PIPE_ESCALATION"
		})
		p.Escalation.Notify = append(p.Escalation.Notify, plan.Notify{Run: n.Run.Text, At: n.Run.Span.Start})
	}
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
