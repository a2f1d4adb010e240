package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/pipe/engine/value"
)

// ReadJSON reads exactly one JSON document. A byte order mark before it is skipped.
func ReadJSON(b []byte) (value.Value, error) {
	if err := check(b, MaxJSON); err != nil {
		return nil, err
	}
	n := 0
	return readJSON(b, &n)
}

// ReadJSONLines reads one JSON document from each line that is not blank.
func ReadJSONLines(b []byte) (value.List, error) {
	if err := check(b, MaxJSON); err != nil {
		return nil, err
	}
	out := value.List{}
	n, number := 0, 0
	for line := range bytes.Lines(b) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, err := readJSON(bytes.TrimRight(line, "\r\n"), &n)
		if err != nil {
			var at *Error
			if errors.As(err, &at) {
				at.Pos.Line += number - 1
			}
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// jsonReader reads one document; n counts values over all documents of a file.
type jsonReader struct {
	text []byte
	dec  *json.Decoder
	n    *int
}

func readJSON(b []byte, n *int) (value.Value, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	r := &jsonReader{text: b, dec: json.NewDecoder(bytes.NewReader(b)), n: n}
	r.dec.UseNumber()
	v, err := r.next(0)
	if err != nil {
		return nil, err
	}
	at := r.start()
	if at < len(b) {
		return nil, r.errorAt(at, "expected one document, and more text follows it")
	}
	return v, nil
}

// start returns the offset at which the next token starts.
func (r *jsonReader) start() int {
	at := int(r.dec.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *jsonReader) errorAt(at int, format string, args ...any) error {
	return &Error{place(r.text, at), fmt.Sprintf(format, args...)}
}

func (r *jsonReader) token() (json.Token, int, error) {
	at := r.start()
	t, err := r.dec.Token()
	if err == nil {
		return t, at, nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if at >= len(r.text) && *r.n == 0 && len(bytes.TrimSpace(r.text)) == 0 {
			return nil, at, r.errorAt(at, "expected a JSON document, and there is none")
		}
		return nil, at, r.errorAt(len(r.text), "the document ends in the middle of a value")
	case errors.As(err, &syntax):
		return nil, at, r.errorAt(max(at, int(syntax.Offset)-1), "not JSON: %s", strings.ReplaceAll(syntax.Error(), "'", "\""))
	}
	return nil, at, r.errorAt(at, "not JSON: %v", err)
}

func (r *jsonReader) next(depth int) (value.Value, error) {
	t, at, err := r.token()
	if err != nil {
		return nil, err
	}
	if *r.n++; *r.n > MaxValues {
		return nil, r.errorAt(at, "the document holds more than %d values", MaxValues)
	}
	switch t := t.(type) {
	case json.Number:
		v, err := value.ParseNumber(t.String())
		if err != nil {
			return nil, r.errorAt(at, "%v", err)
		}
		return v, nil
	case json.Delim:
		switch {
		case depth >= MaxDepth:
			return nil, r.errorAt(at, "values are nested more than %d levels deep", MaxDepth)
		case t == '[':
			return r.list(depth + 1)
		case t == '{':
			return r.object(depth + 1)
		}
		return nil, r.errorAt(at, "not JSON: %q closes nothing", t.String())
	case nil, bool, string:
		return t, nil
	}
	return nil, r.errorAt(at, "not JSON: unexpected %v", t)
}

func (r *jsonReader) list(depth int) (value.Value, error) {
	out := value.List{}
	for r.dec.More() {
		v, err := r.next(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, _, err := r.token()
	return out, err
}

func (r *jsonReader) object(depth int) (value.Value, error) {
	out := value.NewObject()
	for r.dec.More() {
		t, at, err := r.token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, r.errorAt(at, "not JSON: a name must be a string")
		}
		if _, twice := out.Get(name); twice {
			return nil, r.errorAt(at, "the name %q is given twice in one object", short(name))
		}
		v, err := r.next(depth)
		if err != nil {
			return nil, err
		}
		out.Set(name, v)
	}
	_, _, err := r.token()
	return out, err
}
