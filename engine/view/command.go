package view

import "strings"

// Commands gives the commands that answer what the run waits for, one a line, ready to paste: those of each
// open approval, then those of each open escalation. An interrupted run is answered by resuming it.
func (r *Run) Commands() []string {
	var out []string
	for _, s := range r.asked {
		out = append(out, s.commands(r.info.Run)...)
	}
	for _, e := range r.open {
		out = append(out, e.commands(r.info.Run)...)
	}
	if r.StatusWord() == Interrupted {
		out = append(out, command("resume", r.info.Run))
	}
	return out
}

// commands answer the approval that the stage waits for.
func (s *stage) commands(run string) []string {
	return []string{
		command("approve", run, s.path),
		command("reject", run, s.path) + " --reason TEXT",
	}
}

func (e *escalation) commands(run string) []string {
	var out []string
	for _, option := range e.options() {
		words := []string{"decide", run}
		if len(e.Sources) > 0 {
			words = append(words, e.Sources[0])
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
		}
		out = append(out, line)
	}
	return out
}

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
