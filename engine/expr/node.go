package expr

import (
	"regexp"
	"strings"

	"example.com/pipe/engine/value"
)

func (s span) place() span { return s }

// constant is a literal.
type constant struct {
	span
	v value.Value
}

func (n *constant) eval(*run) (value.Value, error) { return n.v, nil }

// name reads a name of the scope.
type name struct {
	span
	name string
	soft bool // a missing one is null
}

func (n *name) eval(r *run) (value.Value, error) {
	v, ok := r.scope.Get(n.name)
	if !ok && !n.soft {
		return nil, faultf(n.span, `there is no %q here: guard it with "??"`, n.name)
	}
	return v, nil
}

// pointer reads the element, or its index, of the innermost predicate.
type pointer struct {
	span
	index bool
}

func (n *pointer) eval(r *run) (value.Value, error) {
	it := r.items[len(r.items)-1]
	if n.index {
		return int64(it.index), nil
	}
	return it.value, nil
}

// member reads a field or an element of base.
type member struct {
	span
	base     node
	key      node   // a constant string for a field written with a dot
	label    string // the text of base, for messages
	optional bool   // written with ?.: a null base ends the chain as null
	soft     bool   // guarded from outside: what is missing is null
}

func (n *member) eval(r *run) (value.Value, error) {
	v, _, err := n.step(r)
	return v, err
}

// step evaluates the member and says whether an optional one before it ended the chain.
func (n *member) step(r *run) (v value.Value, ended bool, err error) {
	var base value.Value
	if m, ok := n.base.(*member); ok {
		if err = r.spend(m.span, 1); err == nil {
			base, ended, err = m.step(r)
		}
	} else {
		base, err = r.eval(n.base)
	}
	if err != nil || ended {
		return nil, ended, err
	}
	if base == nil && (n.optional || n.soft) {
		return nil, true, nil
	}
	key, err := r.eval(n.key)
	if err != nil {
		return nil, false, err
	}
	v, err = n.fetch(base, key)
	return v, false, err
}

func (n *member) fetch(base, key value.Value) (value.Value, error) {
	gentle := n.soft || n.optional
	switch b := base.(type) {
	case nil:
		return nil, faultf(n.span, `%s is null and has no %s: guard it with "??" or "?."`, n.label, showKey(key))
	case *value.Object:
		k, ok := key.(string)
		if !ok {
			return nil, faultf(n.key.place(), "the fields of %s have names: want string in the brackets, got %s", n.label, value.Describe(key))
		}
		v, has := b.Get(k)
		if !has && !gentle {
			return nil, faultf(n.span, `%s has no %q: guard it with "??" or "?."`, n.label, clip(k))
		}
		return v, nil
	case value.List:
		i, ok := asInt(key)
		if !ok {
			return nil, faultf(n.key.place(), "the elements of %s have numbers: want integer in the brackets, got %s", n.label, value.Describe(key))
		}
		if i < 0 {
			i += int64(len(b))
		}
		if i >= 0 && i < int64(len(b)) {
			return b[i], nil
		}
		if gentle {
			return nil, nil
		}
		return nil, faultf(n.span, `%s has %d elements and none at %v: guard it with "??"`, n.label, len(b), key)
	default:
		return nil, faultf(n.span, "%s is %s and has no %s", n.label, value.Describe(base), showKey(key))
	}
}

func showKey(key value.Value) string {
	if s, ok := key.(string); ok {
		return `"` + clip(s) + `"`
	}
	return "element at " + value.Describe(key)
}

// asInt takes an int64 and a float64 that is whole.
func asInt(v value.Value) (int64, bool) {
	if f, ok := v.(float64); ok {
		v = value.FromFloat(f)
	}
	i, ok := v.(int64)
	return i, ok
}

// not negates a boolean.
type not struct {
	span
	x node
}

func (n *not) eval(r *run) (value.Value, error) {
	b, err := r.truth(n.x)
	return !b, err
}

// logic is && or ||; the right side is evaluated only where it matters.
type logic struct {
	span
	or          bool
	left, right node
}

func (n *logic) eval(r *run) (value.Value, error) {
	b, err := r.truth(n.left)
	if err != nil || b == n.or {
		return b, err
	}
	return r.truthValue(n.right)
}

func (r *run) truthValue(n node) (value.Value, error) {
	b, err := r.truth(n)
	return b, err
}

// coalesce gives its left side unless that is null.
type coalesce struct {
	span
	left, right node
}

func (n *coalesce) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.left)
	if err != nil || v != nil {
		return v, err
	}
	return r.eval(n.right)
}

// choice is c ? a : b.
type choice struct {
	span
	cond, then, other node
}

func (n *choice) eval(r *run) (value.Value, error) {
	c, err := r.truth(n.cond)
	if err != nil {
		return nil, err
	}
	if c {
		return r.eval(n.then)
	}
	return r.eval(n.other)
}

// list is a list literal.
type list struct {
	span
	elems []node
}

func (n *list) eval(r *run) (value.Value, error) {
	if err := r.allocList(n.span, len(n.elems)); err != nil {
		return nil, err
	}
	out := make(value.List, len(n.elems))
	for i, e := range n.elems {
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// object is an object literal.
type object struct {
	span
	names []string
	elems []node
}

func (n *object) eval(r *run) (value.Value, error) {
	if err := r.allocList(n.span, 2*len(n.elems)); err != nil {
		return nil, err
	}
	out := value.NewObject()
	for i, e := range n.elems {
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		out.Set(n.names[i], v)
	}
	return out, nil
}

// match is x matches "pattern".
type match struct {
	span
	x  node
	re *regexp.Regexp
}

func (n *match) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.x)
	if err != nil {
		return nil, err
	}
	s, ok := v.(string)
	if !ok {
		return nil, faultf(n.x.place(), "matches: want string, got %s", value.Describe(v))
	}
	if err := r.spend(n.span, len(s)/4); err != nil { // a regular expression looks longer at a byte than a comparison
		return nil, err
	}
	return n.re.MatchString(s), nil
}

// predicate is a function that evaluates its body for each element of a list.
type predicate struct {
	span
	name string
	list node
	body node
}

func (n *predicate) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.list)
	if err != nil {
		return nil, err
	}
	l, ok := v.(value.List)
	if !ok {
		return nil, faultf(n.list.place(), "%s: want a list, got %s", n.name, value.Describe(v))
	}
	switch n.name {
	case "map":
		return n.mapOver(r, l)
	case "sum":
		mapped, err := n.mapOver(r, l)
		if err != nil {
			return nil, err
		}
		return sumOf(r, n.span, mapped)
	case "filter":
		return n.filter(r, l)
	case "find":
		var found value.Value
		_, err := n.tally(r, l, func(hits, i int) bool { found = l[i]; return true })
		return found, err
	case "count":
		return n.tally(r, l, func(int, int) bool { return false })
	case "any":
		hits, err := n.tally(r, l, func(int, int) bool { return true })
		return hits > 0, err
	case "none":
		hits, err := n.tally(r, l, func(int, int) bool { return true })
		return hits == 0, err
	case "one":
		hits, err := n.tally(r, l, func(hits, _ int) bool { return hits > 1 })
		return hits == 1, err
	default: // all
		hits, err := n.tally(r, l, nil)
		return hits == int64(len(l)), err
	}
}

// tally counts the elements that the body holds for. onHit, told the count so far and the index, may stop
// it; with none, the first element that the body does not hold for stops it.
func (n *predicate) tally(r *run, l value.List, onHit func(hits, i int) bool) (int64, error) {
	var hits int64
	err := r.each(l, n.body, func(i int, got value.Value) (bool, error) {
		yes, ok := got.(bool)
		if !ok {
			return false, faultf(n.body.place(), "%s: want boolean for each element, got %s", n.name, value.Describe(got))
		}
		if !yes {
			return onHit == nil, nil
		}
		hits++
		return onHit != nil && onHit(int(hits), i), nil
	})
	return hits, err
}

func (n *predicate) mapOver(r *run, l value.List) (value.List, error) {
	if err := r.allocList(n.span, len(l)); err != nil {
		return nil, err
	}
	out := make(value.List, 0, len(l))
	err := r.each(l, n.body, func(_ int, got value.Value) (bool, error) {
		out = append(out, got)
		return false, nil
	})
	return out, err
}

func (n *predicate) filter(r *run, l value.List) (value.Value, error) {
	if err := r.allocList(n.span, len(l)); err != nil {
		return nil, err
	}
	out := value.List{}
	_, err := n.tally(r, l, func(_, i int) bool { out = append(out, l[i]); return false })
	return out, err
}

// call is a function of the language's own list.
type call struct {
	span
	fn   *function
	args []node
}

func (n *call) eval(r *run) (value.Value, error) {
	args := make([]value.Value, len(n.args))
	for i, a := range n.args {
		v, err := r.eval(a)
		if err != nil {
			return nil, err
		}
		if !n.fn.param(i).takesValue(v) {
			return nil, faultf(a.place(), "%s: want %s, got %s", n.fn.name, n.fn.param(i), value.Describe(v))
		}
		args[i] = v
	}
	return n.fn.eval(r, n.span, args)
}

// text is an operator on two strings.
type text struct {
	span
	op          string
	left, right node
}

func (n *text) eval(r *run) (value.Value, error) {
	var sides [2]string
	for i, side := range []node{n.left, n.right} {
		v, err := r.eval(side)
		if err != nil {
			return nil, err
		}
		s, ok := v.(string)
		if !ok {
			return nil, faultf(side.place(), "%s: want string, got %s", n.op, value.Describe(v))
		}
		if err := r.read(n.span, s); err != nil {
			return nil, err
		}
		sides[i] = s
	}
	switch n.op {
	case "contains":
		return strings.Contains(sides[0], sides[1]), nil
	case "startsWith":
		return strings.HasPrefix(sides[0], sides[1]), nil
	default:
		return strings.HasSuffix(sides[0], sides[1]), nil
	}
}
