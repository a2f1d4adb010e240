package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

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
