package attempts

import (
	"errors"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// Book holds the ledgers of a run: one for each refine loop whose stage came to its start, by the path of the
// validation. It grows by Apply.
type Book struct {
	pairs   *Pairs
	ledgers map[string]*Ledger
	order   []string            // sources that have a ledger, as they came up
	raised  map[string][]string // sources by the id of an escalation
	items   feedback.Ledger     // what validations found
}

// NewBook returns the book of a run of this graph, without any ledger.
func NewBook(g *plan.Graph) *Book {
	return &Book{pairs: NewPairs(g), ledgers: map[string]*Ledger{}, raised: map[string][]string{}}
}

// Ledger gives the ledger of a loop by the path of its validation.
func (b *Book) Ledger(source string) (*Ledger, bool) {
	l, ok := b.ledgers[source]
	return l, ok
}

// Of gives the ledger of a loop by the path of the stage that it refines.
func (b *Book) Of(target string) (*Ledger, bool) {
	source, ok := b.pairs.Source(target)
	if !ok {
		return nil, false
	}
	return b.Ledger(source)
}

// Items gives the items that the validation of a loop found, whatever their status, in order of ids.
func (b *Book) Items(source string) []feedback.Item { return b.items.Of(source) }

// Apply takes in a record of the run and gives the sources whose ledger it changed. A record that fits no ledger is
// taken as it is: who reads a journal never refuses it.
func (b *Book) Apply(rec step.Record) []string {
	if !b.pairs.refined {
		return nil
	}
	switch r := rec.(type) {
	case step.StageStarted:
		return b.started(&r)
	case step.StageStale:
		if r.Anew {
			return b.drop(func(source string) bool { return source == r.Stage })
		}
	case step.ItemOpened:
		b.keep(r.Item)
	case step.ItemChanged:
		b.keep(r.Item)
	case step.FeedbackReceived:
		return b.with(r.Source, func(l *Ledger) error { return l.End(b.outcome(r.Source)) })
	case step.FeedbackRouted:
		return b.with(r.Source, func(l *Ledger) error {
			l.Allow(r.MaxIterations)
			if exit, err := l.Exit(); err == nil && exit == Passed {
				l.Close()
			}
			return nil
		})
	case step.StageFailed: // of a validation: by a rule, or since it did not take place
		return b.with(r.Stage, closed)
	case step.EscalationRaised:
		if r.Escalation.Target != "" {
			b.raised[r.Escalation.ID] = r.Escalation.Sources
		}
	case step.EscalationDecided:
		return b.decided(&r)
	case step.RunFinished:
		return b.each(b.order, closed)
	}
	return nil
}

// started begins an attempt, or goes on with the one that is in progress: a try that is made again is none.
func (b *Book) started(r *step.StageStarted) []string {
	if l, ok := b.pairs.bySource[plain(r.Stage)]; ok {
		if l.isGroup(r.Stage) {
			return nil
		}
		return b.with(r.Stage, func(l *Ledger) error { return l.Again() })
	}
	source, ok := b.pairs.Source(r.Stage)
	ok = ok && b.pairs.isRefined(source) && !b.pairs.bySource[plain(source)].isGroup(r.Stage)
	var changed []string
	if r.Composite { // what is inside begins anew
		changed = b.drop(func(s string) bool {
			rest, inside := strings.CutPrefix(s, r.Stage)
			return inside && rest != "" && (rest[0] == '/' || rest[0] == '[') && !(ok && s == source)
		})
	}
	if ok {
		changed = append(changed, b.attempt(source)...)
	}
	return changed
}

// attempt begins the next attempt of a loop.
func (b *Book) attempt(source string) []string {
	l := b.ledgers[source]
	if l == nil {
		return b.begin(source)
	}
	switch err := l.Begin(); {
	case err == nil:
		return []string{source}
	case errors.Is(err, ErrNothingLeft): // something else makes the stage run again
		return b.begin(source)
	}
	return nil
}

// begin begins the first attempt of a new ledger.
func (b *Book) begin(source string) []string {
	of := b.pairs.bySource[plain(source)]
	l := New(of.refine.Name, of.max)
	if err := l.Begin(); err != nil {
		return nil
	}
	if b.ledgers[source] == nil {
		b.order = append(b.order, source)
	}
	b.ledgers[source] = l
	return []string{source}
}

// with changes the ledger of a source, if it has one.
func (b *Book) with(source string, change func(*Ledger) error) []string {
	if l, ok := b.ledgers[source]; ok && change(l) == nil {
		return []string{source}
	}
	return nil
}

func (b *Book) each(sources []string, change func(*Ledger) error) []string {
	var out []string
	for _, source := range sources {
		out = append(out, b.with(source, change)...)
	}
	return out
}

func closed(l *Ledger) error {
	l.Close()
	return nil
}

// drop takes away the ledgers of loops that begin anew. What their attempts were is in the journal; a new ledger
// begins with the next attempt.
func (b *Book) drop(which func(source string) bool) []string {
	var out []string
	for _, source := range b.order {
		if which(source) {
			delete(b.ledgers, source)
			out = append(out, source)
		}
	}
	b.order = slices.DeleteFunc(b.order, which)
	return out
}

// decided takes in what a person allowed, or accepted.
func (b *Book) decided(r *step.EscalationDecided) []string {
	sources := b.raised[r.ID]
	switch r.Decision {
	case "retry", "refer-back":
		return b.each(sources, func(l *Ledger) error {
			l.Allow(l.Max() + r.Rounds)
			return nil
		})
	case "override":
		if r.Closed {
			return b.each(sources, closed)
		}
	}
	return nil
}

// keep takes note of an item that a validation found.
func (b *Book) keep(item feedback.Item) {
	for _, source := range item.Sources {
		if b.pairs.isRefined(source) {
			b.items.Apply(feedback.Change{Item: item})
			return
		}
	}
}

// outcome is what came of the attempt that was validated last: it failed if a blocking item is open.
func (b *Book) outcome(source string) (Outcome, Issues) {
	var issues Issues
	for _, item := range b.items.Open(source) {
		switch item.Severity {
		case feedback.Blocking:
			issues.Critical++
		case feedback.Advisory:
			issues.Warnings++
		case feedback.Informational, feedback.UnknownSeverity:
		}
	}
	if issues.Critical > 0 {
		return Fail, issues
	}
	return Pass, issues
}
