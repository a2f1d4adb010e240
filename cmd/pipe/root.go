package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/view"
)

// execute runs a command line and returns the exit status. It prints the error, if there is one.
func (a *app) execute(ctx context.Context, args []string) int {
	root := newRootCmd(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	status, say := statusOf(err)
	if say != nil {
		fmt.Fprintf(a.err, "pipe: %s\n", strings.TrimRight(view.Escape(say.Error()), "\n"))
	}
	if err := a.out.failure(); status == exitOK && err != nil {
		fmt.Fprintf(a.err, "pipe: write the result: %v\n", err)
		status = exitOurs
	}
	return status
}

func newRootCmd(a *app) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "pipe",
		Short:         "Run pipelines of scripts and agents whose reviews send work back",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return (&versionOptions{app: a}).run(cmd.Context())
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var wrong *pflag.InvalidValueError
		if errors.As(err, &wrong) {
			expected := "another value"
			switch wrong.GetFlag().Value.Type() {
			case "int":
				expected = "a number"
			case "bool":
				expected = "true or false"
			}
			return usagef("--%s %q: expected %s; see `%s --help`", wrong.GetFlag().Name, wrong.GetValue(), expected, cmd.CommandPath())
		}
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(
		newRunCmd(a), newResumeCmd(a), newApproveCmd(a), newRejectCmd(a), newDecideCmd(a), newCancelCmd(a),
		newPsCmd(a), newShowCmd(a), newLogsCmd(a), newEventsCmd(a), newWhyCmd(a),
		newFeedbackCmd(a), newCheckCmd(a), newListCmd(a), newExplainCmd(a), newOutputCmd(a), newDoctorCmd(a), newVersionCmd(a),
		newCompletionCmd(a),
		&cobra.Command{Use: "exit-codes", Short: "What the exit status means", Long: exitCodesText},
	)
	root.SetHelpCommand(newHelpCmd(root))
	a.complete(root)
	return root
}

// newHelpCmd is cobra's, with our exit status for a topic that there is not.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command, or `pipe help exit-codes`",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	if hint := diag.Suggest(name, names); hint != "" {
		return usagef("unknown command %q, %s", name, hint)
	}
	return usagef("unknown command %q; `pipe help` lists the commands", name)
}

// between wants so many arguments, and says which.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usagef("got %d arguments, expected `%s`", len(args), cmd.UseLine())
	}
}
