package eval

import (
	"regexp"
	"strings"

	"example.com/pipe/engine/value"
)

// Constant is a literal.
type Constant struct {
	Span
	Value value.Value
}

func (n *Constant) eval(*run) (value.Value, error) { return n.Value, nil }

// Name reads a name of the scope.
type Name struct {
	Span
	Name string
	Soft bool // a missing one is null
}

func (n *Name) eval(r *run) (value.Value, error) {
	v, ok := r.scope.Get(n.Name)
	if !ok && !n.Soft {
		return nil, missing(n.Span, GuardName, "there is no %q here", n.Name)
	}
	return v, nil
}

// Pointer reads the element, or its index, of a predicate around.
type Pointer struct {
	Span
	Level int // of the predicate, the outermost is 1; 0: the innermost
	Index bool
}

func (n *Pointer) eval(r *run) (value.Value, error) {
	level := n.Level
	if level == 0 {
		level = len(r.items)
	}
	it := r.items[level-1]
	if n.Index {
		return int64(it.index), nil
	}
	return it.value, nil
}

// Member reads a field or an element of base.
type Member struct {
	Span
	Base     Node
	Key      Node   // a constant string for a field written with a dot
	Label    string // the text of base, for messages
	Optional bool   // written with ?.: a null base ends the chain as null
	Soft     bool   // guarded from outside: what is missing is null
}

func (n *Member) eval(r *run) (value.Value, error) {
	v, _, err := n.step(r)
	return v, err
}

// step evaluates the member and says whether an optional one before it ended the chain.
func (n *Member) step(r *run) (v value.Value, ended bool, err error) {
	var base value.Value
	if m, ok := n.Base.(*Member); ok {
		if err = r.spend(m.Span, 1); err == nil {
			base, ended, err = m.step(r)
		}
	} else {
		base, err = r.eval(n.Base)
	}
	if err != nil || ended {
		return nil, ended, err
	}
	if base == nil && (n.Optional || n.Soft) {
		return nil, true, nil
	}
	key, err := r.eval(n.Key)
	if err != nil {
		return nil, false, err
	}
	v, err = n.fetch(base, key)
	return v, false, err
}

func (n *Member) fetch(base, key value.Value) (value.Value, error) {
	gentle := n.Soft || n.Optional
	switch b := base.(type) {
	case nil:
		return nil, missing(n.Span, GuardMember, "%s is null and has no %s", n.Label, showKey(key))
	case *value.Object:
		k, ok := key.(string)
		if !ok {
			return nil, faultf(n.Key.Place(), "the fields of %s have names: want string in the brackets, got %s", n.Label, value.Describe(key))
		}
		v, has := b.Get(k)
		if !has && !gentle {
			return nil, missing(n.Span, GuardMember, "%s has no %q", n.Label, clip(k))
		}
		return v, nil
	case value.List:
		i, ok := asInt(key)
		if name, isName := key.(string); isName {
			return nil, faultf(n.Span, "%s is a list and has no %q: look at its elements", n.Label, clip(name))
		}
		if !ok {
			return nil, faultf(n.Key.Place(), "the elements of %s have numbers: want integer in the brackets, got %s", n.Label, value.Describe(key))
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
		return nil, missing(n.Span, GuardElement, "%s has %d elements and none at %v", n.Label, len(b), key)
	default:
		return nil, faultf(n.Span, "%s is %s and has no %s", n.Label, value.Describe(base), showKey(key))
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

// Not negates a boolean.
type Not struct {
	Span
	X Node
}

func (n *Not) eval(r *run) (value.Value, error) {
	b, err := r.truth(n.X)
	return !b, err
}

// Logic is && or ||; the right side is evaluated only where it matters.
type Logic struct {
	Span
	Or          bool
	Left, Right Node
}

func (n *Logic) eval(r *run) (value.Value, error) {
	b, err := r.truth(n.Left)
	if err != nil || b == n.Or {
		return b, err
	}
	return r.truthValue(n.Right)
}

func (r *run) truthValue(n Node) (value.Value, error) {
	b, err := r.truth(n)
	return b, err
}

// Coalesce gives its left side unless that is null.
type Coalesce struct {
	Span
	Left, Right Node
}

func (n *Coalesce) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.Left)
	if err != nil || v != nil {
		return v, err
	}
	return r.eval(n.Right)
}

// Choice is c ? a : b.
type Choice struct {
	Span
	Cond, Then, Other Node
}

func (n *Choice) eval(r *run) (value.Value, error) {
	c, err := r.truth(n.Cond)
	if err != nil {
		return nil, err
	}
	if c {
		return r.eval(n.Then)
	}
	return r.eval(n.Other)
}

// List is a list literal.
type List struct {
	Span
	Elems []Node
}

func (n *List) eval(r *run) (value.Value, error) {
	if err := r.allocList(n.Span, len(n.Elems)); err != nil {
		return nil, err
	}
	out := make(value.List, len(n.Elems))
	for i, e := range n.Elems {
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Object is an object literal.
type Object struct {
	Span
	Names []string
	Elems []Node
}

func (n *Object) eval(r *run) (value.Value, error) {
	if err := r.allocList(n.Span, 2*len(n.Elems)); err != nil {
		return nil, err
	}
	out := value.NewObject()
	for i, e := range n.Elems {
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		out.Set(n.Names[i], v)
	}
	return out, nil
}

// Match is x matches "pattern".
type Match struct {
	Span
	X       Node
	Pattern *regexp.Regexp
}

func (n *Match) eval(r *run) (value.Value, error) {
	v, err := r.eval(n.X)
	if err != nil {
		return nil, err
	}
	s, ok := v.(string)
	if !ok {
		return nil, faultf(n.X.Place(), "matches: want string, got %s", value.Describe(v))
	}
	if err := r.spend(n.Span, len(s)/4); err != nil { // a regular expression looks longer at a byte than a comparison
		return nil, err
	}
	return n.Pattern.MatchString(s), nil
}

// Call is a function of the language's own list.
type Call struct {
	Span
	Func *Function
	Args []Node
}

func (n *Call) eval(r *run) (value.Value, error) {
	args := make([]value.Value, len(n.Args))
	for i, a := range n.Args {
		v, err := r.eval(a)
		if err != nil {
			return nil, err
		}
		if !n.Func.Param(i).takesValue(v) {
			return nil, faultf(a.Place(), "%s: want %s, got %s", n.Func.Name, n.Func.Param(i), value.Describe(v))
		}
		args[i] = v
	}
	return n.Func.eval(r, n.Span, args)
}

// Text is an operator on two strings.
type Text struct {
	Span
	Op          string
	Left, Right Node
}

func (n *Text) eval(r *run) (value.Value, error) {
	var sides [2]string
	for i, side := range []Node{n.Left, n.Right} {
		v, err := r.eval(side)
		if err != nil {
			return nil, err
		}
		s, ok := v.(string)
		if !ok {
			return nil, faultf(side.Place(), "%s: want string, got %s", n.Op, value.Describe(v))
		}
		if err := r.read(n.Span, s); err != nil {
			return nil, err
		}
		sides[i] = s
	}
	switch n.Op {
	case "contains":
		return strings.Contains(sides[0], sides[1]), nil
	case "startsWith":
		return strings.HasPrefix(sides[0], sides[1]), nil
	default:
		return strings.HasSuffix(sides[0], sides[1]), nil
	}
}
