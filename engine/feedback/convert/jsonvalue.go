package convert

import (
	"encoding/json"
	"strconv"
)

// number reads a number; 0 for null.
func (j *jsonReader) number() float64 {
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

// int reads a whole number; 0 for what can be none that counts lines or entries.
func (j *jsonReader) int() int {
	n := j.number()
	if n != float64(int32(n)) {
		return 0
	}
	return int(n)
}

func (j *jsonReader) digits() {
	if c := j.peek(); c != '-' && (c < '0' || c > '9') {
		j.unexpected("a number")
		return
	}
	start := j.offset()
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
		j.fail("the report can't be read at byte %d: %q is no number", start, clip(string(j.text), 40))
	case !json.Valid(j.text):
		j.unexpected("a digit")
	}
}

// bool reads true or false; null is the value that is given.
func (j *jsonReader) bool(missing bool) bool {
	switch j.peek() {
	case 't':
		return j.word("true")
	case 'f':
		j.word("false")
		return false
	}
	if !j.null() {
		j.unexpected("true or false")
	}
	return missing
}

// skip reads any value and keeps nothing of it.
func (j *jsonReader) skip() {
	switch c := j.peek(); c {
	case '{':
		j.object(func(string) { j.skip() })
	case '[':
		j.array(func(int) { j.skip() })
	case '"':
		j.scan(0)
	case 't', 'f':
		j.bool(false)
	case 'n':
		j.null()
	default:
		if c != '-' && (c < '0' || c > '9') {
			j.unexpected("a value")
			return
		}
		j.digits()
	}
}
