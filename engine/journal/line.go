package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"example.com/pipe/engine/step"
)

// Header is the first line of a journal.
type Header struct {
	V          int          `json:"v"` // set by Create
	Type       string       `json:"type"`
	Run        string       `json:"run"`
	Engine     string       `json:"engine"` // version of the engine that began the run
	PlanDigest string       `json:"plan"`
	Pipeline   string       `json:"pipeline"`
	At         step.Instant `json:"at"`
}

// Line is one step of the machine. Seq counts from 1 without gaps.
type Line struct {
	V       int // set by Append
	Seq     int64
	At      step.Instant
	Event   step.Event
	Records []step.Record
}

// maxLine is how long an encoded step may be, in bytes; a longer one goes into a blob. maxHeld is how much a
// reader gathers before it takes a missing line feed for damage.
const (
	maxLine = 256 << 10
	maxHeld = 4 * maxLine
)

// envelope is a step's line as it is read.
type envelope struct {
	V       int               `json:"v"`
	Seq     int64             `json:"seq"`
	At      step.Instant      `json:"at"`
	Event   json.RawMessage   `json:"event"`
	Records []json.RawMessage `json:"records"`
	Blob    string            `json:"blob"`
	Size    int64             `json:"size"`
}

// encodeHeader returns the header's line.
func encodeHeader(h Header) ([]byte, error) {
	h.V, h.Type = Version, "header"
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return nil, fmt.Errorf("write the journal's header: %w", err)
	}
	b := bytes.TrimRight(buf.Bytes(), "\n")
	return seal(b[:len(b)-1]), nil
}

// appendHead begins a step's line: all that stands in the line also when the rest is in a blob.
func appendHead(b []byte, l Line) []byte {
	b = append(b, `{"v":1,"seq":`...)
	b = strconv.AppendInt(b, l.Seq, 10)
	b = append(b, `,"at":"`...)
	b = append(b, l.At.String()...)
	return append(b, '"')
}

// appendBody adds the event and the records, without a comma before them.
func appendBody(b []byte, l Line) ([]byte, error) {
	if l.Event == nil {
		return b, errors.New("a line without an event")
	}
	event, err := step.MarshalEvent(l.Event)
	if err != nil {
		return b, err
	}
	b = append(b, `"event":`...)
	b = append(b, event...)
	b = append(b, `,"records":[`...)
	for i, r := range l.Records {
		record, err := step.MarshalRecord(r)
		if err != nil {
			return b, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, record...)
	}
	return append(b, ']'), nil
}

// unpack reads a line without its closing brace into env, and what lies in a blob over it; sum and size are where env has
// the blob's.
func unpack(body []byte, env any, sum *string, size *int64, blob func(sum string, size int64) ([]byte, error)) error {
	if err := json.Unmarshal(append(body[:len(body):len(body)], '}'), env); err != nil || *sum == "" {
		return err
	}
	text, err := blob(*sum, *size)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, env); err != nil {
		return fmt.Errorf("blob %q: %w", *sum, err)
	}
	return nil
}

// decode reads a step's line, body without sum and closing brace; blob gives the bytes of a blob. All its
// errors mean that the line was written by somebody else or another version, since its sum was right.
func decode(body []byte, blob func(sum string, size int64) ([]byte, error)) (Line, error) {
	var env envelope
	if err := unpack(body, &env, &env.Blob, &env.Size, blob); err != nil {
		return Line{}, err
	}
	l := Line{V: env.V, Seq: env.Seq, At: env.At}
	var err error
	if l.Event, err = step.UnmarshalEvent(env.Event); err != nil {
		return Line{}, err
	}
	if len(env.Records) > 0 {
		l.Records = make([]step.Record, len(env.Records))
	}
	for i, raw := range env.Records {
		if l.Records[i], err = step.UnmarshalRecord(raw); err != nil {
			return Line{}, err
		}
	}
	return l, nil
}

// decodeHeader reads the header's line, body without sum and closing brace.
func decodeHeader(body []byte) (Header, error) {
	var h Header
	err := json.Unmarshal(append(body[:len(body):len(body)], '}'), &h)
	return h, err
}
