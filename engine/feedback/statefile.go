package feedback

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeLayout is how all files of a run write a time: RFC 3339, UTC, with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// State is what the state file of a loop says: where the loop stands, and all its items of all rounds.
type State struct {
	TaskID string
	Pair
	Iteration, Max int
	LastAction     Action
	UpdatedAt      time.Time
	Items          []Item // in order of ids
}

// maxFileName leaves room for ".md", and for what a name gets while the file is written, under the 255 bytes
// that file systems allow.
const maxFileName = 220

// StateFileName is the name of a loop's state file in session.current:
// feedback-{task_id}-{source}-{target}.md. Paths of instances are written with dots ("parent/id[0]" is
// "parent.id.0"); a name that no file system would take is cut and ends in a number made of all of it.
func StateFileName(task string, p Pair) string {
	return sessionFile("feedback", task, p.Source, p.Target)
}

// TodoFileName is the name of the list of attempts of a refined stage in session.current: todo-{stage}.md.
func TodoFileName(stage string) string { return sessionFile("todo", stage) }

// sessionFile makes a name of words, joined by dashes.
func sessionFile(name string, words ...string) string {
	for _, w := range words {
		name += "-" + fileNamePart(w)
	}
	if len(name) > maxFileName {
		h := fnv.New64a()
		fmt.Fprint(h, name)
		name = fmt.Sprintf("%s-%016x", name[:maxFileName-17], h.Sum64())
	}
	return name + ".md"
}

// fileNamePart is a task id or a stage's path as part of a file name.
func fileNamePart(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r == '/', r == '[':
			return '.'
		case r == ']':
			return -1
		}
		return '_'
	}, s)
}

// StateFile is the text of a loop's state file: the front matter of the protocol, and below it all items.
func StateFile(s State) string {
	task, source, target := fileNamePart(s.TaskID), fileNamePart(s.Source), fileNamePart(s.Target)
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range [][2]string{
		{"entity_name", yamlText(strings.Join([]string{"session.current.feedback", task, source, target}, "."))},
		{"namespace", "session.current"},
		{"category", "feedback-loop"},
		{"task_id", yamlText(s.TaskID)},
		{"source_stage", yamlText(s.Source)},
		{"target_stage", yamlText(s.Target)},
		{"iteration", strconv.Itoa(s.Iteration)},
		{"max_iterations", strconv.Itoa(s.Max)},
		{"last_action", lastAction(s.LastAction)},
		{"updated_at", timeText(s.UpdatedAt)},
	} {
		fmt.Fprintf(&b, "%s: %s\n", f[0], f[1])
	}
	b.WriteString("---\n")
	fmt.Fprintf(&b, "\n# Feedback of %s to %s\n", markdownName(s.Source), markdownName(s.Target))
	if len(s.Items) == 0 {
		b.WriteString("\nNo items.\n")
	}
	items := slices.Clone(s.Items)
	slices.SortStableFunc(items, func(x, y Item) int { return x.FirstRound - y.FirstRound })
	round := -1
	for i := range items {
		if items[i].FirstRound != round {
			round = items[i].FirstRound
			fmt.Fprintf(&b, "\n## Found in round %d\n\n", round)
		}
		writeItem(&b, &items[i])
	}
	return b.String()
}

// lastAction is empty in YAML's sense before the first decision.
func lastAction(a Action) string {
	if a == UnknownAction {
		return "null"
	}
	return a.String()
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return "null"
	}
	return t.UTC().Format(timeLayout)
}

// writeItem writes one item of a state file, whole.
func writeItem(b *strings.Builder, i *Item) {
	fmt.Fprintf(b, "- **%s** (%s, %s) **%s** - %s\n", markdownName(i.ID), i.Severity, i.Status,
		place(markdownName(i.File), i.Line), markdownText(i.Description))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %s: %s\n", name, markdownText(text))
		}
	}
	line("Fix", i.SuggestedFix)
	line("Agent", i.SourceAgent)
	line("Gate", i.GateID)
	line("Category", i.Category)
	line("Last given", roundText(i.LastRound))
	for _, flag := range i.Flags {
		line("Note", flag)
	}
	line("Disputed", i.Dispute)
	line("Reason", i.Reason)
	line("By", i.By)
}

func roundText(n int) string {
	if n == 0 {
		return ""
	}
	return "round " + strconv.Itoa(n)
}

// yamlText is a text as a plain scalar where YAML reads it back as the same text, else in double quotes.
func yamlText(s string) string {
	plain := s != "" && (isLetter(s[0]) || s[0] == '_') && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x80 || !isLetter(byte(r)) && (r < '0' || r > '9') && !strings.ContainsRune("_./-[]", r)
	})
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		plain = false
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == 0xfeff || IsHidden(r) && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ParseStateFile reads the front matter of a state file; what it does not know it leaves alone, and a field
// that is missing stays zero. Items are not read: the journal has them. Text without front matter, and a
// number, action or time that is none, are errors.
func ParseStateFile(text string) (State, error) {
	lines, err := frontMatter(text)
	if err != nil {
		return State{}, err
	}
	var s State
	for n, line := range lines {
		name, rest, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(name, " ") {
			continue
		}
		if err := s.set(strings.TrimSpace(name), unquote(strings.TrimSpace(rest))); err != nil {
			return State{}, fmt.Errorf("state file line %d: %w", n+2, err)
		}
	}
	return s, nil
}

func frontMatter(text string) ([]string, error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return nil, fmt.Errorf("state file: expected front matter that starts with \"---\", found %q", clip(lines[0], 40))
	}
	for i, line := range lines[1:] {
		if line = strings.TrimRight(line, " \t"); line == "---" || line == "..." {
			return lines[1 : i+1], nil
		}
	}
	return nil, errors.New("state file: the front matter has no end, expected a line \"---\"")
}

func (s *State) set(name, text string) error {
	var err error
	isNull := text == "null" || text == "~"
	switch name {
	case "task_id":
		s.TaskID = text
	case "source_stage":
		s.Source = text
	case "target_stage":
		s.Target = text
	case "iteration":
		s.Iteration, err = strconv.Atoi(text)
	case "max_iterations":
		s.Max, err = strconv.Atoi(text)
	case "last_action":
		if !isNull {
			err = s.LastAction.UnmarshalText([]byte(text))
		}
	case "updated_at":
		if !isNull {
			s.UpdatedAt, err = time.Parse(time.RFC3339, text)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// unquote reads a scalar of the front matter: quoted either way, or plain with a comment behind it.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
		return s
	}
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	if at := strings.Index(s, " #"); at >= 0 {
		s = strings.TrimSpace(s[:at])
	}
	return s
}
