package view

import (
	"strings"

	"example.com/pipe/engine/feedback"
)

// Commands gives the commands that answer what the run waits for, one a line, ready to paste: those of each
// open approval, then those of each open escalation. A run that was interrupted,
// or answered and not carried on since, is resumed.
func (r *Run) Commands() []string {
	var out []string
	for _, s := range r.asked {
		out = append(out, s.commands(r.info.Run)...)
	}
	for _, e := range r.open {
		out = append(out, r.escalationCommands(e)...)
	}
	if r.goesOnByResume() {
		out = append(out, command("resume", r.info.Run))
	}
	return out
}

// goesOnByResume reports whether nothing is asked and only a resume is wanted: the run was interrupted, or all
// that it waited for was answered.
func (r *Run) goesOnByResume() bool {
	_, answered := r.Answered()
	return answered || r.StatusWord() == Interrupted
}

// commands answer the approval that the stage waits for.
func (s *stage) commands(run string) []string {
	by := ""
	if s.approval != nil && len(s.approval.approvers) > 0 {
		by = " --by NAME"
	}
	return []string{
		command("approve", run, s.path) + by,
		command("reject", run, s.path) + by + " --reason TEXT",
	}
}

// escalationCommands answer an open escalation.
func (r *Run) escalationCommands(e *escalation) []string {
	run := r.info.Run
	var out []string
	for _, option := range e.options() {
		words := []string{"decide", run}
		if name := e.Named(); name != "" {
			words = append(words, name)
		}
		line := command(append(words, option)...)
		if e.ID != "" {
			line += " --id " + shellWord(e.ID)
		}
		switch option {
		case "refer-back":
			line += " --note TEXT"
		case "override":
			line += " --reason TEXT"
			for _, name := range r.wantedOutputs(e) {
				line += " --output " + shellWord(name) + "=VALUE"
			}
		}
		out = append(out, line)
		if option == "abort" && len(r.Undoable()) > 0 {
			out = append(out, line+" --rollback")
		}
	}
	return out
}

// wantedOutputs names the outputs that an override of an interrupted stage must give.
func (r *Run) wantedOutputs(e *escalation) []string {
	if e.Reason != feedback.ReasonInterrupted || len(e.Sources) == 0 {
		return nil
	}
	n := r.Node(e.Sources[0])
	if n == nil {
		return nil
	}
	var out []string
	for _, p := range n.Outputs {
		if p.Required {
			out = append(out, p.Name)
		}
	}
	return out
}

// Command gives a call of pipe, "pipe check NAME", whose words a shell reads back as they are.
func Command(words ...string) string { return command(words...) }

// command gives a call of pipe whose words a shell reads back as they are.
func command(words ...string) string {
	var b strings.Builder
	b.WriteString("pipe")
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(shellWord(w))
	}
	return b.String()
}

// shellWord quotes a word where a POSIX shell would not read it back as it is: "id[0]" is a pattern.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-:@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(Escape(s), "'", `'\''`) + "'"
}
