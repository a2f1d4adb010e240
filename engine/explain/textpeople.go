package explain

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/view"
)

// people says whom the run asks beside, and what holds without an answer.
func (t *page) people(p *Pipeline) {
	var lines []string
	asking(&p.Graph, "", func(path string, a *Asking) {
		text := "  " + view.OneLine(path) + " asks before it starts"
		if len(a.Approvers) > 0 {
			text += ", " + view.OneLine(strings.Join(a.Approvers, ", ")) + " may answer"
		}
		switch {
		case a.Timeout != "":
			text += fmt.Sprintf("; without an answer in %s: %s", a.Timeout, a.OnTimeout)
		case p.Unattended && a.OnTimeout != "":
			text += "; nobody is there, so it counts as: " + a.OnTimeout
		}
		lines = append(lines, text+"; a rejection: "+rejection(a.OnReject))
	})
	if e := p.Escalation; e != nil {
		if e.Timeout != "" {
			lines = append(lines, fmt.Sprintf("  an escalation that nobody decides in %s: %s", e.Timeout, e.OnTimeout))
		}
		for _, run := range e.Notify {
			line, _, _ := strings.Cut(strings.TrimSpace(run), "\n")
			lines = append(lines, "  an escalation is told by: "+view.OneLine(line))
		}
	}
	if len(lines) == 0 {
		return
	}
	t.section("people")
	for _, l := range lines {
		t.line(l)
	}
}

func rejection(word string) string {
	switch word {
	case "skip":
		return "the stage is skipped"
	case "return":
		return "the work goes back"
	}
	return "the stage fails"
}

// asking visits the approvals of a graph and of the pipelines inside it.
func asking(g *Graph, prefix string, visit func(path string, a *Asking)) {
	for i := range g.Stages {
		s := &g.Stages[i]
		if s.Approval != nil {
			visit(prefix+s.ID, s.Approval)
		}
		if s.Inside != nil {
			asking(s.Inside, prefix+s.ID+"/", visit)
		}
	}
}
