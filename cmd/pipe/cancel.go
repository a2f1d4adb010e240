package main

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// cancelOptions are the options of `pipe cancel`.
type cancelOptions struct{ answerOptions }

func newCancelCmd(a *app) *cobra.Command {
	o := &cancelOptions{answerOptions{app: a}}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run and its processes",
		Args:  between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *cancelOptions) run(ctx context.Context) error {
	return o.give(ctx, func(v *view.Run) (step.Answer, string, error) {
		return step.Answer{Kind: step.Cancel}, "cancelled: run " + v.Info().Run, nil
	})
}
