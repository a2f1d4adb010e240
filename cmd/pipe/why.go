package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/view"
)

// whyOptions are the options of `pipe why`.
type whyOptions struct {
	*app
	ref   string
	stage string
	json  bool
}

func newWhyCmd(a *app) *cobra.Command {
	o := &whyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "why RUN [STAGE]",
		Short: "Explain why a run, or a stage of it, stands where it does",
		Args:  between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref, o.stage = args[0], second(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// lastLines is how many lines of a failed try are shown.
const lastLines = 10

func (o *whyOptions) run(context.Context) error {
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	id, v, err := o.find(p, o.ref)
	if err != nil {
		return err
	}
	e := v.WhyRun()
	if o.stage != "" {
		var ok bool
		if e, ok = v.Why(o.stage); !ok {
			return noStage(v, o.stage)
		}
	}
	var lines []string
	if tries := v.Tries(o.stage); e.Failed && len(tries) > 0 {
		dir := folderOf(p, id, tries[len(tries)-1])
		for _, name := range []string{driver.StderrName, driver.StdoutName} {
			if lines, err = tailLines(filepath.Join(dir, name), lastLines); err != nil {
				return err
			}
			if len(lines) > 0 {
				break
			}
		}
	}
	return o.print(id, e, lines)
}

func noStage(v *view.Run, name string) error {
	if hint := diag.Suggest(name, v.Paths()); hint != "" {
		return usagef("the run has no stage %q, %s", name, hint)
	}
	const most = 10
	paths := v.Paths()
	if len(paths) > most {
		return usagef("the run has no stage %q; `pipe show %s` lists them", name, v.Info().Run)
	}
	return usagef("the run has no stage %q; its stages are %s", name, strings.Join(paths, ", "))
}

func (o *whyOptions) print(run string, e view.Explanation, lines []string) error {
	if o.json {
		b, err := view.Marshal(struct {
			Version int    `json:"version"`
			Run     string `json:"run"`
			view.Explanation
			LastLines []string `json:"last_lines,omitempty"`
		}{1, run, e, lines})
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	if e.Stage == "" {
		fmt.Fprintf(o.out, "run %s is %s\n", run, e.Status)
	} else {
		fmt.Fprintf(o.out, "stage %q is %s\n", e.Stage, e.Status)
	}
	for _, r := range e.Reasons {
		fmt.Fprintln(o.out, view.Wrap("  "+r, o.width()))
	}
	if len(lines) > 0 {
		fmt.Fprintln(o.out, "its last lines:")
		for _, l := range lines {
			fmt.Fprintf(o.out, "  | %s\n", view.Escape(l))
		}
	}
	if len(e.Commands) > 0 {
		if e.Resume {
			fmt.Fprintln(o.out, "go on with:")
		} else {
			fmt.Fprintln(o.out, "answer it with:")
		}
		for _, c := range e.Commands {
			fmt.Fprintf(o.out, "  %s\n", c)
		}
	}
	return nil
}
