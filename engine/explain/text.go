package explain

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/pipe/engine/view"
)

// Text gives the explanation for people. Lines of tables are cut to width columns; 0 cuts none.
func (p *Pipeline) Text(width int) string {
	t := &page{width: width}
	t.head(p)
	t.inputs(p.Inputs)
	t.graph(&p.Graph, "")
	t.undoing(p)
	t.people(p)
	if len(p.Outputs) > 0 {
		t.section("outputs of the run")
		t.line("  " + strings.Join(p.Outputs, ", "))
	}
	return t.b.String()
}

// page collects lines.
type page struct {
	b     strings.Builder
	width int
}

func (t *page) line(s string) {
	t.b.WriteString(s)
	t.b.WriteByte('\n')
}

func (t *page) section(title string) {
	t.line("")
	t.line(title)
}

func (t *page) table(rows [][]string) { t.b.WriteString(view.Table(rows, t.width)) }

func (t *page) head(p *Pipeline) {
	t.line("pipeline   " + view.OneLine(p.Name))
	if p.File != "" {
		t.line("file       " + view.OneLine(p.File))
	}
	if p.Description != "" {
		t.line("for        " + view.OneLine(p.Description))
	}
	if k := p.Task; k != nil {
		t.line("task       " + view.OneLine(k.text()))
	}
	if p.Workspace != "in_place" {
		t.line("workspace  a git worktree of the run's own, whose branch is kept")
	}
	if p.Unattended {
		t.line("people     none: what would wait for one fails")
	}
}

func (t *page) inputs(ps []Param) {
	if len(ps) == 0 {
		return
	}
	t.section("inputs")
	rows := make([][]string, 0, len(ps))
	for _, p := range ps {
		what := "optional"
		switch {
		case p.Required:
			what = "required"
		case p.Default != nil:
			text, err := p.Default.MarshalJSON()
			if err != nil {
				text = []byte("null")
			}
			what = "default " + view.OneLine(string(text))
		}
		rows = append(rows, []string{view.OneLine(p.Name), view.OneLine(p.Type), what, view.OneLine(p.Description)})
	}
	t.table(rows)
}

func (t *page) graph(g *Graph, of string) {
	title := "stages; those of one step run side by side, as far as the workspace and --jobs allow"
	if of != "" {
		title = "stages of " + of
	}
	t.section(title)
	byID := map[string]*Stage{}
	for i := range g.Stages {
		byID[g.Stages[i].ID] = &g.Stages[i]
	}
	rows := [][]string{{"STEP", "STAGE", "ROLE", "RUNS", "AT MOST", ""}}
	for n, ids := range g.Steps {
		for k, id := range ids {
			step := ""
			if k == 0 {
				step = strconv.Itoa(n + 1)
			}
			rows = append(rows, append([]string{step}, byID[id].row()...))
		}
	}
	for i := range g.Finally {
		step := ""
		if i == 0 {
			step = "end"
		}
		rows = append(rows, append([]string{step}, g.Finally[i].row()...))
	}
	t.table(rows)
	t.loops(g)
	t.reports(g)
	for i := range g.Stages {
		if in := g.Stages[i].Inside; in != nil {
			t.graph(in, "\""+view.OneLine(of+g.Stages[i].ID)+"\", which runs the pipeline "+view.OneLine(g.Stages[i].Runs))
		}
	}
}

func (s *Stage) row() []string {
	runs := s.Kind
	if line, _, more := strings.Cut(s.Runs, "\n"); line != "" {
		if runs += " " + view.OneLine(line); more {
			runs += " …"
		}
	}
	const most = 48
	if r := []rune(runs); len(r) > most {
		runs = string(r[:most-1]) + "…"
	}
	return []string{view.OneLine(s.ID), s.Role, runs, s.bound(), s.notes()}
}

// bound says how often the stage can run.
func (s *Stage) bound() string {
	text := times(s.MostRuns, "run")
	if s.ForItems > 0 {
		text += fmt.Sprintf(" + %d for each item", s.ForItems)
	}
	if s.PerItem {
		text += " of each item"
	}
	if s.MostTries != s.MostRuns {
		text += ", " + times(s.MostTries, "try")
	}
	return text
}

func times(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what == "try":
		return fmt.Sprintf("%d tries", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// notes says what else matters about a stage.
func (s *Stage) notes() string {
	var out []string
	add := func(ok bool, text string) {
		if ok {
			out = append(out, view.OneLine(text))
		}
	}
	add(s.When != "", "when "+s.When)
	add(s.ForEach != "", "for each "+s.ForEach)
	add(s.Approval != nil, "asks a person first")
	add(s.Writes, "has the workspace alone")
	add(s.Contract != "", "contract "+s.Contract)
	add(s.Discovery, "is given the task")
	if s.Refine != nil {
		add(true, "validates the refine loop "+s.Refine.Name)
		add(s.Refine.File != "", "findings in "+s.Refine.File)
	}
	add(s.AfterError, "the run goes on if it fails")
	return strings.Join(out, "; ")
}

func (t *page) loops(g *Graph) {
	if len(g.Loops) == 0 {
		return
	}
	t.section("loops: what a review finds blocking goes back to its target, which runs again, and then")
	for i := range g.Loops {
		l := &g.Loops[i]
		why := ""
		switch {
		case l.OnReject:
			why = ", when a person rejects it"
		case l.Self:
			why = ", anew each time that something else makes " + view.OneLine(l.Target) + " run"
		}
		t.line(fmt.Sprintf("  %s -> %s, up to %s%s", view.OneLine(l.Source), view.OneLine(l.Target), times(l.MaxIterations, "iteration"), why))
		t.line("    runs again: " + view.OneLine(strings.Join(l.Again, ", ")))
		end := "a person is asked"
		switch l.OnExhausted {
		case "fail":
			end = "it fails"
		case "findings":
			end = "what is open becomes findings of the stage around it"
		}
		for _, r := range l.Rules {
			t.line(fmt.Sprintf("    %s: %s -> %s", r.Name, r.Text, end))
		}
		if l.RatchetFrom > 0 {
			t.line(fmt.Sprintf("    ratchet_from: from iteration %d on an item that is new blocks only on lines changed since the last review", l.RatchetFrom))
		}
		if len(l.Off) > 0 {
			t.line("    off: " + strings.Join(l.Off, ", "))
		}
	}
}
