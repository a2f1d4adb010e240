package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/view"
)

// doctorOptions are the options of `pipe doctor`.
type doctorOptions struct {
	*app
	run    string
	replay string
	json   bool
}

func newDoctorCmd(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the machine, or the journal of a run",
		Long: "Without flags: checks that this machine has what runs need.\n" +
			"--run RUN: says whether the journal of a run is whole and, if not, what can be saved; changes nothing.\n" +
			"--replay RUN: decides every step of a run again and compares. A difference is no mistake: a run goes on\n" +
			"from its records, whatever this version would decide now; the exit status is 0.",
		Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.do(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.run, "run", "", "examine the journal of `RUN`")
	cmd.Flags().StringVar(&o.replay, "replay", "", "decide the steps of `RUN` again and compare")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *doctorOptions) do(ctx context.Context) error {
	if o.run != "" && o.replay != "" {
		return usagef("--run and --replay don't go together")
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	ref := o.run + o.replay
	if ref == "" {
		return o.checkMachine(ctx, p)
	}
	id, err := p.Find(ref)
	if err != nil {
		return asStatus(err)
	}
	if o.run != "" {
		return o.examine(p, id)
	}
	return o.compare(p, id)
}

// examine reports on the files of a run.
func (o *doctorOptions) examine(p *engine.Project, id string) error {
	e, err := p.Examine(id)
	if err != nil {
		return err
	}
	text := []byte(e.Text())
	if o.json {
		if text, err = view.Marshal(e); err != nil {
			return err
		}
	}
	if _, err := o.out.Write(text); err != nil {
		return err
	}
	if !e.Whole {
		return withStatus(exitFailed)
	}
	return nil
}

// compare decides a run again.
func (o *doctorOptions) compare(p *engine.Project, id string) error {
	r, err := p.Replay(id)
	if err != nil {
		return err
	}
	if o.json {
		type difference struct {
			Seq      int64  `json:"seq"`
			At       string `json:"at"`
			Event    string `json:"event"`
			Recorded string `json:"recorded"`
			Decided  string `json:"decided"`
		}
		list := make([]difference, len(r.Differences))
		for i, d := range r.Differences {
			list[i] = difference{d.Seq, d.At.String(), d.Event, d.Recorded, d.Decided}
		}
		b, err := view.Marshal(struct {
			Version     int          `json:"version"`
			Run         string       `json:"run"`
			Steps       int          `json:"steps"`
			Differences []difference `json:"differences"`
		}{1, id, r.Steps, list})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	fmt.Fprintf(o.out, "run %s: %s decided again, %s\n", id, plural(r.Steps, "step"), plural(len(r.Differences), "difference"))
	for i := range r.Differences {
		writeDifference(o.out, &r.Differences[i])
	}
	return nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return view.OneLine(s)
}
