package value

import (
	"fmt"
	"slices"
	"strings"
)

var kindNames = [...]string{
	UnknownKind: "", Any: "any", Null: "null", Bool: "boolean", Int: "integer", Number: "number",
	String: "string", ListKind: "list", ObjectKind: "object",
}

// String returns the word for k that documents and messages use: "integer", "string", "list", …
func (k Kind) String() string {
	if k == UnknownKind || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// MarshalText writes the word of k; of UnknownKind, nothing.
func (k Kind) MarshalText() ([]byte, error) {
	if int(k) >= len(kindNames) {
		return nil, fmt.Errorf("kind %d of a type has no name", k)
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads a word that MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("want a kind of type (%s), got %q", strings.Join(kindNames[1:], ", "), text)
	}
	*k = Kind(i)
	return nil
}

// Of returns the type of a kind alone: a list of anything, an object with any fields, any string.
func Of(k Kind) Type {
	return Type{Kind: k, Open: k == ObjectKind}
}

// ListOf returns the type of a list whose elements have type elem.
func ListOf(elem Type) Type { return Type{Kind: ListKind, Elem: &elem} }

// ObjectOf returns the type of an object with just the given fields.
func ObjectOf(fields ...FieldType) Type { return Type{Kind: ObjectKind, Fields: fields} }

// OpenObjectOf returns the type of an object with the given fields and any others.
func OpenObjectOf(fields ...FieldType) Type {
	return Type{Kind: ObjectKind, Fields: fields, Open: true}
}

// OneOf returns the type of a string that is one of words.
func OneOf(words ...string) Type { return Type{Kind: String, Enum: words} }

// OrNull returns t, which may also be null.
func (t Type) OrNull() Type {
	t.Optional = true
	return t
}

// NotNull returns t without null.
func (t Type) NotNull() Type {
	t.Optional = false
	return t
}

// IsAny reports whether t takes every value; the zero Type does.
func (t Type) IsAny() bool { return t.Kind == Any || t.Kind == UnknownKind }

// ElemType returns the type of a list's elements.
func (t Type) ElemType() Type {
	if t.Elem == nil {
		return Of(Any)
	}
	return *t.Elem
}

// Field returns the declared type of a field of an object type.
func (t Type) Field(name string) (Type, bool) {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return t.Fields[i].Type, true
		}
	}
	return Type{}, false
}

// FieldNames returns the names of an object type's declared fields, in order.
func (t Type) FieldNames() []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// String returns the short form of t, as ParseType reads it: "string", "integer[]", "object", "string?".
// The fields of an object and the words of an enumeration are not in it.
func (t Type) String() string {
	var s string
	switch {
	case t.IsAny():
		return "any" // null is among them
	case t.Kind == ListKind:
		s = t.ElemType().String() + "[]"
	default:
		s = t.Kind.String()
	}
	if t.Optional {
		s += "?"
	}
	return s
}

// ParseType reads the short form of a type: string, integer, number, boolean, object, any or null, each
// with "[]" for a list of them and "?" for one that may be null.
func ParseType(s string) (Type, error) {
	t, ok := parseType(s)
	if !ok {
		return Type{}, fmt.Errorf("want a type such as string, integer, number, boolean, object, any or string[], got %q", clip(s))
	}
	return t, nil
}

func parseType(s string) (Type, bool) {
	if len(s) > 100 {
		return Type{}, false
	}
	if base, ok := strings.CutSuffix(s, "?"); ok {
		t, ok := parseType(base)
		return t.OrNull(), ok && !t.Optional
	}
	if base, ok := strings.CutSuffix(s, "[]"); ok {
		t, ok := parseType(base)
		return ListOf(t), ok
	}
	for k, name := range kindNames {
		if Kind(k) != UnknownKind && Kind(k) != ListKind && name == s {
			return Of(Kind(k)), true
		}
	}
	if s == "list" {
		return Of(ListKind), true
	}
	return Type{}, false
}

// TypeOf returns the type of a value as it stands: a closed object, a list of what its elements have in
// common.
func TypeOf(v Value) Type {
	switch v := v.(type) {
	case nil:
		return Of(Null)
	case bool:
		return Of(Bool)
	case int64:
		return Of(Int)
	case float64:
		return Of(Number)
	case string:
		return Of(String)
	case List:
		if len(v) == 0 {
			return Of(ListKind)
		}
		elem := TypeOf(v[0])
		for _, e := range v[1:] {
			elem = Join(elem, TypeOf(e))
		}
		return ListOf(elem)
	case *Object:
		t := Type{Kind: ObjectKind}
		for name, e := range v.All() {
			t.Fields = append(t.Fields, FieldType{Name: name, Type: TypeOf(e)})
		}
		return t
	default:
		return Of(Any)
	}
}

// Assignable reports whether a value of type from may stand where to is wanted. A value of an unknown type
// (any) may, and is checked when it is there; one that may be null may not, unless to allows null.
func Assignable(from, to Type) bool {
	switch {
	case from.IsAny() || to.IsAny():
		return true
	case from.Kind == Null:
		return to.Optional || to.Kind == Null
	case from.Optional && !to.Optional:
		return false
	case from.Kind != to.Kind:
		return from.Kind == Int && to.Kind == Number
	}
	switch from.Kind {
	case String:
		return enumWithin(from.Enum, to.Enum)
	case ListKind:
		return Assignable(from.ElemType(), to.ElemType())
	case ObjectKind:
		return assignableObjects(from, to)
	default:
		return true
	}
}

func enumWithin(from, to []string) bool {
	if len(to) == 0 || len(from) == 0 { // any string may be one of the words: checked when it is there
		return true
	}
	for _, w := range from {
		if !slices.Contains(to, w) {
			return false
		}
	}
	return true
}

func assignableObjects(from, to Type) bool {
	for _, want := range to.Fields {
		got, ok := from.Field(want.Name)
		if !ok && !from.Open && !want.Type.mayMiss() || ok && !Assignable(got, want.Type) {
			return false
		}
	}
	if to.Open || from.Open {
		return true
	}
	for _, f := range from.Fields {
		if _, ok := to.Field(f.Name); !ok {
			return false
		}
	}
	return true
}

// mayMiss reports whether a field of type t may be absent from an object.
func (t Type) mayMiss() bool { return t.Optional || t.Kind == Null || t.IsAny() }

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
