package value

import (
	"bytes"
	"encoding/json"
	"iter"
)

// indexFrom is the number of fields from which an Object keeps an index: below it a scan is faster.
const indexFrom = 9

// NewObject returns an object with the given fields; of two with the same name the later value holds, at
// the place of the first.
func NewObject(fields ...Field) *Object {
	o := &Object{fields: make([]Field, 0, len(fields))}
	for _, f := range fields {
		o.Set(f.Name, f.Value)
	}
	return o
}

// Set gives name the value v: in place if o has the name, else at the end. It is meant for building an
// object; a value that was handed over is not changed any more. A nil *Object can't be set.
func (o *Object) Set(name string, v Value) {
	if i := o.find(name); i >= 0 {
		o.fields[i].Value = v
		return
	}
	o.fields = append(o.fields, Field{Name: name, Value: v})
	switch {
	case o.index != nil:
		o.index[name] = len(o.fields) - 1
	case len(o.fields) >= indexFrom:
		o.index = make(map[string]int, 2*len(o.fields))
		for i, f := range o.fields {
			o.index[f.Name] = i
		}
	}
}

// find returns the place of name in o's fields, or -1.
func (o *Object) find(name string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, ok := o.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range o.fields {
		if o.fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Get returns the value of name and whether o has it.
func (o *Object) Get(name string) (Value, bool) {
	i := o.find(name)
	if i < 0 {
		return nil, false
	}
	return o.fields[i].Value, true
}

// Len returns the number of fields.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.fields)
}

// At returns the field at place i, from 0, in the order they were set.
func (o *Object) At(i int) Field { return o.fields[i] }

// All walks the fields in order.
func (o *Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if o == nil {
			return
		}
		for _, f := range o.fields {
			if !yield(f.Name, f.Value) {
				return
			}
		}
	}
}

// Keys returns the names of the fields in order.
func (o *Object) Keys() []string {
	keys := make([]string, 0, o.Len())
	for name := range o.All() {
		keys = append(keys, name)
	}
	return keys
}

// Clone returns a copy of v that shares no list and no object with it.
func Clone(v Value) Value {
	switch v := v.(type) {
	case List:
		if v == nil {
			return List(nil)
		}
		c := make(List, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	case *Object:
		return v.Clone()
	default:
		return v
	}
}

// Clone returns a deep copy of o; of a nil *Object, nil.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	c := &Object{fields: make([]Field, 0, len(o.fields))}
	for name, v := range o.All() {
		c.Set(name, Clone(v))
	}
	return c
}

// MarshalJSON writes o with its fields in order. A nil *Object is null where encoding/json meets it
// inside another value, and {} here.
func (o *Object) MarshalJSON() ([]byte, error) { return appendJSON(nil, o, keepOrder) }

// UnmarshalJSON reads an object and keeps the order of its fields; whole numbers become int64, nested
// objects *Object and arrays List. A name that stands twice in one object is an error; null leaves o
// empty.
func (o *Object) UnmarshalJSON(data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		*o = Object{}
		return nil
	}
	v, err := DecodeJSON(data)
	if err != nil {
		return err
	}
	read, ok := v.(*Object)
	if !ok {
		return &TypeError{Want: Of(ObjectKind), Got: v}
	}
	*o = *read
	return nil
}

// JSON carries a Value through encoding/json: a struct field of type Value would come back as float64,
// map[string]any and []any, a field of type JSON comes back as it was.
type JSON struct{ Value Value }

// MarshalJSON writes the value, objects in their own order.
func (j JSON) MarshalJSON() ([]byte, error) { return appendJSON(nil, j.Value, keepOrder) }

// UnmarshalJSON reads any JSON value as DecodeJSON does.
func (j *JSON) UnmarshalJSON(data []byte) error {
	v, err := DecodeJSON(data)
	if err != nil {
		return err
	}
	j.Value = v
	return nil
}

// IsZero reports whether the value is null, for the omitzero option.
func (j JSON) IsZero() bool { return j.Value == nil }

var (
	_ json.Marshaler   = (*Object)(nil)
	_ json.Unmarshaler = (*Object)(nil)
)
