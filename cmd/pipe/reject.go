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
		Long: "Refuses a stage that waits for an approval: it fails, and what can still run without it does. The run goes on\n" +
			"at once to its end, with or without --resume, and the exit status says how it ended.",
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref, o.stage = args[0], second(args)
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	o.resumeFlag(cmd)
	return cmd
}

func (o *rejectOptions) run(ctx context.Context) error {
	return o.give(ctx, func(v *view.Run) (machine.Answer, string, error) {
		if err := isStage(v, o.stage); err != nil {
			return machine.Answer{}, "", err
		}
		return machine.Answer{Kind: machine.Reject, Stage: o.stage}, approvalText(v, "rejected", o.stage), nil
	})
}
