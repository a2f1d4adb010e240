package value

import "slices"

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
