package jsonstream

import (
	"encoding/json"
	"strconv"
)

// Number reads a number; 0 for null.
func (j *Reader) Number() float64 {
	if j.null() {
		return 0
	}
	j.digits()
	if j.err != nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(j.text), 64)
	if err != nil {
		return 0 // too large for any use here
	}
	return n
}

// Int reads a whole number; 0 for what can be none that counts lines or entries.
func (j *Reader) Int() int {
	n := j.Number()
	if n != float64(int32(n)) {
		return 0
	}
	return int(n)
}

func (j *Reader) digits() {
	if c := j.Peek(); c != '-' && (c < '0' || c > '9') {
		j.Unexpected("a number")
		return
	}
	start := j.Offset()
	for j.text = j.text[:0]; len(j.text) < maxNumber && (j.pos < j.end || j.fill()); j.pos++ {
		c := j.buf[j.pos]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			break
		}
		j.text = append(j.text, c)
	}
	switch {
	case j.err != nil:
	case len(j.text) == maxNumber || !json.Valid(j.text) && j.pos < j.end:
		j.Fail("the report can't be read at byte %d: %q is no number", start, cut(string(j.text), 40))
	case !json.Valid(j.text):
		j.Unexpected("a digit")
	}
}

// Bool reads true or false; null is the value that is given.
func (j *Reader) Bool(missing bool) bool {
	switch j.Peek() {
	case 't':
		return j.word("true")
	case 'f':
		j.word("false")
		return false
	}
	if !j.null() {
		j.Unexpected("true or false")
	}
	return missing
}

// Skip reads any value and keeps nothing of it.
func (j *Reader) Skip() {
	switch c := j.Peek(); c {
	case '{':
		j.Object(func(string) { j.Skip() })
	case '[':
		j.Array(func(int) { j.Skip() })
	case '"':
		j.scan(0)
	case 't', 'f':
		j.Bool(false)
	case 'n':
		j.null()
	default:
		if c != '-' && (c < '0' || c > '9') {
			j.Unexpected("a value")
			return
		}
		j.digits()
	}
}
