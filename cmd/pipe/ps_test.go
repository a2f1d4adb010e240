package main

import (
	"strings"
	"testing"
	"time"

	"example.com/pipe/engine"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// TestTime stops the time of a run that nobody carries on at what was last recorded.
func TestTime(t *testing.T) {
	o := &psOptions{app: &app{now: func() time.Time { return time.UnixMilli(100_000) }}}
	began, last := step.Instant(1_000), step.Instant(4_000)
	for want, s := range map[string]engine.Summary{
		"1m39s": {Status: "running", StartedAt: &began},
		"3.0s":  {Status: "interrupted", StartedAt: &began, LastAt: &last},
	} {
		if row := o.row(s); row[4] != want {
			t.Errorf("%s: %s, want %s", s.Status, row[4], want)
		}
	}
}

// TestFit lays out a list of runs for narrow and for wide terminals.
func TestFit(t *testing.T) {
	list := func() [][]string {
		return [][]string{
			{"RUN", "PIPELINE", "STATUS", "STARTED", "TIME", "TASK"},
			{strings.Repeat("R", 26), "release", "paused (iteration_cap_reached)", "2026-01-02T03:04:05.000Z", "1.2s", "t1"},
			{strings.Repeat("S", 26), "release", "succeeded", "2026-01-02T03:04:05.000Z", "1.2s", "t2"},
		}
	}
	for _, c := range []struct {
		width  int
		status string
	}{
		{0, "paused (iteration_cap_reached)"},
		{200, "paused (iteration_cap_reached)"},
		{110, "paused (iteration_cap_reached)"},
		{90, "paused (iteration_…"},
		{80, "paused"},
		{20, "paused"},
	} {
		rows := list()
		fit(rows, c.width)
		if got := rows[1][psStatus]; got != c.status {
			t.Errorf("at %d columns the status is %q, want %q", c.width, got, c.status)
		}
		if got := rows[2][psStatus]; got != "succeeded" {
			t.Errorf("at %d columns a status without a reason is %q", c.width, got)
		}
		text := view.Table(rows, c.width)
		if c.width >= 80 && (!strings.Contains(text, "  t1\n") || !strings.Contains(text, "  t2\n")) {
			t.Errorf("at %d columns the last column is cut:\n%s", c.width, text)
		}
	}
}
