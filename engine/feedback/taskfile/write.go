package taskfile

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/pipe/engine/feedback"
)

// What a file that is written holds at most, so that it is never larger than one that is read.
const (
	maxText   = 2000 // characters of a text
	maxIssues = 1000 // of all three kinds
)

// Clean gives the file as Write writes it and Read reads it back: each text one line, safe to print and of a
// bounded length; a place that stands at the end of a file's name in its own fields; no issue without a text and
// none that says that there is none; no attempt that can't be. A sign-off without a status is a pass.
func (f File) Clean() File {
	out := File{
		Task: oneLine(f.Task), Status: f.Status, Attempt: f.Attempt, MaxAttempts: f.MaxAttempts,
		Summary: oneLine(f.Summary), SignedOff: f.SignedOff,
	}
	if out.Status == Unknown && out.SignedOff {
		out.Status = Pass
	}
	if out.Attempt < 1 || out.Attempt > maxAttempts {
		out.Attempt, out.MaxAttempts = 0, 0
	}
	if out.MaxAttempts < 1 || out.MaxAttempts > maxAttempts {
		out.MaxAttempts = 0
	}
	if t := f.Timestamp.UTC().Truncate(time.Millisecond); t.Year() >= 1 && t.Year() <= 9999 {
		out.Timestamp = t
	}
	left, dropped := maxIssues, 0
	for _, list := range []struct {
		from []Issue
		to   *[]Issue
	}{{f.Critical, &out.Critical}, {f.Warnings, &out.Warnings}, {f.Suggestions, &out.Suggestions}} {
		for _, i := range list.from {
			i, ok := cleanIssue(i)
			switch {
			case !ok:
			case left == 0:
				dropped++
			default:
				*list.to = append(*list.to, i)
				left--
			}
		}
	}
	if dropped > 0 {
		out.Summary = strings.TrimSpace(fmt.Sprintf("%s (%d more findings are left out)", feedback.OneLine(out.Summary, maxText-60), dropped))
	}
	return out
}

func oneLine(s string) string { return feedback.OneLine(s, maxText) }

func cleanIssue(i Issue) (Issue, bool) {
	i.Description, i.File = oneLine(i.Description), trimDot(oneLine(i.File))
	for {
		m := lineLast.FindStringSubmatch(i.File)
		if m == nil {
			break
		}
		if i.File = trimDot(strings.TrimSpace(m[1])); i.Line == 0 {
			i.Line = lineNumber(m[2])
		}
	}
	if i.File == "" || i.Line < 0 || i.Line > 999_999_999 {
		i.Line = 0
	}
	return i, i.Description != "" && !isNone(i.Description)
}

// Write gives the bytes of a file. It writes what Clean makes of the value, and leaves out the parts that are empty.
func Write(f File) []byte {
	f = f.Clean()
	var b bytes.Buffer
	b.WriteString("# Task Feedback")
	if f.Task != "" {
		b.WriteString(": " + escapeName(f.Task))
	}
	b.WriteString("\n")
	for i, field := range fields(&f) {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "**%s:** %s\n", field[0], field[1])
	}
	if f.Summary != "" {
		fmt.Fprintf(&b, "\n## Summary\n\n%s\n", escapeLine(f.Summary))
	}
	if len(f.Critical)+len(f.Warnings) > 0 {
		b.WriteString("\n## Issues\n")
		writeBoxes(&b, "Critical", f.Critical)
		writeBoxes(&b, "Warnings", f.Warnings)
	}
	if len(f.Suggestions) > 0 {
		b.WriteString("\n## Suggestions\n\n")
		for i := range f.Suggestions {
			s := &f.Suggestions[i]
			if s.Done {
				b.WriteString(entryText(s, "- [x] ", escapeEntry))
			} else {
				b.WriteString(entryText(s, "- ", escapeLine))
			}
		}
	}
	if f.SignedOff {
		b.WriteString("\n## Sign-Off\n\n✅ APPROVED")
		if f.Task != "" {
			fmt.Fprintf(&b, " - Task %s implementation verified", escapeName(f.Task))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// fields lists the fields above the first heading that have a value.
func fields(f *File) [][2]string {
	var out [][2]string
	if f.Status != Unknown {
		out = append(out, [2]string{"Status", f.Status.String()})
	}
	if f.Attempt > 0 {
		text := strconv.Itoa(f.Attempt)
		if f.MaxAttempts > 0 {
			text += "/" + strconv.Itoa(f.MaxAttempts)
		}
		out = append(out, [2]string{"Attempt", text})
	}
	if !f.Timestamp.IsZero() {
		out = append(out, [2]string{"Timestamp", f.Timestamp.Format(timeLayout)})
	}
	return out
}

func writeBoxes(b *bytes.Buffer, name string, list []Issue) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", name)
	for i := range list {
		mark := "- [ ] "
		if list[i].Done {
			mark = "- [x] "
		}
		b.WriteString(entryText(&list[i], mark, escapeEntry))
	}
}

// escapeEntry writes text behind a box, where only a template's braces and the mark of a block of code mean anything.
func escapeEntry(s string) string {
	if s = escape(s); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "~") {
		return `\` + s
	}
	return s
}

// entryText writes an issue as a line. Text that ends like the place of an issue that has none is escaped, so that it
// stays text.
func entryText(i *Issue, mark string, write func(string) string) string {
	text := write(i.Description)
	if i.File != "" {
		return mark + text + " - " + placeText(i.File, i.Line) + "\n"
	}
	if _, file, _ := splitPlace(text); file != "" {
		text = escapeMarks(i.Description, "\\`<:/{~#>-*+=|[_")
	}
	return mark + text + "\n"
}
