package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// cancelOptions are the options of `pipe cancel`.
type cancelOptions struct {
	answerOptions
	rollback bool
}

func newCancelCmd(a *app) *cobra.Command {
	o := &cancelOptions{answerOptions: answerOptions{app: a}}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run and its processes",
		Long: "Stops a run and its processes; what stands in finally runs all the same. A second one while that runs, or while\n" +
			"rollbacks run, stops those too.\n\n" +
			"With --rollback what the stages did is undone, as their rollback says, before finally. It can't be undone later.",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.rollback, "rollback", false, "undo what the stages did, as their rollback says")
	return cmd
}

func (o *cancelOptions) run(ctx context.Context) error {
	return o.give(ctx, func(v *view.Run) (step.Answer, string, error) {
		if err := mayRollBack(v, o.rollback); err != nil {
			return step.Answer{}, "", err
		}
		o.stays(v, o.rollback)
		return step.Answer{Kind: step.Cancel, Rollback: o.rollback}, "cancelled: run " + v.Info().Run, nil
	})
}

// stays notes what a run that is stopped leaves as it is, though it could be undone.
func (o *answerOptions) stays(v *view.Run, undone bool) {
	if !undone {
		o.kept = v.Undoable()
	}
}

// mayRollBack refuses --rollback where nothing would be undone.
func mayRollBack(v *view.Run, wanted bool) error {
	if !wanted || slices.ContainsFunc(v.Paths(), func(path string) bool { n := v.Node(path); return n != nil && n.Rollback != nil }) {
		return nil
	}
	return usagef("--rollback: no stage of the run has a rollback, so nothing would be undone; leave the flag out")
}
