package convert

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
)

// rdjson reads a report in reviewdog's diagnostic format: one object with a list of diagnostics.
func rdjson(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	d := &rdReport{f: f, in: newJSONReader(f.in.Stdout)}
	listed, severity, agent := false, feedback.Blocking, ""
	d.in.object(func(name string) {
		switch name {
		case "diagnostics":
			listed = d.in.array(func(i int) { d.diagnostic(i) }) || listed
		case "severity":
			if s := d.severity(); s != feedback.UnknownSeverity {
				severity = s
			}
		case "source":
			agent = d.source()
		default:
			d.in.skip()
		}
	})
	if d.in.err == nil && d.in.peek() != 0 {
		d.in.fail(`there is more after the report, at byte %d; a report with a diagnostic a line has the format "rdjsonl"`, d.in.offset())
	}
	if d.in.err == nil && !listed {
		d.in.fail(`the report holds no list "diagnostics", which is there and empty when a tool has found nothing`)
	}
	return d.end(severity, agent)
}

// rdjsonl reads diagnostics, an object a line. None at all is a report as well: a tool that has found nothing
// writes nothing.
func rdjsonl(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	d := &rdReport{f: f, in: newJSONReader(f.in.Stdout)}
	for i := 0; d.in.peek() != 0 && d.in.err == nil; i++ {
		if d.in.peek() != '{' {
			d.in.unexpected("an object, which is one diagnostic")
			break
		}
		d.diagnostic(i)
	}
	if d.in.err == nil && d.in.pos < d.in.end {
		d.in.unexpected("an object, which is one diagnostic")
	}
	return d.end(feedback.Blocking, "")
}

// rdReport is a report of diagnostics that is being read.
type rdReport struct {
	f  *findings
	in *jsonReader
}

// end gives what only the whole report says to the items that do not say it themselves: without a severity
// anywhere they block.
func (d *rdReport) end(severity feedback.Severity, agent string) error {
	if d.in.err != nil {
		return d.in.err
	}
	for i := range d.f.items {
		item := &d.f.items[i]
		if item.Severity == feedback.UnknownSeverity {
			item.Severity = severity
		}
		if item.SourceAgent == "" {
			item.SourceAgent = agent
		}
	}
	d.f.sort()
	return nil
}

func (d *rdReport) diagnostic(index int) {
	var item feedback.Item
	var at region
	var edits []edit
	message, code := "", ""
	d.in.object(func(name string) {
		switch name {
		case "message":
			message = strings.TrimSpace(d.in.string(maxText))
		case "severity":
			item.Severity = d.severity()
		case "source":
			item.SourceAgent = d.source()
		case "code":
			code = d.member("value")
		case "location":
			item.File, at = d.location()
		case "suggestions":
			d.in.array(func(int) {
				if e := d.suggestion(); len(edits) < maxEdits {
					edits = append(edits, e)
				}
			})
		case "diagnostics":
			d.in.fail(`entry %d holds a list "diagnostics", at byte %d: such a report has the format "rdjson"`, index+1, d.in.offset())
		default:
			d.in.skip()
		}
	})
	if d.in.err != nil {
		return
	}
	if message == "" {
		d.in.fail("diagnostic %d has no message, before byte %d", index+1, d.in.offset())
		return
	}
	d.f.read++
	item.Line, item.Description = at.line, withRule(message, code)
	item.SuggestedFix = suggestion("", edits)
	d.f.add(item, cmpRule("rdjson", code, message))
}

// withRule puts the name of a rule behind what is wrong.
func withRule(message, rule string) string {
	if rule == "" || strings.Contains(message, rule) {
		return clip(message, maxText)
	}
	rule = " (" + clip(rule, 200) + ")"
	return clip(message, maxText-len(rule)) + rule
}

// cmpRule names a finding in its fingerprint: by its rule and words.
func cmpRule(format, rule, message string) string {
	return fmt.Sprintf("%s\x00%s\x00%s", format, rule, message)
}

var rdSeverities = []string{"UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"}

// severity reads a word, or its number as the format's definition counts them.
func (d *rdReport) severity() feedback.Severity {
	at, word, number := d.in.offset(), "", -1
	switch c := d.in.peek(); {
	case c == '"':
		word = d.in.string(100)
	case c == 'n':
		d.in.null()
		return feedback.UnknownSeverity
	default:
		number = d.in.int()
		word = fmt.Sprint(number)
	}
	for i, known := range rdSeverities {
		if i == number || strings.EqualFold(word, known) {
			return []feedback.Severity{feedback.UnknownSeverity, feedback.Blocking, feedback.Advisory, feedback.Informational}[i]
		}
	}
	d.in.fail("severity %q at byte %d is not known, expected ERROR, WARNING or INFO", clip(word, 100), at)
	return feedback.UnknownSeverity
}

func (d *rdReport) source() string { return clip(d.member("name"), 100) }

// member reads an object of which one text is wanted.
func (d *rdReport) member(wanted string) (text string) {
	d.in.object(func(name string) {
		if name == wanted {
			text = strings.TrimSpace(d.in.string(200))
		} else {
			d.in.skip()
		}
	})
	return text
}

func (d *rdReport) location() (file string, at region) {
	d.in.object(func(name string) {
		switch name {
		case "path":
			file = d.f.placeFile(d.in.string(maxName))
		case "range":
			at = d.region()
		default:
			d.in.skip()
		}
	})
	return file, at
}

func (d *rdReport) region() (r region) {
	position := func() (line, column int) {
		d.in.object(func(name string) {
			switch name {
			case "line":
				line = max(d.in.int(), 0)
			case "column":
				column = max(d.in.int(), 0)
			default:
				d.in.skip()
			}
		})
		return line, column
	}
	d.in.object(func(name string) {
		switch name {
		case "start":
			r.line, r.column = position()
		case "end":
			r.endLine, r.endColumn = position()
		default:
			d.in.skip()
		}
	})
	return r
}

func (d *rdReport) suggestion() (e edit) {
	d.in.object(func(name string) {
		switch name {
		case "text":
			e.text = d.in.string(maxEdit)
		case "range":
			e.region = d.region()
		default:
			d.in.skip()
		}
	})
	return e
}
