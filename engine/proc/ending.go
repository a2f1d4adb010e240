package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Ending says how a Run came to its end.
type Ending uint8

// How a Run comes to its end.
const (
	UnknownEnding Ending = iota
	Exited               // by itself, with status 0
	ExitedNonZero        // by itself
	Signalled            // by a signal that was not ours
	TimedOut             // we stopped it at its context's deadline, or it had passed before the start
	Cancelled            // we stopped it because its context was cancelled, or it was before the start
)

func (e Ending) String() string {
	switch e {
	case Exited:
		return "exited"
	case ExitedNonZero:
		return "exited_non_zero"
	case Signalled:
		return "signalled"
	case TimedOut:
		return "timed_out"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// Ending classifies a result that came without a StartError. That we stopped a process counts more than
// the status with which it then ended.
func (r *Result) Ending() Ending {
	switch {
	case errors.Is(r.Stopped, context.DeadlineExceeded):
		return TimedOut
	case r.Stopped != nil:
		return Cancelled
	case !r.Started:
		return UnknownEnding
	case r.Signal != "":
		return Signalled
	case r.ExitCode != 0:
		return ExitedNonZero
	}
	return Exited
}

// Explain says in a line why a process did not succeed, with the last line that it wrote; "" if it did. What
// the process wrote is in it as it is, save that it is valid UTF-8 and short: escape it for a screen.
func (r *Result) Explain() string {
	var why string
	switch r.Ending() {
	case Exited, UnknownEnding:
		return ""
	case ExitedNonZero:
		why = fmt.Sprintf("exit status %d", r.ExitCode)
	case Signalled:
		why = "ended by " + r.Signal
	case TimedOut:
		why = "stopped at the end of its time limit"
		if limit := (*LimitError)(nil); errors.As(r.Stopped, &limit) {
			why += " of " + limit.Limit.String()
		}
	case Cancelled:
		why = "cancelled"
	}
	if r.KilledLeftovers > 0 {
		why += fmt.Sprintf(", with %d more of its processes", r.KilledLeftovers)
	}
	for _, out := range []*Output{&r.Stderr, &r.Stdout} {
		if line := out.LastLine(); line != "" {
			return why + ": " + line
		}
	}
	return why
}

// lineLimit is the greatest length of a line in a message, in bytes.
const lineLimit = 240

// LastLine returns the last line that isn't blank, cut to a length for messages, as valid UTF-8.
func (o *Output) LastLine() string {
	for _, part := range [][]byte{o.Tail, o.Head} {
		text := bytes.TrimSpace(part)
		if len(text) == 0 {
			continue
		}
		if i := bytes.LastIndexAny(text, "\r\n"); i >= 0 {
			text = text[i+1:]
		}
		return clip(strings.ToValidUTF8(string(text[:min(len(text), 2*lineLimit)]), "\uFFFD"))
	}
	return ""
}

func clip(s string) string {
	if len(s) <= lineLimit {
		return s
	}
	cut := lineLimit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
