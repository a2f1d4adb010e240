// Package findings shows what the reviews of a run found: all items as a text for a terminal, and a report in
// Markdown for people, with the rounds of each review, what a person was asked and decided, and why.
//
// The contract of the report, in order: a zero Run; Apply each record of the journal with the time of its step; then
// Markdown. Text takes the items themselves.
//
// What stages and people wrote is shown and nothing else: it becomes no Markdown, no HTML and nothing that a
// terminal obeys. How one item is written in Markdown is package feedback/report's; where the run as a whole stands,
// package view's.
package findings

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/view"
)

// Filter says which items are asked for; the zero Filter is all of them.
type Filter struct {
	Open     bool // only those that still count
	Severity feedback.Severity
}

// Of gives the items that are asked for.
func (f Filter) Of(items []feedback.Item) []feedback.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i feedback.Item) bool {
		return f.Open && !i.IsOpen() || f.Severity != feedback.UnknownSeverity && i.Severity != f.Severity
	})
}

// maxText is how many characters of a text the list shows; the report and the JSON hold all.
const maxText = 500

// Text lists items for people: for each its id, status, severity and place, what is wrong, how to fix it, in which
// rounds it was found and by whom, and who gave it its status and why. Lines are wrapped at width columns; 0 wraps
// none.
func Text(items []feedback.Item, width int) string {
	var b strings.Builder
	for i := range items {
		item := &items[i]
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", view.OneLine(item.ID), item.Status, item.Severity, view.OneLine(item.Place()))
		line := func(text string) {
			if text != "" {
				b.WriteString(view.Wrap("    "+text, width) + "\n")
			}
		}
		line(short(item.Description))
		if fix := short(item.SuggestedFix); fix != "" {
			line("fix: " + fix)
		}
		line(origin(item))
		line(standing(item))
		for _, flag := range item.Flags {
			line("note: " + short(flag))
		}
	}
	return b.String()
}

func short(s string) string {
	return view.Shorten(view.Escape(strings.Join(strings.Fields(s), " ")), maxText)
}

// origin says in which rounds an item was found, and by whom.
func origin(i *feedback.Item) string {
	rounds := fmt.Sprintf("round %d", i.FirstRound)
	if i.LastRound > i.FirstRound {
		rounds = fmt.Sprintf("rounds %d to %d", i.FirstRound, i.LastRound)
	}
	text := rounds + ", found by " + view.OneLine(strings.Join(i.Sources, ", "))
	if agent := view.OneLine(i.SourceAgent); agent != "" && !slices.Contains(i.Sources, i.SourceAgent) {
		text += " (" + agent + ")"
	}
	if i.Disputes > 0 {
		text += fmt.Sprintf(", disputed %d×", i.Disputes)
	}
	if i.Dispute != "" && i.Status != feedback.Disputed { // else it is the reason of its status
		text += ", disputed: " + short(i.Dispute)
	}
	return text
}

// standing says who gave an item its status, and why; "" where nobody has since it was found.
func standing(i *feedback.Item) string {
	if i.Reason == "" && (i.By == "" || i.Status == feedback.Open) {
		return ""
	}
	text := i.Status.String()
	if i.StatusRound > 0 {
		text += fmt.Sprintf(" in round %d", i.StatusRound)
	}
	if i.By != "" {
		text += " by " + view.OneLine(i.By)
	}
	if i.Reason != "" {
		text += ": " + short(i.Reason)
	}
	return text
}
