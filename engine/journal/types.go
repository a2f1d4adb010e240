package journal

import (
	"bytes"
	"encoding/json"
	"slices"

	"example.com/pipe/engine/step"
)

// Types names types of records, each by how it begins: "stage." is all that happens to stages.
type Types struct {
	Any    []string // a step without one of them is left unread
	Beside []string // given as well, from the steps that are read
}

// ReadTypes is Read for who needs few of the records of many journals: of each step it gives the records of the types,
// without its event, and it leaves out steps that have none. That the bytes of all lines are whole is looked at as
// by Read; what is left out is not decoded.
func ReadTypes(dir string, types Types, fn func(Line) error) error {
	t := NewTail(dir)
	t.types = &types
	_, err := t.next(fn)
	return err
}

// typeMark is how a record begins.
const typeMark = `{"type":"`

// blobMark stands in the line of a step whose records are in a file of their own.
var blobMark = []byte(`"blob":"`)

// wants reports whether a line may hold a record that is asked for. A text that a stage wrote can make it true for
// nothing, and never false: quotes in a text are escaped.
func (t *Types) wants(body []byte) bool {
	if t == nil || bytes.Contains(body, blobMark) {
		return true
	}
	return slices.ContainsFunc(t.Any, func(word string) bool { return bytes.Contains(body, []byte(typeMark+word)) })
}

// records decodes those that are asked for.
func (t *Types) records(all []json.RawMessage) ([]step.Record, error) {
	var out []step.Record
	found := false
	for _, raw := range all {
		any := begins(raw, t.Any)
		if !any && !begins(raw, t.Beside) {
			continue
		}
		rec, err := step.UnmarshalRecord(raw)
		if err != nil {
			return nil, err
		}
		out, found = append(out, rec), found || any
	}
	if !found {
		return nil, nil
	}
	return out, nil
}

func begins(raw []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.HasPrefix(raw, []byte(typeMark+word)) })
}

// linesOf is a step without its event.
type linesOf struct {
	Seq     int64             `json:"seq"`
	At      step.Instant      `json:"at"`
	Records []json.RawMessage `json:"records"`
	Blob    string            `json:"blob"`
	Size    int64             `json:"size"`
}

// decodeTypes reads of a step's line what is asked for; its Records are nil where there is nothing.
func decodeTypes(body []byte, types *Types, blob func(sum string, size int64) ([]byte, error)) (Line, error) {
	var env linesOf
	if err := unpack(body, &env, &env.Blob, &env.Size, blob); err != nil {
		return Line{}, err
	}
	records, err := types.records(env.Records)
	return Line{V: Version, Seq: env.Seq, At: env.At, Records: records}, err
}
