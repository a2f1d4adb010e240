package live

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// Frame is all that the region shows at one moment.
type Frame struct {
	Pipeline  string
	Run       string // its id
	Status    string // in words, with the reason
	Now       step.Instant
	Started   step.Instant // 0: not yet
	Stages    []view.StageState
	Questions []view.Ask          // what a person is asked
	Tails     map[string][]string // by stage: the last lines that it printed, as it printed them
}

// newFrame is what a run shows at a moment, without what its stages printed.
func newFrame(v *view.Run, now step.Instant) Frame {
	info := v.Info()
	return Frame{Pipeline: info.Pipeline, Run: info.Run, Status: v.StatusText(), Now: now, Started: v.Started(),
		Stages: v.Stages(), Questions: v.Questions()}
}

// FrameOf is what a run shows at a moment. The tail gives the last lines that a running stage printed; nil: none.
func FrameOf(v *view.Run, now step.Instant, tail func(view.StageState) []string) Frame {
	f := newFrame(v, now)
	if tail == nil {
		return f
	}
	f.Tails = map[string][]string{}
	for _, s := range f.Stages {
		if isRunning(s) {
			if lines := tail(s); len(lines) > 0 {
				f.Tails[s.Path] = lines
			}
		}
	}
	return f
}

// isRunning reports whether a stage itself does something; a composite one only waits for those in it.
func isRunning(s view.StageState) bool { return s.Status == step.Running && !s.Composite }

// isTrouble reports whether a stage is one that people look for: something is wrong with it, or keeps it.
func isTrouble(s view.StageState) bool {
	switch s.Status {
	case step.Failed, step.Stale:
		return true
	case step.Waiting:
		return s.Asked || s.Trouble != ""
	}
	return s.Asked
}

// tally counts stages by what has become of them.
type tally struct{ running, done, failed, left, toCome int }

func (t *tally) add(s view.StageState) {
	switch s.Status {
	case step.Running:
		t.running++
	case step.Succeeded, step.Skipped:
		t.done++
	case step.Failed:
		t.failed++
	case step.NotRun, step.Cancelled:
		t.left++
	case step.Pending, step.Waiting, step.Stale, step.UnknownStageStatus:
		t.toCome++
	}
}

func (t *tally) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{t.running, "running"}, {t.failed, "failed"}, {t.done, "done"}, {t.left, "not run"}, {t.toCome, "to come"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// elapsed gives a time that still runs: it changes once a second.
func elapsed(ms int64) string {
	ms = max(ms, 0)
	if ms < 60_000 {
		return fmt.Sprintf("%ds", ms/1000)
	}
	return view.Duration(ms)
}

// plain makes one line that a stage printed fit to be shown: the text that a terminal would be left with, without
// its colours, and safe.
func plain(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:] // what a progress bar wrote last
	}
	line = view.Escape(ansi.Strip(line))
	return strings.TrimRight(strings.NewReplacer("\n", " ", "\t", "    ").Replace(line), " ")
}
