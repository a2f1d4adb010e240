package gate

import (
	"context"
	"strings"
	"testing"
)

// endless is a log that some process goes on to write: it holds no end, and the stage is stopped after a while.
type endless struct {
	line  string
	reads int
	stop  context.CancelFunc
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads++; e.reads == 100 {
		e.stop()
	}
	return copy(p, strings.Repeat(e.line, max(1, len(p)/len(e.line)))), nil
}

// TestFindIsStopped ends with the stage, whatever the log holds: lines, or one line without an end.
func TestFindIsStopped(t *testing.T) {
	for _, line := range []string{"all is well\n", "x"} {
		ctx, stop := context.WithCancel(t.Context())
		log := &endless{line: line, stop: stop}
		got := find(ctx, log, 2)
		if log.reads > 101 || !strings.HasPrefix(got, strings.TrimSpace(line)) || len(got) > summaryLimit {
			t.Errorf("%d reads, %q", log.reads, got)
		}
	}
}
