package journal

import "bytes"

// ReadTypes is Read for who needs few of the records of many journals: it gives only the steps with a record whose
// type begins with one of the words, each step whole, and leaves the others unread. That their bytes are whole is
// looked at as by Read.
func ReadTypes(dir string, types []string, fn func(Line) error) (*Log, error) {
	t := NewTail(dir)
	for _, word := range types {
		t.only = append(t.only, []byte(`"type":"`+word))
	}
	torn, err := t.next(fn)
	if err != nil {
		return nil, err
	}
	return &Log{Header: t.header, Last: t.pos, Torn: torn, dir: dir}, nil
}

// blobMark stands in the line of a step whose records are in a file of their own.
var blobMark = []byte(`"blob":"`)

// wants reports whether a step is to be given. A text that a stage wrote can make it true for nothing, and never
// false: quotes in a text are escaped.
func (t *Tail) wants(body []byte) bool {
	if t.only == nil || bytes.Contains(body, blobMark) {
		return true
	}
	for _, mark := range t.only {
		if bytes.Contains(body, mark) {
			return true
		}
	}
	return false
}
