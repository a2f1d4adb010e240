package attempts_test

import (
	"encoding/json"
	"errors"
	"testing"

	"example.com/pipe/engine/feedback/attempts"
)

func TestSeed001TodoList(t *testing.T) {
	l := attempts.New("PRD", 3)
	check := func(what, want string) {
		t.Helper()
		if got := l.Todo(); got != want {
			t.Errorf("%s:\n%swant\n%s", what, got, want)
		}
	}
	do(t, l.Begin())
	check("the first attempt", `1. [in-progress] Attempt 1 - Generate/validate PRD
2. [not-started] Attempt 2 - Refine based on feedback (if needed)
3. [not-started] Attempt 3 - Refine based on feedback (if needed)
`)
	do(t, l.End(attempts.Fail, attempts.Issues{Critical: 2, Warnings: 1}))
	do(t, l.Begin())
	do(t, l.End(attempts.Pass, attempts.Issues{Warnings: 1}))
	l.Close()
	check("passed", `1. [completed] Attempt 1 - Generate/validate PRD: FAIL (critical: 2, warnings: 1)
2. [completed] Attempt 2 - Refine based on feedback (if needed): PASS (critical: 0, warnings: 1)
3. [skipped] Attempt 3 - Refine based on feedback (if needed)
`)
}

func TestRefinement(t *testing.T) {
	l := attempts.New("plan", 5)
	show := func(want string) {
		t.Helper()
		b, err := json.Marshal(l.Refinement())
		do(t, err)
		if string(b) != want {
			t.Errorf("got  %s\nwant %s", b, want)
		}
	}
	if l.Key() != "planRefinement" {
		t.Errorf("key %q", l.Key())
	}
	show(`{"attempts":0,"maxAttempts":5,"history":[]}`)
	do(t, l.Begin())
	show(`{"attempts":0,"maxAttempts":5,"history":[]}`)
	do(t, l.End(attempts.Fail, attempts.Issues{Critical: 2}))
	show(`{"attempts":1,"maxAttempts":5,"history":[{"attempt":1,"result":"FAIL","issueCount":{"critical":2,"warnings":0}}]}`)
}

// TestOutOfOrder makes each call where it does not fit: it is refused and changes nothing.
func TestOutOfOrder(t *testing.T) {
	l := attempts.New("plan", 2)
	refuse := func(want, got error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	unchanged := func(call func()) {
		t.Helper()
		before := l.Todo()
		if call(); l.Todo() != before {
			t.Errorf("the ledger changed:\n%swas\n%s", l.Todo(), before)
		}
	}
	unchanged(func() {
		refuse(attempts.ErrNotBegun, l.End(attempts.Pass, attempts.Issues{}))
		refuse(attempts.ErrNotBegun, l.Again())
		_, err := l.Exit()
		refuse(attempts.ErrNotBegun, err)
	})
	do(t, l.Begin())
	unchanged(func() {
		refuse(attempts.ErrInProgress, l.Begin())
		refuse(attempts.ErrInProgress, l.Again())
		_, err := l.Exit()
		refuse(attempts.ErrInProgress, err)
		if l.End(attempts.UnknownOutcome, attempts.Issues{}) == nil {
			t.Error("an attempt ended without an outcome")
		}
	})
	do(t, l.End(attempts.Fail, attempts.Issues{}))
	do(t, l.Begin())
	do(t, l.End(attempts.Fail, attempts.Issues{}))
	unchanged(func() { refuse(attempts.ErrNothingLeft, l.Begin()) })
	exit(t, l, attempts.Exhausted)
	l.Allow(1) // never fewer
	exit(t, l, attempts.Exhausted)
	l.Allow(3)
	exit(t, l, attempts.GoOn)
	do(t, l.Begin())
	do(t, l.End(attempts.Pass, attempts.Issues{}))
	l.Allow(4)
	unchanged(func() { refuse(attempts.ErrNothingLeft, l.Begin()) })
	exit(t, l, attempts.Passed)
}

func TestAgain(t *testing.T) {
	l := attempts.New("plan", 3)
	do(t, l.Begin())
	do(t, l.End(attempts.Pass, attempts.Issues{}))
	l.Close()
	do(t, l.Again())
	if l.Number() != 1 || l.Made() != 0 {
		t.Errorf("number %d, made %d, expected attempt 1 in progress", l.Number(), l.Made())
	}
	do(t, l.End(attempts.Fail, attempts.Issues{Critical: 1}))
	exit(t, l, attempts.GoOn)
	do(t, l.Begin())
	if l.Number() != 2 {
		t.Errorf("number %d, expected 2:\n%s", l.Number(), l.Todo())
	}
}

func exit(t *testing.T, l *attempts.Ledger, want attempts.Exit) {
	t.Helper()
	got, err := l.Exit()
	if err != nil || got != want {
		t.Errorf("exit %s, %v; want %s\n%s", got, err, want, l.Todo())
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
