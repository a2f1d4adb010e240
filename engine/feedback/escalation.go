package feedback

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/pipe/engine/value"
)

// Why a loop may not go on.
const (
	ReasonIterationCap = "iteration_cap_reached"
	ReasonDisputed     = "disputed"
	ReasonSameItem     = "same_item"
	ReasonNoChange     = "no_change"
	ReasonInterrupted  = "interrupted"
	// ReasonAttemptFailed is no rule: it says of a stage that its failure is an attempt of its refine loop.
	ReasonAttemptFailed = "attempt_failed"
)

// HistoryEntry is what one review led to.
type HistoryEntry struct {
	Pair
	Iteration int       `json:"iteration"` // in which it reviewed
	Max       int       `json:"max_iterations"`
	Action    Action    `json:"action"`
	Blocking  int       `json:"blocking"` // open ones after it
	Advisory  int       `json:"advisory"`
	At        time.Time `json:"at,omitzero"`
	Summary   string    `json:"summary,omitempty"`
	Items     []Item    `json:"feedback_items,omitempty"` // as they stood then
}

// Escalation hands a loop that may not go on to a person.
type Escalation struct {
	ID      string   `json:"id"` // "x1", "x2", … in a run
	TaskID  string   `json:"task_id"`
	Sources []string `json:"sources"` // in stage order; any of them names the escalation
	Target  string   `json:"target,omitempty"`
	Reason  string   `json:"reason"` // one of the Reason constants
	// Iterations and Max are those of the first source at its cap.
	Iterations       int    `json:"iterations_attempted"`
	Max              int    `json:"max_iterations"`
	Blocking         []Item `json:"blocking_issues"`
	NotReviewedSince []Item `json:"not_reviewed_since,omitempty"` // open, but their source has not reviewed again
	// History is what led to it. The record of an escalation holds what was added since the one before, beginning
	// with the entry number HistoryFrom, so that many escalations of a run don't repeat each other; who reads it in
	// order puts it together with Continue.
	History     []HistoryEntry `json:"full_history"`
	HistoryFrom int            `json:"history_from,omitempty"`
	Again       string         `json:"again,omitempty"` // why it is asked once more
	// NothingToAccept says why there is nothing that an override could accept; "": there is something.
	NothingToAccept string `json:"nothing_to_accept,omitempty"`
}

// Continue gives the whole history up to an escalation, of that up to the one before and what its record adds.
func Continue(before []HistoryEntry, e *Escalation) []HistoryEntry {
	from := min(e.HistoryFrom, len(before))
	return append(before[:from:from], e.History...)
}

// Source names the sources in stage order, joined by ", ".
func (e Escalation) Source() string { return strings.Join(e.Sources, ", ") }

// Context is the escalation_context of the protocol: task_id, feedback_source, iterations_attempted,
// blocking_issues, full_history.
func (e Escalation) Context() *value.Object {
	history := make(value.List, 0, len(e.History))
	for _, h := range e.History {
		history = append(history, h.object())
	}
	return value.NewObject(
		value.Field{Name: "task_id", Value: e.TaskID},
		value.Field{Name: "feedback_source", Value: e.Source()},
		value.Field{Name: "iterations_attempted", Value: int64(e.Iterations)},
		value.Field{Name: "blocking_issues", Value: ItemList(e.Blocking)},
		value.Field{Name: "full_history", Value: history},
	)
}

func (h HistoryEntry) object() *value.Object {
	o := value.NewObject(
		value.Field{Name: "source_stage", Value: h.Source},
		value.Field{Name: "target_stage", Value: h.Target},
		value.Field{Name: "iteration", Value: int64(h.Iteration)},
		value.Field{Name: "max_iterations", Value: int64(h.Max)},
		value.Field{Name: "action", Value: h.Action.String()},
		value.Field{Name: "blocking", Value: int64(h.Blocking)},
		value.Field{Name: "advisory", Value: int64(h.Advisory)},
	)
	if !h.At.IsZero() {
		o.Set("at", h.At.UTC().Format(timeLayout))
	}
	o.Set("summary", h.Summary)
	o.Set("feedback_items", ItemList(h.Items))
	return o
}

// messageText is the most characters of one item's text in a message to a person.
const messageText = 500

// Offer is what the commands of a message may say that only the run knows.
type Offer struct {
	Outputs  []string // that an override of an interrupted stage must give
	Rollback bool     // a stage that was started has a rollback: an abort may undo what it did
}

// Message is what the person reads: the message of the protocol, each option with the commands that take it.
// What stages wrote is made safe for a terminal.
func (e Escalation) Message(run string, o Offer) string {
	var b strings.Builder
	b.WriteString("---\n## Feedback Loop Escalation\n\n")
	fmt.Fprintf(&b, "**Task:** %s\n", markdownName(e.TaskID))
	fmt.Fprintf(&b, "**Source:** %s\n", markdownName(e.Source()))
	fmt.Fprintf(&b, "**Iterations:** %d", e.Iterations)
	if e.Reason != ReasonInterrupted { // an interrupted stage is no loop: it has no cap
		fmt.Fprintf(&b, " (cap: %d)", e.Max)
	}
	b.WriteByte('\n')
	if e.Reason != ReasonIterationCap {
		fmt.Fprintf(&b, "**Reason:** %s\n", markdownName(e.Reason))
	}
	if e.Again != "" {
		fmt.Fprintf(&b, "**Asked again:** %s\n", markdownText(e.Again))
	}
	b.WriteString("\n### Unresolved Issues\n\n")
	e.writeIssues(&b)
	b.WriteString("\n### Feedback History\n\n")
	e.writeHistory(&b)
	b.WriteString("\n### Options\n\n")
	e.writeOptions(&b, run, o)
	b.WriteString("---\n")
	return b.String()
}

// writeHistory summarises what its sources said, and what others said of its target; the history of the
// other loops of the run is in the context.
func (e Escalation) writeHistory(b *strings.Builder) {
	none := true
	for _, h := range e.History {
		if !slices.Contains(e.Sources, h.Source) && (e.Target == "" || h.Target != e.Target) {
			continue
		}
		none = false
		fmt.Fprintf(b, "- Iteration %d: %s -> %s, %d blocking, %d advisory, %s\n", h.Iteration,
			markdownName(h.Source), markdownName(h.Target), h.Blocking, h.Advisory, h.Action)
	}
	if none {
		b.WriteString("No earlier iterations.\n")
	}
}

func (e Escalation) writeIssues(b *strings.Builder) {
	if e.Reason == ReasonInterrupted {
		fmt.Fprintf(b, "The stage %s was interrupted and may have done part of its work.\n", markdownName(e.Source()))
		if len(e.Blocking) > 0 {
			b.WriteByte('\n')
		}
	} else {
		b.WriteString("The following blocking issues could not be auto-resolved:\n\n")
	}
	writeIssueList(b, e.Blocking)
	if len(e.NotReviewedSince) > 0 {
		b.WriteString("\nNot reviewed since:\n\n")
		writeIssueList(b, e.NotReviewedSince)
	}
}

func writeIssueList(b *strings.Builder, items []Item) {
	for i := range items {
		fmt.Fprintf(b, "- **%s** - %s\n", place(clipPath(markdownName(items[i].File), messageText), items[i].Line),
			clip(markdownText(items[i].Description), messageText))
		if items[i].Dispute != "" {
			fmt.Fprintf(b, "  Disputed: %s\n", clip(markdownText(items[i].Dispute), messageText))
		}
	}
}

// Named is the source that a command names which answers the escalation, beside its id; "" for none: of several any
// one would look as if it alone were answered.
func (e Escalation) Named() string {
	if len(e.Sources) == 1 || len(e.Sources) > 1 && e.ID == "" {
		return e.Sources[0]
	}
	return ""
}

// writeOptions writes the three options, each with its command.
func (e Escalation) writeOptions(b *strings.Builder, run string, o Offer) {
	source := ""
	if name := e.Named(); name != "" {
		source = " " + shellWord(name)
	}
	command := func(what, flags string) {
		id := ""
		if e.ID != "" {
			id = " --id " + shellWord(e.ID)
		}
		fmt.Fprintf(b, "   pipe decide %s%s %s%s%s\n", shellWord(run), source, what, id, flags)
	}
	if e.Reason == ReasonInterrupted {
		b.WriteString("1. Put right what it left half done, and run the stage again\n")
		command("retry", "")
		b.WriteString("2. Take the stage as succeeded\n")
		flags := " --reason TEXT"
		for _, name := range o.Outputs {
			flags += " --output " + shellWord(name) + "=VALUE"
		}
		command("override", flags)
		o.writeAbort(b, command)
		return
	}
	b.WriteString("1. Fix manually and retry the task\n")
	command("retry", "")
	b.WriteString("   or send it back with a note:\n")
	command("refer-back", " --note TEXT")
	if e.NothingToAccept != "" {
		fmt.Fprintf(b, "2. No override: %s\n", markdownText(e.NothingToAccept))
	} else {
		b.WriteString("2. Override and accept current state\n")
		command("override", " --reason TEXT")
	}
	o.writeAbort(b, command)
}

func (o Offer) writeAbort(b *strings.Builder, command func(what, flags string)) {
	b.WriteString("3. Abort the task\n")
	command("abort", "")
	if o.Rollback {
		b.WriteString("   or abort it and undo what the stages did; later that can't be done:\n")
		command("abort", " --rollback")
	}
}

// shellWord is a word as any POSIX shell reads it back.
func shellWord(s string) string {
	safe := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x80 || !isLetter(byte(r)) && (r < '0' || r > '9') && !strings.ContainsRune("_./-", r)
	})
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(oneLine(s), "'", `'\''`) + "'"
}
