package eval

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/value"
)

// The functions of the list. Their arguments have the kinds of their parameters; what they make is counted
// before it is made.

func evalLen(r *run, at Span, args []value.Value) (value.Value, error) {
	switch v := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), r.read(at, v)
	case value.List:
		return int64(len(v)), nil
	default:
		return int64(v.(*value.Object).Len()), nil
	}
}

func evalLower(r *run, at Span, args []value.Value) (value.Value, error) {
	return mapText(r, at, args[0].(string), strings.ToLower)
}

func evalUpper(r *run, at Span, args []value.Value) (value.Value, error) {
	return mapText(r, at, args[0].(string), strings.ToUpper)
}

// mapText counts three bytes for one: no letter grows more when its case changes.
func mapText(r *run, at Span, s string, f func(string) string) (value.Value, error) {
	if err := r.alloc(at, 3*len(s)); err != nil {
		return nil, err
	}
	return f(s), nil
}

func evalTrim(r *run, at Span, args []value.Value) (value.Value, error) {
	s := args[0].(string)
	return strings.TrimSpace(s), r.read(at, s)
}

func evalSplit(r *run, at Span, args []value.Value) (value.Value, error) {
	s, sep := args[0].(string), args[1].(string)
	if err := r.read(at, s); err != nil {
		return nil, err
	}
	if err := r.allocList(at, strings.Count(s, sep)+1); err != nil {
		return nil, err
	}
	pieces := strings.Split(s, sep)
	out := make(value.List, len(pieces))
	for i, p := range pieces {
		out[i] = p
	}
	return out, nil
}

func evalJoin(r *run, at Span, args []value.Value) (value.Value, error) {
	list, sep := args[0].(value.List), args[1].(string)
	size := 0
	pieces := make([]string, 0, min(len(list), MaxSteps))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil, faultf(at, "join: want a list of strings, got %s at %d: map it with string(#) first", value.Describe(e), i)
		}
		if size += len(s) + len(sep); size > MaxBytes {
			break // alloc refuses it
		}
		pieces = append(pieces, s)
	}
	if err := r.spend(at, len(list)); err != nil {
		return nil, err
	}
	if err := r.alloc(at, size); err != nil {
		return nil, err
	}
	return strings.Join(pieces, sep), nil
}

func evalReplace(r *run, at Span, args []value.Value) (value.Value, error) {
	s, from, to := args[0].(string), args[1].(string), args[2].(string)
	if from == "" {
		return nil, faultf(at, "replace: the text to replace is empty")
	}
	if err := r.read(at, s); err != nil {
		return nil, err
	}
	size := len(s)
	if grow := len(to) - len(from); grow > 0 {
		n := strings.Count(s, from)
		if n > 0 && grow > MaxBytes/n {
			n, grow = 1, MaxBytes+1 // alloc refuses it
		}
		size += n * grow
	}
	if err := r.alloc(at, size); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, from, to), nil
}

func evalString(r *run, at Span, args []value.Value) (value.Value, error) {
	if args[0] == nil {
		return nil, missing(at, GuardText, "string: the value is null, which has no text")
	}
	if err := r.weigh(at, args[0]); err != nil {
		return nil, err
	}
	s, err := value.Format(args[0])
	if err != nil {
		return nil, faultf(at, "string: %v", err)
	}
	return s, r.alloc(at, len(s))
}

// weigh counts the steps of walking all of v.
func (r *run) weigh(at Span, v value.Value) error {
	if err := r.spend(at, 1); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		return r.read(at, v)
	case value.List:
		for _, e := range v {
			if err := r.weigh(at, e); err != nil {
				return err
			}
		}
	case *value.Object:
		for _, e := range v.All() {
			if err := r.weigh(at, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func evalInt(_ *run, at Span, args []value.Value) (value.Value, error) {
	v, err := spelled(at, "int", args[0])
	if err != nil {
		return nil, err
	}
	if _, isText := args[0].(string); isText {
		if _, whole := v.(int64); !whole {
			return nil, faultf(at, "int: want a whole number, got %s", value.Describe(args[0]))
		}
	}
	if i, ok := v.(int64); ok {
		return i, nil
	}
	f := math.Trunc(v.(float64))
	if f < math.MinInt64 || f >= math.MaxInt64 {
		return nil, faultf(at, "int: %v does not fit 64 bits", f)
	}
	return int64(f), nil
}

func evalFloat(_ *run, at Span, args []value.Value) (value.Value, error) {
	return spelled(at, "float", args[0])
}

// spelled reads a text as the number that it spells; a number is itself.
func spelled(at Span, fn string, v value.Value) (value.Value, error) {
	s, isText := v.(string)
	if !isText {
		return v, nil
	}
	n, err := value.ParseNumber(strings.TrimSpace(s))
	if err != nil {
		return nil, faultf(at, "%s: %v", fn, err)
	}
	return n, nil
}

func evalAbs(_ *run, at Span, args []value.Value) (value.Value, error) {
	if i, ok := args[0].(int64); ok {
		if i == math.MinInt64 {
			return nil, faultf(at, "abs: %d has no counterpart that fits 64 bits", i)
		}
		return max(i, -i), nil
	}
	return math.Abs(args[0].(float64)), nil
}

func evalMin(r *run, at Span, args []value.Value) (value.Value, error) {
	return extreme(r, at, "min", args, func(c int) bool { return c < 0 })
}

func evalMax(r *run, at Span, args []value.Value) (value.Value, error) {
	return extreme(r, at, "max", args, func(c int) bool { return c > 0 })
}

func extreme(r *run, at Span, fn string, args []value.Value, better func(int) bool) (value.Value, error) {
	if l, ok := args[0].(value.List); ok && len(args) == 1 {
		args = l
	}
	if len(args) == 0 {
		return nil, faultf(at, "%s: the list is empty", fn)
	}
	if err := r.spend(at, len(args)); err != nil {
		return nil, err
	}
	best := args[0]
	for _, v := range args {
		if !isNumber(v) {
			return nil, faultf(at, "%s: want numbers, got %s", fn, value.Describe(v))
		}
		if better(value.CompareNumbers(v, best)) {
			best = v
		}
	}
	return best, nil
}

func sumOf(r *run, at Span, list value.List) (value.Value, error) {
	if err := r.spend(at, len(list)); err != nil {
		return nil, err
	}
	var total value.Value = int64(0)
	add := Binary{Span: at, Op: "+"}
	for _, v := range list {
		if !isNumber(v) {
			return nil, faultf(at, "sum: want numbers, got %s", value.Describe(v))
		}
		var err error
		if total, err = add.arithmetic(total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func evalFirst(_ *run, _ Span, args []value.Value) (value.Value, error) {
	if list := args[0].(value.List); len(list) > 0 {
		return list[0], nil
	}
	return nil, nil
}

func evalLast(_ *run, _ Span, args []value.Value) (value.Value, error) {
	if list := args[0].(value.List); len(list) > 0 {
		return list[len(list)-1], nil
	}
	return nil, nil
}

func evalKeys(r *run, at Span, args []value.Value) (value.Value, error) {
	names, err := r.sortedNames(at, args[0].(*value.Object))
	if err != nil {
		return nil, err
	}
	out := make(value.List, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out, nil
}

func evalValues(r *run, at Span, args []value.Value) (value.Value, error) {
	o := args[0].(*value.Object)
	names, err := r.sortedNames(at, o)
	if err != nil {
		return nil, err
	}
	out := make(value.List, len(names))
	for i, n := range names {
		out[i], _ = o.Get(n)
	}
	return out, nil
}

func (r *run) sortedNames(at Span, o *value.Object) ([]string, error) {
	if err := r.sorting(at, o.Len()); err != nil {
		return nil, err
	}
	names := o.Keys()
	slices.Sort(names) // sorted: the order in which fields were set is nothing to rely on
	return names, nil
}

// sorting counts a sorted list of n elements.
func (r *run) sorting(at Span, n int) error {
	if err := r.spend(at, n*bits.Len(uint(n))); err != nil {
		return err
	}
	return r.allocList(at, n)
}

func evalConcat(r *run, at Span, args []value.Value) (value.Value, error) {
	n := 0
	for _, a := range args {
		n += len(a.(value.List))
	}
	if err := r.allocList(at, n); err != nil {
		return nil, err
	}
	out := make(value.List, 0, n)
	for _, a := range args {
		out = append(out, a.(value.List)...)
	}
	return out, nil
}

func evalSort(r *run, at Span, args []value.Value) (value.Value, error) {
	list := args[0].(value.List)
	if err := r.sorting(at, len(list)); err != nil {
		return nil, err
	}
	texts := false
	for i, e := range list {
		s, isText := e.(string)
		if i == 0 {
			texts = isText
		}
		if isText != texts || !isText && !isNumber(e) {
			return nil, faultf(at, "sort: want only numbers or only strings, got %s beside %s", value.Describe(e), value.Describe(list[0]))
		}
		if err := r.spend(at, len(s)/64*bits.Len(uint(len(list)))); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b value.Value) int {
		if texts {
			return strings.Compare(a.(string), b.(string))
		}
		return value.CompareNumbers(a, b)
	})
	return out, nil
}

func evalUnique(r *run, at Span, args []value.Value) (value.Value, error) {
	list := args[0].(value.List)
	if err := r.weigh(at, list); err != nil {
		return nil, err
	}
	if err := r.allocList(at, len(list)); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(list))
	out := value.List{}
	for _, e := range list {
		key, err := value.Canonical(e) // equal values have equal canonical JSON
		if err != nil {
			return nil, faultf(at, "unique: %v", err)
		}
		if err := r.alloc(at, len(key)); err != nil {
			return nil, err
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, e)
		}
	}
	return out, nil
}
