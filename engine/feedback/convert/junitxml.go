package convert

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// The most of a report of XML that is kept at a time. A longer text or attribute is cut; a longer tag is
// refused, since what it says would be lost.
const (
	xmlText = 1 << 20
	xmlTag  = 4 << 20
)

var errLongTag = errors.New("a tag has more than 4 MiB")

// xmlPlace is where in a document a byte stands.
type xmlPlace uint8

const (
	inText xmlPlace = iota
	inTag
	inSingle  // a value in '
	inDouble  // a value in "
	inCData   // until ]]>
	inComment // until -->
	inOther   // a declaration or a processing instruction
)

// xmlTrimmer hands a document to a decoder byte by byte, without what is beyond the bounds: a decoder keeps
// each text, attribute and comment whole, however long it is. It knows how far the document was read.
type xmlTrimmer struct {
	in     *bufio.Reader
	offset int64
	failed error // of in, io.EOF aside

	at     xmlPlace
	nested int  // of "<" in a declaration
	tag    int  // bytes of the present tag or declaration that were kept
	run    int  // bytes of the present text or value
	cut    bool // what is left of it is not kept
	entity int  // bytes of the present &entity; 0: none
}

func newXMLTrimmer(in io.Reader) *xmlTrimmer {
	t := &xmlTrimmer{in: bufio.NewReaderSize(in, 64<<10)}
	if bom, err := t.in.Peek(3); err == nil && string(bom) == "\uFEFF" {
		_, _ = t.in.Discard(len(bom)) // it was peeked
		t.offset = int64(len(bom))
	}
	return t
}

// Read implements io.Reader.
func (t *xmlTrimmer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := t.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// ReadByte implements io.ByteReader, so that a decoder reads no byte ahead.
func (t *xmlTrimmer) ReadByte() (byte, error) {
	for {
		b, err := t.in.ReadByte()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.failed = err
			}
			return 0, err
		}
		t.offset++
		if !t.step(b) {
			continue
		}
		if t.tag++; t.tag > xmlTag {
			t.failed = errLongTag
			return 0, errLongTag
		}
		return b, nil
	}
}

// step follows the document by one byte and reports whether it is kept.
func (t *xmlTrimmer) step(b byte) bool {
	switch t.at {
	case inText:
		if b == '<' {
			t.open()
			return true
		}
		t.tag = 0
		return t.keep(b)
	case inSingle, inDouble:
		if b == '\'' && t.at == inSingle || b == '"' && t.at == inDouble {
			t.enter(inTag)
			return true
		}
		return t.keep(b)
	case inTag:
		switch b {
		case '\'':
			t.enter(inSingle)
		case '"':
			t.enter(inDouble)
		case '>':
			t.enter(inText)
		}
	case inCData:
		t.tag = 0
		return t.until(b, "]]>")
	case inComment:
		t.tag = 0
		return t.until(b, "-->")
	case inOther:
		switch b {
		case '<':
			t.nested++
		case '>':
			if t.nested--; t.nested == 0 {
				t.enter(inText)
			}
		}
	}
	return true
}

func (t *xmlTrimmer) enter(at xmlPlace) { t.at, t.run, t.cut, t.entity = at, 0, false, 0 }

// open finds out what a "<" begins.
func (t *xmlTrimmer) open() {
	next, _ := t.in.Peek(len("![CDATA[")) // at the end there is less, and the decoder says so
	t.tag = 0
	switch text := string(next); {
	case strings.HasPrefix(text, "![CDATA["):
		t.enter(inCData)
		t.run = -len("![CDATA[")
	case strings.HasPrefix(text, "!--"):
		t.enter(inComment)
		t.run = -len("!--")
	case strings.HasPrefix(text, "!"), strings.HasPrefix(text, "?"):
		t.enter(inOther)
		t.nested = 1
	default:
		t.enter(inTag)
	}
}

// keep keeps text up to its bound; neither a character nor an entity is cut in two.
func (t *xmlTrimmer) keep(b byte) bool {
	t.run++
	if t.run > xmlText && t.entity == 0 && utf8.RuneStart(b) {
		t.cut = true
	}
	switch {
	case b == '&':
		t.entity = 1
	case b == ';', t.entity > 64: // no entity is so long
		t.entity = 0
	case t.entity > 0:
		t.entity++
	}
	return !t.cut
}

// until keeps a section up to its bound, and its end.
func (t *xmlTrimmer) until(b byte, end string) bool {
	if t.run >= 0 && b == end[0] {
		next, _ := t.in.Peek(len(end) - 1) // at the end there is less, and the decoder says so
		if string(next) == end[1:] {
			t.enter(inOther) // its last ">" ends it like a declaration
			t.nested = 1
			return true
		}
	}
	t.run++
	if t.run > xmlText && utf8.RuneStart(b) {
		t.cut = true
	}
	return !t.cut
}
