package document

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
)

// A trace follows a scalar's source text and its decoded text side by side, by YAML's rules for its style,
// and notes where the one stops being a copy of the other. The decoded text is known from the parser; the
// trace only explains it, and gives up (ok is false) where it cannot.
type trace struct {
	text string // the document
	want string // the decoded text
	n    int    // bytes of want explained so far
	next int    // source offset of the next byte if the copy goes on; -1: it does not
	at   []Piece
	ok   bool
}

// Piece says that the decoded text from offset N on is a copy of the source from offset Src on.
type Piece struct{ N, Src int }

// Trace explains the scalar whose content starts at off. end is the offset just behind it.
func Trace(text string, off int, style yaml.Style, want string) (at []Piece, end int, ok bool) {
	if off >= len(text) {
		return nil, len(text), want == ""
	}
	t := &trace{text: text, want: want, next: -1, ok: true}
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		end = t.quoted(off, '"')
	case style&yaml.SingleQuotedStyle != 0:
		end = t.quoted(off, '\'')
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		end = t.block(off, style&yaml.FoldedStyle != 0)
	case strings.HasPrefix(text[off:], want): // one line, as most are
		return []Piece{{0, off}}, off + len(want), true
	default:
		end = t.plain(off)
	}
	return t.at, end, t.ok && t.n == len(want)
}

// emit explains s, which stands in the source at src as it is.
func (t *trace) emit(s string, src int) {
	if s == "" || !t.ok {
		return
	}
	if !strings.HasPrefix(t.want[t.n:], s) {
		t.ok = false
		return
	}
	if t.next != src {
		t.at = append(t.at, Piece{t.n, src})
	}
	t.n += len(s)
	t.next = src + len(s)
}

// other explains s, which stands for something else in the source at src.
func (t *trace) other(s string, src int) {
	t.next = -1
	t.emit(s, src)
	t.next = -1
}

// line returns the end of the line that holds offset i, and the start of the next one.
func (t *trace) line(i int) (end, next int) {
	j := strings.IndexAny(t.text[i:], "\r\n")
	if j < 0 {
		return len(t.text), len(t.text)
	}
	end = i + j
	if strings.HasPrefix(t.text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// breaks steps over blanks and line breaks from i on, where i is a break, and explains what they fold to:
// one break is a space, n breaks are n-1 line feeds. With skipFirst the first break is none (it was
// escaped).
func (t *trace) breaks(i int, skipFirst bool) int {
	first := i
	var more []int
	for seen := skipFirst; i < len(t.text); {
		switch t.text[i] {
		case ' ', '\t':
			i++
			continue
		case '\r', '\n':
			if seen {
				more = append(more, i)
			} else {
				first, seen = i, true
			}
			_, i = t.line(i)
			continue
		}
		break
	}
	if len(more) == 0 && !skipFirst {
		t.other(" ", first)
	}
	for _, at := range more {
		t.other("\n", at)
	}
	return i
}

func IsBlank(c byte) bool { return c == ' ' || c == '\t' }
func IsBreak(c byte) bool { return c == '\r' || c == '\n' }

// plain explains a plain scalar: as much of the source as the decoded text needs.
func (t *trace) plain(i int) int {
	end := i
	for t.ok && t.n < len(t.want) && i < len(t.text) {
		word := i
		for i < len(t.text) && !IsBlank(t.text[i]) && !IsBreak(t.text[i]) && t.n+i-word < len(t.want) {
			i++
		}
		t.emit(t.text[word:i], word)
		end = i
		if t.n == len(t.want) {
			break
		}
		i = t.gap(i)
		if i == end {
			t.ok = false // not a blank, and yet the word ended
		}
	}
	return end
}

// gap steps over the blanks between two words, explaining them: kept inside a line, folded at its end.
func (t *trace) gap(i int) int {
	blanks := i
	for i < len(t.text) && IsBlank(t.text[i]) {
		i++
	}
	if i < len(t.text) && IsBreak(t.text[i]) {
		return t.breaks(i, false)
	}
	t.emit(t.text[blanks:i], blanks)
	return i
}

// quoted explains a quoted scalar; i is the place of its opening quote.
func (t *trace) quoted(i int, quote byte) int {
	i++
	for t.ok && i < len(t.text) {
		switch c := t.text[i]; {
		case c == quote && quote == '\'' && i+1 < len(t.text) && t.text[i+1] == quote:
			t.other("'", i)
			i += 2
		case c == quote:
			return i + 1
		case c == '\\' && quote == '"':
			i = t.escape(i)
		case IsBlank(c), IsBreak(c):
			i = t.gap(i)
		default:
			_, size := utf8.DecodeRuneInString(t.text[i:])
			t.emit(t.text[i:i+size], i)
			i += size
		}
	}
	t.ok = false
	return i
}

// escape explains one escape of a double-quoted scalar. Which character it stands for, the decoded text
// says.
func (t *trace) escape(i int) int {
	if i+1 >= len(t.text) {
		t.ok = false
		return i
	}
	size := 2
	switch t.text[i+1] {
	case '\r', '\n':
		_, next := t.line(i + 1)
		return t.breaks(next, true)
	case 'x':
		size += 2
	case 'u':
		size += 4
	case 'U':
		size += 8
	}
	if t.n >= len(t.want) {
		t.ok = false
		return i
	}
	_, n := utf8.DecodeRuneInString(t.want[t.n:])
	t.other(t.want[t.n:t.n+n], i)
	return min(i+size, len(t.text))
}

// Marks turns pieces into marks of places.
func Marks(f *source.File, at []Piece) []source.Mark {
	out := make([]source.Mark, len(at))
	for i, p := range at {
		out[i] = source.Mark{Offset: p.N, Pos: f.Pos(p.Src)}
	}
	return out
}
