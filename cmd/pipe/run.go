package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/view"
)

// runOptions are the options of `pipe run`.
type runOptions struct {
	*app
	pipeline string
	inputs   []string
	file     string
	taskID   string
	fresh    bool
	jobs     int
	wait     bool
	json     bool

	unattended bool
}

func newRunCmd(a *app) *cobra.Command {
	o := &runOptions{app: a}
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Start a run of a pipeline and follow it",
		Long: "Starts a run of a pipeline of the project, or of a file (a path with a slash or .yaml), and follows it.\n" +
			"When nothing can go on before a person answers, it prints what is asked and the commands that answer it,\n" +
			"and exits with status 4; on a terminal, or with --wait, it stays and goes on by itself.\n\n" +
			"An input is given as text; a list or an object as JSON in quotes of the shell. Those of --input win over\n" +
			"those of --inputs.",
		Example: "  pipe run bug-fix --input task='the parser drops the last line'\n" +
			"  pipe run translate --input 'languages=[\"de\",\"fr\"]' --input pages=3 --input draft=true\n" +
			"  pipe run ./ci.yaml --inputs inputs.yaml --jobs 4",
		Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.pipeline = args[0]
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.inputs, "input", nil, "an input, as `NAME=VALUE`; may be repeated")
	f.StringVar(&o.file, "inputs", "", "read inputs from a YAML or JSON `FILE`; - is stdin")
	f.StringVar(&o.taskID, "task-id", "", "the `ID` of the task; loops go on where its last run left them")
	f.BoolVar(&o.fresh, "fresh", false, "with --task-id: loops start at 1")
	f.IntVar(&o.jobs, "jobs", 0, "run at most `N` stages at once (default: the number of processors, at least 2)")
	f.BoolVar(&o.wait, "wait", false, "stay while the run waits for a person")
	f.BoolVar(&o.unattended, "unattended", false, "nobody is there to answer: what would wait for a person fails")
	f.BoolVar(&o.json, "json", false, "print where the run stands at the end as JSON; events go to stderr")
	return cmd
}

func (o *runOptions) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if o.jobs < 1 && cmd.Flags().Changed("jobs") {
		return usagef("--jobs %d: expected a number of at least 1", o.jobs)
	}
	if o.fresh && o.taskID == "" {
		return usagef("--fresh goes with --task-id: without one every run starts its loops at 1")
	}
	return withProcesses(func(ks []stage.Kind) error {
		opt := o.projectOptions(ks)
		opt.Unattended = o.unattended
		p, err := engine.OpenProject(o.dir, opt)
		if err != nil {
			return err
		}
		if strings.ContainsRune(o.pipeline, '/') && isFolder(o.inDir(o.pipeline)) {
			return usagef("%q is a folder, expected the name of a pipeline or a file", o.pipeline)
		}
		l, err := p.Load(o.pipeline, o.dir)
		if err != nil {
			return ofProject(p, err)
		}
		if n := l.Diags.Count(diag.Warning); n > 0 && !l.Diags.HasErrors() {
			check := []string{"check", o.pipeline}
			if o.unattended {
				check = []string{"check", "--unattended", o.pipeline}
			}
			fmt.Fprintf(o.err, "pipe: %s, see `%s`\n", plural(n, "warning"), view.Command(check...))
		}
		if l.Plan == nil || l.Diags.HasErrors() {
			fmt.Fprint(o.err, l.Diags.Text(l.Sources...))
			return &statusError{exitFailed, fmt.Errorf("pipeline %q has errors and was not run", l.Name)}
		}
		inputs, err := readInputs(l.Plan.Inputs, o.file, o.inputs, o.readFile)
		if err != nil {
			return err
		}
		f := &follower{app: o.app, p: p, json: o.json, stay: o.wait || o.interactive(), live: true}
		return o.untilSignal(ctx, func(ctx context.Context) error {
			defer f.leave()
			return f.end(p.Run(ctx, l, engine.RunOptions{
				Follow: f.follow(), Inputs: inputs, TaskID: o.taskID, Fresh: o.fresh, Jobs: o.jobs,
			}))
		})
	})
}
