package value

import "slices"

// maxJoined is the number of fields, or of words, up to which Join looks at each.
const maxJoined = 64

// Join returns a type that holds the values of a and of b, as small as the language has one: the wider
// number, the words of both enumerations, the same type with null, objects with the fields of both, of which
// those that one lacks may be missing; else any.
func Join(a, b Type) Type {
	switch {
	case a.IsAny() || b.IsAny():
		return Of(Any)
	case a.Kind == Null:
		return b.nullable()
	case b.Kind == Null:
		return a.nullable()
	case a.Optional || b.Optional:
		return Join(a.NotNull(), b.NotNull()).OrNull()
	case a.Kind != b.Kind:
		if a.isNumber() && b.isNumber() {
			return Of(Number)
		}
		return Of(Any)
	}
	switch a.Kind {
	case String:
		return OneOf(joinWords(a.Enum, b.Enum)...)
	case ListKind:
		return ListOf(Join(a.ElemType(), b.ElemType()))
	case ObjectKind:
		return joinObjects(a, b)
	default:
		return a
	}
}

func (t Type) nullable() Type {
	if t.Kind == Null {
		return t
	}
	return t.OrNull()
}

func (t Type) isNumber() bool { return t.Kind == Int || t.Kind == Number }

// joinWords returns nil, any string, if one of the two is any string.
func joinWords(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 || len(a)+len(b) > maxJoined {
		return nil
	}
	words := slices.Clone(a)
	for _, w := range b {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

func joinObjects(a, b Type) Type {
	if len(a.Fields)+len(b.Fields) > maxJoined {
		return Of(ObjectKind)
	}
	t := Type{Kind: ObjectKind, Open: a.Open || b.Open}
	for _, f := range a.Fields {
		other, ok := b.Field(f.Name)
		switch {
		case ok:
			f.Type = Join(f.Type, other)
		case b.Open:
			f.Type = Of(Any)
		default:
			f.Type = f.Type.nullable()
		}
		t.Fields = append(t.Fields, f)
	}
	for _, f := range b.Fields {
		if _, ok := a.Field(f.Name); ok {
			continue
		}
		if f.Type = f.Type.nullable(); a.Open {
			f.Type = Of(Any)
		}
		t.Fields = append(t.Fields, f)
	}
	return t
}
