package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/view"
)

// showOptions are the options of `pipe show`.
type showOptions struct {
	*app
	ref  string
	json bool
}

func newShowCmd(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show where a run stands, and what it waits for",
		Args:  between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *showOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	_, v, err := o.find(p, o.ref)
	if err != nil {
		return err
	}
	return o.printRun(v, o.json)
}

// printRun prints where a run stands.
func (a *app) printRun(v *view.Run, asJSON bool) error {
	if !asJSON {
		fmt.Fprint(a.out, v.Text(a.width()))
		return nil
	}
	b, err := v.JSON()
	if err != nil {
		return err
	}
	_, err = a.out.Write(b)
	return err
}
