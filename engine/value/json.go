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

// maxExact is the largest whole number below which every float64 that is whole is exact.
const maxExact = 1 << 53

// ParseNumber reads a number as JSON writes it: int64 if its value is whole ("3", "3.0", "3e2"), else
// float64. A whole number that does not fit 64 bits is an error rather than a rounded value.
func ParseNumber(s string) (Value, error) {
	if !isNumber(s) {
		return nil, fmt.Errorf("want a number, got %q", clip(s))
	}
	if !strings.ContainsAny(s, ".eE") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number %q does not fit 64 bits: write it as a string", clip(s))
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %q is out of range", clip(s))
	}
	return FromFloat(f), nil
}

func isNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	return json.Valid([]byte(s)) && s == strings.TrimSpace(s)
}

// FromFloat returns f as a Value: int64 where f is whole and exact, else float64. Values that JSON can not
// write (NaN, infinities) stay float64; writing them is an error.
func FromFloat(f float64) Value {
	if f == math.Trunc(f) && math.Abs(f) <= maxExact {
		return int64(f)
	}
	return f
}

// FromAny turns what encoding/json or yaml made (map[string]any, []any, json.Number, Go's own number
// types, []string) into a Value; names of Go maps are sorted. Anything else is an error.
func FromAny(v any) (Value, error) { return fromAny(v, 0) }

func fromAny(v any, depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("lists and objects nest deeper than %d", MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case uint64:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("number %d does not fit 64 bits", v)
		}
		return int64(v), nil
	case float64:
		return FromFloat(v), nil
	case float32:
		return FromFloat(float64(v)), nil
	case json.Number:
		return ParseNumber(v.String())
	case JSON:
		return fromAny(v.Value, depth)
	case List:
		return fromList(v, depth)
	case []any:
		return fromList(v, depth)
	case []string:
		list := make(List, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, nil
	case *Object:
		return fromObject(v, depth)
	case map[string]any:
		return fromMap(v, depth)
	default:
		return nil, fmt.Errorf("a Go value of type %T is not a value of the language", v)
	}
}

func fromList(in []any, depth int) (Value, error) {
	list := make(List, len(in))
	for i, e := range in {
		v, err := fromAny(e, depth+1)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

func fromObject(in *Object, depth int) (Value, error) {
	o := NewObject()
	for name, e := range in.All() {
		v, err := fromAny(e, depth+1)
		if err != nil {
			return nil, err
		}
		o.Set(name, v)
	}
	return o, nil
}

func fromMap(in map[string]any, depth int) (Value, error) {
	o := NewObject()
	for _, name := range sortedKeys(in) { // sorted: a Go map has no order of its own
		v, err := fromAny(in[name], depth+1)
		if err != nil {
			return nil, err
		}
		o.Set(name, v)
	}
	return o, nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
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
	out, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("write JSON: number %v has no JSON form", f)
	}
	return append(b, out...), nil
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

// Equal reports whether a and b are the same value: 1 and 1.0 are, objects in another order are, and a nil
// *Object is the empty object.
func Equal(a, b Value) bool {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return x == y
		case float64:
			return CompareNumbers(x, y) == 0
		}
		return false
	case float64:
		switch b.(type) {
		case int64, float64:
			return CompareNumbers(x, b) == 0
		}
		return false
	case List:
		y, ok := b.(List)
		return ok && slices.EqualFunc(x, y, Equal)
	case *Object:
		y, ok := b.(*Object)
		return ok && equalObjects(x, y)
	case nil, bool, string:
		return a == b
	default:
		return false
	}
}

func equalObjects(x, y *Object) bool {
	if x.Len() != y.Len() {
		return false
	}
	for name, v := range x.All() {
		w, ok := y.Get(name)
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// CompareNumbers orders two numbers (int64 or float64) by their exact values: -1, 0 or 1. NaN is equal to
// nothing and comes first.
func CompareNumbers(a, b Value) int {
	x, xInt := a.(int64)
	y, yInt := b.(int64)
	switch {
	case xInt && yInt:
		return compareOrdered(x, y)
	case xInt:
		return -compareFloatInt(b.(float64), x)
	case yInt:
		return compareFloatInt(a.(float64), y)
	default:
		return compareOrdered(a.(float64), b.(float64))
	}
}

func compareOrdered[T int64 | float64](x, y T) int {
	switch {
	case x == y:
		return 0
	case x > y:
		return 1
	default:
		return -1
	}
}

// compareFloatInt compares without rounding n to a float64.
func compareFloatInt(f float64, n int64) int {
	switch {
	case f >= math.MaxInt64: // 2^63 as a float64
		return 1
	case f < math.MinInt64 || f != f:
		return -1
	}
	whole := math.Trunc(f)
	if c := compareOrdered(int64(whole), n); c != 0 {
		return c
	}
	return compareOrdered(f, whole)
}
