package proc

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// child is a main process that has started and isn't reaped yet. As long as it isn't, its pid and the
// number of its group can't be given to somebody else, so signals to them reach nobody else.
type child struct {
	pid    int
	spec   *Spec
	family family
	watch  *watch
}

// await waits for the end of the process, or brings it about when ctx ends, then ends what is left of its
// family, reaps it, and reads its streams to their ends.
func (c *child) await(ctx context.Context, res *Result) error {
	w := c.watch
	if _, err := w.until(-1, func() bool { return w.exited || w.woken }); err != nil {
		return c.abandon(err)
	}
	var stoppedAt time.Time // when the group got its SIGTERM
	if !w.exited {
		res.Stopped = context.Cause(ctx)
		stoppedAt = time.Now()
		if err := c.stop(); err != nil {
			return err
		}
	}
	var left error
	res.KilledLeftovers, left = c.endLeftovers(stoppedAt)
	status, err := reap(c.pid)
	if err != nil {
		return fmt.Errorf("waiting for process %d: %w", c.pid, err)
	}
	if status.Signaled() {
		res.Signal = signalName(status.Signal())
	} else {
		res.ExitCode = status.ExitStatus()
	}
	if left != nil {
		return left
	}
	return w.drain()
}

// stop ends the group while the main process runs, and waits for the latter's end. SIGCONT lets a process
// that was stopped see its SIGTERM.
func (c *child) stop() error {
	exited := func() bool { return c.watch.exited }
	signalGroup(c.pid, syscall.SIGTERM)
	signalGroup(c.pid, syscall.SIGCONT)
	if ok, err := c.watch.until(c.spec.Grace, exited); err != nil {
		return c.abandon(err)
	} else if ok {
		return nil
	}
	signalGroup(c.pid, syscall.SIGKILL)
	if ok, err := c.watch.until(killPatience, exited); err != nil {
		return c.abandon(err)
	} else if ok {
		return nil
	}
	// It hangs in the kernel: neither can its status be had, nor can it be reaped.
	return &LeftError{PIDs: []int{c.pid}}
}

// abandon kills a process that can't be watched any longer.
func (c *child) abandon(err error) error {
	signalGroup(c.pid, syscall.SIGKILL)
	if _, reapErr := reap(c.pid); reapErr != nil {
		return errors.Join(err, fmt.Errorf("waiting for process %d: %w", c.pid, reapErr))
	}
	return err
}

// endLeftovers ends what the main process left behind, and counts it.
func (c *child) endLeftovers(stoppedAt time.Time) (int, error) {
	if nothingLeft(&c.family) {
		return 0, nil
	}
	if main, ok := readProcess(c.pid); ok {
		c.family.since = main.start
	}
	e := ender{match: c.family.has, pause: c.watch.pause, grace: c.spec.Grace, patience: killPatience,
		termed: map[processKey]time.Time{}}
	if !stoppedAt.IsZero() {
		e.groupTermed, e.group = stoppedAt, c.pid
	}
	err := e.run()
	return e.count(), err
}

// family is what belongs to one effect.
type family struct {
	group int      // process group; 0: none
	marks [][]byte // "NAME=value" that all must be in the environment; nil: it decides nothing
	since uint64   // no member has started before: spares us most environments

	// isOurs reports whether a run is one of this program's. An orphan of any other run that is handed to us
	// was left by a nested engine that died, else it would have been handed to that; nobody but us ends it.
	// Nil: such orphans are left alone.
	isOurs func(run string) bool
}

// effectMarks are the marks of a Spec. Effect ids are counted from one in every run, so only both ids
// together name an effect.
func effectMarks(spec *Spec) [][]byte {
	if spec.Effect == "" || spec.Run == "" {
		return nil
	}
	return [][]byte{[]byte(EffectVar + "=" + spec.Effect), []byte(RunVar + "=" + spec.Run)}
}

// has reports whether a process belongs to the family. Zombies are over, whatever they were.
func (f *family) has(p *process) bool {
	if p.zombie || p.start < f.since {
		return false
	}
	if f.group != 0 && p.pgid == f.group {
		return true
	}
	if len(f.marks) == 0 {
		return false
	}
	env := environ(p)
	return carries(env, f.marks) || f.isOurs != nil && f.adopts(p, env)
}

// adopts reports whether a process is an orphan of a nested run.
func (f *family) adopts(p *process, env []byte) bool {
	run, ok := entryValue(env, RunVar)
	return ok && run != "" && !f.isOurs(run) && isOrphan(p)
}

// carries reports whether the environment block holds all marks.
func carries(env []byte, marks [][]byte) bool {
	for _, m := range marks {
		if !hasEntry(env, m) {
			return false
		}
	}
	return true
}

// signalGroup signals every process of a group whose leader isn't reaped. That it is empty but for the
// leader is nothing to report.
func signalGroup(pgid int, sig syscall.Signal) {
	_ = syscall.Kill(-pgid, sig)
}
