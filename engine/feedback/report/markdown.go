package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"example.com/pipe/engine/feedback"
)

// WriteMarkdown writes a report for people: a title, what the review says of itself, how many open items there are of
// each severity, and the items below a heading of theirs. The title is text as well.
func WriteMarkdown(w io.Writer, title string, r feedback.Result) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n", text(title))
	if s := text(r.Summary); s != "" {
		fmt.Fprintf(out, "\n**Summary:** %s\n", s)
	}
	severities := []feedback.Severity{feedback.Blocking, feedback.Advisory, feedback.Informational, feedback.UnknownSeverity}
	of := make(map[feedback.Severity][]*feedback.Item)
	open := make(map[feedback.Severity]int)
	closed := 0
	for i := range r.Items {
		item := &r.Items[i]
		of[item.Severity] = append(of[item.Severity], item)
		if item.IsOpen() {
			open[item.Severity]++
		} else {
			closed++
		}
	}
	fmt.Fprintf(out, "\n%d blocking, %d advisory, %d informational", open[feedback.Blocking], open[feedback.Advisory], open[feedback.Informational])
	if closed > 0 {
		fmt.Fprintf(out, ", %d closed", closed)
	}
	fmt.Fprintln(out)
	for _, s := range severities {
		if len(of[s]) == 0 {
			continue
		}
		name := s.String()
		fmt.Fprintf(out, "\n## %s%s\n\n", strings.ToUpper(name[:1]), name[1:])
		for _, i := range of[s] {
			writeItem(out, i)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func writeItem(w io.Writer, i *feedback.Item) {
	fmt.Fprintf(w, "- **%s** %s\n", text(i.Place()), text(i.Description))
	line := func(what, said string) {
		if said != "" {
			fmt.Fprintf(w, "  - %s: %s\n", what, said)
		}
	}
	line("Fix", text(i.SuggestedFix))
	found := text(i.SourceAgent)
	for _, more := range []string{i.Category, i.GateID} {
		if more = text(more); more != "" {
			found += ", " + more
		}
	}
	line("Found by", strings.TrimPrefix(found, ", "))
	line("Id", text(i.ID))
	if i.Status != feedback.UnknownStatus {
		said := text(strings.ReplaceAll(i.Status.String(), "_", " "))
		if i.By != "" {
			said += ", by " + text(i.By)
		}
		if i.Reason != "" {
			said += ": " + text(i.Reason)
		}
		line("Status", said)
	}
	switch {
	case i.FirstRound > 0 && i.LastRound > i.FirstRound:
		line("Rounds", fmt.Sprintf("%d to %d", i.FirstRound, i.LastRound))
	case i.FirstRound > 0:
		line("Round", fmt.Sprint(i.FirstRound))
	}
	line("Disputed", text(i.Dispute))
	for _, flag := range i.Flags {
		line("Note", text(flag))
	}
}
