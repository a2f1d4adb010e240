package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
)

// InsideError says that a run was to be answered from within itself.
type InsideError struct{ Run string }

// Error implements error.
func (e *InsideError) Error() string {
	return fmt.Sprintf("this command was started by run %s itself, which may not answer its own questions; answer it from another terminal", e.Run)
}

// AnswerOptions says how an answer is given.
type AnswerOptions struct {
	Follow
	Resume bool // go on with the run at once, if nobody else carries it on
}

// Answered is what came of an answer.
type Answered struct {
	Accepted bool
	Why      string // why it was refused
	Warning  string // of an accepted one: what differs from what was shown
	Closed   bool   // of an accepted decision: false while blocking items are left

	Covered []string // of an accepted decision: stages whose approval also holds for the rounds that it grants

	Result         // where the run stands now
	Live      bool // another process carries the run on, and has taken the answer
	CarriedOn bool // this process carried the run on after it
}

// answerPause is the time between two looks at a journal for the outcome of an answer; patience is how many
// of them pass before the person is told whom they wait for.
const (
	answerPause = 50 * time.Millisecond
	patience    = 40
)

// Answer gives a person's word to a run. If a process carries the run on, it takes the answer, and Answer
// waits for the outcome; else the answer is recorded here: reject, and what cancels the run, are carried out to the
// end, after the others the run waits for a resume (see AnswerOptions.Resume). That an answer was refused
// is no error.
func (p *Project) Answer(ctx context.Context, id string, a step.Answer, o AnswerOptions) (Answered, error) {
	inside, err := p.isInside(id)
	if err != nil {
		return Answered{}, fmt.Errorf("looking for whom this command was started by: %w", err)
	}
	if inside {
		return Answered{}, &InsideError{id}
	}
	dir := p.RunDir(id)
	tail := journal.NewTail(dir)
	if err := tail.Next(nil); err != nil {
		return Answered{}, err
	}
	a.ID = p.opt.NewID()
	if err := driver.PutAnswer(dir, a); err != nil {
		return Answered{}, err
	}
	w := &waiter{p: p, id: id, dir: dir, answer: a, opt: o, tail: tail}
	return w.wait(ctx)
}

// Cancel stops a run and its processes.
func (p *Project) Cancel(ctx context.Context, id, by, reason string, o AnswerOptions) (Answered, error) {
	return p.Answer(ctx, id, step.Answer{Kind: step.Cancel, By: by, Reason: reason}, o)
}

// waiter waits for the outcome of one answer.
type waiter struct {
	p      *Project
	id     string
	dir    string
	answer step.Answer
	opt    AnswerOptions
	tail   *journal.Tail
	out    *Answered
}

// wait takes the run's lock and the answer with it, or finds the outcome in the journal.
func (w *waiter) wait(ctx context.Context) (Answered, error) {
	ticker := time.NewTicker(answerPause)
	defer ticker.Stop()
	for looks := 0; ; looks++ {
		if err := w.tail.Next(w.see); err != nil {
			return Answered{}, err
		}
		if w.out != nil {
			w.out.Live = true
			return w.finish()
		}
		s, err := w.p.openRun(w.id, w.opt.Follow)
		if err == nil {
			out, err := w.take(ctx, s)
			return out, s.end(err)
		}
		if !errors.Is(err, journal.ErrHeld) {
			return Answered{}, err
		}
		if looks == patience && w.opt.Warn != nil {
			w.opt.Warn(fmt.Sprintf("the answer waits to be taken: %v", err))
		}
		select {
		case <-ctx.Done():
			// Whoever holds the lock may have taken it by now; then the outcome is in the journal.
			return Answered{}, errors.Join(&Stopped{Cause: context.Cause(ctx)}, ignoreMissing(w.takeBack()))
		case <-ticker.C:
		}
	}
}

// takeBack removes the answer from the inbox.
func (w *waiter) takeBack() error {
	return os.Remove(filepath.Join(w.dir, driver.InboxDir, w.answer.ID+".json"))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// see looks at a step for the outcome.
func (w *waiter) see(l journal.Line) error {
	a, ok := l.Event.(step.Answer)
	if !ok || a.ID != w.answer.ID {
		return nil
	}
	out := &Answered{Accepted: true, Closed: true}
	for _, r := range l.Records {
		switch r := r.(type) {
		case step.AnswerRefused:
			if r.Answer == a.ID {
				out.Accepted, out.Why = false, r.Why
			}
		case step.EventIgnored:
			out.Accepted, out.Why = false, r.Why
		case step.ApprovalAnswered:
			out.Warning = r.Warning
		case step.EscalationDecided:
			out.Warning, out.Closed, out.Covered = r.Warning, r.Closed, r.Covered
		}
	}
	w.out = out
	return nil
}

// finish adds where the run stands by its records.
func (w *waiter) finish() (Answered, error) {
	v, err := w.p.View(w.id)
	if err != nil {
		return Answered{}, err
	}
	w.out.Result = Result{Run: v.Info(), Dir: w.dir, Status: v.Status()}
	return *w.out, nil
}

// take journals what is in the inbox, the answer with it, and carries out what must not wait.
func (w *waiter) take(ctx context.Context, s *session) (Answered, error) {
	if err := w.tail.Next(w.see); err != nil { // it may have been taken just before the lock was free
		return Answered{}, err
	}
	over := w.answer.Kind == step.Cancel || w.answer.Kind == step.DecideAbort
	if err := s.seeTree(ctx); err != nil && !over {
		return Answered{}, errors.Join(err, ignoreMissing(w.takeBack()))
	}
	s.seen = func(l journal.Line) { _ = w.see(l) }
	if err := s.driver.TakeAnswers(ctx); err != nil {
		return Answered{}, err
	}
	s.seen = nil
	if w.out == nil {
		return Answered{}, fmt.Errorf("the answer %q is gone from the inbox of run %s and not in its journal", w.answer.ID, w.id)
	}
	info, err := s.info()
	if err != nil {
		return Answered{}, err
	}
	w.out.Result = Result{Run: info, Dir: s.dir, Status: s.machine.Status()}
	if s.machine.Status().Ended() {
		return *w.out, nil
	}
	cancelled := s.machine.Cancelling() // by this answer, or before it: then nobody has carried that out
	if w.answer.Kind == step.Cancel && cancelled {
		w.out.Accepted, w.out.Why = true, ""
	}
	if goesOn := w.opt.Resume || w.answer.Kind == step.Reject; !cancelled && !(goesOn && w.out.Accepted) {
		return *w.out, nil
	}
	// Where nothing starts any more the workspace is not needed: it may be another run's by now.
	if !cancelled || s.plan.Graph.HasFinally() || s.machine.RollsBack() {
		if err := s.takeWorkspace(); err != nil {
			return *w.out, fmt.Errorf("the answer is recorded, but the run can't be carried on: %w", err)
		}
	}
	w.out.Result, err = s.resume(ctx, Begun{}, cancelled)
	w.out.CarriedOn = true
	return *w.out, err
}
