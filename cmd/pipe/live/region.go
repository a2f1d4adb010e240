package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"example.com/pipe/engine/view"
)

// maxRows is how many lines of a terminal the region may take: the rest is left for the log above it.
func maxRows(height int) int { return max(1, min(height-1, max(8, height*3/4))) }

// region gives the frame as lines for a terminal of this size: no line is wider, and there are never more than
// maxRows.
func (f *Frame) region(width, height int, look *look) []string {
	rows := maxRows(height)
	p := &painter{Frame: f, look: look, width: width}
	out := []string{p.head()}
	asked := p.questions(rows - 1 - min(3, len(f.Stages), rows/2))
	out = append(out, p.stages(rows-1-len(asked))...)
	out = append(out, asked...)
	for i, l := range out {
		out[i] = fit(l, width) // of the narrowest terminals
	}
	return out
}

// painter makes the lines of one frame.
type painter struct {
	*Frame
	*look
	width int
}

// head is the line that sets the region off from the log, with what holds for the whole run.
func (p *painter) head() string {
	var t tally
	for _, s := range p.Stages {
		t.add(s)
	}
	time := ""
	if p.Started != 0 {
		time = " " + elapsed(p.Now.Since(p.Started))
	}
	word, _, _ := strings.Cut(p.Status, " (")
	done := fmt.Sprintf("%d of %d done", t.done, len(p.Stages))
	if t.failed > 0 {
		done += fmt.Sprintf(", %d failed", t.failed)
	}
	left := []string{view.OneLine(p.Pipeline), view.OneLine(p.Status) + time, done}
	if line := p.joined(left, p.Run); cells(line) <= p.width {
		return p.title.Render(line)
	}
	for n := len(left); n > 1; n-- { // the id stands in the log, and in each command
		if line := p.joined(left[:n], ""); cells(line) <= p.width {
			return p.title.Render(line)
		}
	}
	return p.title.Render(p.joined([]string{left[0], word + time}, ""))
}

// joined sets texts into a rule that is as wide as the terminal, the last one at its end.
func (p *painter) joined(left []string, right string) string {
	var b strings.Builder
	b.WriteString(p.rule + p.rule)
	for _, s := range left {
		if s != "" {
			b.WriteString(" " + s + " " + p.rule)
		}
	}
	if right != "" {
		right = " " + right + " " + p.rule
	}
	fill := p.width - cells(b.String()) - cells(right)
	return b.String() + strings.Repeat(p.rule, max(0, fill)) + right
}

// questions gives what a person is asked in at most so many lines.
func (p *painter) questions(rows int) []string {
	var out []string
	for i := range p.Questions {
		q, room := &p.Questions[i], rows-len(out)
		if i < len(p.Questions)-1 {
			room-- // for how many more there are
		}
		block := p.question(q)
		if len(block) <= room {
			out = append(out, block...)
			continue
		}
		left := len(p.Questions) - i
		if i == 0 && room > 0 {
			out, left = p.shortened(q, room), left-1
		}
		if left > 0 && len(out) < rows {
			out = append(out, p.urgent.Render(fit(fmt.Sprintf("%s %d more to answer: pipe show %s", p.dots, left, p.Run), p.width)))
		}
		break
	}
	return out
}

func (p *painter) question(q *view.Ask) []string {
	return slices.Concat([]string{p.asking(q)}, p.text(q), p.commands(q))
}

// text gives what is said of a question, with lines broken that are wider than the terminal.
func (p *painter) text(q *view.Ask) []string {
	const indent, message = "    ", "| " // which sets what a pipeline says off from commands
	var out []string
	for _, l := range q.Text {
		bar, l := "", plain(l)
		if said, isSaid := strings.CutPrefix(l, message); isSaid {
			bar, l = message, said
		}
		for line := range strings.SplitSeq(ansi.Wrap(l, max(1, p.width-len(indent)-len(bar)), ""), "\n") {
			out = append(out, fit(indent+bar+line, p.width))
		}
	}
	return out
}

// asking says what is asked, and where there is room, that no key here answers it.
func (p *painter) asking(q *view.Ask) string {
	what := fit(p.mark+" "+q.What, p.width)
	line := p.urgent.Render(what)
	if where := "  answer in another terminal"; cells(what)+cells(where) <= p.width {
		line += p.faint.Render(where)
	}
	return line
}

// shortened leaves out of a question what there is no room for: first of its text, then of its commands.
func (p *painter) shortened(q *view.Ask, rows int) []string {
	commands, text := p.commands(q), p.text(q)
	out := []string{p.asking(q)}
	room := rows - 1 - len(commands)
	if n := len(q.Text); n > 1 && n < room { // the beginning of each line says more than the whole of some
		text = make([]string, n)
		for i, l := range q.Text {
			text[i] = fit("    "+plain(l), p.width)
		}
	}
	if room > 0 && len(text) > 0 {
		out = append(out, text[:min(len(text), room-1)]...)
		out = append(out, fit("    "+p.dots+" the rest: pipe show "+p.Run, p.width))
	}
	out = append(out, commands...)
	if len(out) > rows {
		out = append(out[:rows-1], fit("    "+p.dots+" pipe show "+p.Run, p.width))
	}
	return out[:min(len(out), rows)]
}

// commands gives the commands that answer, ready to paste: one that is too long goes on after a backslash, as a
// shell reads it.
func (p *painter) commands(q *view.Ask) []string {
	var out []string
	for _, c := range q.Commands {
		line, first := "   ", true
		for word := range strings.SplitSeq(c, " ") {
			if !first && cells(line)+1+cells(word)+2 > p.width && p.width > 30 {
				out = append(out, line+` \`)
				line = "     "
			}
			line += " " + word
			first = false
		}
		out = append(out, fit(line, p.width))
	}
	return out
}
