package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// eventsOptions are the options of `pipe events`.
type eventsOptions struct {
	*app
	ref  string
	json bool
}

func newEventsCmd(a *app) *cobra.Command {
	o := &eventsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "events RUN",
		Short: "Print what happened in a run, one line for each event",
		Long: "Prints what happened in a run, one line for each event. With --json each line is an object\n" +
			"{version, seq, at, record}: a record of the journal, all of them.",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print every record as a line of JSON")
	return cmd
}

// jsonEvent is a line of `pipe events --json`.
type jsonEvent struct {
	Version int             `json:"version"`
	Seq     int64           `json:"seq"`
	At      step.Instant    `json:"at"`
	Record  json.RawMessage `json:"record"`
}

func (o *eventsOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	id, err := p.Find(o.ref)
	if err != nil {
		return ofProject(p, err)
	}
	_, err = journal.Read(p.RunDir(id), func(l journal.Line) error {
		for _, rec := range l.Records {
			if err := o.print(l, rec); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (o *eventsOptions) print(l journal.Line, rec step.Record) error {
	if !o.json {
		if line, ok := view.Line(l.At, rec); ok {
			fmt.Fprintln(o.out, view.Wrap(line, o.width()))
		}
		return nil
	}
	raw, err := step.MarshalRecord(rec)
	if err != nil {
		return err
	}
	b, err := view.Marshal(jsonEvent{1, l.Seq, l.At, raw})
	if err != nil {
		return err
	}
	_, err = o.out.Write(b)
	return err
}
