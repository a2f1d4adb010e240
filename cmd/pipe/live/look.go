package live

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// look is what the region is drawn with. What its styles do to text never changes its width.
type look struct {
	title, urgent, busy, bad, good, faint lipgloss.Style

	rule, mark, dots     string
	top, tee, line, last string // joins the stages that run beside one another
	glyphs               map[step.StageStatus]string
}

func newLook() *look {
	return &look{
		title:  lipgloss.NewStyle().Bold(true),
		urgent: lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow),
		busy:   lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Cyan),
		bad:    lipgloss.NewStyle().Foreground(lipgloss.Red),
		good:   lipgloss.NewStyle().Foreground(lipgloss.Green),
		faint:  lipgloss.NewStyle().Faint(true),
		rule:   "─", mark: "▲", dots: "…", top: "┌", tee: "├", line: "│", last: "└",
		glyphs: map[step.StageStatus]string{
			step.UnknownStageStatus: "·", step.Pending: "·", step.Waiting: "◦", step.Running: "●",
			step.Succeeded: "✓", step.Failed: "✗", step.Skipped: "-", step.NotRun: "-",
			step.Cancelled: "✗", step.Stale: "·",
		},
	}
}

// glyph is the mark of a stage: one about which a person is asked waits, whatever it came to.
func (l *look) glyph(s view.StageState) string {
	if s.Asked {
		return l.glyphs[step.Waiting]
	}
	return l.glyphs[s.Status]
}

// style is how a stage of this kind stands out.
func (l *look) style(s view.StageState) lipgloss.Style {
	switch {
	case s.Asked:
		return l.urgent
	case s.Status == step.Running:
		return l.busy
	case s.Status == step.Failed:
		return l.bad
	case s.Status == step.Succeeded:
		return l.good
	case isTrouble(s):
		return lipgloss.NewStyle()
	}
	return l.faint
}

// cells is how wide a text is at most: terminals do not agree on characters that are made of several.
func cells(s string) int { return max(ansi.StringWidth(s), ansi.StringWidthWc(s)) }

// fit cuts text to at most width cells, the last of them an ellipsis where something was cut off.
func fit(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	for w := width; w > 0; w-- { // what one way of counting leaves whole may be too wide by the other one
		if short := ansi.Truncate(ansi.TruncateWc(s, w, "…"), w, "…"); cells(short) <= width {
			return short
		}
	}
	return ""
}

// padded gives text exactly width cells.
func padded(s string, width int) string {
	s = fit(s, width)
	return s + strings.Repeat(" ", max(0, width-cells(s)))
}
