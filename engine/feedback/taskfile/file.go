package taskfile

import (
	"encoding/json"
	"time"

	"example.com/pipe/engine/feedback"
)

// Status is what a file says of the work.
type Status uint8

// The statuses. Unknown is also what a file that is missing or can't be read stands for.
const (
	Unknown Status = iota
	Pass
	Fail
)

// String is the word of the file: "PASS", "FAIL" or "UNKNOWN".
func (s Status) String() string {
	switch s {
	case Pass:
		return "PASS"
	case Fail:
		return "FAIL"
	case Unknown:
	}
	return "UNKNOWN"
}

// MarshalText gives the word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Exit is why a refine loop ends, or that it goes on.
type Exit uint8

// The decisions about a loop.
const (
	UnknownExit Exit = iota
	ExitPass
	ExitMaxAttempts
	Continue
)

// String is the word of the decision: "PASS", "MAX_ATTEMPTS" or "CONTINUE"; "UNKNOWN" for the zero value.
func (e Exit) String() string {
	switch e {
	case ExitPass:
		return "PASS"
	case ExitMaxAttempts:
		return "MAX_ATTEMPTS"
	case Continue:
		return "CONTINUE"
	case UnknownExit:
	}
	return "UNKNOWN"
}

// Issue is one finding.
type Issue struct {
	Description string
	File        string // as the file has it; empty: none
	Line        int    // 0: none
	Done        bool   // its box is ticked
}

// File is what a feedback file says. The zero value is a file that is missing.
type File struct {
	Task        string // its id, from the title
	Status      Status
	Attempt     int // from 1; 0: not said
	MaxAttempts int // 0: not said
	Timestamp   time.Time
	Summary     string // one line
	Critical    []Issue
	Warnings    []Issue
	Suggestions []Issue
	SignedOff   bool
}

// Open counts the issues whose box is not ticked.
func Open(issues []Issue) int {
	n := 0
	for i := range issues {
		if !issues[i].Done {
			n++
		}
	}
	return n
}

// Verdict is what the file says after all: a sign-off is a pass, whatever the status line says.
func (f *File) Verdict() Status {
	if f.SignedOff {
		return Pass
	}
	return f.Status
}

// Exit decides about the loop. A file that does not say how many attempts there are never ends it by their
// number.
func (f *File) Exit() (ends bool, why Exit) {
	switch {
	case f.Verdict() == Pass:
		return true, ExitPass
	case f.Attempt > 0 && f.MaxAttempts > 0 && f.Attempt >= f.MaxAttempts:
		return true, ExitMaxAttempts
	}
	return false, Continue
}

// fileJSON is the form for programs: names and order are the document's.
type fileJSON struct {
	Status         Status     `json:"status"`
	SignedOff      bool       `json:"signedOff"`
	Attempt        *int       `json:"attempt"` // null: not said
	MaxAttempts    *int       `json:"maxAttempts"`
	Issues         issuesJSON `json:"issues"`
	ShouldContinue bool       `json:"shouldContinue"`
}

type issuesJSON struct {
	Critical int `json:"critical"`
	Warnings int `json:"warnings"`
}

// JSON gives the form for programs, with a line end. Issues are counted while their box is not ticked.
func (f *File) JSON() ([]byte, error) {
	ends, _ := f.Exit()
	out := fileJSON{
		Status: f.Status, SignedOff: f.SignedOff, ShouldContinue: !ends,
		Issues: issuesJSON{Critical: Open(f.Critical), Warnings: Open(f.Warnings)},
	}
	if f.Attempt > 0 {
		out.Attempt = &f.Attempt
	}
	if f.MaxAttempts > 0 {
		out.MaxAttempts = &f.MaxAttempts
	}
	b, err := json.MarshalIndent(out, "", "  ")
	return append(b, '\n'), err
}

// notSaid describes the item of a file that fails without a word.
const notSaid = "the feedback file says FAIL and does not say why"

// Items gives what is open as items of a review: Critical blocks, Warnings advise, Suggestions inform. A file
// that fails without an open Critical has one blocking item all the same, from its summary; what is left open
// under Critical in a file that passes does not block, and is flagged. Of a file whose Verdict is Unknown the
// items say nothing: the review did not take place.
func (f *File) Items() []feedback.Item {
	items := []feedback.Item{}
	passed := f.Verdict() == Pass
	if f.Verdict() == Fail && Open(f.Critical) == 0 {
		item := feedback.Item{Severity: feedback.Blocking, Description: f.Summary}
		if item.Description == "" {
			item.Description = notSaid
		}
		items = append(items, item)
	}
	add := func(issues []Issue, severity feedback.Severity, flags ...string) {
		for _, i := range issues {
			if !i.Done {
				items = append(items, feedback.Item{Severity: severity, File: i.File, Line: i.Line, Description: i.Description, Flags: flags})
			}
		}
	}
	if passed {
		add(f.Critical, feedback.Advisory, "critical, but the feedback file says that the work passes")
	} else {
		add(f.Critical, feedback.Blocking)
	}
	add(f.Warnings, feedback.Advisory)
	add(f.Suggestions, feedback.Informational)
	return items
}
