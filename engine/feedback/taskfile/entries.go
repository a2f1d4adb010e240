package taskfile

import (
	"regexp"
	"strings"
)

// prose reads a line of text.
func (r *reader) prose(l line) {
	if r.boldHead(l) {
		return
	}
	switch r.part {
	case top, other:
		if name, value, ok := field(l.text); ok {
			r.fieldOf(name, value, l)
		} else {
			r.strayApproval(l)
		}
	case status:
		if _, value, ok := field(l.text); ok {
			r.status(value, l.number)
		} else if !r.said {
			r.status(l.text, l.number)
		}
	case summary:
		r.summary = append(r.summary, l.text)
		r.strayApproval(l)
	case issues:
	case critical, warnings:
		r.goOn(l)
	case suggestions:
		if r.list == nil {
			r.open(Issue{}, -1)
		}
		r.words = append(r.words, l.text)
	case signOff:
		r.sign(l)
	}
}

// fieldOf keeps a field that stands where one counts: above the parts of the file.
func (r *reader) fieldOf(name, value string, l line) {
	if r.header {
		r.field(name, value, l.number)
		return
	}
	if name == "status" && !r.said {
		r.warn(l.number, "a status counts above the first part of the file only")
	}
}

// boldHead takes a line that is bold as a whole and names a part for its heading. It is one level below the last
// heading.
func (r *reader) boldHead(l line) bool {
	text := strings.TrimSuffix(l.text, ":")
	bold := len(text) > 4 && (strings.HasPrefix(text, "**") && strings.HasSuffix(text, "**") ||
		strings.HasPrefix(text, "__") && strings.HasSuffix(text, "__"))
	if !bold || l.nested || strings.Contains(text[2:len(text)-2], text[:2]) {
		return false
	}
	p, rest := partOf(plain(text))
	if p == other || p == status || rest != "" {
		return false
	}
	r.begin(p, r.heading+1)
	return true
}

// bullet reads the first line of an entry of a list.
func (r *reader) bullet(l line) {
	switch r.part {
	case top, other, status:
		if name, value, ok := field(l.text); ok && l.box == noBox {
			r.fieldOf(name, value, l)
		}
	case summary:
		r.summary = append(r.summary, l.text)
	case issues:
		if l.box == openBox && !isNone(l.text) {
			r.warn(l.number, "a box counts below a heading \"Critical\" or \"Warnings\"; this one is below neither")
		}
	case critical, warnings:
		switch {
		case l.box != noBox:
			r.close()
			r.open(Issue{Done: l.box == doneBox}, l.number)
			r.words = append(r.words, l.text)
		case l.nested:
			r.goOn(l)
		default:
			r.close()
			if !isNone(l.text) && l.text != "" {
				r.warn(l.number, `an entry without a box does not count, expected "- [ ] %s"`, clip(l.text, 40))
			}
		}
	case suggestions:
		if l.nested && l.box == noBox && r.list != nil {
			r.goOn(l)
			return
		}
		r.close()
		r.open(Issue{Done: l.box == doneBox}, l.number)
		r.words = append(r.words, l.text)
	case signOff:
		if l.box == openBox {
			r.warn(l.number, "a sign-off with a box that is not ticked is none")
			return
		}
		r.sign(l)
	}
}

// goOn adds a line to the open issue.
func (r *reader) goOn(l line) {
	if r.list != nil {
		r.words = append(r.words, l.text)
		return
	}
	if b := boxMark.FindString(l.text); b != "" && strings.TrimSpace(b[1:len(b)-1]) == "" {
		r.warn(l.number, `a box counts at the beginning of an entry, expected "- %s"`, clip(l.text, 40))
	}
}

// open begins an issue of the present part.
func (r *reader) open(i Issue, at int) {
	switch r.part {
	case critical:
		r.list = &r.f.Critical
	case warnings:
		r.list = &r.f.Warnings
	default:
		r.list = &r.f.Suggestions
	}
	r.issue, r.at, r.words = i, at, nil
}

// close keeps the open issue.
func (r *reader) close() {
	if r.list == nil {
		return
	}
	list, raw := r.list, strings.TrimSpace(strings.Join(r.words, " "))
	r.list = nil
	if placeholder.MatchString(raw) {
		if r.at > 0 {
			r.warn(r.at, "the entry is still that of the template and does not count")
		}
		return
	}
	text, file, line := splitPlace(raw)
	r.issue.Description, r.issue.File, r.issue.Line = collapse(unescape(text)), file, line
	if r.issue.Description == "" {
		if r.part != suggestions && !r.issue.Done {
			r.warn(r.at, "a box without a text does not count; say what is wrong")
		}
		return
	}
	if !isNone(r.issue.Description) {
		*list = append(*list, r.issue)
	}
}

var nothing = map[string]bool{
	"none": true, "n/a": true, "na": true, "nothing": true, "no issues": true, "no issue": true, "no issues found": true,
	"none found": true, "no critical issues": true, "no critical issues found": true, "no warnings": true,
	"no warnings found": true, "no suggestions": true, "none identified": true, "nothing found": true,
}

// isNone reports whether an entry says that there is none.
func isNone(text string) bool { return nothing[strings.ToLower(strings.Trim(text, "*_().!- "))] }

var (
	approval   = regexp.MustCompile(`(?i)^[*_]*✅\x{fe0f}?[*_\s]*APPROVED[*_]*(.*)$`)
	goesOn     = regexp.MustCompile(`(?i)^\s+(?:by|for|task)\b`)
	inBraces   = regexp.MustCompile(`(?:^|[^\\])\{[^{}]*\}`)
	named      = regexp.MustCompile(`(?i)\btask\s+(.+)\s+implementation verified`)
	soundsLike = regexp.MustCompile(`(?i)^\W*approved\b|✅`)
)

// sign reads a line below the heading of the sign-off. A sign-off is a line of its own; one that goes on with a
// sentence ("✅ APPROVED once the tests pass") is none, nor is that of the template.
func (r *reader) sign(l line) {
	m := approval.FindStringSubmatch(struck.ReplaceAllString(l.text, ""))
	switch {
	case m != nil && inBraces.MatchString(m[1]):
		r.warn(l.number, "the sign-off is still that of the template and does not count")
	case m != nil && (!startsWord(m[1], true) && !strings.HasPrefix(m[1], "?") || goesOn.MatchString(m[1])):
		r.f.SignedOff = true
		if task := named.FindStringSubmatch(m[1]); task != nil {
			r.approved = collapse(unescape(task[1]))
		}
	case soundsLike.MatchString(l.text):
		r.warn(l.number, `this is no sign-off, expected a line "✅ APPROVED", with nothing or a dash behind it`)
	}
}

// strayApproval remembers a sign-off that stands where none counts.
func (r *reader) strayApproval(l line) {
	if r.stray.Line == 0 && approval.MatchString(l.text) {
		r.stray = Warning{l.number, `a sign-off counts below a heading "Sign-Off" only`}
	}
}

// finish looks at the file as a whole: what is missing, and what contradicts itself.
func (r *reader) finish() {
	f := &r.f
	if text := strings.Join(r.summary, " "); !placeholder.MatchString(text) {
		f.Summary = collapse(unescape(text))
	}
	if !f.SignedOff && r.stray.Line > 0 {
		r.warn(r.stray.Line, "%s", r.stray.Text)
	}
	open := Open(f.Critical)
	switch {
	case f.Status == Unknown && f.SignedOff:
		f.Status = Pass
		r.warn(0, "there is no status; the sign-off stands for PASS")
	case f.Status == Unknown:
		r.warn(0, `there is neither a line "**Status:** PASS" or "**Status:** FAIL" nor a sign-off`)
	case f.Status == Fail && f.SignedOff:
		r.warn(0, "the status is FAIL and the file is signed off; the sign-off counts")
	case f.Status == Fail && open == 0 && Open(f.Warnings) == 0 && f.Summary == "":
		r.warn(0, "the status is FAIL, and neither a box nor the summary says why")
	}
	if f.Verdict() == Pass && open > 0 {
		r.warn(0, "the file passes with %d open under Critical", open)
	}
	if r.approved != "" && f.Task != "" && r.approved != f.Task {
		r.warn(0, "the sign-off is that of task %q, and the file that of task %q", clip(r.approved, 60), clip(f.Task, 60))
	}
}
