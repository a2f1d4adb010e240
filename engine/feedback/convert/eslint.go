package convert

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert/jsonstream"
)

// eslint reads what ESLint prints with its formatter json: a list with an object for each file that it looked at;
// with json-with-metadata the list is the member "results" of an object.
func eslint(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	e := &eslintReport{f: f, in: jsonstream.New(f.in.Stdout)}
	listed := false
	files := func() { listed = e.in.Array(func(i int) { e.file(i) }) || listed }
	if e.in.Peek() == '{' {
		e.in.Object(func(name string) {
			if name == "results" {
				files()
			} else {
				e.in.Skip()
			}
		})
	} else {
		files()
	}
	if e.in.Err() == nil && !e.in.End() {
		e.in.Unexpected("the end of the report")
	}
	if e.in.Err() == nil && !listed {
		e.in.Fail("the report holds no list of files, which is what ESLint writes with --format json")
	}
	if e.in.Err() != nil {
		return f.notRead(e.in.Err())
	}
	f.sort()
	f.summary = fmt.Sprintf("%d findings", len(f.items)+f.dropped)
	if e.suppressed > 0 {
		f.summary += fmt.Sprintf(", %d suppressed", e.suppressed)
	}
	return nil
}

// eslintReport is a report that is being read.
type eslintReport struct {
	f          *findings
	in         *jsonstream.Reader
	suppressed int
}

// eslintFile is a file of which all but its text is read: that comes behind its messages.
type eslintFile struct {
	name   string
	held   [4][]eslintMessage // by severity
	read   int                // messages
	counts int                // errors and warnings that it says it has
	source string
}

// eslintMessage is a message whose fix has yet to be placed in the text of its file.
type eslintMessage struct {
	rule, text string
	line       int
	fixes      []eslintFix // its own, or else those that a person may choose from
}

// eslintFix replaces a part of a file, which is given in units of UTF-16.
type eslintFix struct {
	words    string
	from, to int
	text     string
}

// maxSource is how much is kept of the text of a file.
const maxSource = 4 << 20

func (e *eslintReport) file(index int) {
	var file eslintFile
	listed := false
	start := e.in.Offset()
	e.in.Object(func(name string) {
		switch name {
		case "filePath":
			file.name = e.in.String(maxName)
		case "messages":
			listed = e.in.Array(func(i int) { e.message(&file, i) }) || listed
		case "suppressedMessages":
			e.in.Array(func(int) {
				e.suppressed++
				e.in.Skip()
			})
		case "errorCount", "warningCount":
			file.counts += e.in.Int()
		case "source", "output": // with fixes made the latter is there alone, and what the rest of them mean
			file.source = e.in.String(maxSource)
		default:
			e.in.Skip()
		}
	})
	switch {
	case e.in.Err() != nil:
		return
	case !listed:
		e.in.Fail(`file %d of the report holds no list "messages", at byte %d, which is there and empty when ESLint has found nothing`, index+1, start)
		return
	case file.counts > 0 && file.read == 0:
		e.in.Fail("the report is not whole: file %d counts %d messages and holds none", index+1, file.counts)
		return
	}
	e.f.read += file.read
	e.add(&file)
}

func (e *eslintReport) message(file *eslintFile, index int) {
	var m eslintMessage
	severity, fatal, fixed := "", false, false
	e.in.Object(func(name string) {
		switch name {
		case "ruleId":
			m.rule = strings.TrimSpace(e.in.String(200))
		case "message":
			m.text = strings.TrimSpace(stripColours(e.in.String(maxText)))
		case "severity":
			severity = e.severity(index)
		case "fatal":
			fatal = e.in.Bool(false)
		case "line":
			m.line = max(e.in.Int(), 0)
		case "fix":
			if fix, there := e.fix(); there {
				m.fixes, fixed = []eslintFix{fix}, true
			}
		case "suggestions":
			if !fixed {
				m.fixes = e.suggestions()
			} else {
				e.in.Skip()
			}
		default:
			e.in.Skip()
		}
	})
	if e.in.Err() != nil {
		return
	}
	switch {
	case fatal: // the file could not be parsed
		severity = "error"
	case severity == "":
		severity = "warning"
	}
	if m.text == "" {
		m.text = "a message without words"
	}
	file.read++
	s := e.f.severity(severity)
	if len(file.held[s]) >= MaxItems {
		e.f.dropped++
		return
	}
	file.held[s] = append(file.held[s], m)
}

// severity reads the number that ESLint has for it; "" where there is none.
func (e *eslintReport) severity(index int) string {
	if e.in.Peek() == 'n' {
		e.in.Skip()
		return ""
	}
	at := e.in.Offset()
	switch n := e.in.Number(); n {
	case 1:
		return "warning"
	case 2:
		return "error"
	default:
		e.in.Fail("message %d has the severity %v, at byte %d, expected 1 (warning) or 2 (error)", index+1, n, at)
	}
	return ""
}

func (e *eslintReport) fix() (fix eslintFix, there bool) {
	e.in.Object(func(name string) {
		there = true
		switch name {
		case "range":
			e.in.Array(func(i int) {
				switch n := e.in.Int(); i {
				case 0:
					fix.from = n
				case 1:
					fix.to = n
				}
			})
		case "text":
			fix.text = e.in.String(maxEdit)
		default:
			e.in.Skip()
		}
	})
	return fix, there
}

// suggestions reads the ways out that ESLint leaves to a person.
func (e *eslintReport) suggestions() []eslintFix {
	var out []eslintFix
	e.in.Array(func(int) {
		var fix eslintFix
		words, there := "", false
		e.in.Object(func(name string) {
			switch name {
			case "desc":
				words = strings.TrimSuffix(strings.TrimSpace(stripColours(e.in.String(300))), ".")
			case "fix":
				fix, there = e.fix()
			default:
				e.in.Skip()
			}
		})
		if fix.words = words; there && len(out) < maxEdits {
			out = append(out, fix)
		}
	})
	return out
}

// add gives what is held of a file as items.
func (e *eslintReport) add(file *eslintFile) {
	name := ""
	if !strings.HasPrefix(file.name, "<") { // "<text>" is what came from standard input
		name = e.f.placeFile(file.name)
	}
	var source *source // made once there is something to place
	for severity := range file.held {
		for _, m := range file.held[severity] {
			var fixes []string
			for _, fix := range m.fixes {
				if source == nil {
					source = newSource(file.source)
				}
				fixes = append(fixes, fix.in(source))
			}
			e.f.add(feedback.Item{
				Severity: feedback.Severity(severity), File: name, Line: m.line, Description: withRule(m.text, m.rule),
				SuggestedFix: clip(strings.Join(fixes, " or "), maxText), SourceAgent: "eslint",
			}, cmpRule("eslint", m.rule, m.text))
		}
	}
}

// in says what a fix does to the text of its file.
func (fix eslintFix) in(s *source) string {
	what := edit{text: fix.text}
	what.region, what.old = s.part(fix.from, fix.to)
	if fix.words == "" {
		return what.String()
	}
	return fmt.Sprintf("%s (%s)", fix.words, what)
}
