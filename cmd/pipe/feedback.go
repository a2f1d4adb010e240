package main

import "github.com/spf13/cobra"

// newFeedbackCmd is the group of the commands about findings: their forms, their files, their figures.
func newFeedbackCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feedback",
		Short: "Look at findings outside of a run: reports of tools, feedback files, figures",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(newFeedbackConvertCmd(a), newFeedbackMetricsCmd(a), newFeedbackReadCmd(a), newFeedbackWriteCmd(a))
	cmd.SetErr(a.err)
	return cmd
}
