package plan

import (
	"fmt"
	"strings"
	"time"
)

// The words of each enumeration, as documents and plan.json spell them, by value. The zero value has none.
var (
	roleWords         = [...]string{"", "work", "implementation", "review"}
	onExhaustedWords  = [...]string{"", "escalate", "fail"}
	rerunWords        = [...]string{"", "downstream", "path"}
	backoffWords      = [...]string{"", "exponential", "linear", "fixed"}
	onInterruptWords  = [...]string{"", "rerun", "ask", "fail"}
	workspaceWords    = [...]string{"", "in_place", "worktree"}
	rollbackWords     = [...]string{"", "git_revert", "file_restore", "memory_cleanup", "manual", "run"}
	onTimeoutWords    = [...]string{"", "reject", "approve", "fail"}
	onRejectWords     = [...]string{"", "fail", "skip", "return"}
	onEscalationWords = [...]string{"", "escalate", "fail", "findings"}
	onEscalatedWords  = [...]string{"", "abort", "fail"}
	languageWords     = [...]string{"", "cel"}
)

// word gives the word of an enumeration's value: "unknown" for the zero value and for one that has none.
func word[E ~uint8](words []string, e E) string {
	if int(e) >= len(words) || e == 0 {
		return "unknown"
	}
	return words[e]
}

// marshalWord gives the text form of an enumeration's value; the zero value's is empty.
func marshalWord[E ~uint8](words []string, e E, name string) ([]byte, error) {
	if int(e) >= len(words) {
		return nil, fmt.Errorf("%s %d has no name", name, e)
	}
	return []byte(words[e]), nil
}

// unmarshalWord reads what marshalWord wrote.
func unmarshalWord[E ~uint8](words []string, e *E, name string, text []byte) error {
	for i, w := range words {
		if w == string(text) {
			*e = E(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q, expected %s", name, text, strings.Join(words[1:], ", "))
}

// String gives the word of the role: work, implementation or review.
func (r Role) String() string { return word(roleWords[:], r) }

// MarshalText gives the word of the role; the zero role's is empty.
func (r Role) MarshalText() ([]byte, error) { return marshalWord(roleWords[:], r, "role") }

// UnmarshalText reads a role's word.
func (r *Role) UnmarshalText(b []byte) error { return unmarshalWord(roleWords[:], r, "role", b) }

// String gives the word of the action: escalate or fail.
func (o OnExhausted) String() string { return word(onExhaustedWords[:], o) }

// MarshalText gives the word of the action; the zero value's is empty.
func (o OnExhausted) MarshalText() ([]byte, error) {
	return marshalWord(onExhaustedWords[:], o, "on_exhausted")
}

// UnmarshalText reads an action's word.
func (o *OnExhausted) UnmarshalText(b []byte) error {
	return unmarshalWord(onExhaustedWords[:], o, "on_exhausted", b)
}

// String gives the word of the choice: downstream or path.
func (r Rerun) String() string { return word(rerunWords[:], r) }

// MarshalText gives the word of the choice; the zero value's is empty.
func (r Rerun) MarshalText() ([]byte, error) { return marshalWord(rerunWords[:], r, "rerun") }

// UnmarshalText reads a choice's word.
func (r *Rerun) UnmarshalText(b []byte) error { return unmarshalWord(rerunWords[:], r, "rerun", b) }

// String gives the word of the backoff: exponential, linear or fixed.
func (b Backoff) String() string { return word(backoffWords[:], b) }

// MarshalText gives the word of the backoff; the zero value's is empty.
func (b Backoff) MarshalText() ([]byte, error) { return marshalWord(backoffWords[:], b, "backoff") }

// UnmarshalText reads a backoff's word.
func (b *Backoff) UnmarshalText(text []byte) error {
	return unmarshalWord(backoffWords[:], b, "backoff", text)
}

// String gives the word of the action: rerun, ask or fail.
func (o OnInterrupt) String() string { return word(onInterruptWords[:], o) }

// MarshalText gives the word of the action; the zero value's is empty.
func (o OnInterrupt) MarshalText() ([]byte, error) {
	return marshalWord(onInterruptWords[:], o, "on_interrupt")
}

// UnmarshalText reads an action's word.
func (o *OnInterrupt) UnmarshalText(b []byte) error {
	return unmarshalWord(onInterruptWords[:], o, "on_interrupt", b)
}

// String gives the word of the strategy, such as file_restore.
func (s RollbackStrategy) String() string { return word(rollbackWords[:], s) }

// MarshalText gives the word of the strategy; the zero value's is empty.
func (s RollbackStrategy) MarshalText() ([]byte, error) {
	return marshalWord(rollbackWords[:], s, "rollback strategy")
}

// UnmarshalText reads a strategy's word.
func (s *RollbackStrategy) UnmarshalText(b []byte) error {
	return unmarshalWord(rollbackWords[:], s, "rollback strategy", b)
}

// String gives the word of the place: in_place or worktree.
func (w Workspace) String() string { return word(workspaceWords[:], w) }

// MarshalText gives the word of the place; the zero value's is empty.
func (w Workspace) MarshalText() ([]byte, error) {
	return marshalWord(workspaceWords[:], w, "workspace")
}

// UnmarshalText reads the word of the place.
func (w *Workspace) UnmarshalText(b []byte) error {
	return unmarshalWord(workspaceWords[:], w, "workspace", b)
}

// String gives the word of the outcome: reject, approve or fail.
func (o OnTimeout) String() string { return word(onTimeoutWords[:], o) }

// MarshalText gives the word of the outcome; the zero value's is empty.
func (o OnTimeout) MarshalText() ([]byte, error) {
	return marshalWord(onTimeoutWords[:], o, "on_timeout")
}

// UnmarshalText reads the word of the outcome.
func (o *OnTimeout) UnmarshalText(b []byte) error {
	return unmarshalWord(onTimeoutWords[:], o, "on_timeout", b)
}

// String gives the word of the outcome: fail, skip or return.
func (o OnReject) String() string { return word(onRejectWords[:], o) }

// MarshalText gives the word of the outcome; the zero value's is empty.
func (o OnReject) MarshalText() ([]byte, error) { return marshalWord(onRejectWords[:], o, "on_reject") }

// UnmarshalText reads the word of the outcome.
func (o *OnReject) UnmarshalText(b []byte) error {
	return unmarshalWord(onRejectWords[:], o, "on_reject", b)
}

// String gives the word of the outcome: escalate, fail or findings.
func (o OnEscalation) String() string { return word(onEscalationWords[:], o) }

// MarshalText gives the word of the outcome; the zero value's is empty.
func (o OnEscalation) MarshalText() ([]byte, error) {
	return marshalWord(onEscalationWords[:], o, "on_escalation")
}

// UnmarshalText reads the word of the outcome.
func (o *OnEscalation) UnmarshalText(b []byte) error {
	return unmarshalWord(onEscalationWords[:], o, "on_escalation", b)
}

// String gives the word of the outcome: abort or fail.
func (o OnEscalated) String() string { return word(onEscalatedWords[:], o) }

// MarshalText gives the word of the outcome; the zero value's is empty.
func (o OnEscalated) MarshalText() ([]byte, error) {
	return marshalWord(onEscalatedWords[:], o, "on_timeout")
}

// UnmarshalText reads the word of the outcome.
func (o *OnEscalated) UnmarshalText(b []byte) error {
	return unmarshalWord(onEscalatedWords[:], o, "on_timeout", b)
}

// String gives the name of the language: expr or cel.
func (l Language) String() string {
	if l == ExprLanguage {
		return "expr"
	}
	return word(languageWords[:], l)
}

// MarshalText gives the word of the language; the zero value's is empty.
func (l Language) MarshalText() ([]byte, error) { return marshalWord(languageWords[:], l, "language") }

// UnmarshalText reads the word of the language.
func (l *Language) UnmarshalText(b []byte) error {
	return unmarshalWord(languageWords[:], l, "language", b)
}

// String gives the length of time in Go's form, "30m0s".
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText gives the length of time in Go's form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a length of time in Go's form.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("reading a length of time: %w", err)
	}
	*d = Duration(v)
	return nil
}
