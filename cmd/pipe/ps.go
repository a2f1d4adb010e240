package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/machine"
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
	Run        string           `json:"run"`
	Pipeline   string           `json:"pipeline"`
	TaskID     string           `json:"task_id"`
	Status     string           `json:"status"`
	Reason     string           `json:"reason,omitempty"`
	StartedAt  *machine.Instant `json:"started_at"`
	FinishedAt *machine.Instant `json:"finished_at"`
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
		fmt.Fprintln(o.err, "nothing was run in this project yet")
		return nil
	}
	rows := [][]string{{"RUN", "PIPELINE", "STATUS", "STARTED", "TIME", "TASK"}}
	for _, r := range runs {
		rows = append(rows, o.row(r))
	}
	fmt.Fprint(o.out, view.Table(rows, o.width()))
	return nil
}

func (o *psOptions) row(r engine.Summary) []string {
	started, took := "-", "-"
	if r.StartedAt != nil {
		started = r.StartedAt.String()
		end := machine.At(o.now())
		if r.FinishedAt != nil {
			end = *r.FinishedAt
		}
		took = view.Duration(end.Since(*r.StartedAt))
	}
	status := r.Status
	if r.Reason != "" && (status == "paused" || status == "damaged") {
		status += " (" + view.OneLine(r.Reason) + ")"
	}
	return []string{r.ID, view.OneLine(r.Pipeline), status, started, took, view.OneLine(r.TaskID)}
}
