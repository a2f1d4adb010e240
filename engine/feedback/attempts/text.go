package attempts

import (
	"fmt"
	"strings"
)

var (
	stateWords   = [...]string{"unknown", "not-started", "in-progress", "completed", "skipped"}
	outcomeWords = [...]string{"", "PASS", "FAIL"}
	exitWords    = [...]string{"unknown", "continue", "success", "failure"}
)

// String is the word of the documents.
func (s State) String() string { return word(stateWords[:], uint8(s)) }

// MarshalText gives the word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is the word of the documents, empty for the zero value.
func (o Outcome) String() string { return word(outcomeWords[:], uint8(o)) }

// MarshalText gives the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// String is the word of the answer.
func (e Exit) String() string { return word(exitWords[:], uint8(e)) }

func word(words []string, n uint8) string {
	if int(n) >= len(words) {
		return words[0]
	}
	return words[n]
}

// Todo is the ledger as the numbered list that people read.
func (l *Ledger) Todo() string {
	var b strings.Builder
	for _, a := range l.list {
		what := "Refine based on feedback (if needed)"
		if a.Number == 1 {
			what = "Generate/validate " + oneLine(l.name)
		}
		fmt.Fprintf(&b, "%d. [%s] Attempt %d - %s", a.Number, a.State, a.Number, what)
		if a.State == Completed {
			fmt.Fprintf(&b, ": %s (critical: %d, warnings: %d)", a.Outcome, a.Issues.Critical, a.Issues.Warnings)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// oneLine keeps a name on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Refinement is the ledger as the status of a pipeline has it.
type Refinement struct {
	Attempts    int    `json:"attempts"` // that were completed
	MaxAttempts int    `json:"maxAttempts"`
	History     []Made `json:"history"` // those, in order
}

// Made is one completed attempt.
type Made struct {
	Attempt    int     `json:"attempt"`
	Result     Outcome `json:"result"`
	IssueCount Issues  `json:"issueCount"`
}

// Key is the name under which the refinement stands: "planRefinement" for a loop that refines a "plan".
func (l *Ledger) Key() string { return l.name + "Refinement" }

// Refinement gives the completed attempts.
func (l *Ledger) Refinement() Refinement {
	out := Refinement{MaxAttempts: l.Max(), History: []Made{}}
	for _, a := range l.list[:l.Made()] {
		out.History = append(out.History, Made{a.Number, a.Outcome, a.Issues})
	}
	out.Attempts = len(out.History)
	return out
}
