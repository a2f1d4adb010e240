package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// psOptions are the options of `pipe ps`.
type psOptions struct {
	*app
	json bool
}

func newPsCmd(a *app) *cobra.Command {
	o := &psOptions{app: a}
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the runs of the project, the newest first",
		Args:  between(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// psRun is a run in the list. A damaged one has no times.
type psRun struct {
	Run        string        `json:"run"`
	Pipeline   string        `json:"pipeline"`
	TaskID     string        `json:"task_id"`
	Status     string        `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	StartedAt  *step.Instant `json:"started_at"`
	FinishedAt *step.Instant `json:"finished_at"`
}

func (o *psOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	runs, err := p.Runs()
	if err != nil {
		return err
	}
	if o.json {
		list := make([]psRun, len(runs))
		for i, r := range runs {
			list[i] = psRun{r.ID, r.Pipeline, r.TaskID, r.Status, r.Reason, r.StartedAt, r.FinishedAt}
		}
		b, err := view.Marshal(struct {
			Version int     `json:"version"`
			Runs    []psRun `json:"runs"`
		}{1, list})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	if len(runs) == 0 {
		fmt.Fprintf(o.err, "nothing was run in this project yet; the project is %q\n", p.Root)
		return nil
	}
	rows := [][]string{{"RUN", "PIPELINE", "STATUS", "STARTED", "TIME", "TASK"}}
	var answered []string
	for _, r := range runs {
		row := o.row(r)
		if v, ok := answeredRun(p, r); ok {
			row[psStatus] = v.StatusText()
			by, _ := v.Answered()
			answered = append(answered, "pipe resume "+r.ID+"  # answered by "+view.OneLine(by))
		}
		rows = append(rows, row)
	}
	fit(rows, o.width())
	fmt.Fprint(o.out, view.Table(rows, o.width()))
	if len(answered) > 0 {
		fmt.Fprintln(o.out, "what was answered goes on with")
	}
	for _, line := range answered {
		fmt.Fprintf(o.out, "  %s\n", line)
	}
	return nil
}

// answeredRun looks whether a run that waits was answered and is not carried on. The list itself does not know: it
// is read from files that hold no more than a status.
func answeredRun(p *engine.Project, r engine.Summary) (*view.Run, bool) {
	if r.Status != step.RunIsWaiting.String() && r.Status != step.RunIsPaused.String() {
		return nil, false
	}
	v, err := p.View(r.ID)
	if err != nil {
		return nil, false // it is gone by now, or damaged: the list says what its file says
	}
	_, ok := v.Answered()
	return v, ok
}

// The columns that are made shorter on a narrow terminal.
const (
	psStatus  = 2
	psStarted = 3
)

// fit makes a list narrower where its last columns would be cut: times without their seconds, then less of the
// reasons beside the statuses.
func fit(rows [][]string, width int) {
	if width <= 0 || excess(rows, width) <= 0 {
		return
	}
	for _, row := range rows {
		if minutes := len("2006-01-02T15:04"); strings.HasSuffix(row[psStarted], "Z") && len(row[psStarted]) > minutes {
			row[psStarted] = row[psStarted][:minutes] + "Z"
		}
	}
	over := excess(rows, width)
	if over <= 0 {
		return
	}
	widest, bare := 0, 0
	for _, row := range rows {
		word, _, _ := strings.Cut(row[psStatus], " ")
		widest, bare = max(widest, utf8.RuneCountInString(row[psStatus])), max(bare, len(word))
	}
	most := max(bare, widest-over)
	for _, row := range rows {
		word, _, _ := strings.Cut(row[psStatus], " ")
		switch {
		case utf8.RuneCountInString(row[psStatus]) <= most:
		case most < len(word)+4: // too little is left to say anything
			row[psStatus] = word
		default:
			row[psStatus] = view.Shorten(row[psStatus], most)
		}
	}
}

// excess is by how many columns the table of the rows is too wide.
func excess(rows [][]string, width int) int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	total := 0
	for _, w := range widths {
		total += 2 + w
	}
	return total - width
}

func (o *psOptions) row(r engine.Summary) []string {
	started, took := "-", "-"
	if r.StartedAt != nil {
		started = r.StartedAt.String()
		end := step.At(o.now())
		switch {
		case r.FinishedAt != nil:
			end = *r.FinishedAt
		case r.LastAt != nil:
			end = *r.LastAt
		}
		took = view.Duration(end.Since(*r.StartedAt))
	}
	status := r.Status
	if r.Reason != "" && (status == "paused" || status == "damaged") {
		status += " (" + view.OneLine(r.Reason) + ")"
	}
	return []string{r.ID, view.OneLine(r.Pipeline), status, started, took, view.OneLine(r.TaskID)}
}
