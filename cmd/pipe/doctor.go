package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/view"
)

// doctorOptions are the options of `pipe doctor`.
type doctorOptions struct {
	*app
	run    string
	replay string
	json   bool
}

func newDoctorCmd(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the machine, or the journal of a run",
		Long: "Without flags: checks that this machine has what runs need.\n" +
			"--run RUN: says whether the journal of a run is whole and, if not, what can be saved; changes nothing.\n" +
			"--replay RUN: decides every step of a run again and compares. A difference is no mistake: a run goes on\n" +
			"from its records, whatever this version would decide now; the exit status is 0.",
		Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.do(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.run, "run", "", "examine the journal of `RUN`")
	cmd.Flags().StringVar(&o.replay, "replay", "", "decide the steps of `RUN` again and compare")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *doctorOptions) do(ctx context.Context) error {
	if o.run != "" && o.replay != "" {
		return usagef("--run and --replay don't go together")
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	ref := o.run + o.replay
	if ref == "" {
		return o.checkMachine(ctx, p)
	}
	id, err := p.Find(ref)
	if err != nil {
		return asStatus(err)
	}
	if o.run != "" {
		return o.examine(p, id)
	}
	return o.compare(p, id)
}

// jsonJournal is the report on a journal as JSON.
type jsonJournal struct {
	Version int           `json:"version"`
	Run     string        `json:"run"`
	Whole   bool          `json:"whole"`
	Steps   int64         `json:"steps"` // that are whole from the start
	Bytes   int64         `json:"bytes"` // that they take
	Size    int64         `json:"size"`
	Torn    int64         `json:"torn,omitempty"`
	Damage  *jsonDamage   `json:"damage,omitempty"`
	Unknown string        `json:"unknown,omitempty"`
	Blobs   []string      `json:"missing_blobs,omitempty"`
	Later   []jsonStretch `json:"readable_after,omitempty"`
}

type jsonDamage struct {
	Offset int64  `json:"offset"`
	Line   int64  `json:"line"`
	Why    string `json:"why"`
}

type jsonStretch struct {
	Offset int64 `json:"offset"`
	End    int64 `json:"end"`
	First  int64 `json:"first"`
	Last   int64 `json:"last"`
}

// examine reports on the journal of a run.
func (o *doctorOptions) examine(p *engine.Project, id string) error {
	r, err := journal.Salvage(p.RunDir(id))
	if err != nil {
		return err
	}
	doc := jsonJournal{Version: 1, Run: id, Whole: r.Damage == nil && r.Unknown == nil && len(r.Blobs) == 0,
		Steps: r.Whole.Seq, Bytes: r.Whole.Offset, Size: r.Size, Torn: r.Torn, Blobs: r.Blobs}
	if d := r.Damage; d != nil {
		doc.Damage = &jsonDamage{d.Offset, d.Line, d.Error()}
	}
	if r.Unknown != nil {
		doc.Unknown = r.Unknown.Error()
	}
	for _, s := range r.Stretch {
		doc.Later = append(doc.Later, jsonStretch{s.Offset, s.End, s.First, s.Last})
	}
	if o.json {
		b, err := view.Marshal(doc)
		if err != nil {
			return err
		}
		if _, err := o.out.Write(b); err != nil {
			return err
		}
	} else {
		o.writeJournal(doc, p.RunDir(id))
	}
	if !doc.Whole {
		return withStatus(exitFailed)
	}
	return nil
}

func (o *doctorOptions) writeJournal(doc jsonJournal, dir string) {
	fmt.Fprintf(o.out, "run %s: %s, %d of %d bytes\n", doc.Run, plural(int(doc.Steps), "whole step"), doc.Bytes, doc.Size)
	if doc.Torn > 0 {
		fmt.Fprintf(o.out, "  the last line is torn (%d bytes): its step was never carried out, and a resume drops it\n", doc.Torn)
	}
	if d := doc.Damage; d != nil {
		fmt.Fprintf(o.out, "  damaged at byte %d, line %d: %s\n", d.Offset, d.Line, view.OneLine(d.Why))
		fmt.Fprintf(o.out, "  all before it can be saved: copy the folder %s, then cut %s after byte %d; `pipe resume` goes on from there,\n"+
			"  and stages that ended later run again\n", dir, journal.FileName, doc.Bytes)
	}
	for _, s := range doc.Later {
		fmt.Fprintf(o.out, "  readable after the damage, for people only: steps %d to %d, bytes %d to %d\n", s.First, s.Last, s.Offset, s.End)
	}
	if doc.Unknown != "" {
		fmt.Fprintf(o.out, "  written by another version: %s\n", view.OneLine(doc.Unknown))
	}
	for _, b := range doc.Blobs {
		fmt.Fprintf(o.out, "  blob %s is missing or not what it was\n", b)
	}
	if doc.Whole {
		fmt.Fprintln(o.out, "  nothing is wrong")
	}
}

// compare decides a run again.
func (o *doctorOptions) compare(p *engine.Project, id string) error {
	r, err := p.Replay(id)
	if err != nil {
		return err
	}
	if o.json {
		type difference struct {
			Seq      int64  `json:"seq"`
			At       string `json:"at"`
			Event    string `json:"event"`
			Recorded string `json:"recorded"`
			Decided  string `json:"decided"`
		}
		list := make([]difference, len(r.Differences))
		for i, d := range r.Differences {
			list[i] = difference{d.Seq, d.At.String(), d.Event, d.Recorded, d.Decided}
		}
		b, err := view.Marshal(struct {
			Version     int          `json:"version"`
			Run         string       `json:"run"`
			Steps       int          `json:"steps"`
			Differences []difference `json:"differences"`
		}{1, id, r.Steps, list})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	fmt.Fprintf(o.out, "run %s: %s decided again, %s\n", id, plural(r.Steps, "step"), plural(len(r.Differences), "difference"))
	for i := range r.Differences {
		writeDifference(o.out, &r.Differences[i])
	}
	return nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return view.OneLine(s)
}
