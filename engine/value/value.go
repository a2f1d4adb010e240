// Package value holds run-time values: what inputs, outputs and expressions are made of.
//
// A Value is nil, bool, int64, float64, string, List or *Object, and nothing else. Whole JSON numbers are
// int64, so that "%" and comparisons mean what authors expect; other numbers are float64. An Object keeps
// its fields in the order they were set, so that no map order ever reaches a record or the screen; its
// canonical JSON sorts them. A Type says what a value must be, at author time and at run time.
//
// A struct field of type Value does not come back from encoding/json as it was: the type JSON carries one
// through it, and FromAny makes Values of what others decoded.
//
// Values are immutable by convention once handed over. Reading documents is specs/data's work;
// evaluating is engine/expr's.
package value

// Value is nil, bool, int64, float64, string, List or *Object.
type Value = any

// List is an ordered list of values.
type List []Value

// Field is a named value of an Object.
type Field struct {
	Name  string
	Value Value
}

// Object is an ordered map. The zero Object and a nil *Object are empty.
type Object struct {
	fields []Field
	index  map[string]int // by name into fields; nil while there are few
}

// Kind is the kind of a type.
type Kind uint8

// The kinds of types. Int is a whole number, Number any number (an int64 fits it).
const (
	UnknownKind Kind = iota
	Any
	Null
	Bool
	Int
	Number
	String
	ListKind
	ObjectKind
)

// Type says what a value must be. It is data: it stands in plan.json.
type Type struct {
	Kind     Kind        `json:"kind"`
	Elem     *Type       `json:"elem,omitempty"`     // of a ListKind; nil: anything
	Fields   []FieldType `json:"fields,omitempty"`   // of an ObjectKind
	Open     bool        `json:"open,omitempty"`     // an ObjectKind that may hold fields beside Fields
	Enum     []string    `json:"enum,omitempty"`     // of a String: the values it may take
	Optional bool        `json:"optional,omitempty"` // may be null: an expression must use ?? or ?. or test it
}

// FieldType is a declared field of an object type.
type FieldType struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}
