package eval

import (
	"example.com/pipe/engine/value"
)

// run is one evaluation: the scope, what it has cost so far, and the elements that predicates stand at.
type run struct {
	scope *value.Object
	steps int
	bytes int
	items []item // the innermost last
}

// item is the element that a predicate looks at.
type item struct {
	value value.Value
	index int
}

// Node is a checked part of an expression; Place says where it stands. A node evaluates others through
// run.eval only, which counts.
type Node interface {
	eval(r *run) (value.Value, error)
	Place() Span
}

// eval evaluates n and counts it.
func (r *run) eval(n Node) (value.Value, error) {
	if err := r.spend(n.Place(), 1); err != nil {
		return nil, err
	}
	return n.eval(r)
}

// spend counts steps; the place is that of the part that took them.
func (r *run) spend(at Span, steps int) error {
	r.steps += steps
	if r.steps > MaxSteps || steps < 0 {
		return faultf(at, "the evaluation takes more than %d steps: look at fewer elements, or compute it in a stage", MaxSteps)
	}
	return nil
}

// read counts the steps of looking at a text.
func (r *run) read(at Span, text string) error { return r.spend(at, len(text)/64) }

// alloc counts bytes that are about to be made, before they are.
func (r *run) alloc(at Span, bytes int) error {
	r.bytes += bytes
	if r.bytes > MaxBytes || bytes < 0 {
		return faultf(at, "the evaluation makes more than %d bytes of text and lists: make less, or compute it in a stage", MaxBytes)
	}
	return r.spend(at, bytes/64)
}

// elemBytes is what an element of a list counts.
const elemBytes = 16

func (r *run) allocList(at Span, n int) error {
	if n > MaxBytes/elemBytes {
		n = MaxBytes/elemBytes + 1
	}
	return r.alloc(at, n*elemBytes)
}

// equal is value.Equal, counted.
func (r *run) equal(at Span, a, b value.Value) (bool, error) {
	if err := r.spend(at, 1); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		return x == y, r.read(at, x)
	case value.List:
		y, ok := b.(value.List)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := r.equal(at, x[i], y[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case *value.Object:
		y, ok := b.(*value.Object)
		if !ok || x.Len() != y.Len() {
			return false, nil
		}
		for name, v := range x.All() {
			w, has := y.Get(name)
			if !has {
				return false, nil
			}
			if same, err := r.equal(at, v, w); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	default:
		return value.Equal(a, b), nil
	}
}

// each evaluates body for each element of list until do says stop.
func (r *run) each(list value.List, body Node, do func(i int, got value.Value) (stop bool, err error)) error {
	r.items = append(r.items, item{})
	defer func() { r.items = r.items[:len(r.items)-1] }()
	for i, e := range list {
		r.items[len(r.items)-1] = item{value: e, index: i}
		v, err := r.eval(body)
		if err != nil {
			return err
		}
		if stop, err := do(i, v); err != nil || stop {
			return err
		}
	}
	return nil
}

// truth evaluates n, which must be a boolean.
func (r *run) truth(n Node) (bool, error) {
	v, err := r.eval(n)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, faultf(n.Place(), "want boolean, got %s", value.Describe(v))
	}
	return b, nil
}
