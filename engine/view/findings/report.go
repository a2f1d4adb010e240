package findings

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/report"
	"example.com/pipe/engine/step"
)

// Run is what is reported of a run. Apply feeds it; the zero Run has no findings.
type Run struct {
	info    step.RunInfo
	ledger  feedback.Ledger
	reviews []*review // in the order of their first results
	of      map[string]*review
	asked   []*question
}

// review is a stage that gave items, and what followed.
type review struct {
	source, target string
	rounds         []round
}

// round is what followed from one result of a review.
type round struct {
	at             step.Instant
	iteration, max int
	summary        string
	found          int      // items in the result
	blocking       int      // of those
	routed         bool     // it is known what followed
	action         string   // re_implement, accept, escalate
	rule           string   // why it escalates
	items          []string // that were open and blocking
}

// question is an escalation, with what was decided.
type question struct {
	at        step.Instant
	e         feedback.Escalation
	decisions []step.EscalationDecided
}

// Apply adds a record; at is the time of its step.
func (r *Run) Apply(at step.Instant, rec step.Record) {
	switch rec := rec.(type) {
	case step.RunStarted:
		r.info = rec.Run
	case step.ItemOpened:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case step.ItemChanged:
		r.ledger.Apply(feedback.Change{Item: rec.Item})
	case step.FeedbackReceived:
		if rec.Target == "" && rec.Items == 0 {
			return // what a target answered
		}
		v := r.review(rec.Source)
		v.target = rec.Target
		v.rounds = append(v.rounds, round{at: at, iteration: rec.Round, summary: rec.Summary, found: rec.Items, blocking: rec.Blocking})
	case step.FeedbackRouted:
		v := r.review(rec.Source)
		if len(v.rounds) == 0 || v.rounds[len(v.rounds)-1].routed {
			v.rounds = append(v.rounds, round{at: at, iteration: rec.Iteration})
		}
		last := &v.rounds[len(v.rounds)-1]
		v.target, last.routed = rec.Target, true
		last.action, last.rule, last.items, last.max = rec.Action.String(), rec.Rule, rec.Items, rec.MaxIterations
	case step.EscalationRaised:
		e := rec.Escalation
		e.History = nil
		r.asked = append(r.asked, &question{at: at, e: e})
	case step.EscalationDecided:
		for _, q := range r.asked {
			if q.e.ID == rec.ID {
				q.decisions = append(q.decisions, rec)
			}
		}
	}
}

func (r *Run) review(source string) *review {
	v, ok := r.of[source]
	if !ok {
		if r.of == nil {
			r.of = map[string]*review{}
		}
		v = &review{source: source}
		r.of[source] = v
		r.reviews = append(r.reviews, v)
	}
	return v
}

// Markdown writes the report: which run it is and where it stands, the reviews in the order of paths with their
// rounds and their items by status, and what a person was asked. The paths are those of all stages, in the order of
// the plan; a review that is not among them stands last.
func (r *Run) Markdown(w io.Writer, status string, paths []string, f Filter) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Findings of run %s\n\n", report.Text(r.info.Run))
	fmt.Fprintf(out, "- **Pipeline:** %s\n- **Task:** %s\n- **Status:** %s\n", report.Text(r.info.Pipeline), report.Text(r.info.TaskID), report.Text(status))
	items := f.Of(r.ledger.Items())
	fmt.Fprintf(out, "- **Findings:** %s\n", counts(items))
	for _, v := range r.ordered(paths) {
		r.writeReview(out, v, f)
	}
	r.writeQuestions(out)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// ordered gives the reviews in the order of the plan.
func (r *Run) ordered(paths []string) []*review {
	var out []*review
	named := map[string]bool{}
	for _, path := range paths {
		if v, ok := r.of[path]; ok {
			out, named[path] = append(out, v), true
		}
	}
	for _, v := range r.reviews {
		if !named[v.source] {
			out = append(out, v)
		}
	}
	return out
}

// counts says how many items are open, of each severity, and how many are not.
func counts(items []feedback.Item) string {
	var open [4]int
	closed := 0
	for i := range items {
		if items[i].IsOpen() {
			open[items[i].Severity]++
		} else {
			closed++
		}
	}
	return fmt.Sprintf("%d blocking, %d advisory, %d informational open; %d closed", open[feedback.Blocking], open[feedback.Advisory],
		open[feedback.Informational]+open[feedback.UnknownSeverity], closed)
}

// statuses are in the order in which a reader wants them: what is to do comes first.
var statuses = [...]feedback.Status{feedback.Escalated, feedback.Disputed, feedback.NotFixed, feedback.Open, feedback.UnknownStatus,
	feedback.Waived, feedback.Withdrawn, feedback.Fixed}

func (r *Run) writeReview(w io.Writer, v *review, f Filter) {
	fmt.Fprintf(w, "\n## Review %s\n", report.Text(v.source))
	if v.target != "" {
		fmt.Fprintf(w, "\nSends work back to %s.\n", report.Text(v.target))
	}
	fmt.Fprintln(w)
	for i := range v.rounds {
		v.rounds[i].write(w)
	}
	of := map[feedback.Status][]feedback.Item{}
	for _, item := range f.Of(r.ledger.Of(v.source)) {
		of[item.Status] = append(of[item.Status], item)
	}
	for _, status := range statuses {
		if len(of[status]) == 0 {
			continue
		}
		name := strings.ReplaceAll(status.String(), "_", " ")
		fmt.Fprintf(w, "\n### %s\n\n", strings.ToUpper(name[:1])+name[1:])
		for i := range of[status] {
			report.WriteItem(w, &of[status][i])
		}
	}
}

// write writes a round as an entry of a list.
func (o *round) write(w io.Writer) {
	fmt.Fprintf(w, "- Iteration %d", o.iteration)
	if o.max > 0 {
		fmt.Fprintf(w, " of %d", o.max)
	}
	fmt.Fprintf(w, ", %s: found %d, %d of them blocking", o.at, o.found, o.blocking)
	switch o.action {
	case feedback.ReImplement.String():
		fmt.Fprintf(w, "; sent back %s", ids(o.items))
	case feedback.Accept.String():
		fmt.Fprint(w, "; accepted")
	case feedback.Escalate.String():
		fmt.Fprintf(w, "; escalated %s by the rule %s", ids(o.items), report.Text(o.rule))
	}
	if s := report.Text(o.summary); s != "" {
		fmt.Fprintf(w, "; it says: %s", s)
	}
	fmt.Fprintln(w)
}

func ids(names []string) string {
	if len(names) == 0 {
		return "no item"
	}
	return report.Text(strings.Join(names, ", "))
}

func (r *Run) writeQuestions(w io.Writer) {
	if len(r.asked) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Escalations\n\n")
	for _, q := range r.asked {
		fmt.Fprintf(w, "- **%s**, %s, of %s: %s", report.Text(q.e.ID), q.at, report.Text(q.e.Source()), report.Text(q.e.Reason))
		if q.e.Reason != feedback.ReasonInterrupted {
			fmt.Fprintf(w, " after iteration %d of %d, %s", q.e.Iterations, q.e.Max, ids(idsOf(q.e.Blocking)))
		}
		fmt.Fprintln(w)
		closed := false
		for i := range q.decisions {
			writeDecision(w, &q.decisions[i])
			closed = closed || q.decisions[i].Closed
		}
		if !closed {
			fmt.Fprint(w, "  - still open\n")
		}
	}
}

func idsOf(items []feedback.Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}

// writeDecision says who decided what, about which items, and why.
func writeDecision(w io.Writer, d *step.EscalationDecided) {
	fmt.Fprintf(w, "  - %s, %s", report.Text(d.Decision), d.At)
	if d.By != "" {
		fmt.Fprintf(w, ", by %s", report.Text(d.By))
	}
	if d.To != "" {
		fmt.Fprintf(w, ", to %s", report.Text(d.To))
	}
	if len(d.Items) > 0 {
		fmt.Fprintf(w, ", %s", ids(d.Items))
	}
	if d.Rounds > 0 {
		fmt.Fprintf(w, ", rounds granted: %d", d.Rounds)
	}
	if len(d.Covered) > 0 {
		fmt.Fprintf(w, ", covered by the approval of %s", ids(d.Covered))
	}
	for _, why := range []string{d.Reason, d.Note, d.Warning} {
		if why = report.Text(why); why != "" {
			fmt.Fprintf(w, "; %s", why)
		}
	}
	fmt.Fprintln(w)
}
