//go:build linux

package hold

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLookingDuringARun looks at a run in a tight loop in all ways: what is printed is always whole, a later
// look never tells less than an earlier one, and the run's lock makes nobody wait.
func TestLookingDuringARun(t *testing.T) {
	t.Parallel()
	var stages strings.Builder
	stages.WriteString("stages:\n")
	for i := range 30 {
		fmt.Fprintf(&stages, "  - {id: s%d, run: 'echo %s'}\n", i, strings.Repeat("x", 200))
	}
	stages.WriteString("  - {id: last, run: 'until [ -e ../go-on ]; do sleep 0.02; done'}\n")
	p := newRun(t, stages.String())
	run := p.start("run", "p")
	run.until("s0 started")
	l := &looker{place: p}
	for l.ended < 30 && !run.over() {
		l.look()
	}
	// While a stage runs that takes long, looking takes no longer than at any other time.
	slowest := time.Duration(0)
	for range 10 {
		began := time.Now()
		l.look()
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 10*time.Second {
		t.Errorf("four looks took %s while the run went on", slowest)
	}
	p.write("../go-on", "")
	if r := run.end(); r.status != 0 {
		t.Errorf("the run: %s", r)
	}
	l.look()
	if l.ended != 31 || l.rank != 2 {
		t.Errorf("at the end %d stages have ended, status %d", l.ended, l.rank)
	}
	t.Logf("%d looks", l.looks)
	p.leavesNothing()
}

// looker looks again and again; nothing of what it saw may be taken back.
type looker struct {
	*place
	looks, ended, rank int
	events             string
}

func (l *looker) look() {
	l.t.Helper()
	l.looks++
	s := l.show()
	ended := 0
	for _, st := range s.Stages {
		if st.Status == "succeeded" {
			ended++
		}
	}
	if ended < l.ended || len(s.Stages) != 31 {
		l.t.Errorf("%d of %d stages have ended, %d had before", ended, len(s.Stages), l.ended)
	}
	l.ended = ended
	rank, known := map[string]int{"running": 1, "succeeded": 2}[s.Status]
	if !known || rank < l.rank {
		l.t.Errorf("the run is %q", s.Status)
	}
	l.rank = rank

	events := l.want(0, "events", "last").out
	if !strings.HasPrefix(events, l.events) || !strings.HasSuffix(events, "\n") {
		l.t.Errorf("events are torn or were taken back: %s", clip(events))
	}
	l.events = events
	for line := range strings.Lines(l.want(0, "events", "last", "--json").out) {
		if !json.Valid([]byte(line)) {
			l.t.Errorf("events: not JSON: %s", line)
		}
	}
	var list struct {
		Runs []struct{ Run, Status string }
	}
	if err := json.Unmarshal([]byte(l.want(0, "ps", "--json").out), &list); err != nil || len(list.Runs) != 1 ||
		list.Runs[0].Run != s.Run || list.Runs[0].Status != "running" && list.Runs[0].Status != "succeeded" {
		l.t.Errorf("ps: %v %+v", err, list)
	}
}
