package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/stage"
)

// resumeOptions are the options of `pipe resume`.
type resumeOptions struct {
	*app
	ref  string
	wait bool
	json bool
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run after a crash, a pause or a stop",
		Long: "Goes on with a run where its journal ends: no finished stage runs again. A run that is over is printed,\n" +
			"and the exit status says how it ended. RUN is an id, the beginning of one, or \"last\".",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.wait, "wait", false, "stay while the run waits for a person")
	cmd.Flags().BoolVar(&o.json, "json", false, "print where the run stands at the end as JSON; events go to stderr")
	return cmd
}

func (o *resumeOptions) run(ctx context.Context) error {
	return withProcesses(func(ks []stage.Kind) error {
		p, err := o.project(ks)
		if err != nil {
			return err
		}
		id, v, err := o.find(p, o.ref)
		if err != nil {
			return err
		}
		f := &follower{app: o.app, p: p, json: o.json, stay: o.wait || o.interactive(), live: true}
		if v.Status().Ended() {
			if err := o.printRun(v, o.json); err != nil {
				return err
			}
			// Its process may have died before it wrote the files that follow from the last step. One that
			// still holds the run is about to.
			if _, err := p.Resume(ctx, id, f.follow()); err != nil && !errors.Is(err, journal.ErrHeld) {
				return asStatus(err)
			}
			return withStatus(statusOfRun(v.Status()))
		}
		return o.untilSignal(ctx, func(ctx context.Context) error {
			defer f.leave()
			return f.end(p.Resume(ctx, id, f.follow()))
		})
	})
}
