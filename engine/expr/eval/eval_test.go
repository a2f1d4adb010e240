package eval

import (
	"errors"
	"strings"
	"testing"

	"example.com/pipe/engine/value"
)

func constant(v value.Value) Node { return &Constant{Span: Span{From: 2, To: 3}, Value: v} }

// A tree that no check has seen gives faults with places, never a crash.
func TestUncheckedTrees(t *testing.T) {
	one, text, list, null := constant(int64(1)), constant("a"), constant(value.List{int64(1)}), constant(nil)
	at := Span{From: 0, To: 9}
	tests := []struct {
		root Node
		says string
	}{
		{&Not{Span: at, X: one}, "want boolean, got integer 1"},
		{&Logic{Span: at, Left: constant(true), Right: text}, `want boolean, got string "a"`},
		{&Choice{Span: at, Cond: null, Then: one, Other: one}, "want boolean, got null"},
		{&Negate{Span: at, X: text}, `-: want number, got string "a"`},
		{&Binary{Span: at, Op: "+", Left: one, Right: text}, "want two numbers or two strings"},
		{&Binary{Span: at, Op: "<", Left: null, Right: one}, "<: want two numbers or two strings"},
		{&Binary{Span: at, Op: "in", Left: one, Right: one}, "want a list or an object"},
		{&Binary{Span: at, Op: "-", Left: constant(1e308), Right: constant(-1e308)}, "out of range"},
		{&Text{Span: at, Op: "contains", Left: text, Right: one}, "contains: want string, got integer 1"},
		{&Match{Span: at, X: one}, "matches: want string, got integer 1"},
		{&Predicate{Span: at, Name: "all", List: one, Body: one}, "all: want a list, got integer 1"},
		{&Predicate{Span: at, Name: "filter", List: list, Body: one}, "filter: want boolean for each element, got integer 1"},
		{&Predicate{Span: at, Name: "sum", List: list, Body: text}, `sum: want numbers, got string "a"`},
		{&Call{Span: at, Func: Find("len"), Args: []Node{one}}, "len: want string or list or object, got integer 1"},
		{&Call{Span: at, Func: Find("join"), Args: []Node{list, text}}, "join: want a list of strings, got integer 1 at 0"},
		{&Call{Span: at, Func: Find("sum"), Args: []Node{text}}, `sum: want number[], got string "a"`},
		{&Member{Span: at, Base: one, Key: text, Label: `"x"`}, `"x" is integer 1 and has no "a"`},
		{&Member{Span: at, Base: list, Key: constant(true), Label: `"x"`}, "want integer in the brackets, got boolean true"},
		{&Member{Span: at, Base: constant(value.NewObject()), Key: one, Label: `"x"`}, "want string in the brackets, got integer 1"},
		{&Name{Span: at, Name: "x"}, `there is no "x" here`},
		{&List{Span: at, Elems: []Node{&Name{Span: at, Name: "x"}}}, `there is no "x" here`},
		{&Object{Span: at, Names: []string{"a"}, Elems: []Node{&Name{Span: at, Name: "x"}}}, `there is no "x" here`},
	}
	for _, tt := range tests {
		v, err := Run(tt.root, nil)
		var f *Fault
		if !errors.As(err, &f) || !strings.Contains(f.Error(), tt.says) || f.At.To == 0 {
			t.Errorf("%T gives %v, %v, want a fault %q", tt.root, v, err, tt.says)
		}
	}
}

func TestFunctionTable(t *testing.T) {
	for _, d := range Docs() {
		f, p := Find(d.Name), FindPredicate(d.Name)
		if f == nil && p == nil {
			t.Errorf("%s is documented and not found", d.Name)
		}
		if f != nil && (len(f.Params) == 0 || f.Least < 1 || f.Least > len(f.Params) || f.Name != d.Name) {
			t.Errorf("%s has %d parameters, of which %d must be there", d.Name, len(f.Params), f.Least)
		}
		if d.Signature == "" || d.Example == "" || d.Result == "" || !strings.HasSuffix(d.Doc, ".") {
			t.Errorf("%s is not documented: %+v", d.Name, d)
		}
	}
	if Find("now") != nil || FindPredicate("reduce") != nil {
		t.Error("a function is found that the language does not have")
	}
}
