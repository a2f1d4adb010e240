package taskfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// MaxSize is the largest file that is read, in bytes. What Write gives is never larger.
const MaxSize = 16 << 20

// maxLines is the most lines that a file has which is read: each costs memory beyond its bytes.
const maxLines = 100_000

// maxWarnings is how many warnings a file gets.
const maxWarnings = 20

// part is what the lines below a heading are.
type part uint8

const (
	top    part = iota // above the first heading that is known
	other              // below a heading that is not
	status             // a heading of its own for the status
	summary
	issues
	critical
	warnings
	suggestions
	signOff
)

// reader makes a File of lines.
type reader struct {
	f        File
	warnings []Warning
	dropped  int // warnings beyond maxWarnings

	part    part
	level   int  // of the heading that began the part
	heading int  // level of the last heading
	header  bool // no part that is known has begun: fields count

	entry
	gap     bool // the line before was blank
	summary []string

	said     bool // there was a status that counts
	stray    Warning
	approved string // the task that the sign-off names
}

// entry is the issue that is being read.
type entry struct {
	list  *[]Issue // that it is one of; nil: none is open
	issue Issue
	at    int // its line; -1: of a paragraph
	words []string
}

// Read takes out of the bytes of a file what it says. It never fails: of a file that can't be read, or that says
// neither a status nor a sign-off, the status is Unknown, and a warning says why.
func Read(data []byte) (File, []Warning) {
	r := &reader{header: true}
	text, err := decode(data, r.warn)
	if err != nil {
		return File{}, []Warning{{Text: err.Error()}}
	}
	for _, l := range scan(text, r.warn) {
		r.line(l)
	}
	r.close()
	r.finish()
	slices.SortStableFunc(r.warnings, func(a, b Warning) int {
		return cmp.Compare(uint(a.Line-1), uint(b.Line-1)) // those of the file as a whole come last
	})
	if r.dropped > 0 {
		r.warnings = append(r.warnings, Warning{Text: fmt.Sprintf("%d more warnings are not shown", r.dropped)})
	}
	return r.f, r.warnings
}

func (r *reader) warn(line int, format string, args ...any) {
	if len(r.warnings) >= maxWarnings {
		r.dropped++
		return
	}
	r.warnings = append(r.warnings, Warning{line, fmt.Sprintf(format, args...)})
}

// decode gives the text of a file with "\n" as the only line end.
func decode(data []byte, warn func(int, string, ...any)) (string, error) {
	if len(data) > MaxSize {
		return "", fmt.Errorf("the file is larger than %d bytes, which no feedback file is", MaxSize)
	}
	for _, utf16s := range []struct {
		mark  string
		order binary.ByteOrder
	}{{"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian}} {
		if rest, ok := bytes.CutPrefix(data, []byte(utf16s.mark)); ok {
			units := make([]uint16, len(rest)/2)
			for i := range units {
				units[i] = utf16s.order.Uint16(rest[2*i:])
			}
			data = []byte(string(utf16.Decode(units)))
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return "", fmt.Errorf("the file is empty")
	case bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("the file is not text: it holds zero bytes")
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if len(text) != len(data) {
		warn(0, "the file is not all UTF-8; what is not stands as %q", "\uFFFD")
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	if strings.Count(text, "\n") > maxLines {
		return "", fmt.Errorf("the file has more than %d lines, which no feedback file has", maxLines)
	}
	return text, nil
}

func (r *reader) line(l line) {
	switch l.kind {
	case heading:
		r.close()
		r.head(l)
	case blank:
	case bullet:
		r.bullet(l)
	case prose:
		if r.gap && !l.nested {
			r.close()
		}
		r.prose(l)
	case quote:
		if r.part == summary {
			r.summary = append(r.summary, l.text)
		}
	case rule:
		r.close()
	}
	r.gap = l.kind == blank
}

var titleLine = regexp.MustCompile(`(?i)^task feedback\b\s*[:–—-]?\s*(.*)$`)

// head begins a part, or gives a field. A heading that is not known and lies deeper than that of the part goes on
// with it; any that is known begins another part, whatever its level is.
func (r *reader) head(l line) {
	text := plain(l.text)
	r.heading = l.level
	if m := titleLine.FindStringSubmatch(text); m != nil {
		if r.f.Task == "" && !placeholder.MatchString(m[1]) {
			r.f.Task = collapse(unescape(plain(m[1])))
		}
		r.begin(top, l.level)
		return
	}
	if name, value, ok := field(text); ok && value != "" && name != "summary" {
		r.field(name, value, l.number)
		r.begin(other, l.level)
		return
	}
	p, rest := partOf(text)
	switch {
	case p != other:
		r.begin(p, l.level)
		if p == summary && rest != "" {
			r.summary = append(r.summary, rest)
		}
	case l.level <= r.level || r.part == top:
		r.begin(other, l.level)
	}
}

func (r *reader) begin(p part, level int) {
	r.close()
	r.part, r.level = p, level
	if p > status {
		r.header = false
	}
}

var partNames = map[string]part{
	"status": status, "summary": summary, "overview": summary,
	"issues": issues, "issues found": issues, "findings": issues,
	"critical": critical, "criticals": critical, "critical issue": critical, "critical issues": critical,
	"critical finding": critical, "critical findings": critical,
	"warning": warnings, "warnings": warnings, "suggestion": suggestions, "suggestions": suggestions,
	"improvement suggestions": suggestions, "suggestions for improvement": suggestions,
	"sign off": signOff, "signoff": signOff, "signed off": signOff,
}

var (
	inBrackets = regexp.MustCompile(`\([^)]*\)|\[[^\]]*\]|[^\pL:]+`)
	marksFirst = regexp.MustCompile(`^[^\pL\pN]+`)
)

// partOf finds the part that a heading begins: case, marks, numbers and what stands in brackets do not matter. Behind
// a colon there may be a text, which is that of the part.
func partOf(text string) (p part, rest string) {
	name, rest, _ := strings.Cut(text, ":")
	name = strings.ToLower(strings.TrimSpace(inBrackets.ReplaceAllString(name, " ")))
	if p, ok := partNames[name]; ok {
		return p, strings.TrimLeft(rest, "*_ ")
	}
	return other, ""
}

var fieldLine = regexp.MustCompile(`(?i)^(?:[^\pL\pN\x60>|#\\]*?)(status|attempt|timestamp|summary)[*_ \t]*[:\x{ff1a}][*_ \t]*(.*?)[*_ \t\\]*$`)

// field reads "**Status:** PASS", in bold or not, with the colon in it or behind.
func field(text string) (name, value string, ok bool) {
	m := fieldLine.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2]), true
}

// field keeps the value of a field: the first that says something counts.
func (r *reader) field(name, value string, at int) {
	if name == "status" {
		r.status(value, at)
		return
	}
	if placeholder.MatchString(value) {
		r.warn(at, "the %s is still that of the template", name)
		return
	}
	switch value = plain(value); name {
	case "attempt":
		r.attempt(value, at)
	case "timestamp":
		r.timestamp(value, at)
	case "summary":
		if len(r.summary) == 0 {
			r.summary = append(r.summary, value)
		}
	}
}

var (
	placeholder = regexp.MustCompile(`^\{[^{}]*\}(?:(?: - |/)\{[^{}]*\})*$`)
	struck      = regexp.MustCompile(`~~[^~]*~~`)
	statusWord  = regexp.MustCompile(`(?i)^(pass|fail)(?:ed)?(.*)$`)
	bothWords   = regexp.MustCompile(`(?i)^\W*(?:or\b)?\W*(?:pass|fail)(?:ed)?\b`)
)

// status reads the word of a status. That of the template, which names both, is none; behind PASS nothing may go
// on with the sentence ("PASS pending a review").
func (r *reader) status(value string, at int) {
	m := statusWord.FindStringSubmatch(marksFirst.ReplaceAllString(struck.ReplaceAllString(value, ""), ""))
	got := Unknown
	switch {
	case m == nil || startsWord(m[2], false):
	case bothWords.MatchString(m[2]):
		r.warn(at, "the status is still that of the template, which names both words; expected PASS or FAIL")
		return
	case strings.EqualFold(m[1], "fail"):
		got = Fail
	case !startsWord(m[2], true):
		got = Pass
	}
	switch {
	case got == Unknown:
		r.warn(at, "the status %q is not known, expected PASS or FAIL", clip(value, 60))
	case !r.said:
		r.f.Status, r.said = got, true
	case r.f.Status != got:
		r.warn(at, "there is another status above, %s, which counts", r.f.Status)
	}
}

// startsWord reports whether text goes on with a letter or digit, at once or behind spaces.
func startsWord(text string, apart bool) bool {
	if apart {
		text = strings.TrimLeft(text, " \t")
	}
	return text != "" && !marksFirst.MatchString(text)
}

var attemptValue = regexp.MustCompile(`(?i)^#?(\d+)(?:\s*(?:/|of)\s*(\d+))?(?:$|[^\pL\pN/])`)

func (r *reader) attempt(value string, at int) {
	m := attemptValue.FindStringSubmatch(value)
	if m == nil {
		r.warn(at, "the attempt %q can't be read, expected its number and how many there are, as in 2/5", clip(value, 40))
		return
	}
	n, ok := count(m[1])
	most, okMost := count(m[2])
	switch {
	case !ok || m[2] != "" && !okMost:
		r.warn(at, "the attempt %q can't be read, expected numbers from 1 to %d", clip(value, 40), maxAttempts)
		return
	case r.f.Attempt > 0 && (r.f.Attempt != n || r.f.MaxAttempts != most):
		r.warn(at, "there is another attempt above, %d, which counts", r.f.Attempt)
		return
	case okMost && n > most:
		r.warn(at, "the attempt %d is beyond the last, %d", n, most)
	}
	r.f.Attempt, r.f.MaxAttempts = n, most
}

// maxAttempts is the largest number of an attempt.
const maxAttempts = 999_999

// count reads a number of attempts; 0 and false if there is none.
func count(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxAttempts {
		return 0, false
	}
	return n, true
}

// timeLayout is how a time is written: RFC 3339, UTC, with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

func (r *reader) timestamp(value string, at int) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", time.RFC3339Nano} {
		if t, err := time.Parse(layout, strings.TrimSuffix(strings.ToUpper(value), " UTC")); err == nil {
			if r.f.Timestamp.IsZero() {
				r.f.Timestamp = t.UTC()
			}
			return
		}
	}
	r.warn(at, "the timestamp %q can't be read, expected one as in 2006-01-02T15:04:05Z", clip(value, 40))
}
