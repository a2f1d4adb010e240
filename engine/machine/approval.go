package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// approvalKind is the kind of a stage that is nothing but an approval.
const approvalKind = "approval"

// rejection is how the fingerprint of what a rejection sends back begins.
const rejection = "rejected "

// Who answered where nobody did.
const (
	byTimeout    = "timeout"
	byUnattended = "unattended"
)

// ask asks a person before an instance starts. Where nobody is there, it is answered at once.
func (d *decider) ask(i *instance, tree step.Tree, again string) {
	a := i.node.Approval
	r := step.ApprovalAsked{Stage: i.path, Iteration: i.iteration, At: d.at, Tree: tree, Again: again, Approvers: a.Approvers}
	for _, l := range d.s.loopsFor(i) {
		r.Rounds += max(0, l.counter.Cap-l.counter.Iteration)
	}
	if a.Message != nil {
		p := d.prepare(i, i.iteration, 1)
		text, err := a.Message.EvalText(p, p.base)
		if err != nil {
			d.failStart(i, i.iteration, d.located(err))
			return
		}
		r.Message = text
	}
	if a.Timeout > 0 && !d.s.run.Unattended {
		r.Effect, r.Until, r.OnTimeout = d.newEffect(), d.at.Add(time.Duration(a.Timeout)), a.OnTimeout.String()
	}
	d.emit(r)
	if d.s.run.Unattended {
		d.unanswered(i, byUnattended, "the run is unattended")
	}
}

// loopsFor gives the loops that send work back to i, also those that have not reviewed yet, in plan order.
func (s *state) loopsFor(i *instance) []*loop {
	var out []*loop
	for _, n := range i.frame.graph.sources {
		if source := itemOf(i.frame.slots[n], i.item); source.isSource() && source.target() == i {
			out = append(out, s.loopOf(source))
		}
	}
	return out
}

func (d *decider) answerApproval(a step.Answer) bool {
	i, why := d.asked(a.Stage)
	if i == nil {
		return d.refuse(a, why)
	}
	if !mayAnswer(i.node.Approval.Approvers, a.By) {
		return d.refuse(a, mayNot(i, a.By))
	}
	void, warning := d.approvalDiffers(i, a.Tree)
	if a.Kind == step.Approve && void != "" {
		d.refuse(a, fmt.Sprintf("%s since the approval of %q was asked; look again and answer again", void, i.path))
		again := d.askAgain(i, a.Tree, void+" before the approval")
		d.resumeIf(again && a.Live && d.s.status == step.RunIsWaiting)
		return again && a.Live
	}
	r := step.ApprovalAnswered{Stage: i.path, Answer: a.ID, Approved: a.Kind == step.Approve, By: a.By, Reason: a.Reason, At: d.at, Tree: a.Tree}
	if a.Kind == step.Approve && warning != "" {
		r.Warning = warning + " since the approval was asked"
	}
	if a.Kind == step.Approve {
		d.approve(i, r)
	} else {
		d.reject(i, r)
	}
	if a.Live {
		d.fresh = i
		d.resumeIf(d.s.status == step.RunIsWaiting)
	}
	return a.Live
}

// askAgain asks for an approval once more, after what was worked by hand was looked at again: then it may have to wait
// for that, and is asked when it comes to its start. It reports whether anything runs again.
func (d *decider) askAgain(i *instance, tree step.Tree, why string) bool {
	before := i.status
	again := d.workedByHand(tree)
	if i.status == before {
		d.ask(i, tree, why)
	}
	return again
}

// mayAnswer reports whether a person is among those who may answer: by name, or by the name before the host.
func mayAnswer(approvers []string, by string) bool {
	user, _, _ := strings.Cut(by, "@")
	return len(approvers) == 0 || slices.Contains(approvers, by) || slices.Contains(approvers, user)
}

func mayNot(i *instance, by string) string {
	return fmt.Sprintf("%q may not answer the approval of %q; who may: %s", by, i.path, strings.Join(i.node.Approval.Approvers, ", "))
}

// approve lets a stage start. What it was rejected for before is settled.
func (d *decider) approve(i *instance, r step.ApprovalAnswered) {
	d.emit(r)
	if i.returns() && len(d.s.ledger.Open(i.path)) > 0 {
		d.takeResult(i, &feedback.Result{}, nil)
	}
}

// reject refuses the start of a stage: it fails, is skipped, or work goes back with what the person said. A review
// with open blocking items is not skipped: nobody would look at them any more.
func (d *decider) reject(i *instance, r step.ApprovalAnswered) {
	d.emit(r)
	message := "rejected by " + r.By
	if r.Answer == "" {
		message = "rejected, since nobody answered"
	}
	if r.Reason != "" {
		message += ": " + r.Reason
	}
	switch open := len(d.s.ledger.OpenBlocking(i.path)); {
	case i.node.Approval.OnReject == plan.RejectSkips && open == 0:
		d.emit(step.StageSkipped{Stage: i.path, Iteration: i.iteration, At: d.at, Reason: string(stage.Rejected)})
	case i.returns():
		evidence := rejection + d.at.String() // no earlier waiver covers it
		for _, before := range d.s.ledger.Open(i.path) {
			if strings.HasPrefix(before.Fingerprint, rejection) {
				evidence = before.Fingerprint // the same question, in other words
				break
			}
		}
		d.takeResult(i, &feedback.Result{Items: []feedback.Item{{
			Severity: feedback.Blocking, Description: message, SourceAgent: r.By, Fingerprint: evidence,
		}}}, nil)
		d.emit(step.StageRejected{Stage: i.path, Iteration: i.iteration, At: d.at})
	default:
		d.fail(i, failure{class: string(stage.Rejected), message: message})
	}
}

// returns reports whether a rejection of i sends work back.
func (i *instance) returns() bool { return i.node.Loop != nil && i.node.Loop.OnReject }

// unanswered answers an approval that nobody answered, as its on_timeout says.
func (d *decider) unanswered(i *instance, by, why string) {
	r := step.ApprovalAnswered{Stage: i.path, By: by, Reason: why, At: d.at, Tree: i.approval.tree}
	switch i.node.Approval.OnTimeout {
	case plan.TimeoutApproves:
		r.Approved = true
		d.approve(i, r)
	case plan.TimeoutFails:
		d.emit(r)
		d.fail(i, failure{class: string(stage.Timeout), message: "nobody answered the approval: " + why})
	default:
		d.reject(i, r)
	}
}

// pass ends a stage that is nothing but an approval, once it was given.
func (d *decider) pass(i *instance, p *preparation) {
	outputs := value.NewObject(
		value.Field{Name: plan.ApprovalBy, Value: i.approval.by},
		value.Field{Name: plan.ApprovalReason, Value: i.approval.reason},
	)
	p.ended(step.StageEnded{Outputs: outputs})
	if why := d.checks(i, "post", i.node.PostChecks, p); why != "" {
		d.failStart(i, p.iteration, why)
		return
	}
	d.emit(step.StageSucceeded{Stage: i.path, Iteration: p.iteration, Attempt: p.attempt, At: d.at, Outputs: outputs})
}

// asked finds the instance that waits for an approval.
func (d *decider) asked(path string) (*instance, string) {
	var open []*instance
	var names []string
	for _, i := range d.s.all {
		if i.approval.asked {
			open = append(open, i)
			names = append(names, i.path)
		}
	}
	if path != "" {
		if i := d.s.byPath[path]; i != nil && i.approval.asked {
			return i, ""
		}
		return nil, strings.TrimSuffix(fmt.Sprintf("%q waits for no approval; waiting: %s", path, listOr(names, "nothing")), " ")
	}
	switch len(open) {
	case 0:
		return nil, "no stage waits for an approval"
	case 1:
		return open[0], ""
	}
	return nil, "several stages wait for an approval; name one of: " + strings.Join(names, ", ")
}
