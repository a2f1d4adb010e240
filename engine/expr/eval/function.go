package eval

import (
	"slices"
	"strings"

	"example.com/pipe/engine/value"
)

// Doc describes a function of the language for the reference.
type Doc struct {
	Name      string
	Signature string // such as "join(list, separator) string"
	Doc       string // one sentence
	Example   string // an expression that needs no scope
	CEL       string // the example in CEL
	Result    string // what the example gives, as JSON
}

// Docs returns the language's own list of functions, sorted by name.
func Docs() []Doc {
	out := make([]Doc, 0, len(functions)+len(predicates))
	for _, f := range functions {
		out = append(out, f.Doc)
	}
	for _, p := range predicates {
		out = append(out, p.Doc)
	}
	for i := range out {
		if out[i].CEL == "" { // it is spelled in the same way
			out[i].CEL = out[i].Example
		}
	}
	slices.SortFunc(out, func(a, b Doc) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Function is one that is called with values.
type Function struct {
	Doc
	Params []Param // at least one
	Least  int     // arguments that must be there
	More   bool    // the last parameter may repeat
	Result func(args []value.Type) value.Type
	eval   func(r *run, at Span, args []value.Value) (value.Value, error)
}

// Param is what an argument may be: one of some types.
type Param []value.Type

// Param returns what the argument at i, from 0, may be.
func (f *Function) Param(i int) Param { return f.Params[min(i, len(f.Params)-1)] }

// String returns the types in the words of a message.
func (p Param) String() string {
	words := make([]string, len(p))
	for i, t := range p {
		words[i] = t.String()
		if t.Kind == value.ListKind && t.ElemType().IsAny() {
			words[i] = "list"
		}
	}
	return strings.Join(words, " or ")
}

// Takes reports whether an argument of type t may stand there.
func (p Param) Takes(t value.Type) bool {
	for _, want := range p {
		if value.Assignable(t, want) {
			return true
		}
	}
	return false
}

// takesValue looks at the kind of v alone; the functions look at the elements of lists, and count it.
func (p Param) takesValue(v value.Value) bool {
	for _, want := range p {
		kind := want
		if want.Kind == value.ListKind {
			kind = value.Of(value.ListKind)
		}
		if want.IsAny() || kind.Check(v) == nil {
			return true
		}
	}
	return false
}

func always(t value.Type) func([]value.Type) value.Type {
	return func([]value.Type) value.Type { return t }
}

// elemOf is the result of a function that gives an element of its list, or null where there is none.
func elemOf(args []value.Type) value.Type { return args[0].ElemType().OrNull() }

func sameList(args []value.Type) value.Type {
	t := args[0].NotNull()
	for _, a := range args[1:] {
		t = value.Join(t, a.NotNull())
	}
	if t.IsAny() {
		return value.Of(value.ListKind)
	}
	return t
}

// NumberOf is the result of arithmetic on the arguments, or on the elements of the one list.
func NumberOf(args []value.Type) value.Type {
	for _, a := range args {
		if a.Kind == value.ListKind {
			a = a.ElemType()
		}
		if a.Kind != value.Int {
			return value.Of(value.Number)
		}
	}
	return value.Of(value.Int)
}

var (
	anyType    = value.Of(value.Any)
	boolType   = value.Of(value.Bool)
	intType    = value.Of(value.Int)
	numberType = value.Of(value.Number)
	stringType = value.Of(value.String)
	listType   = value.Of(value.ListKind)
	objectType = value.Of(value.ObjectKind)
)

var (
	oneString  = Param{stringType}
	oneNumber  = Param{numberType}
	oneList    = Param{listType}
	oneObject  = Param{objectType}
	numberList = Param{numberType, value.ListOf(numberType)}
)

// functions is the list of the language, but for the predicates.
var functions = []*Function{
	{Params: []Param{{stringType, listType, objectType}}, Least: 1, Result: always(intType), eval: evalLen,
		Doc: Doc{Name: "len", Signature: "len(string, list or object) integer", Doc: "The number of characters, elements or fields.", Example: `len("plan")`, Result: `4`}},
	{Params: []Param{oneString}, Least: 1, Result: always(stringType), eval: evalLower,
		Doc: Doc{Name: "lower", Signature: "lower(string) string", Doc: "The text in lower case.", Example: `lower("High")`, Result: `"high"`}},
	{Params: []Param{oneString}, Least: 1, Result: always(stringType), eval: evalUpper,
		Doc: Doc{Name: "upper", Signature: "upper(string) string", Doc: "The text in upper case.", Example: `upper("High")`, Result: `"HIGH"`}},
	{Params: []Param{oneString}, Least: 1, Result: always(stringType), eval: evalTrim,
		Doc: Doc{Name: "trim", Signature: "trim(string) string", Doc: "The text without white space at its ends.", Example: `trim(" a b ")`, Result: `"a b"`}},
	{Params: []Param{oneString, oneString}, Least: 2, Result: always(value.ListOf(stringType)), eval: evalSplit,
		Doc: Doc{Name: "split", Signature: "split(string, separator) string[]", Doc: "The pieces of the text between the separators; with an empty separator its characters.", Example: `split("a,b", ",")`, Result: `["a","b"]`}},
	{Params: []Param{{value.ListOf(stringType)}, oneString}, Least: 2, Result: always(stringType), eval: evalJoin,
		Doc: Doc{Name: "join", Signature: "join(string[], separator) string", Doc: "The texts of the list with the separator between them.", Example: `join(["a", "b"], ", ")`, Result: `"a, b"`}},
	{Params: []Param{oneString, oneString, oneString}, Least: 3, Result: always(stringType), eval: evalReplace,
		Doc: Doc{Name: "replace", Signature: "replace(string, old, new) string", Doc: "The text with each old, which is not empty, replaced by new.", Example: `replace("a/b/c", "/", ".")`, Result: `"a.b.c"`}},
	{Params: []Param{{anyType}}, Least: 1, Result: always(stringType), eval: evalString,
		Doc: Doc{Name: "string", Signature: "string(value) string", Doc: "A string as it is, anything else as compact JSON.", Example: `string([1, true])`, Result: `"[1,true]"`}},
	{Params: []Param{{numberType, stringType}}, Least: 1, Result: always(intType), eval: evalInt,
		Doc: Doc{Name: "int", Signature: "int(number or string) integer", Doc: "The number without its fraction, or the whole number that the text spells.", Example: `int("42") + int(2.9)`, Result: `44`}},
	{Params: []Param{{numberType, stringType}}, Least: 1, Result: always(numberType), eval: evalFloat,
		Doc: Doc{Name: "float", Signature: "float(number or string) number", Doc: "The number, or the one that the text spells.", Example: `float("0.5")`, Result: `0.5`}},
	{Params: []Param{oneNumber}, Least: 1, Result: NumberOf, eval: evalAbs,
		Doc: Doc{Name: "abs", Signature: "abs(number) number", Doc: "The number without its sign.", Example: `abs(-3)`, Result: `3`}},
	{Params: []Param{numberList}, Least: 1, More: true, Result: NumberOf, eval: evalMin,
		Doc: Doc{Name: "min", Signature: "min(number, …) number, min(number[]) number", Doc: "The smallest of the numbers; there must be one.", Example: `min(3, 1, 2)`, Result: `1`}},
	{Params: []Param{numberList}, Least: 1, More: true, Result: NumberOf, eval: evalMax,
		Doc: Doc{Name: "max", Signature: "max(number, …) number, max(number[]) number", Doc: "The largest of the numbers; there must be one.", Example: `max([3, 1, 2])`, Result: `3`}},
	{Params: []Param{oneList}, Least: 1, Result: elemOf, eval: evalFirst,
		Doc: Doc{Name: "first", Signature: "first(list) element", Doc: "The first element, null if there is none.", Example: `first([7, 8]) ?? 0`, CEL: `first([7, 8]).orValue(0)`, Result: `7`}},
	{Params: []Param{oneList}, Least: 1, Result: elemOf, eval: evalLast,
		Doc: Doc{Name: "last", Signature: "last(list) element", Doc: "The last element, null if there is none.", Example: `last([7, 8]) ?? 0`, CEL: `last([7, 8]).orValue(0)`, Result: `8`}},
	{Params: []Param{oneObject}, Least: 1, Result: always(value.ListOf(stringType)), eval: evalKeys,
		Doc: Doc{Name: "keys", Signature: "keys(object) string[]", Doc: "The names of the fields, sorted.", Example: `keys({b: 1, a: 2})`, CEL: `keys({"b": 1, "a": 2})`, Result: `["a","b"]`}},
	{Params: []Param{oneObject}, Least: 1, Result: fieldsOf, eval: evalValues,
		Doc: Doc{Name: "values", Signature: "values(object) list", Doc: "The values of the fields, in the order of their sorted names.", Example: `values({b: 1, a: 2})`, CEL: `values({"b": 1, "a": 2})`, Result: `[2,1]`}},
	{Params: []Param{oneList}, Least: 1, More: true, Result: sameList, eval: evalConcat,
		Doc: Doc{Name: "concat", Signature: "concat(list, …) list", Doc: "The elements of all lists in one.", Example: `concat([1], [2, 3])`, Result: `[1,2,3]`}},
	{Params: []Param{{value.ListOf(numberType), value.ListOf(stringType)}}, Least: 1, Result: sameList, eval: evalSort,
		Doc: Doc{Name: "sort", Signature: "sort(number[] or string[]) list", Doc: "The elements in rising order; texts by their bytes.", Example: `sort([3, 1, 2])`, Result: `[1,2,3]`}},
	{Params: []Param{oneList}, Least: 1, Result: sameList, eval: evalUnique,
		Doc: Doc{Name: "unique", Signature: "unique(list) list", Doc: "The elements without repeats, each at its first place.", Example: `unique([1, 2, 1])`, Result: `[1,2]`}},
}

// fieldsOf is the result of values.
func fieldsOf(args []value.Type) value.Type {
	t := args[0]
	if t.Open || len(t.Fields) == 0 || len(t.Fields) > 100 {
		return listType
	}
	elem := t.Fields[0].Type
	for _, f := range t.Fields[1:] {
		elem = value.Join(elem, f.Type)
	}
	return value.ListOf(elem)
}

// PredicateFunc is a function whose second argument is evaluated for each element of its first.
type PredicateFunc struct {
	Doc
	Optional bool // the second argument may be left out: it is a plain function then
	Boolean  bool // the body must give a boolean
	Result   func(list, body value.Type) value.Type
}

func gives(t value.Type) func(_, _ value.Type) value.Type {
	return func(_, _ value.Type) value.Type { return t }
}

// predicates is the list of the language's functions over elements.
var predicates = []*PredicateFunc{
	{Boolean: true, Result: gives(boolType),
		Doc: Doc{Name: "all", Signature: "all(list, predicate) boolean", Doc: "Whether the predicate holds for each element.", Example: `all([1, 2], # > 0)`, CEL: `[1, 2].all(x, x > 0)`, Result: `true`}},
	{Boolean: true, Result: gives(boolType),
		Doc: Doc{Name: "any", Signature: "any(list, predicate) boolean", Doc: "Whether the predicate holds for at least one element.", Example: `any([1, 2], # > 1)`, CEL: `[1, 2].any(x, x > 1)`, Result: `true`}},
	{Boolean: true, Result: gives(boolType),
		Doc: Doc{Name: "none", Signature: "none(list, predicate) boolean", Doc: "Whether the predicate holds for no element.", Example: `none([1, 2], # > 2)`, CEL: `[1, 2].none(x, x > 2)`, Result: `true`}},
	{Boolean: true, Result: gives(boolType),
		Doc: Doc{Name: "one", Signature: "one(list, predicate) boolean", Doc: "Whether the predicate holds for exactly one element.", Example: `one([1, 2], # > 1)`, CEL: `[1, 2].one(x, x > 1)`, Result: `true`}},
	{Boolean: true, Result: gives(intType),
		Doc: Doc{Name: "count", Signature: "count(list, predicate) integer", Doc: "The number of elements that the predicate holds for.", Example: `count([1, 2, 3], # > 1)`, CEL: `[1, 2, 3].count(x, x > 1)`, Result: `2`}},
	{Boolean: true, Result: func(list, _ value.Type) value.Type { return list },
		Doc: Doc{Name: "filter", Signature: "filter(list, predicate) list", Doc: "The elements that the predicate holds for.", Example: `filter([1, 2, 3], # > 1)`, CEL: `[1, 2, 3].filter(x, x > 1)`, Result: `[2,3]`}},
	{Boolean: true, Result: func(list, _ value.Type) value.Type { return list.ElemType().OrNull() },
		Doc: Doc{Name: "find", Signature: "find(list, predicate) element", Doc: "The first element that the predicate holds for, null if there is none.", Example: `find([{n: 1}, {n: 2}], .n > 1)?.n`, CEL: `[{"n": 1}, {"n": 2}].find(x, x.n > 1).?n`, Result: `2`}},
	{Result: func(_, body value.Type) value.Type { return value.ListOf(body) },
		Doc: Doc{Name: "map", Signature: "map(list, expression) list", Doc: "What the expression gives for each element.", Example: `map([1, 2], # * 10 + #index)`, CEL: `[1, 2].transformList(i, x, x * 10 + i)`, Result: `[10,21]`}},
	{Optional: true, Result: func(_, body value.Type) value.Type { return NumberOf([]value.Type{body}) },
		Doc: Doc{Name: "sum", Signature: "sum(number[]) number, sum(list, expression) number", Doc: "The sum of the numbers, or of what the expression gives for each element; 0 if there is none.", Example: `sum([{n: 1}, {n: 2}], .n)`, CEL: `[{"n": 1}, {"n": 2}].sum(x, x.n)`, Result: `3`}},
}

// sumFunction is sum without an expression.
var sumFunction = &Function{Doc: predicates[len(predicates)-1].Doc, Params: []Param{{value.ListOf(numberType)}}, Least: 1, Result: NumberOf,
	eval: func(r *run, at Span, args []value.Value) (value.Value, error) {
		return sumOf(r, at, args[0].(value.List))
	}}

// Find returns the function with a name that is called with values, or nil.
func Find(name string) *Function {
	for _, f := range functions {
		if f.Name == name {
			return f
		}
	}
	if name == sumFunction.Name {
		return sumFunction
	}
	return nil
}

// FindPredicate returns the function over elements with a name, or nil.
func FindPredicate(name string) *PredicateFunc {
	for _, p := range predicates {
		if p.Name == name {
			return p
		}
	}
	return nil
}
