package expr

import "example.com/pipe/engine/value"

// fieldIndex finds the fields of wide object types without a walk for each look-up: a scope holds a field
// for each stage of a pipeline, and each stage's expressions look into it. It is filled as types are used.
type fieldIndex struct {
	wide map[fieldList]map[string]int
}

// fieldList stands for the fields of a type: types are copied, the list behind them is not.
type fieldList struct {
	first *value.FieldType
	len   int
}

// wideFrom is the number of fields from which a type gets an index.
const wideFrom = 24

func newFieldIndex() *fieldIndex {
	return &fieldIndex{wide: map[fieldList]map[string]int{}}
}

func (x *fieldIndex) get(t value.Type, name string) (value.Type, bool) {
	if len(t.Fields) < wideFrom {
		return t.Field(name)
	}
	key := fieldList{&t.Fields[0], len(t.Fields)}
	byName, ok := x.wide[key]
	if !ok {
		byName = make(map[string]int, len(t.Fields))
		for i := len(t.Fields) - 1; i >= 0; i-- { // of two with one name the first holds, as in Type.Field
			byName[t.Fields[i].Name] = i
		}
		x.wide[key] = byName
	}
	i, ok := byName[name]
	if !ok {
		return value.Type{}, false
	}
	return t.Fields[i].Type, true
}
