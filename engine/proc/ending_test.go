package proc

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestExplain(t *testing.T) {
	said := Output{Head: []byte("the last words\n")}
	for _, tc := range []struct {
		res    Result
		ending Ending
		want   string
	}{
		{Result{}, UnknownEnding, ""},
		{Result{Started: true, Stdout: said}, Exited, ""},
		{Result{Started: true, ExitCode: 2, Stdout: said}, ExitedNonZero, "exit status 2: the last words"},
		{Result{Started: true, ExitCode: -1, Signal: "SIGBUS", KilledLeftovers: 2}, Signalled, "ended by SIGBUS, with 2 more of its processes"},
		{Result{Started: true, ExitCode: 0, Stopped: context.DeadlineExceeded, Stderr: said}, TimedOut, "stopped at the end of its time limit: the last words"},
		{Result{ExitCode: -1, Stopped: context.DeadlineExceeded}, TimedOut, "stopped at the end of its time limit"},
		{Result{Started: true, Stopped: &LimitError{90 * time.Second}}, TimedOut, "stopped at the end of its time limit of 1m30s"},
		{Result{Started: true, ExitCode: -1, Signal: "SIGKILL", Stopped: context.Canceled}, Cancelled, "cancelled"},
		{Result{Started: true, Stopped: errors.New("aborted")}, Cancelled, "cancelled"},
	} {
		if tc.res.Ending() != tc.ending || tc.res.Explain() != tc.want {
			t.Errorf("%+v: got %v, %q; want %v, %q", tc.res, tc.res.Ending(), tc.res.Explain(), tc.ending, tc.want)
		}
	}
}

func TestEnumNames(t *testing.T) {
	seen := map[string]bool{}
	for e := UnknownEnding; e <= Cancelled; e++ {
		seen[e.String()] = true
	}
	if len(seen) != int(Cancelled)+1 {
		t.Errorf("endings %v", seen)
	}
	clear(seen)
	for r := UnknownReason; r <= NoStdin; r++ {
		seen[r.String()] = true
	}
	if len(seen) != int(NoStdin)+1 {
		t.Errorf("reasons %v", seen)
	}
}
