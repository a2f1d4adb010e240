package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// answerOptions are what all commands that answer a run share.
type answerOptions struct {
	*app
	ref    string
	by     string
	reason string
	resume bool
	json   bool

	asked string   // id of the escalation that is answered, where it is open
	kept  []string // stages with a rollback whose work stays, since none was asked for
}

func (o *answerOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.by, "by", "", "`NAME` of who answers (default: the user and the host)")
	cmd.Flags().StringVar(&o.reason, "reason", "", "`TEXT` that says why")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

func (o *answerOptions) resumeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.resume, "resume", false, "go on with the run at once, unless another process does")
}

// answered is the outcome as JSON.
type answered struct {
	Version  int    `json:"version"`
	Run      string `json:"run"`
	Accepted bool   `json:"accepted"`
	Why      string `json:"why,omitempty"`
	Warning  string `json:"warning,omitempty"`
	Closed   bool   `json:"closed"` // nothing of what was answered is left open
	Status   string `json:"status"` // of the run

	Left []string `json:"left,omitempty"` // ids of the items of which the escalation is still open

	Covered []string `json:"covered,omitempty"` // stages whose approval also holds for the rounds that were granted

	Live    bool   `json:"live"` // a process carries the run on
	Command string `json:"command,omitempty"`
}

// give gives an answer to the run. The answer is made from what the run asks.
func (o *answerOptions) give(ctx context.Context, make func(*view.Run) (step.Answer, string, error)) error {
	return withProcesses(func(ks []stage.Kind) error {
		p, err := o.project(ks)
		if err != nil {
			return err
		}
		id, v, err := o.find(p, o.ref)
		if err != nil {
			return err
		}
		a, said, err := make(v)
		if err != nil {
			return err
		}
		if a.By = o.by; a.By == "" {
			a.By = o.who()
		}
		a.Reason = o.reason
		f := &follower{app: o.app, p: p, json: o.json, live: o.resume}
		told := &teller{follower: f, said: said}
		return o.untilSignal(ctx, func(ctx context.Context) error {
			defer f.leave()
			res, err := p.Answer(ctx, id, a, engine.AnswerOptions{Follow: told.follow(), Resume: o.resume})
			f.leave()
			if err == nil && res.Accepted && res.Live && (a.Kind == step.Cancel || a.Kind == step.DecideAbort) {
				res.Status, err = awaitEnd(ctx, p, id)
			}
			if err != nil {
				return f.failed(err)
			}
			return o.tell(told, id, a.Kind, res)
		})
	})
}

// teller says that an answer was taken, before the run goes on with it. What was refused before is no event of
// interest: of this answer the command says it, of others their commands do.
type teller struct {
	*follower
	said string
	done bool // it was said
}

func (t *teller) follow() engine.Follow {
	f := t.follower.follow()
	f.Begun = func(b engine.Begun) {
		t.say()
		t.begun(b)
	}
	f.Observe = func(seq int64, at step.Instant, recs []step.Record) {
		if !t.done {
			recs = slices.DeleteFunc(slices.Clone(recs), func(r step.Record) bool {
				_, refused := r.(step.AnswerRefused)
				return refused
			})
		}
		t.observe(seq, at, recs)
	}
	return f
}

// say confirms the answer, once.
func (t *teller) say() {
	if !t.done && !t.json {
		fmt.Fprintf(t.out, "%s\n", view.OneLine(t.said))
	}
	t.done = true
}

// tell says what came of the answer.
func (o *answerOptions) tell(f *teller, id string, kind step.AnswerKind, res engine.Answered) error {
	left, err := o.left(f.follower, res)
	if err != nil {
		return err
	}
	next := ""
	if res.Accepted && len(left.Commands) == 0 && !res.Live && !res.CarriedOn && !res.Status.Ended() {
		next = "pipe resume " + id
	}
	if o.json {
		b, err := view.Marshal(answered{
			Version: 1, Run: id, Accepted: res.Accepted, Why: res.Why, Warning: res.Warning, Closed: res.Closed, Left: left.Items,
			Status: res.Status.String(), Covered: res.Covered, Live: res.Live, Command: next,
		})
		if err != nil {
			return err
		}
		if _, err := o.out.Write(b); err != nil {
			return err
		}
		if !res.Accepted {
			return withStatus(exitFailed)
		}
		return o.after(f.follower, kind, res)
	}
	if !res.Accepted {
		return o.refused(f.follower, id, res)
	}
	if res.Warning != "" {
		f.warn(res.Warning)
	}
	f.say()
	for _, stage := range res.Covered {
		fmt.Fprintf(o.out, "the approval of %q covers the rounds that this grants\n", view.OneLine(stage))
	}
	if len(left.Commands) > 0 && !res.CarriedOn { // else it was asked again
		fmt.Fprintf(o.out, "the escalation stays open for %s; answer it with:\n", view.OneLine(strings.Join(left.Items, ", ")))
		for _, c := range left.Commands {
			fmt.Fprintf(o.out, "  %s\n", c)
		}
	}
	if len(o.kept) > 0 {
		fmt.Fprintf(o.out, "what %s did stays: only --rollback would have undone it\n", view.OneLine(strings.Join(o.kept, ", ")))
	}
	switch {
	case res.Live && !res.Status.Ended():
		fmt.Fprintln(o.out, "another process carries the run on")
	case next != "":
		fmt.Fprintf(o.out, "go on with: %s\n", next)
	}
	return o.after(f.follower, kind, res)
}

// refused says why an answer was refused, and what goes on if nothing is asked any more.
func (o *answerOptions) refused(f *follower, id string, res engine.Answered) error {
	v, err := f.p.View(id)
	if err != nil {
		return err
	}
	v.SetHeld(res.Live)
	next := ""
	if _, ok := v.Answered(); ok {
		next = "; go on with: " + view.Command("resume", id)
	}
	return &statusError{exitFailed, fmt.Errorf("run %s refused the answer: %s%s", id, res.Why, next)}
}

// left gives the escalation that an answer did not close.
func (o *answerOptions) left(f *follower, res engine.Answered) (view.Question, error) {
	if !res.Accepted || res.Closed {
		return view.Question{}, nil
	}
	v, err := f.p.View(res.Run.Run)
	if err != nil {
		return view.Question{}, err
	}
	q, _ := v.Escalation(o.asked, "")
	return q, nil
}

// after ends the command: with the run's status where it went on with the run. What stops a run did what it was
// told, and a run that was stopped is what it was to lead to.
func (o *answerOptions) after(f *follower, kind step.AnswerKind, res engine.Answered) error {
	ended := !res.Live && res.Status.Ended()
	switch {
	case kind == step.Cancel || kind == step.DecideAbort:
		return o.undone(f, res, ended)
	case !res.CarriedOn && (kind != step.Reject || !ended):
		return nil
	}
	if o.json {
		return withStatus(statusOfRun(res.Status))
	}
	return f.end(res.Result, nil)
}

// undone says what of the rollbacks of a run that was stopped is left to a person.
func (o *answerOptions) undone(f *follower, res engine.Answered, ended bool) error {
	if o.json || !ended {
		return nil
	}
	v, err := f.p.View(res.Run.Run)
	if err != nil {
		return err
	}
	f.byHand(v)
	return nil
}

// endPause is the time between two looks at a run that another process stops.
const endPause = 50 * time.Millisecond

// awaitEnd waits until the process that carries a run on has stopped it, and gives where the run stands.
func awaitEnd(ctx context.Context, p *engine.Project, id string) (step.RunStatus, error) {
	ticker := time.NewTicker(endPause)
	defer ticker.Stop()
	for {
		if _, held, err := p.Holder(id); err != nil {
			return step.UnknownRunStatus, err
		} else if !held {
			v, err := p.View(id)
			if err != nil {
				return step.UnknownRunStatus, err
			}
			return v.Status(), nil
		}
		select {
		case <-ctx.Done():
			return step.UnknownRunStatus, &engine.Stopped{Cause: context.Cause(ctx)}
		case <-ticker.C:
		}
	}
}
