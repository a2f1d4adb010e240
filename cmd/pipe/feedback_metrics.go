package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/metrics"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// metricsOptions are the options of `pipe feedback metrics`.
type metricsOptions struct {
	*app
	refs     []string
	pipeline string
	since    string
	json     bool

	from step.Instant // what since means; 0: everything
}

func newFeedbackMetricsCmd(a *app) *cobra.Command {
	o := &metricsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "metrics [RUN...]",
		Short: "Say how feedback loops went: how many settled by themselves, and in how many iterations",
		Long: "Works out of the journals how feedback loops went, each for itself and all together: of the given runs, else\n" +
			"of all runs of the project. Rates are in percent. A loop that goes on is shown, and counted in no rate.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.refs = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.pipeline, "pipeline", "", "only runs of this pipeline")
	cmd.Flags().StringVar(&o.since, "since", "", "only runs that started within this time, such as 12h or 30d")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return a.completeRun(nil)(cmd, nil, word) // one run after another
	}
	return cmd
}

// metricsDoc is what --json prints.
type metricsDoc struct {
	Version    int                `json:"version"`
	Runs       int                `json:"runs"` // that were counted, with a loop or without
	Loops      []metrics.Loop     `json:"per_feedback_loop"`
	Aggregated metrics.Aggregated `json:"aggregated"`
	Skipped    []skippedRun       `json:"skipped"` // whose journal can't be read
}

type skippedRun struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

func (o *metricsOptions) run(context.Context) error {
	if err := o.readSince(); err != nil {
		return err
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	ids, err := o.runs(p)
	if err != nil {
		return err
	}
	doc := metricsDoc{Version: 1, Loops: []metrics.Loop{}, Skipped: []skippedRun{}}
	others := map[string]bool{} // pipelines of runs that are not asked for
	for _, id := range ids {
		r, err := o.loopsOf(p, id)
		switch {
		case err != nil && len(o.refs) > 0:
			return err
		case err != nil:
			doc.Skipped = append(doc.Skipped, skippedRun{id, err.Error()})
		case r == nil: // it has not begun, or is gone by now
		case !o.wants(r):
			others[r.Info().Pipeline] = true
		default:
			doc.Runs++
			doc.Loops = append(doc.Loops, r.Loops()...)
		}
	}
	doc.Aggregated = metrics.Aggregate(doc.Loops)
	o.warn(doc.Skipped)
	if doc.Runs == 0 && o.pipeline != "" && !others[o.pipeline] {
		if hint := diag.Suggest(o.pipeline, slices.Sorted(maps.Keys(others))); hint != "" {
			fmt.Fprintf(o.err, "pipe: there is no run of the pipeline %q, %s\n", o.pipeline, hint)
		}
	}
	return o.print(&doc)
}

// readSince reads a length of time as Go writes it, or in days.
func (o *metricsOptions) readSince() error {
	if o.since == "" {
		return nil
	}
	text, day := strings.CutSuffix(o.since, "d")
	d, err := time.ParseDuration(o.since)
	if day {
		var days float64
		days, err = strconv.ParseFloat(text, 64)
		d = time.Duration(days * float64(24*time.Hour))
	}
	if err != nil || d <= 0 {
		return usagef("--since must be a length of time such as \"12h\" or \"30d\", not %q", o.since)
	}
	o.from = step.At(o.now().Add(-d))
	return nil
}

// wants reports whether a run is asked for.
func (o *metricsOptions) wants(r *metrics.Run) bool {
	return r.Started() >= o.from && (o.pipeline == "" || r.Info().Pipeline == o.pipeline)
}

// runs gives the runs that are asked for, the oldest first, each once.
func (o *metricsOptions) runs(p *engine.Project) ([]string, error) {
	if len(o.refs) == 0 {
		return p.IDs()
	}
	var ids []string
	for _, ref := range o.refs {
		id, err := p.Find(ref)
		if err != nil {
			return nil, ofProject(p, err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// errUnwanted ends the reading of a run that is not asked for.
var errUnwanted = errors.New("the run is not asked for")

// loopsOf works out the loops of a run, of which it reads what tells of them; of one that is not asked for, the
// beginning. There are none of a run that has not begun.
func (o *metricsOptions) loopsOf(p *engine.Project, id string) (*metrics.Run, error) {
	r := &metrics.Run{}
	any, beside := metrics.Types()
	err := journal.ReadTypes(p.RunDir(id), journal.Types{Any: any, Beside: beside}, func(l journal.Line) error {
		for _, rec := range l.Records {
			r.Apply(l.At, rec)
		}
		if r.Started() != 0 && !o.wants(r) {
			return errUnwanted
		}
		return nil
	})
	switch {
	case isMissing(err), errors.Is(err, journal.ErrNoHeader):
		if lost := p.Lost(id); lost != "" {
			return nil, &engine.DamagedError{Run: id, Why: lost}
		}
		return nil, nil
	case err != nil && !errors.Is(err, errUnwanted):
		return nil, err
	case r.Started() == 0:
		return nil, nil
	}
	return r, nil
}

// warn says which runs were left out.
func (o *metricsOptions) warn(skipped []skippedRun) {
	const most = 10
	for i, s := range skipped {
		if i == most {
			fmt.Fprintf(o.err, "pipe: and %s more; `pipe ps` lists them\n", plural(len(skipped)-most, "run"))
			return
		}
		fmt.Fprintf(o.err, "pipe: run %s is left out: %s\n", s.Run, view.OneLine(s.Why))
	}
}

// maxLoops is how many loops the text shows; the JSON holds all.
const maxLoops = 20

func (o *metricsOptions) print(doc *metricsDoc) error {
	if o.json {
		b, err := view.Marshal(doc)
		if err != nil {
			return err
		}
		_, err = o.out.Write(b)
		return err
	}
	fmt.Fprint(o.out, view.Table([][]string{
		{"runs", strconv.Itoa(doc.Runs)},
		{"feedback loops", loopsText(doc.Loops)},
		{"resolved without escalation", percent(doc.Aggregated.SuccessRate)},
		{"iterations to resolve", onAverage(doc.Aggregated.Iterations)},
	}, o.width()))
	if len(doc.Loops) == 0 {
		return nil
	}
	fmt.Fprintf(o.out, "\n%s\n%s", view.Table(bySource(doc), o.width()), o.loops(doc.Loops))
	return nil
}

func loopsText(loops []metrics.Loop) string {
	open := 0
	for i := range loops {
		if loops[i].Open {
			open++
		}
	}
	if open == 0 {
		return strconv.Itoa(len(loops))
	}
	return fmt.Sprintf("%d, %d of them open", len(loops), open)
}

func percent(f *float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", *f)
}

func onAverage(f *float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f on average", *f)
}

// bySource is a row for each review: how often it found something that blocks, and how many of its loops were
// escalated. Those that found nothing stand last.
func bySource(doc *metricsDoc) [][]string {
	rows := [][]string{{"REVIEW", "FOUND ISSUES", "ESCALATED"}}
	seen := map[string]bool{}
	for _, s := range doc.Aggregated.Sources {
		seen[s.Stage] = true
		rows = append(rows, []string{view.OneLine(s.Stage), plural(s.Count, "time"), percent(doc.Aggregated.EscalationRate[s.Stage])})
	}
	for _, stage := range slices.Sorted(maps.Keys(doc.Aggregated.EscalationRate)) {
		if !seen[stage] {
			rows = append(rows, []string{view.OneLine(stage), "-", percent(doc.Aggregated.EscalationRate[stage])})
		}
	}
	return rows
}

// loops shows the loops of the newest runs, below a line for each run.
func (o *metricsOptions) loops(all []metrics.Loop) string {
	shown := all[max(0, len(all)-maxLoops):]
	var rows [][]string
	for i := range shown {
		l := &shown[i]
		rows = append(rows, []string{view.OneLine(l.Source + " -> " + l.Target), plural(l.Iterations, "iteration"),
			fmt.Sprintf("blocking %d -> %d", l.Initial, l.Final), l.Outcome(), view.Duration(l.DurationMS)})
	}
	lines := slices.Collect(strings.Lines(view.Table(rows, o.width())))
	var b strings.Builder
	for i := range shown {
		if i == 0 || shown[i].Run != shown[i-1].Run {
			fmt.Fprintf(&b, "%s  %s\n", shown[i].Run, view.OneLine(shown[i].Pipeline))
		}
		b.WriteString(lines[i])
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(&b, "and %s of earlier runs; --json has them\n", plural(n, "loop"))
	}
	return b.String()
}
