package taskfile

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a line is.
type kind uint8

const (
	blank kind = iota
	heading
	bullet
	prose
	quote
	rule
)

// box is what stands between the brackets before an entry.
type box uint8

const (
	noBox box = iota
	openBox
	doneBox
)

// line is one line of the file that counts: not one of code or of a comment.
type line struct {
	kind   kind
	number int
	level  int    // of a heading, from 1
	box    box    // of a bullet
	nested bool   // it belongs to the entry before it
	text   string // without marks of its kind
}

// scanner makes lines of a text, as far as the structure of such files needs: it knows headings, entries of lists,
// fenced blocks, indented code, comments, quotes, and nothing else of Markdown.
type scanner struct {
	in        []string
	nextEnd   []int // for each line the first one from it on that holds "-->"; len(in): none
	nextBlank []int
	out       []line
	warn      func(line int, format string, args ...any)

	comment bool
	fence   string // the marks that opened the block; "": none
	column  int    // of the fence, where it stands in an entry; 0: in none
	opened  int    // its line
	entry   int    // column at which the text of the outermost entry begins; 0: in none
}

func scan(text string, warn func(line int, format string, args ...any)) []line {
	s := &scanner{in: strings.Split(text, "\n"), warn: warn}
	s.nextEnd, s.nextBlank = make([]int, len(s.in)+1), make([]int, len(s.in)+1)
	s.nextEnd[len(s.in)], s.nextBlank[len(s.in)] = len(s.in), len(s.in)
	for i := len(s.in) - 1; i >= 0; i-- {
		s.nextEnd[i], s.nextBlank[i] = s.nextEnd[i+1], s.nextBlank[i+1]
		if strings.Contains(s.in[i], "-->") {
			s.nextEnd[i] = i
		}
		if strings.TrimSpace(s.in[i]) == "" {
			s.nextBlank[i] = i
		}
	}
	for i := s.frontMatter(); i < len(s.in); i++ {
		s.line(i)
	}
	if s.fence != "" {
		warn(s.opened, "the block of code that begins here has no end: nothing below it counts")
	}
	return s.out
}

// frontMatter gives the line behind front matter, which is not Markdown.
func (s *scanner) frontMatter() int {
	if strings.TrimRight(s.in[0], " \t") != "---" {
		return 0
	}
	for i, l := range s.in[1:] {
		switch l = strings.TrimRight(l, " \t"); l {
		case "":
			return 0 // a line across the page
		case "---", "...":
			return i + 2
		}
	}
	return 0
}

func (s *scanner) line(i int) {
	raw := s.in[i]
	if s.fence != "" && s.inFence(raw) {
		return
	}
	raw, ok := s.uncomment(i, raw)
	if !ok {
		return
	}
	text := strings.TrimSpace(raw)
	before := s.before()
	l := line{number: i + 1, text: text}
	at := indent(raw)
	switch {
	case text == "":
		s.out = append(s.out, l)
		return
	case s.entry == 0 && at >= 4 && before != prose && before != quote:
		if b := readBullet(text); b != nil && b.box != noBox {
			s.warn(i+1, "a line that is indented so far is code, and its box does not count; put it at the beginning of the line")
		}
		return
	case s.openFence(text, at, i+1):
		return
	}
	l.nested = s.entry > 0 && at >= s.entry
	s.classify(&l, at, before)
	s.out = append(s.out, l)
}

func (s *scanner) before() kind {
	if len(s.out) == 0 {
		return blank
	}
	return s.out[len(s.out)-1].kind
}

var (
	ruleLine = regexp.MustCompile(`^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	hashes   = regexp.MustCompile(`^#{1,6}(?:[ \t]+|$)`)
)

// readHeading reads a heading that begins with hashes; it may end with some too.
func readHeading(text string) (level int, title string, ok bool) {
	mark := hashes.FindString(text)
	if mark == "" {
		return 0, "", false
	}
	title = strings.TrimRight(text[len(mark):], "#")
	if title != "" && !strings.HasSuffix(title, " ") && !strings.HasSuffix(title, "\t") {
		title = text[len(mark):]
	}
	return len(strings.TrimRight(mark, " \t")), strings.TrimSpace(title), true
}

// classify says what a line is that is none of code.
func (s *scanner) classify(l *line, at int, before kind) {
	text := l.text
	if level, title, ok := readHeading(text); ok && !l.nested {
		l.kind, l.level, l.text, s.entry = heading, level, title, 0
		return
	}
	if len(s.out) > 0 && before == prose && s.entry == 0 && at < 4 && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "") {
		over := &s.out[len(s.out)-1]
		if alone := len(s.out) == 1 || s.out[len(s.out)-2].kind != prose; alone {
			over.kind, over.level = heading, 1
			if text[0] == '-' {
				over.level = 2
			}
			l.kind = rule
			return
		}
	}
	if strings.IndexByte("-*_", text[0]) >= 0 && ruleLine.MatchString(text) {
		l.kind = rule
		if !l.nested {
			s.entry = 0
		}
		return
	}
	if b := readBullet(text); b != nil {
		l.kind, l.box, l.text = bullet, b.box, b.text
		if b.odd {
			s.warn(l.number, `%q is no mark of a box, so the box counts as open; expected "[ ]" or "[x]"`, "["+b.mark+"]")
		}
		if !l.nested {
			s.entry = at + b.width
		}
		return
	}
	if strings.HasPrefix(text, ">") || before == quote {
		l.kind, l.text = quote, strings.TrimSpace(strings.TrimLeft(text, "> "))
		return
	}
	l.kind = prose
	if before == blank && !l.nested {
		s.entry = 0
	}
}

// indent counts columns of white space, tabs to the next fourth.
func indent(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r == '\t':
			n += 4 - n%4
		case unicode.IsSpace(r):
			n++
		default:
			return n
		}
	}
	return n
}

// entryMark is what stands before the text of an entry of a list.
type entryMark struct {
	width int // columns before its text
	box   box
	odd   bool   // the mark in the box is none that is known
	mark  string // in the box
	text  string
}

var (
	bulletMark = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)`)
	boxMark    = regexp.MustCompile(`^\[[^\[\]]{0,3}\]`)
)

// readBullet reads an entry of a list; nil if the line is none.
func readBullet(text string) *entryMark {
	bullet := bulletMark.FindString(text)
	if bullet == "" {
		return nil
	}
	e := &entryMark{width: len(strings.TrimRight(bullet, " \t")) + 1, text: text[len(bullet):]}
	brackets := boxMark.FindString(e.text)
	if brackets == "" {
		return e
	}
	mark := strings.TrimSpace(strings.ReplaceAll(strings.Trim(brackets, "[]"), "\ufe0f", ""))
	rest := strings.TrimSpace(e.text[len(brackets):])
	apart := rest == "" || len(brackets)+len(rest) < len(e.text)
	switch {
	case !apart && strings.IndexByte("([:", rest[0]) >= 0: // a link
		return e
	case mark == "":
		e.box = openBox
	case strings.Contains("xX✓✔✅☑", mark):
		e.box = doneBox
	case apart && utf8.RuneCountInString(mark) == 1:
		e.box, e.odd, e.mark = openBox, true, mark
	default:
		return e
	}
	e.text = rest
	return e
}

// openFence begins a block of code: also one that stands right behind the mark of an entry.
func (s *scanner) openFence(text string, at, number int) bool {
	column := at
	if b := readBullet(text); b != nil {
		text, column = b.text, at+b.width
	} else if at >= 4 && s.entry == 0 {
		return false
	}
	n := run(text)
	if tildes := len(text) - len(strings.TrimLeft(text, "~")); n == 0 && tildes >= 3 {
		n = tildes
	}
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return false
	}
	if b := readBullet(strings.TrimSpace(s.in[number-1])); b != nil {
		s.entryOfFence(b, at, number)
	} else if at < s.entry {
		s.entry, column = 0, 0
	} else if s.entry == 0 {
		column = 0
	}
	s.fence, s.column, s.opened = text[:n], column, number
	return true
}

// entryOfFence keeps an entry of which the first line is that of a block of code.
func (s *scanner) entryOfFence(b *entryMark, at, number int) {
	l := line{kind: bullet, number: number, box: b.box, nested: s.entry > 0 && at >= s.entry}
	if !l.nested {
		s.entry = at + b.width
	}
	s.out = append(s.out, l)
}

// inFence reports whether a line belongs to the open block. One that stands in an entry also ends where the next
// entry or a heading begins further left: what is in it is often not indented as it must be, but it never goes on
// past these.
func (s *scanner) inFence(raw string) bool {
	text := strings.TrimSpace(raw)
	if strings.HasPrefix(text, s.fence) && strings.Trim(text, s.fence[:1]) == "" {
		s.fence = ""
		return true
	}
	if s.column > 0 && indent(raw) < s.column-1 && (hashes.MatchString(text) || readBullet(text) != nil) {
		s.warn(s.opened, "the block of code that begins here has no end: it ends where the next entry begins")
		s.fence = ""
		return false
	}
	return true
}

// uncomment takes comments out of a line; ok is false if nothing but a comment stands in it. One that begins a
// line goes on to its end, wherever that is; one within a line is none if its paragraph does not hold the end.
func (s *scanner) uncomment(i int, raw string) (text string, ok bool) {
	had := s.comment
	if s.comment {
		_, rest, found := strings.Cut(raw, "-->")
		if !found {
			return "", false
		}
		s.comment, raw = false, rest
	}
	if !strings.Contains(raw, "<!--") {
		return raw, !had || strings.TrimSpace(raw) != ""
	}
	var b strings.Builder
	spans := newCodeSpans(raw)
	for at := 0; at < len(raw); {
		switch {
		case raw[at] == '\\' && at+1 < len(raw) && isPunct(raw[at+1]):
			b.WriteString(raw[at : at+2])
			at += 2
		case raw[at] == '`':
			_, _, end, _ := spans.at(at)
			b.WriteString(raw[at:end])
			at = end
		case strings.HasPrefix(raw[at:], "<!--"):
			had = true
			if end := strings.Index(raw[at+2:], "-->"); end >= 0 {
				at += 2 + end + 3
				continue
			}
			if s.beginComment(i, b.String()) {
				return b.String(), strings.TrimSpace(b.String()) != ""
			}
			b.WriteString(raw[at:])
			return b.String(), true
		default:
			b.WriteByte(raw[at])
			at++
		}
	}
	return b.String(), !had || strings.TrimSpace(b.String()) != ""
}

// beginComment reports whether a comment begins in this line, behind this text, and ends in another one.
func (s *scanner) beginComment(i int, before string) bool {
	end := s.nextEnd[i+1]
	switch {
	case strings.TrimSpace(before) != "":
		s.comment = end < s.nextBlank[i+1]
	case end == len(s.in):
		s.warn(i+1, "the comment that begins here has no end: nothing below it counts")
		s.comment = true
	default:
		s.comment = true
	}
	return s.comment
}

// Warning is what a reader may want to know about a file that could be read all the same.
type Warning struct {
	Line int // from 1; 0: of the file as a whole
	Text string
}

// String is "line 3: …".
func (w Warning) String() string {
	if w.Line == 0 {
		return w.Text
	}
	return fmt.Sprintf("line %d: %s", w.Line, w.Text)
}
