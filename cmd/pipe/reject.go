package main

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/view"
)

// rejectOptions are the options of `pipe reject`.
type rejectOptions struct {
	answerOptions
	stage string
}

func newRejectCmd(a *app) *cobra.Command {
	o := &rejectOptions{answerOptions: answerOptions{app: a}}
	cmd := &cobra.Command{
		Use:   "reject RUN [STAGE]",
		Short: "Refuse a stage that waits for an approval; it fails",
		Args:  between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref, o.stage = args[0], second(args)
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *rejectOptions) run(ctx context.Context) error {
	return o.give(ctx, func(v *view.Run) (machine.Answer, string, error) {
		return machine.Answer{Kind: machine.Reject, Stage: o.stage}, approvalText(v, "rejected", o.stage), nil
	})
}
