package proc

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// killPatience is an ender's usual patience.
const killPatience = 10 * time.Second

// How long to wait between two looks at the process table. Not all who are ended are our children, so
// there is nothing to wait for; looking costs a millisecond or two, and only happens if something is left.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 25 * time.Millisecond
)

// process is an entry of the process table.
type process struct {
	processKey
	ppid, pgid int
	zombie     bool // all of it has ended, and nobody has reaped it yet
	headless   bool // its first thread has ended, others have not
}

// processKey names a process also after its pid was given to another.
type processKey struct {
	pid   int
	start uint64 // when it started, in the system's own unit
}

// ender ends all processes that match: SIGTERM, the grace, SIGKILL, until two looks in a row find none (one
// look can miss a process that is between fork and exec).
type ender struct {
	match func(*process) bool
	pause func(time.Duration) error // waits between two looks
	grace time.Duration
	// patience is how long a process may take to die of SIGKILL before it is given up.
	patience time.Duration

	// A group that got its SIGTERM before, and when; its members get none again.
	group       int
	groupTermed time.Time

	termed map[processKey]time.Time // all that were found, and when they got their SIGTERM
	killed time.Time                // first SIGKILL
}

// count is the number of processes that had to be ended.
func (e *ender) count() int { return len(e.termed) }

func (e *ender) run() error {
	for clean, pause := 0, firstPause; ; {
		began := time.Now()
		found, err := matching(e.match)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			if clean++; clean == 2 {
				return nil
			}
		} else {
			clean = 0
			for i := range found {
				e.end(&found[i], began)
			}
			if !e.killed.IsZero() && began.Sub(e.killed) > e.patience {
				return leftError(found)
			}
		}
		// A machine with very many processes isn't kept busy by our looking.
		if err := e.pause(max(pause, 4*time.Since(began))); err != nil {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

// end sends a process the signal that it is due. One that appears after the first SIGKILL was sent gets no
// grace, or a family that keeps forking would never come to an end.
func (e *ender) end(p *process, now time.Time) {
	at, seen := e.termed[p.processKey]
	if !seen {
		at = now
		if e.group != 0 && p.pgid == e.group {
			at = e.groupTermed
		} else {
			signalProcess(p, syscall.SIGTERM)
			signalProcess(p, syscall.SIGCONT)
		}
		e.termed[p.processKey] = at
	}
	if now.Sub(at) >= e.grace || !seen && !e.killed.IsZero() {
		signalProcess(p, syscall.SIGKILL)
		if e.killed.IsZero() {
			e.killed = now
		}
	}
}

func leftError(ps []process) error {
	e := &LeftError{}
	for i := range ps {
		e.PIDs = append(e.PIDs, ps[i].pid)
	}
	return e
}

// matching looks through the process table, and reaps the orphans among our children on the way.
func matching(match func(*process) bool) ([]process, error) {
	reapOrphans()
	all, err := processes()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p process) bool { return p.pid == os.Getpid() || !match(&p) }), nil
}

// hasEntry reports whether an environment block (entries that end in NUL) holds the entry.
func hasEntry(env, entry []byte) bool {
	for len(env) > 0 {
		kv, rest, _ := bytes.Cut(env, []byte{0})
		if bytes.Equal(kv, entry) {
			return true
		}
		env = rest
	}
	return false
}

// entryValue returns the value of the first entry of that name.
func entryValue(env []byte, name string) (string, bool) {
	for len(env) > 0 {
		kv, rest, _ := bytes.Cut(env, []byte{0})
		if v, ok := bytes.CutPrefix(kv, []byte(name+"=")); ok {
			return string(v), true
		}
		env = rest
	}
	return "", false
}

// EndRun ends every process whose environment carries the run's id, but for our own process, our ancestors,
// and those that except names (nil: none), and returns how many it were. It is asked before a run whose
// engine died goes on. The error is a *LeftError, or that the process table can't be read.
func EndRun(runID string, except func(pid int) bool) (int, error) {
	return endRun(runID, except, DefaultGrace)
}

func endRun(runID string, except func(pid int) bool, grace time.Duration) (int, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	spared := ancestors(all)
	sleep := func(d time.Duration) error { time.Sleep(d); return nil }
	e := ender{grace: grace, patience: killPatience, pause: sleep, termed: map[processKey]time.Time{}, match: func(p *process) bool {
		return !p.zombie && !spared[p.pid] && (except == nil || !except(p.pid)) && isOfRun(environ(p), runID)
	}}
	err = e.run()
	return e.count(), err
}

// CarriesRun reports whether our own process or one of its ancestors carries the run's id: whether we were
// started, however indirectly, by that run. Ancestors whose environment we may not read don't count.
func CarriesRun(runID string) (bool, error) {
	all, err := processes()
	if err != nil {
		return false, err
	}
	line := ancestors(all)
	for i := range all {
		if line[all[i].pid] && isOfRun(environ(&all[i]), runID) {
			return true, nil
		}
	}
	return false, nil
}

// isOfRun reports whether the environment block is that of a process of the run, or of a run within it.
func isOfRun(env []byte, runID string) bool {
	if run, ok := entryValue(env, RunVar); ok && run == runID {
		return true
	}
	outer, _ := entryValue(env, OuterVar)
	return slices.Contains(strings.Fields(outer), runID)
}

// ancestors returns our own pid and those of our ancestors.
func ancestors(all []process) map[int]bool {
	parents := make(map[int]int, len(all))
	for i := range all {
		parents[all[i].pid] = all[i].ppid
	}
	line := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !line[pid]; pid = parents[pid] {
		line[pid] = true
	}
	return line
}
