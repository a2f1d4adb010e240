package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
	"example.com/pipe/engine/view/findings"
)

// showOptions are the options of `pipe show`.
type showOptions struct {
	*app
	ref      string
	json     bool
	items    bool
	report   bool
	open     bool
	severity string

	filter findings.Filter
}

func newShowCmd(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show where a run stands, and what it waits for",
		Long: "Shows where a run stands, and what it waits for. With --items it lists what its reviews found; with --report\n" +
			"it prints that as a report in Markdown, with the rounds and what people decided.",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.items, "items", false, "list all items of all reviews, closed ones as well")
	cmd.Flags().BoolVar(&o.report, "report", false, "print a report of the findings in Markdown")
	cmd.Flags().BoolVar(&o.open, "open", false, "of the items, only the open ones")
	cmd.Flags().StringVar(&o.severity, "severity", "", "of the items, only those that are blocking, advisory or informational")
	return cmd
}

// readFilter reads which items are asked for.
func (o *showOptions) readFilter() error {
	switch {
	case o.items && o.report:
		return usagef("--items and --report exclude each other: the report holds the items")
	case o.report && o.json:
		return usagef("--report is Markdown and does not go with --json; give --items --json")
	case !o.items && !o.report && (o.open || o.severity != ""):
		return usagef("--open and --severity choose items; give --items or --report as well")
	}
	o.filter.Open = o.open
	if o.severity == "" {
		return nil
	}
	if err := o.filter.Severity.UnmarshalText([]byte(o.severity)); err != nil || o.filter.Severity == feedback.UnknownSeverity {
		return usagef("--severity must be blocking, advisory or informational, not %q", o.severity)
	}
	return nil
}

func (o *showOptions) run(context.Context) error {
	if err := o.readFilter(); err != nil {
		return err
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	if o.report {
		return o.printReport(p)
	}
	id, v, err := o.find(p, o.ref)
	switch {
	case err != nil:
		return err
	case o.items:
		return o.printItems(id, o.filter.Of(v.Items()))
	}
	return o.printRun(v, o.json)
}

// printItems lists items.
func (o *showOptions) printItems(run string, items []feedback.Item) error {
	if o.json {
		b, err := view.Marshal(struct {
			Version int        `json:"version"`
			Run     string     `json:"run"`
			Items   value.List `json:"items"`
		}{view.JSONVersion, run, feedback.ItemList(items)})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	if len(items) == 0 {
		fmt.Fprintln(o.out, "no items")
		return nil
	}
	fmt.Fprint(o.out, findings.Text(items, o.width()))
	return nil
}

// printReport prints what the reviews of a run found.
func (o *showOptions) printReport(p *engine.Project) error {
	id, err := p.Find(o.ref)
	if err != nil {
		return ofProject(p, err)
	}
	var r findings.Run
	v, err := p.ViewFrom(id, func(l journal.Line, _ *view.Run) {
		for _, rec := range l.Records {
			r.Apply(l.At, rec)
		}
	})
	if err != nil {
		return notBegun(id, err)
	}
	return r.Markdown(o.out, v.StatusText(), v.Paths(), o.filter)
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
