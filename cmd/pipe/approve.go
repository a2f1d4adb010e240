package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// approvalOptions are the options of `pipe approve` and `pipe reject`.
type approvalOptions struct {
	answerOptions
	stage string
	kind  step.AnswerKind
	done  string // the answer as a word of what was done
}

func newApproveCmd(a *app) *cobra.Command {
	return newApprovalCmd(a, step.Approve, "approved", &cobra.Command{
		Use:   "approve RUN [STAGE]",
		Short: "Let a stage start that waits for an approval",
	})
}

// newApprovalCmd makes a command of one that answers an approval.
func newApprovalCmd(a *app, kind step.AnswerKind, done string, cmd *cobra.Command) *cobra.Command {
	o := &approvalOptions{answerOptions: answerOptions{app: a}, kind: kind, done: done}
	cmd.Args = between(1, 2)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.ref, o.stage = args[0], second(args)
		return o.run(cmd.Context())
	}
	o.flags(cmd)
	o.resumeFlag(cmd)
	return cmd
}

func (o *approvalOptions) run(ctx context.Context) error {
	return o.give(ctx, func(v *view.Run) (step.Answer, string, error) {
		if err := isStage(v, o.stage); err != nil {
			return step.Answer{}, "", err
		}
		return step.Answer{Kind: o.kind, Stage: o.stage}, approvalText(v, o.done, o.stage), nil
	})
}

// isStage refuses a stage that the run does not have; "" names none.
func isStage(v *view.Run, name string) error {
	if _, ok := v.StageStatus(name); name != "" && !ok {
		return noStage(v, name)
	}
	return nil
}

// second gives the second argument, "" without one.
func second(args []string) string {
	if len(args) < 2 {
		return ""
	}
	return args[1]
}

// approvalText says what was answered; without a stage it is the one that asked.
func approvalText(v *view.Run, word, stage string) string {
	if stage == "" {
		if waiting := v.Approvals(); len(waiting) == 1 {
			stage = waiting[0]
		}
	}
	return fmt.Sprintf("%s: %s", word, stage)
}
