package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TypeError says that a value is not of the type that is wanted.
type TypeError struct {
	Path string // of the value, such as outputs.x[2]; may be empty
	Want Type
	Got  Value
	Why  string // instead of Want and Got, where those do not say it
}

// Error returns `outputs.x[2]: want integer, got string "a"`.
func (e *TypeError) Error() string {
	msg := e.Why
	if msg == "" {
		msg = fmt.Sprintf("want %s, got %s", describeType(e.Want), Describe(e.Got))
	}
	if e.Path == "" {
		return msg
	}
	return e.Path + ": " + msg
}

func describeType(t Type) string {
	if t.Optional && !t.IsAny() {
		return describeType(t.NotNull()) + " or null"
	}
	if len(t.Enum) == 0 {
		return t.String()
	}
	words := make([]string, len(t.Enum))
	for i, w := range t.Enum {
		words[i] = strconv.Quote(w)
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// Describe returns a value in the words of a message: its kind, and the value where it is short.
func Describe(v Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean " + strconv.FormatBool(v)
	case int64:
		return "integer " + strconv.FormatInt(v, 10)
	case float64:
		return "number " + strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "string " + strconv.Quote(clip(v))
	case List:
		return fmt.Sprintf("a list of %d", len(v))
	case *Object:
		return "an object"
	default:
		return fmt.Sprintf("a Go value of type %T", v)
	}
}

// Check returns nil if v is of type t, else a *TypeError for the first place where it is not.
func (t Type) Check(v Value) error { return t.CheckAt("", v) }

// CheckAt is Check for a value that stands at path, which comes first in the message.
func (t Type) CheckAt(path string, v Value) error {
	if t.IsAny() {
		return nil
	}
	if v == nil {
		if t.Optional || t.Kind == Null {
			return nil
		}
		return &TypeError{Path: path, Want: t, Got: v}
	}
	switch t.Kind {
	case ListKind:
		return t.checkList(path, v)
	case ObjectKind:
		return t.checkObject(path, v)
	}
	if !t.takesScalar(v) {
		return &TypeError{Path: path, Want: t, Got: v}
	}
	return nil
}

func (t Type) takesScalar(v Value) bool {
	switch v := v.(type) {
	case bool:
		return t.Kind == Bool
	case int64:
		return t.Kind == Int || t.Kind == Number
	case float64:
		_, whole := FromFloat(v).(int64)
		return t.Kind == Number || t.Kind == Int && whole
	case string:
		return t.Kind == String && (len(t.Enum) == 0 || slices.Contains(t.Enum, v))
	default:
		return false
	}
}

func (t Type) checkList(path string, v Value) error {
	list, ok := v.(List)
	if !ok {
		return &TypeError{Path: path, Want: t, Got: v}
	}
	elem := t.ElemType()
	if elem.IsAny() {
		return nil
	}
	for i, e := range list {
		if err := elem.CheckAt(path+"["+strconv.Itoa(i)+"]", e); err != nil {
			return err
		}
	}
	return nil
}

func (t Type) checkObject(path string, v Value) error {
	o, ok := v.(*Object)
	if !ok {
		return &TypeError{Path: path, Want: t, Got: v}
	}
	for _, f := range t.Fields {
		fv, has := o.Get(f.Name)
		at := JoinPath(path, f.Name)
		if !has && !f.Type.mayMiss() {
			return &TypeError{Path: at, Want: f.Type, Got: nil, Why: fmt.Sprintf("want %s, got nothing", describeType(f.Type))}
		}
		if err := f.Type.CheckAt(at, fv); err != nil {
			return err
		}
	}
	if t.Open {
		return nil
	}
	for name, fv := range o.All() {
		if _, declared := t.Field(name); !declared {
			return &TypeError{Path: JoinPath(path, name), Want: t, Got: fv, Why: "is not declared"}
		}
	}
	return nil
}

// JoinPath returns the path of a field below path: path.name, or path["a-b"] where the name is no
// identifier.
func JoinPath(path, name string) string {
	if !IsIdentifier(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// IsIdentifier reports whether name can follow a dot in an expression: ASCII letters, digits and "_", no
// digit first.
func IsIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// ReadString reads the text of a `name=value` line as t: a string as it is, numbers and booleans as JSON
// writes them, lists and objects as JSON; "null" where t may be null and is no string. The value is of
// type t, or the error says what was expected.
func (t Type) ReadString(s string) (Value, error) {
	if t.IsAny() {
		return s, nil
	}
	v, err := t.readString(s)
	if err != nil {
		return nil, err
	}
	if err := t.Check(v); err != nil {
		return nil, err
	}
	return v, nil
}

func (t Type) readString(s string) (Value, error) {
	if t.Kind == String {
		return s, nil
	}
	s = strings.TrimSpace(s)
	if s == "null" {
		return nil, nil
	}
	switch t.Kind {
	case Bool:
		if s == "true" || s == "false" {
			return s == "true", nil
		}
	case Int, Number:
		if v, err := ParseNumber(s); err == nil {
			return v, nil
		}
	case ListKind, ObjectKind:
		v, err := DecodeJSON([]byte(s))
		if err != nil {
			return nil, fmt.Errorf("want %s as JSON: %w", t, err)
		}
		return v, nil
	}
	return nil, &TypeError{Want: t, Got: s}
}
