package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader reads one JSON text piece by piece: what is not wanted is looked through and never kept,
// however long it is, which a json.Decoder does not do. The first error stays, and ends each loop; all that
// is read after it is empty.
type jsonReader struct {
	in       io.Reader
	buf      []byte
	pos, end int   // what is not yet read: buf[pos:end], whole characters of UTF-8
	more     int   // bytes beyond end, that begin a character
	base     int64 // offset of buf[0] in the report
	ended    bool
	err      error // ErrNoReview

	depth int
	names map[string]string // of members, each of the frequent ones once
	name  string            // the last one
	text  []byte            // of the string or number read last
	high  rune              // the first half of a character that is escaped in two
}

const (
	jsonBuffer = 64 << 10
	maxNames   = 256 // kept in names
	maxName    = 1 << 10
	maxNumber  = 400
)

func newJSONReader(in io.Reader) *jsonReader {
	j := &jsonReader{buf: make([]byte, jsonBuffer), names: make(map[string]string)}
	var head [4]byte
	n, err := io.ReadFull(in, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		j.err = fmt.Errorf("%w: read report: %w", ErrNoReview, err)
	}
	start := head[:n]
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")): // what says that UTF-8 follows is no part of the text
		start, j.base = start[3:], 3
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), slices.Contains(start, 0):
		j.fail("the report is not encoded in UTF-8, at byte 0: it looks like UTF-16 or UTF-32; have the tool write UTF-8")
	}
	j.in = io.MultiReader(bytes.NewReader(slices.Clone(start)), in)
	return j
}

func (j *jsonReader) fail(why string, args ...any) {
	if j.err == nil {
		j.err = noReview(why, args...)
	}
}

func (j *jsonReader) offset() int64 { return j.base + int64(j.pos) }

// fill reads on when all is read; false at the end and after an error.
func (j *jsonReader) fill() bool {
	if j.err != nil || j.ended {
		return false
	}
	n := copy(j.buf, j.buf[j.end:j.end+j.more])
	j.base += int64(j.end)
	j.pos, j.end, j.more = 0, 0, 0
	for range 100 {
		got, err := j.in.Read(j.buf[n:])
		n += got
		if err != nil && !errors.Is(err, io.EOF) {
			j.err = fmt.Errorf("%w: read report: %w", ErrNoReview, err)
			return false
		}
		whole := wholeCharacters(j.buf[:n])
		switch {
		case whole < 0:
			j.fail("the report is not encoded in UTF-8, at byte %d", j.base+int64(firstBad(j.buf[:n])))
			return false
		case err != nil && whole == 0 && n > 0:
			j.fail("the report ends in the middle, at byte %d", j.base+int64(n))
			return false
		}
		j.ended = err != nil && whole == 0
		if whole > 0 || j.ended {
			j.end, j.more = whole, n-whole
			return whole > 0
		}
	}
	j.err = fmt.Errorf("%w: read report: %w", ErrNoReview, io.ErrNoProgress)
	return false
}

// wholeCharacters gives the length of b without a character that is cut off at its end; -1: not UTF-8.
func wholeCharacters(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) && utf8.Valid(b[:i]) {
				return i
			}
			break
		}
	}
	return -1
}

func firstBad(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// peek gives the first byte of what comes next; 0 at the end and after an error.
func (j *jsonReader) peek() byte {
	for {
		for j.pos < j.end {
			switch c := j.buf[j.pos]; c {
			case ' ', '\t', '\n', '\r':
				j.pos++
			default:
				return c
			}
		}
		if !j.fill() {
			return 0
		}
	}
}

// unexpected ends the reading: what is there is not what was expected.
func (j *jsonReader) unexpected(expected string) {
	if j.err != nil {
		return
	}
	if j.pos >= j.end {
		if j.offset() == 0 || j.depth == 0 && j.name == "" {
			j.fail("the report is empty, expected JSON")
			return
		}
		j.fail("the report ends in the middle, at byte %d", j.offset())
		return
	}
	r, _ := utf8.DecodeRune(j.buf[j.pos:j.end])
	at := ""
	if j.name != "" {
		at = fmt.Sprintf(" at or after %q", clip(j.name, 100))
	}
	j.fail("the report can't be read at byte %d%s: expected %s, found %q", j.offset(), at, expected, string(r))
}

// another reports whether another entry of a list or object follows, and reads what stands before it.
func (j *jsonReader) another(first bool, end byte) bool {
	c := j.peek()
	switch {
	case j.err != nil:
		return false
	case c == end:
		j.pos++
		j.depth--
		return false
	case first:
		return true
	case c != ',':
		j.unexpected(fmt.Sprintf(`"," or %q`, string(rune(end))))
		return false
	}
	j.pos++
	if c := j.peek(); c == end {
		j.unexpected("another entry")
		return false
	}
	return j.err == nil
}

// open reads the beginning of a list or object; null stands for one that is not there.
func (j *jsonReader) open(begin byte, expected string) bool {
	if j.null() {
		return false
	}
	if j.peek() != begin {
		j.unexpected(expected)
		return false
	}
	j.pos++
	if j.depth++; j.depth > maxDepth {
		j.fail("the report holds more than %d lists and objects in each other, at byte %d", maxDepth, j.offset())
	}
	return j.err == nil
}

// object reads an object; member must read the value of each name.
func (j *jsonReader) object(member func(name string)) {
	if !j.open('{', "an object") {
		return
	}
	for first := true; j.another(first, '}'); first = false {
		if j.peek() != '"' {
			j.unexpected("a name in double quotes")
			return
		}
		j.scan(maxName)
		name, known := j.names[string(j.text)]
		if !known {
			name = string(bytes.ToValidUTF8(j.text, nil))
			if len(j.names) < maxNames {
				j.names[name] = name
			}
		}
		j.name = name
		if j.peek() != ':' {
			j.unexpected(`":"`)
			return
		}
		j.pos++
		member(name)
	}
}

// array reads a list; entry must read each of its values, which count from 0. It reports whether there was one.
func (j *jsonReader) array(entry func(i int)) bool {
	if !j.open('[', "a list") {
		return false
	}
	for i := 0; j.another(i == 0, ']'); i++ {
		entry(i)
	}
	return j.err == nil
}

// null reads null if it comes next.
func (j *jsonReader) null() bool {
	if j.peek() != 'n' {
		return false
	}
	return j.word("null")
}

func (j *jsonReader) word(word string) bool {
	for i := range len(word) {
		if j.pos >= j.end && !j.fill() || j.buf[j.pos] != word[i] {
			j.unexpected(word)
			return false
		}
		j.pos++
	}
	return true
}

// string reads a text, of which at most limit bytes are kept.
func (j *jsonReader) string(limit int) string {
	if j.null() {
		return ""
	}
	if j.peek() != '"' {
		j.unexpected("a text")
		return ""
	}
	j.scan(limit + utf8.UTFMax) // one character more than is wanted says that there is more
	if j.err != nil {
		return ""
	}
	return strings.Clone(clip(stripColours(strings.ToValidUTF8(string(j.text), "")), limit))
}

// scan reads a string into text, of which it keeps at most so many bytes.
func (j *jsonReader) scan(keep int) {
	j.pos++ // the quotes were seen
	j.text, j.high = j.text[:0], 0
	for j.err == nil {
		i := j.pos
		for i < j.end && j.buf[i] != '"' && j.buf[i] != '\\' && j.buf[i] >= ' ' {
			i++
		}
		j.keep(keep, j.buf[j.pos:i]...)
		j.pos = i
		switch {
		case i == j.end:
			if !j.fill() {
				j.unexpected("a text")
			}
		case j.buf[i] == '"':
			j.pos++
			j.half(keep)
			return
		case j.buf[i] == '\\':
			j.pos++
			j.escape(keep)
		default:
			j.unexpected("a text without control characters")
		}
	}
}

func (j *jsonReader) keep(limit int, b ...byte) {
	if len(b) == 0 {
		return
	}
	j.half(limit)
	if room := limit - len(j.text); room > 0 {
		j.text = append(j.text, b[:min(room, len(b))]...)
	}
}

// half ends a first half of a character that no second one followed.
func (j *jsonReader) half(limit int) {
	if j.high != 0 {
		j.high = 0
		j.keep(limit, []byte("\uFFFD")...)
	}
}

func (j *jsonReader) escape(keep int) {
	if j.pos >= j.end && !j.fill() {
		j.unexpected("an escape")
		return
	}
	c := j.buf[j.pos]
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		j.pos++
		j.keep(keep, "\"\\/\b\f\n\r\t"[at])
		return
	}
	if c != 'u' {
		j.unexpected("an escape such as \\n")
		return
	}
	j.pos++
	var r rune
	for range 4 {
		if j.pos >= j.end && !j.fill() {
			j.unexpected("four hexadecimal digits")
			return
		}
		digit := strings.IndexByte("0123456789abcdef", j.buf[j.pos]|0x20)
		if digit < 0 || j.buf[j.pos] < '0' {
			j.unexpected("four hexadecimal digits")
			return
		}
		r = r<<4 | rune(digit)
		j.pos++
	}
	switch {
	case j.high != 0 && utf16.DecodeRune(j.high, r) != utf8.RuneError:
		r, j.high = utf16.DecodeRune(j.high, r), 0
	case r >= 0xD800 && r < 0xDC00:
		j.half(keep)
		j.high = r
		return
	}
	j.keep(keep, utf8.AppendRune(nil, r)...) // a second half without a first becomes U+FFFD
}
