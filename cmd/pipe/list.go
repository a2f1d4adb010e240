package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/view"
)

// listOptions are the options of `pipe list`.
type listOptions struct {
	*app
	json bool
}

func newListCmd(a *app) *cobra.Command {
	o := &listOptions{app: a}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pipelines that can be run by name",
		Args:  between(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// listed is a pipeline as `pipe list` shows it.
type listed struct {
	Name        string `json:"name"`
	File        string `json:"file"`
	Shipped     bool   `json:"shipped"`
	Description string `json:"description,omitempty"`
	Errors      int    `json:"errors,omitempty"`
}

func (o *listOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	entries, err := p.Pipelines()
	if err != nil {
		return err
	}
	for _, d := range p.Strays() {
		fmt.Fprintf(o.err, "pipe: %s\n", view.OneLine(d.Message))
	}
	list := make([]listed, 0, len(entries))
	for _, e := range entries {
		item := listed{Name: e.Name, File: e.File, Shipped: e.Shipped}
		l, err := p.Load(e.Name, "")
		if err != nil {
			return err
		}
		if d := l.Doc.Description; d != nil {
			item.Description = d.Value
		}
		if l.Diags.HasErrors() {
			item.Errors = max(1, l.Diags.Count(diag.Error))
		}
		list = append(list, item)
	}
	if o.json {
		b, err := view.Marshal(struct {
			Version   int      `json:"version"`
			Pipelines []listed `json:"pipelines"`
		}{1, list})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(o.err, "there are no pipelines; write the first one to pipelines/NAME.yaml")
		return nil
	}
	rows := make([][]string, 0, len(list))
	for _, item := range list {
		note := view.OneLine(item.Description)
		if item.Errors > 0 {
			note = plural(item.Errors, "error") + ", see `" + view.Command("check", item.Name) + "`"
		}
		rows = append(rows, []string{view.OneLine(item.Name), view.OneLine(item.File), note})
	}
	fmt.Fprint(o.out, view.Table(rows, o.width()))
	return nil
}
