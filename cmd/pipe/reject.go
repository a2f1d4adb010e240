package main

import (
	"github.com/spf13/cobra"

	"example.com/pipe/engine/step"
)

func newRejectCmd(a *app) *cobra.Command {
	return newApprovalCmd(a, step.Reject, "rejected", &cobra.Command{
		Use:   "reject RUN [STAGE]",
		Short: "Refuse a stage that waits for an approval; it fails",
		Long: "Refuses a stage that waits for an approval: it fails, and what can still run without it does. The run goes on\n" +
			"at once to its end, with or without --resume, and the exit status says how it ended.",
	})
}
