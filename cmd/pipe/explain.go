package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/explain"
	"example.com/pipe/engine/view"
)

// explainOptions are the options of `pipe explain`.
type explainOptions struct {
	*app
	pipeline string
	json     bool
}

func newExplainCmd(a *app) *cobra.Command {
	o := &explainOptions{app: a}
	cmd := &cobra.Command{
		Use:   "explain NAME|FILE",
		Short: "Say what a pipeline will do: inputs, order, loops, and how often each stage can run",
		Long: "Says what follows from a pipeline before it runs: its inputs, the order of its stages and which run side by\n" +
			"side, the loops with the rules that end them, what becomes of the findings of tools, whom it asks, how what was\n" +
			"done is undone, and the greatest number of runs of each stage as long as no person grants more.",
		Example: "  pipe explain full-feature\n  pipe explain ./ci.yaml --json",
		Args:    between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.pipeline = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *explainOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	l, err := p.Load(o.pipeline, o.dir)
	if err != nil {
		return ofProject(p, err)
	}
	if l.Plan == nil || l.Diags.HasErrors() {
		fmt.Fprint(o.err, l.Diags.Text(l.Sources...))
		return &statusError{exitFailed, fmt.Errorf("pipeline %q has errors and can't be explained", l.Name)}
	}
	e := explain.Explain(l.Plan)
	if !o.json {
		fmt.Fprint(o.out, e.Text(o.width()))
		return nil
	}
	b, err := view.Marshal(struct {
		Version int `json:"version"`
		*explain.Pipeline
	}{1, e})
	if err != nil {
		return err
	}
	_, err = o.out.Write(b)
	return err
}
