package convert

import (
	"io"
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
)

// goVet reads the output of go vet: "file:line:col: message" lines, with indented ones that go on, after
// "# package" headers that say nothing more.
func goVet(f *findings) error {
	for _, r := range []io.Reader{f.in.Stdout, f.in.Stderr} {
		var at *position
		flush := func() {
			if at != nil {
				f.addPosition(*at)
				at = nil
			}
		}
		err := eachLine(r, func(line string) bool {
			pos, ok := readPosition(line)
			switch {
			case ok:
				flush()
				at = &pos
			case at != nil && strings.HasPrefix(line, "\t") && len(at.message) < maxText:
				at.message += "\n" + strings.TrimSpace(line)
			default:
				flush()
				f.hear(line)
			}
			return true
		})
		if err != nil {
			return err
		}
		flush()
	}
	f.sort()
	return nil
}

// addPosition keeps a finding of a compiler or of vet.
func (f *findings) addPosition(p position) {
	f.add(feedback.Item{
		Severity: f.severity(f.format.words[0].Word), File: f.place(p.file), Line: p.line,
		Description: clip(p.message, maxText),
	}, p.message)
}

// patternLines reads every line that the pattern matches. Without a group "description" the whole line
// describes the finding; without "severity", or with a word that is not known, it is an error.
func patternLines(f *findings) error {
	names := f.in.Pattern.SubexpNames()
	for _, r := range []io.Reader{f.in.Stdout, f.in.Stderr} {
		err := eachLine(r, func(line string) bool {
			m := f.in.Pattern.FindStringSubmatch(line)
			if m == nil {
				f.hear(line)
				return true
			}
			item, word := feedback.Item{}, ""
			for i, name := range names {
				switch text := strings.TrimSpace(m[i]); name {
				case "file":
					item.File = f.place(text)
				case "line":
					if n, err := strconv.Atoi(text); err == nil && n > 0 {
						item.Line = n
					}
				case "description":
					item.Description = clip(text, maxText)
				case "severity":
					word = strings.ToLower(text)
				}
			}
			if item.Description == "" {
				item.Description = clip(strings.TrimSpace(line), maxText)
			}
			if item.Description == "" {
				return true // a pattern that matches an empty line has found nothing
			}
			item.Severity = f.severity(word)
			f.add(item, item.Description)
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lineWords are the words that tools use.
func lineWords() []Word {
	var out []Word
	for _, w := range []struct {
		words    string
		severity feedback.Severity
	}{
		{"error blocking", feedback.Blocking},
		{"warning warn w advisory", feedback.Advisory},
		{"info informational note notice hint i", feedback.Informational},
	} {
		for _, word := range strings.Fields(w.words) {
			out = append(out, Word{word, w.severity})
		}
	}
	return out
}
