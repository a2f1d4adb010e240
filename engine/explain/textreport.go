package explain

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/view"
)

// reports says what the words of tools for how severe a finding is become.
func (t *page) reports(g *Graph) {
	var lines []string
	for i := range g.Stages {
		s := &g.Stages[i]
		if s.Report == nil || s.Report.Format == convert.Items && !s.Report.changed() {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s reads %s: %s", view.OneLine(s.ID), s.Report.Format, s.Report.text()))
	}
	if len(lines) == 0 {
		return
	}
	t.section("reports: what a tool's word for how severe a finding is becomes")
	for _, l := range lines {
		t.line(view.Wrap(l, t.width)) // whole: a word that is cut off would be one that nobody knows of
	}
}

func (r *Report) changed() bool {
	for _, w := range r.Words {
		if w.Default != "" {
			return true
		}
	}
	return false
}

// text says what the words become, those first that were overridden.
func (r *Report) text() string {
	var changed, rest []string
	for _, w := range r.Words {
		word := view.OneLine(w.Word)
		text := word + " -> " + w.Severity
		if w.Severity == "none" {
			text = word + " -> no finding"
		}
		if w.Default != "" {
			changed = append(changed, text+" (overridden, else "+w.Default+")")
			continue
		}
		rest = append(rest, text)
	}
	out := slices.Concat(changed, rest)
	if r.Other != "" {
		out = append(out, "other words as "+view.OneLine(r.Other))
	}
	return strings.Join(out, ", ")
}

// text is the task on one line.
func (k *Task) text() string {
	out := k.Key
	switch {
	case k.BodyFile != "":
		out += ", in " + k.BodyFile
	case k.Body != "":
		line, _, more := strings.Cut(strings.TrimSpace(k.Body), "\n")
		if out += ": " + line; more {
			out += " …"
		}
	}
	if len(k.Repos) > 0 {
		out += ", of " + strings.Join(k.Repos, ", ")
	}
	return out
}

// undoing says how what the stages did is undone.
func (t *page) undoing(p *Pipeline) {
	var lines []string
	undone(&p.Graph, "", func(path string, u *Rollback) {
		text := "  " + view.OneLine(path) + ": " + u.Strategy
		if line, _, more := strings.Cut(strings.TrimSpace(u.Run), "\n"); line != "" {
			if text += " " + view.OneLine(line); more {
				text += " …"
			}
		}
		if u.Description != "" {
			text += ", " + view.OneLine(u.Description)
		}
		lines = append(lines, text)
	})
	if len(lines) == 0 {
		return
	}
	t.section("rollbacks, when the run fails: of the stages that were started, the last one first")
	for _, l := range lines {
		t.line(l)
	}
}

// undone visits the rollbacks of a graph and of the pipelines inside it.
func undone(g *Graph, prefix string, visit func(path string, u *Rollback)) {
	for i := range g.Stages {
		s := &g.Stages[i]
		if s.Rollback != nil {
			visit(prefix+s.ID, s.Rollback)
		}
		if s.Inside != nil {
			undone(s.Inside, prefix+s.ID+"/", visit)
		}
	}
}
