//go:build linux

package sweep

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// point is where a command is killed: before or after the Nth call of a sort, counted over its threads.
// The order of parallel stages may differ from run to run; how many calls of each sort there are does not.
type point struct {
	sort  string
	after bool
	n     int
	torn  bool // what the kernel took and no sync confirmed is lost by half: the last line of the journal is cut
}

func (p point) String() string {
	when := "before"
	if p.after {
		when = "after"
	}
	if p.torn {
		when = "torn"
	}
	return fmt.Sprintf("%s-%02d-%s", p.sort, p.n, when)
}

// The sorts of calls that a kill is aimed at.
const (
	journalWrite = "journal-write"
	journalSync  = "journal-sync"
	folderSync   = "folder-sync" // of the run's folder or below: a name becomes durable, that of a stage's folder too
	start        = "start"       // of a process: a stage, or git; those of stages are points
	inboxPut     = "inbox-put"
	inboxRemove  = "inbox-remove"
)

// sorts of calls, with the sides that are points.
var sorts = []struct {
	name          string
	before, after bool
}{
	{journalWrite, true, true},
	{journalSync, false, true}, // before it is after the write
	{folderSync, false, true},
	{start, true, true},
	{inboxPut, true, true},
	{inboxRemove, true, true},
}

// sortOf says what kind of call it is; "" is one that is none of our business. It is asked before the call.
func sortOf(c call) (string, error) {
	switch c.nr {
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV:
		if isJournal(c.fd()) {
			return journalWrite, nil
		}
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		switch name := c.fd(); {
		case isJournal(name):
			return journalSync, nil
		case isBelowRuns(name) && filepath.Ext(name) != ".tmp":
			return folderSync, nil
		}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		name, err := c.text(c.args[3])
		if err == nil && isAnswer(name) {
			return inboxPut, nil
		}
		return "", err
	case unix.SYS_UNLINKAT:
		name, err := c.text(c.args[1])
		if err == nil && isAnswer(name) {
			return inboxRemove, nil
		}
		return "", err
	case unix.SYS_CLONE, unix.SYS_CLONE3:
		spawns, err := c.spawns()
		if err == nil && spawns {
			return start, nil
		}
		return "", err
	}
	return "", nil
}

func isJournal(name string) bool { return filepath.Base(name) == "events.jsonl" }

func isBelowRuns(name string) bool { return strings.Contains(name, "/runs/") }

func isAnswer(name string) bool {
	return filepath.Base(filepath.Dir(name)) == "inbox" && filepath.Ext(name) == ".json"
}

// dispatches are the points after the start of a stage.
func dispatches(points []point) []point {
	var list []point
	for _, p := range points {
		if p.sort == start && p.after {
			list = append(list, p)
		}
	}
	return list
}

// counter finds points in the calls of one command. Threads don't come back from a call in the order in
// which they went into it, so that both sides are counted; but processes are started one after another.
type counter struct {
	entered, left map[string]int
	made          map[int]int // processes, by the number of the start
}

func newCounter() *counter {
	return &counter{entered: map[string]int{}, left: map[string]int{}, made: map[int]int{}}
}

// see gives the point that the call is.
func (c *counter) see(at call) point {
	count := c.entered
	if at.after {
		count = c.left
	}
	count[at.sort]++
	if at.sort == start && at.after {
		c.made[count[start]] = at.made
	}
	return point{sort: at.sort, after: at.after, n: count[at.sort]}
}

// points are the places to kill a command at that was seen to make these calls; stages are the processes of
// stages.
func (c *counter) points(stages map[int]bool) []point {
	var list []point
	for _, s := range sorts {
		for n := 1; n <= c.left[s.name]; n++ {
			if s.name == start && !stages[c.made[n]] {
				continue
			}
			if s.before {
				list = append(list, point{sort: s.name, n: n})
			}
			if s.after {
				list = append(list, point{sort: s.name, after: true, n: n})
			}
			if s.name == journalWrite {
				list = append(list, point{sort: s.name, after: true, n: n, torn: true})
			}
		}
	}
	return list
}
