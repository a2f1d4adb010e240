// Package attempts is the ledger of a refine loop: which attempts to create something and have it validated were
// made, what came of each, and whether another one is made.
//
// Words: a Ledger has an Attempt for each number from 1 to the most that are allowed; it is not started, in
// progress, completed with an Outcome, or skipped. The exit is what the ledger answers when it is asked whether the
// loop goes on: from its attempts alone, and only when none is in progress. A Book holds the ledgers of a run. The
// names and forms are those of the todo-loop-enforcement document.
//
// The contract, in order: Begin before an attempt, End when it was validated, and only then Exit. A ledger changes by
// these events alone; a call out of order is an error and changes nothing. In a run the ledger is not kept beside the
// journal but follows from it: Book.Apply is given each record, and a StageStarted is the beginning of an attempt, a
// FeedbackReceived its end. So an attempt is durable in the ledger before its work starts and before anything is
// decided from how it ended.
//
// The package is pure. When the loop really goes on is package machine's decision, by its counter of rounds, which
// always says what Exit says; the files that show it are package derived's.
package attempts

import (
	"errors"
	"fmt"
)

// State is where an attempt stands.
type State uint8

// The states of attempts. Skipped are those that were not needed, or can't be made any more.
const (
	UnknownState State = iota
	NotStarted
	InProgress
	Completed
	Skipped
)

// Outcome is what came of an attempt.
type Outcome uint8

// The outcomes of attempts; the zero value is that of one that is not completed.
const (
	UnknownOutcome Outcome = iota
	Pass
	Fail
)

// Exit answers whether the loop goes on.
type Exit uint8

// The answers. Exhausted is the failure of the last attempt.
const (
	UnknownExit Exit = iota
	GoOn
	Passed
	Exhausted
)

// Issues counts what an attempt left open.
type Issues struct {
	Critical int `json:"critical"`
	Warnings int `json:"warnings"`
}

// Attempt is one entry of a ledger.
type Attempt struct {
	Number  int     `json:"attempt"` // from 1
	State   State   `json:"state"`
	Outcome Outcome `json:"outcome,omitempty"`
	Issues  Issues  `json:"issueCount,omitzero"`
}

// Ledger is the list of attempts of one refine loop.
type Ledger struct {
	name string
	list []Attempt
}

// New returns the ledger of a loop that refines what name says, such as "plan", with at most the given number of
// attempts, at least one.
func New(name string, most int) *Ledger {
	l := &Ledger{name: name}
	l.Allow(max(1, most))
	return l
}

// Allow raises the number of attempts to most. It is never lowered: what was entered stays.
func (l *Ledger) Allow(most int) {
	for n := len(l.list) + 1; n <= most; n++ {
		l.list = append(l.list, Attempt{Number: n, State: NotStarted})
	}
}

// Errors of calls out of order.
var (
	ErrInProgress  = errors.New("an attempt is in progress: it ends before another begins, and before it is asked whether the loop goes on")
	ErrNotBegun    = errors.New("no attempt is in progress")
	ErrNothingLeft = errors.New("no attempt is left")
)

// Begin enters the next attempt as in progress.
func (l *Ledger) Begin() error {
	if l.current() >= 0 {
		return ErrInProgress
	}
	next := l.first(NotStarted)
	if next < 0 || l.hasPassed() {
		return ErrNothingLeft
	}
	l.list[next].State = InProgress
	return nil
}

// End enters the attempt in progress as completed.
func (l *Ledger) End(outcome Outcome, issues Issues) error {
	at := l.current()
	switch {
	case at < 0:
		return ErrNotBegun
	case outcome != Pass && outcome != Fail:
		return fmt.Errorf("an attempt ends with %s or %s, found %s", Pass, Fail, outcome)
	}
	l.list[at].State, l.list[at].Outcome, l.list[at].Issues = Completed, outcome, issues
	return nil
}

// Again puts the last completed attempt in progress again: what it made is validated once more, since somebody
// changed it by hand, or since the validation was broken off. Attempts behind it that were skipped may be made again.
func (l *Ledger) Again() error {
	if l.current() >= 0 {
		return ErrInProgress
	}
	last := l.Made() - 1
	if last < 0 {
		return ErrNotBegun
	}
	l.list[last] = Attempt{Number: last + 1, State: InProgress}
	for i := last + 1; i < len(l.list); i++ {
		l.list[i].State = NotStarted
	}
	return nil
}

// Exit says whether the loop goes on. It has no answer while an attempt is in progress or before the first one.
func (l *Ledger) Exit() (Exit, error) {
	made := l.Made()
	switch {
	case l.current() >= 0:
		return UnknownExit, ErrInProgress
	case made == 0:
		return UnknownExit, ErrNotBegun
	case l.list[made-1].Outcome == Pass:
		return Passed, nil
	case made == len(l.list):
		return Exhausted, nil
	}
	return GoOn, nil
}

// Close skips the attempts that were not started: one has passed, or the loop was ended.
func (l *Ledger) Close() {
	for i := range l.list {
		if l.list[i].State == NotStarted {
			l.list[i].State = Skipped
		}
	}
}

// Made is the number of attempts that were completed.
func (l *Ledger) Made() int {
	n := 0
	for n < len(l.list) && l.list[n].State == Completed {
		n++
	}
	return n
}

// Max is the number of attempts allowed.
func (l *Ledger) Max() int { return len(l.list) }

// Number is that of the attempt in progress, else of the last one that was completed; 0 before the first.
func (l *Ledger) Number() int {
	if at := l.current(); at >= 0 {
		return at + 1
	}
	return l.Made()
}

// current is the position of the attempt in progress, -1 if none is.
func (l *Ledger) current() int { return l.first(InProgress) }

func (l *Ledger) first(s State) int {
	for i := range l.list {
		if l.list[i].State == s {
			return i
		}
	}
	return -1
}

func (l *Ledger) hasPassed() bool {
	made := l.Made()
	return made > 0 && l.list[made-1].Outcome == Pass
}
