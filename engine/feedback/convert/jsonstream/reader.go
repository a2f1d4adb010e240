package jsonstream

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Reader reads one text, or several that follow each other.
type Reader struct {
	source
	names map[string]string // of members, each of the frequent ones once
	text  []byte            // of the string or number read last
	high  rune              // the first half of a character that is escaped in two
}

// another reports whether another entry of a list or object follows, and reads what stands before it.
func (j *Reader) another(first bool, end byte) bool {
	c := j.Peek()
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
		j.Unexpected(fmt.Sprintf(`"," or %q`, string(rune(end))))
		return false
	}
	j.pos++
	if c := j.Peek(); c == end {
		j.Unexpected("another entry")
		return false
	}
	return j.err == nil
}

// open reads the beginning of a list or object; null stands for one that is not there.
func (j *Reader) open(begin byte, expected string) bool {
	if j.null() {
		return false
	}
	if j.Peek() != begin {
		j.Unexpected(expected)
		return false
	}
	j.pos++
	if j.depth++; j.depth > maxDepth {
		j.Fail("the report holds more than %d lists and objects in each other, at byte %d", maxDepth, j.Offset())
	}
	return j.err == nil
}

// Object reads an object; member must read the value of each name.
func (j *Reader) Object(member func(name string)) {
	if !j.open('{', "an object") {
		return
	}
	for first := true; j.another(first, '}'); first = false {
		if j.Peek() != '"' {
			j.Unexpected("a name in double quotes")
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
		if j.Peek() != ':' {
			j.Unexpected(`":"`)
			return
		}
		j.pos++
		member(name)
	}
}

// Array reads a list; entry must read each of its values, which count from 0. It reports whether there was one.
func (j *Reader) Array(entry func(i int)) bool {
	if !j.open('[', "a list") {
		return false
	}
	for i := 0; j.another(i == 0, ']'); i++ {
		entry(i)
	}
	return j.err == nil
}

// null reads null if it comes next.
func (j *Reader) null() bool {
	if j.Peek() != 'n' {
		return false
	}
	return j.word("null")
}

func (j *Reader) word(word string) bool {
	for i := range len(word) {
		if j.pos >= j.end && !j.fill() || j.buf[j.pos] != word[i] {
			j.Unexpected(word)
			return false
		}
		j.pos++
	}
	return true
}

// String reads a text, of which at most limit bytes are kept.
func (j *Reader) String(limit int) string {
	if j.null() {
		return ""
	}
	if j.Peek() != '"' {
		j.Unexpected("a text")
		return ""
	}
	j.scan(limit + utf8.UTFMax) // one character more than is wanted says that there is more
	if j.err != nil {
		return ""
	}
	return strings.Clone(cut(strings.ToValidUTF8(string(j.text), ""), limit))
}

// scan reads a string into text, of which it keeps at most so many bytes.
func (j *Reader) scan(keep int) {
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
				j.Unexpected("a text")
			}
		case j.buf[i] == '"':
			j.pos++
			j.half(keep)
			return
		case j.buf[i] == '\\':
			j.pos++
			j.escape(keep)
		default:
			j.Unexpected("a text without control characters")
		}
	}
}

func (j *Reader) keep(limit int, b ...byte) {
	if len(b) == 0 {
		return
	}
	j.half(limit)
	if room := limit - len(j.text); room > 0 {
		j.text = append(j.text, b[:min(room, len(b))]...)
	}
}

// half ends a first half of a character that no second one followed.
func (j *Reader) half(limit int) {
	if j.high != 0 {
		j.high = 0
		j.keep(limit, []byte("\uFFFD")...)
	}
}

func (j *Reader) escape(keep int) {
	if j.pos >= j.end && !j.fill() {
		j.Unexpected("an escape")
		return
	}
	c := j.buf[j.pos]
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		j.pos++
		j.keep(keep, "\"\\/\b\f\n\r\t"[at])
		return
	}
	if c != 'u' {
		j.Unexpected("an escape such as \\n")
		return
	}
	j.pos++
	var r rune
	for range 4 {
		if j.pos >= j.end && !j.fill() {
			j.Unexpected("four hexadecimal digits")
			return
		}
		digit := strings.IndexByte("0123456789abcdef", j.buf[j.pos]|0x20)
		if digit < 0 || j.buf[j.pos] < '0' {
			j.Unexpected("four hexadecimal digits")
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

// Rest reads all that is left, be it JSON or not, and gives the first bytes of it.
func (j *Reader) Rest(limit int) string {
	j.text = j.text[:0]
	for j.pos < j.end || j.fill() {
		j.keep(limit, j.buf[j.pos:j.end]...)
		j.pos = j.end
	}
	return string(j.text)
}
