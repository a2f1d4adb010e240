package convert

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert/jsonstream"
)

// OriginalItem is the one member of the object that stands, as text, in the original output of a diagnostic that was
// made from an item of ours.
const OriginalItem = "feedback_item"

// rdjson reads a report in reviewdog's diagnostic format: one object with a list of diagnostics.
func rdjson(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	d := &rdReport{f: f, in: jsonstream.New(f.in.Stdout)}
	listed, severity, agent := false, f.severity("error"), ""
	d.in.Object(func(name string) {
		switch name {
		case "diagnostics":
			listed = d.in.Array(func(i int) { d.diagnostic(i) }) || listed
		case "severity":
			if s := d.severity(); s != feedback.UnknownSeverity {
				severity = s
			}
		case "source":
			agent = d.source()
		default:
			d.in.Skip()
		}
	})
	if d.in.Err() == nil && !d.in.End() {
		d.in.Fail(`there is more after the report, at byte %d; a report with a diagnostic a line has the format "rdjsonl"`, d.in.Offset())
	}
	if d.in.Err() == nil && !listed {
		d.in.Fail(`the report holds no list "diagnostics", which is there and empty when a tool has found nothing`)
	}
	return d.end(severity, agent)
}

// rdjsonl reads diagnostics, an object a line. None at all is a report as well: a tool that has found nothing
// writes nothing.
func rdjsonl(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	d := &rdReport{f: f, in: jsonstream.New(f.in.Stdout)}
	for i := 0; !d.in.End(); i++ {
		if d.in.Peek() != '{' {
			d.in.Unexpected("an object, which is one diagnostic")
			break
		}
		d.diagnostic(i)
	}
	return d.end(f.severity("error"), "")
}

// notRead says that what ended the reading of a report is why there is no review.
func notRead(err error) error { return fmt.Errorf("%w: %w", ErrNoReview, err) }

// rdReport is a report of diagnostics that is being read.
type rdReport struct {
	f  *findings
	in *jsonstream.Reader
}

// end gives what only the whole report says to the items that do not say it themselves: without a severity
// anywhere they block.
func (d *rdReport) end(severity feedback.Severity, agent string) error {
	if d.in.Err() != nil {
		return notRead(d.in.Err())
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
	message, code, original := "", "", ""
	d.in.Object(func(name string) {
		switch name {
		case "message":
			message = strings.TrimSpace(stripColours(d.in.String(maxText)))
		case "severity":
			item.Severity = d.severity()
		case "source":
			item.SourceAgent = d.source()
		case "code":
			code = d.member("value")
		case "original_output":
			if d.in.Peek() != '"' { // it is text; others are not read
				d.in.Skip()
				return
			}
			original = d.in.String(maxOriginal)
		case "location":
			item.File, at = d.location()
		case "suggestions":
			d.in.Array(func(int) {
				if e := d.suggestion(); len(edits) < maxEdits {
					edits = append(edits, e)
				}
			})
		case "diagnostics":
			d.in.Fail(`entry %d holds a list "diagnostics", at byte %d: such a report has the format "rdjson"`, index+1, d.in.Offset())
		default:
			d.in.Skip()
		}
	})
	if d.in.Err() != nil {
		return
	}
	if message == "" {
		d.in.Fail("diagnostic %d has no message, before byte %d", index+1, d.in.Offset())
		return
	}
	d.f.read++
	item.Line, item.Description = at.line, withRule(message, code)
	item.SuggestedFix = suggestion("", edits)
	fromOriginal(&item, original)
	d.f.add(item, cmpRule("rdjson", code, message))
}

// maxOriginal is how long an item of ours may be as text.
const maxOriginal = 64 << 10

// fromOriginal gives an item the texts of the one from which package report made the diagnostic: what is wrong apart
// from how to fix it, and the fingerprint.
func fromOriginal(item *feedback.Item, original string) {
	if !strings.HasPrefix(original, `{"`+OriginalItem+`":`) {
		return
	}
	var doc map[string]feedback.Item
	if json.Unmarshal([]byte(original), &doc) != nil {
		return
	}
	was := doc[OriginalItem]
	text := func(s string) string { return clip(strings.TrimSpace(stripColours(s)), maxText) }
	if description := text(was.Description); description != "" {
		item.Description, item.SuggestedFix = description, text(was.SuggestedFix)
		item.Fingerprint, item.Category = clip(was.Fingerprint, 300), clip(was.Category, 100)
	}
}

// withRule puts the name of a rule behind what is wrong.
func withRule(message, rule string) string {
	if rule == "" || hasWord(message, rule) {
		return clip(message, maxText)
	}
	rule = " (" + clip(rule, 200) + ")"
	return clip(message, maxText-len(rule)) + rule
}

// hasWord reports whether a text holds a word, and not only as a part of another: "semicolon" is not "semi".
func hasWord(text, word string) bool {
	inWord := func(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, word)
		if !ok {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(rest)+len(before)])
		first, _ := utf8.DecodeRuneInString(after)
		if !inWord(last) && !inWord(first) {
			return true
		}
		rest = after
	}
}

// cmpRule names a finding in its fingerprint: by its rule and words.
func cmpRule(format, rule, message string) string {
	return fmt.Sprintf("%s\x00%s\x00%s", format, rule, message)
}

var rdSeverities = []string{"UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"}

// severity reads a word, or its number as the format's definition counts them.
func (d *rdReport) severity() feedback.Severity {
	at, word, number := d.in.Offset(), "", -1
	switch c := d.in.Peek(); {
	case c == '"':
		word = d.in.String(100)
	case c == 'n':
		d.in.Skip()
		return feedback.UnknownSeverity
	default:
		number = d.in.Int()
		word = fmt.Sprint(number)
	}
	for i, known := range rdSeverities {
		if i == number || strings.EqualFold(word, known) {
			if i == 0 {
				return feedback.UnknownSeverity
			}
			return d.f.severity(strings.ToLower(known))
		}
	}
	d.in.Fail("severity %q at byte %d is not known, expected ERROR, WARNING or INFO", clip(word, 100), at)
	return feedback.UnknownSeverity
}

func (d *rdReport) source() string { return clip(d.member("name"), 100) }

// member reads an object of which one text is wanted.
func (d *rdReport) member(wanted string) (text string) {
	d.in.Object(func(name string) {
		if name == wanted {
			text = strings.TrimSpace(d.in.String(200))
		} else {
			d.in.Skip()
		}
	})
	return text
}

func (d *rdReport) location() (file string, at region) {
	d.in.Object(func(name string) {
		switch name {
		case "path":
			file = d.f.placeFile(d.in.String(maxName))
		case "range":
			at = d.region()
		default:
			d.in.Skip()
		}
	})
	return file, at
}

func (d *rdReport) region() (r region) {
	position := func() (line, column int) {
		d.in.Object(func(name string) {
			switch name {
			case "line":
				line = max(d.in.Int(), 0)
			case "column":
				column = max(d.in.Int(), 0)
			default:
				d.in.Skip()
			}
		})
		return line, column
	}
	d.in.Object(func(name string) {
		switch name {
		case "start":
			r.line, r.column = position()
		case "end":
			r.endLine, r.endColumn = position()
		default:
			d.in.Skip()
		}
	})
	return r
}

func (d *rdReport) suggestion() (e edit) {
	d.in.Object(func(name string) {
		switch name {
		case "text":
			e.text = d.in.String(maxEdit)
		case "range":
			e.region = d.region()
		default:
			d.in.Skip()
		}
	})
	return e
}
