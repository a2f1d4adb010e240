package driver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
)

// How often the inbox is looked at. A look is one system call where nothing came.
const inboxPause = 150 * time.Millisecond

// Run begins or resumes the run with an event, Start or Resumed, and carries it out until it is over, or
// nothing can go on without a person (unless Options.Stay). A *Stopped error says that ctx ended before;
// any other error is a failure of ours, after which the run can be resumed. In every case all workers and
// their processes have ended.
func (d *Driver) Run(ctx context.Context, first step.Event) (step.RunStatus, error) {
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	err := d.begin(work, first)
	if err == nil {
		err = d.loop(ctx, work)
	}
	stop(err)
	close(d.crew.quit)
	d.crew.Wait()
	if err == nil {
		d.letGo(context.WithoutCancel(ctx))
	}
	if stopped := (*Stopped)(nil); err == nil || errors.As(err, &stopped) {
		err = errors.Join(err, d.derived.Flush())
	}
	return d.opt.Machine.Status(), ifFull(d.opt.Dir, err)
}

// withHandWork adds the state of the workspace to a resume where it tells of work by hand: where the run knows what it
// left, and no stage that writes was interrupted, which leaves half of its work behind.
func (d *Driver) withHandWork(work context.Context, resumed step.Resumed) (step.Event, error) {
	m := d.opt.Machine
	if _, known := m.LastTree(); !known || m.Cancelling() || m.Status().Ended() {
		return resumed, nil
	}
	for _, e := range m.OpenEffects() {
		if e, ok := e.(step.Dispatch); ok && m.Node(e.Started.Stage).Writes {
			return resumed, nil
		}
	}
	tree, err := d.readTree(work, "")
	if err != nil {
		return nil, err
	}
	resumed.Tree = &tree
	return resumed, nil
}

// begin makes the derived files, steps the first event, and carries out the effects that are open. Timers
// that are due fire at once, before anything else of the loop.
func (d *Driver) begin(work context.Context, first step.Event) error {
	if err := d.clearInbox(); err != nil {
		return err
	}
	if err := d.derived.Rebuild(); err != nil {
		return err
	}
	resumed, resumes := first.(step.Resumed)
	if !resumes {
		return d.step(work, first)
	}
	first, err := d.withHandWork(work, resumed)
	if err != nil {
		return err
	}
	// What follows from Resumed is among the open effects.
	if err := d.record(first); err != nil {
		return err
	}
	return d.recover(work, d.opt.Machine.OpenEffects())
}

// recover carries out the effects that are open when a process of ours takes a run over. A try that can
// have begun is lost; everything else is carried out again as it is.
func (d *Driver) recover(work context.Context, open []step.Effect) error {
	var lost []step.Effect
	for _, e := range open {
		dispatch, ok := e.(step.Dispatch)
		if !ok {
			continue
		}
		begun, err := d.folder(dispatch.Started).begun(dispatch.Started.Effect)
		if err != nil {
			return fmt.Errorf("looking for the folder of stage %q: %w", dispatch.Started.Stage, err)
		}
		if begun {
			lost = append(lost, e)
		}
	}
	for _, e := range open {
		if !isOneOf(e, lost) {
			d.carryOut(work, e)
		}
	}
	for _, e := range lost {
		if err := d.step(work, step.StageLost{At: d.now(), Effect: e.EffectID()}); err != nil {
			return err
		}
	}
	return nil
}

// isOneOf reports whether e is, or concerns, one of the effects.
func isOneOf(e step.Effect, of []step.Effect) bool {
	return slices.ContainsFunc(of, func(o step.Effect) bool { return o.EffectID() == e.EffectID() })
}

// loop takes events until there is nothing more to wait for, or ctx ends. Workers get the other context.
func (d *Driver) loop(ctx, work context.Context) error {
	ticker := time.NewTicker(inboxPause)
	defer ticker.Stop()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for look := true; ; {
		if err := ctx.Err(); err != nil {
			return &Stopped{context.Cause(ctx)}
		}
		if fired, err := d.fireTimer(work); fired || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if look {
			look = false
			if err := d.lookAtInbox(work); err != nil {
				return err
			}
		}
		if over, err := d.isOver(work); over || err != nil {
			return err
		}
		due.Reset(d.untilDue())
		select {
		case <-ctx.Done():
		case o := <-d.crew.outcomes:
			if err := d.take(work, o); err != nil {
				return err
			}
			look = o.answer
		case <-due.C:
			if err := d.derived.Tick(d.opt.Now()); err != nil {
				return err
			}
		case <-ticker.C:
			look = true
		}
	}
}

// isOver reports whether the loop may end: the run is over, or waits for a person, of whom no answer is on its
// way, and who has been told.
func (d *Driver) isOver(work context.Context) (bool, error) {
	status := d.opt.Machine.Status()
	if status.Ended() {
		return true, nil
	}
	if status != step.RunIsPaused && status != step.RunIsWaiting {
		return false, nil
	}
	if err := d.lookAtInbox(work); err != nil { // an answer may have come since the last look
		return false, err
	}
	if err := d.derived.Flush(); err != nil {
		return false, err
	}
	return !d.opt.Stay && !d.asking && d.crew.telling == 0, nil
}

// untilDue is how long the loop may sleep: until the next timer, or until derived files are to be written.
func (d *Driver) untilDue() time.Duration {
	wait := time.Hour
	if at, dirty := d.derived.DueAt(); dirty {
		wait = at.Sub(d.opt.Now())
	}
	if len(d.timers) > 0 {
		wait = min(wait, time.Duration(d.timers[0].until-d.now())*time.Millisecond)
	}
	return max(wait, 0)
}

// fireTimer fires the first timer that is due.
func (d *Driver) fireTimer(work context.Context) (bool, error) {
	if len(d.timers) == 0 || d.timers[0].until > d.now() {
		return false, nil
	}
	t := d.timers[0]
	d.timers = d.timers[1:]
	return true, d.step(work, step.TimerFired{At: d.now(), Effect: t.effect})
}

// take steps what a worker brought.
func (d *Driver) take(work context.Context, o outcome) error {
	delete(d.running, o.effect)
	if o.answer {
		d.asking = false
	}
	if o.told {
		d.crew.telling--
	}
	if o.warning != "" {
		d.warn("%s", o.warning)
	}
	if o.err != nil {
		return o.err
	}
	if o.event != nil {
		if err := d.step(work, o.event(d.now())); err != nil {
			return err
		}
	}
	if o.after != nil {
		return o.after()
	}
	return nil
}

// step takes an event through the machine and carries out what follows from it.
func (d *Driver) step(work context.Context, ev step.Event) error {
	effects, err := d.decide(ev)
	for _, e := range effects {
		d.carryOut(work, e)
	}
	return err
}

// record takes an event through the machine and leaves what follows from it to a later Resumed.
func (d *Driver) record(ev step.Event) error {
	_, err := d.decide(ev)
	return err
}

// decide is the one way of an event through the machine: decide, append, publish. Nothing is known to
// anybody, or carried out by the caller, before it is durable. Effects come only without an error.
func (d *Driver) decide(ev step.Event) (effects []step.Effect, err error) {
	defer func() {
		if p := recover(); p != nil {
			effects, err = nil, panicError(eventText(ev), p)
		}
	}()
	ready := d.opt.Machine.Step(ev)
	line := journal.Line{Seq: d.seq + 1, At: ev.When(), Event: ev, Records: ready.Records}
	if err := d.opt.Journal.Append(line); err != nil {
		return nil, err
	}
	d.seq = line.Seq
	d.note(line.Records)
	if err := d.derived.Step(line.At, line.Records, d.opt.Now()); err != nil {
		return nil, err
	}
	if d.opt.Notify != nil {
		d.opt.Notify(line)
	}
	return ready.Effects, nil
}

// PanicError is a bug of ours, with what brought it out.
type PanicError struct {
	While string // the event's JSON, or what a worker did
	Panic any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("a bug of pipe's own: panic: %v\nwhile %s\n%s", e.Panic, e.While, e.Stack)
}

func panicError(while string, p any) error {
	return &PanicError{While: while, Panic: p, Stack: debug.Stack()}
}

func eventText(ev step.Event) string {
	const most = 4 << 10
	b, err := step.MarshalEvent(ev)
	if err != nil {
		b = []byte(ev.EventType())
	}
	return "it took the event " + string(b[:min(len(b), most)])
}

// carryOut starts what an effect asks for.
func (d *Driver) carryOut(work context.Context, e step.Effect) {
	switch e := e.(type) {
	case step.Dispatch:
		d.dispatch(work, e.Started)
	case step.Stop:
		if stop, ok := d.running[e.Effect]; ok {
			stop(errStop)
		}
	case step.Timer:
		at, _ := slices.BinarySearchFunc(d.timers, e.Until, func(t timer, until step.Instant) int {
			if t.until <= until {
				return -1
			}
			return 1
		})
		d.timers = slices.Insert(d.timers, at, timer{e.Effect, e.Until})
	case step.Notify:
		d.tell(work, e)
	case step.ReadTree:
		d.start(work, e.Effect, "it read the workspace", func(ctx context.Context) outcome {
			read, err := d.readFor(ctx, e)
			if err != nil {
				return outcome{err: err}
			}
			return outcome{event: func(at step.Instant) step.Event {
				read.At = at
				return read
			}}
		})
	case step.Rollback:
		d.rollBack(work, e)
	}
}

// errStop is the cause of the end of a try that the machine stops.
var errStop = errors.New("the run stops this stage")

// start starts a worker for an effect. Its outcome is for the loop; once the loop has ended, for nobody.
func (d *Driver) start(work context.Context, effect, what string, do func(context.Context) outcome) {
	ctx, stop := context.WithCancelCause(work)
	d.running[effect] = stop
	d.crew.Go(func() {
		defer stop(nil)
		o := guard(ctx, what, do)
		o.effect = effect
		select {
		case d.crew.outcomes <- o:
		case <-d.crew.quit:
		}
	})
}

// guard turns a panic of a worker into an error.
func guard(ctx context.Context, what string, do func(context.Context) outcome) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: panicError(what, p)}
		}
	}()
	return do(ctx)
}
