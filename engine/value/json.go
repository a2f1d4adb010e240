package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep lists and objects may nest in what DecodeJSON and FromAny read.
const MaxDepth = 200

// DecodeJSON reads one JSON value: whole numbers as int64, other numbers as float64, arrays as List,
// objects as *Object in the order of the text. It is an error if a name stands twice in one object, if a
// whole number does not fit 64 bits, if values nest deeper than MaxDepth, or if anything follows the value.
func DecodeJSON(data []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decodeNext(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", plainEOF(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read JSON: want one value, got more text after it at byte %d", dec.InputOffset())
	}
	return v, nil
}

func plainEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the text ends in the middle of a value")
	}
	return err
}

func decodeNext(dec *json.Decoder, depth int) (Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if depth >= MaxDepth {
			return nil, fmt.Errorf("lists and objects nest deeper than %d", MaxDepth)
		}
		if tok == '[' {
			return decodeList(dec, depth+1)
		}
		return decodeObject(dec, depth+1)
	case json.Number:
		return ParseNumber(tok.String())
	default: // nil, bool, string
		return tok, nil
	}
}

func decodeList(dec *json.Decoder, depth int) (Value, error) {
	list := List{}
	for dec.More() {
		v, err := decodeNext(dec, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token() // the closing bracket
	return list, err
}

func decodeObject(dec *json.Decoder, depth int) (Value, error) {
	o := NewObject()
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("want a name in an object, got %v", tok)
		}
		if _, twice := o.Get(name); twice {
			return nil, fmt.Errorf("name %q stands twice in one object", name)
		}
		v, err := decodeNext(dec, depth)
		if err != nil {
			return nil, err
		}
		o.Set(name, v)
	}
	_, err := dec.Token() // the closing brace
	return o, err
}

// Canonical returns v's canonical JSON: names sorted by bytes, no white space, no HTML escapes, numbers in
// their shortest form. Equal values have equal canonical JSON. NaN and infinities are an error.
func Canonical(v Value) ([]byte, error) { return appendJSON(nil, v, sortNames) }

// Format returns v as it stands in a text with expressions: a string as it is, else compact JSON with
// objects in their own order. Null is an error.
func Format(v Value) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errors.New(`the value is null, which has no text: give it one with "??"`)
	case string:
		return v, nil
	default:
		b, err := appendJSON(nil, v, keepOrder)
		return string(b), err
	}
}

const (
	keepOrder = false
	sortNames = true
)

func appendJSON(b []byte, v Value, sorted bool) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return appendFloat(b, v)
	case string:
		return appendString(b, v), nil
	case List:
		return appendList(b, v, sorted)
	case *Object:
		return appendObject(b, v, sorted)
	default:
		norm, err := FromAny(v)
		if err != nil {
			return nil, fmt.Errorf("write JSON: %w", err)
		}
		return appendJSON(b, norm, sorted)
	}
}

func appendFloat(b []byte, f float64) ([]byte, error) {
	if i, ok := FromFloat(f).(int64); ok {
		return strconv.AppendInt(b, i, 10), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("write JSON: number %v has no JSON form", f)
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= math.MaxInt64 { // digits alone would be read back as a whole number
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64), nil
}

func appendList(b []byte, list List, sorted bool) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, e, sorted); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, o *Object, sorted bool) ([]byte, error) {
	var fields []Field
	if o != nil {
		fields = o.fields
	}
	if sorted {
		fields = slices.Clone(fields)
		slices.SortFunc(fields, func(x, y Field) int { return strings.Compare(x.Name, y.Name) })
	}
	b = append(b, '{')
	var err error
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, f.Name), ':')
		if b, err = appendJSON(b, f.Value, sorted); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string: control characters and the two separators that JavaScript takes
// for line ends are escaped, bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			b = appendASCII(b, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, "\ufffd"...)
		case r == '\u2028' || r == '\u2029':
			b = append(b, `\u202`...)
			b = append(b, hexDigits[r&0xf])
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return append(b, '"')
}

func appendASCII(b []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, `\n`...)
	case c == '\r':
		return append(b, `\r`...)
	case c == '\t':
		return append(b, `\t`...)
	case c < 0x20 || c == 0x7f:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	default:
		return append(b, c)
	}
}
