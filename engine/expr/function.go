package expr

import (
	"slices"
	"strings"

	"example.com/pipe/engine/value"
)

// Function describes a function of the language for the reference.
type Function struct {
	Name      string
	Signature string // such as "join(list, separator) string"
	Doc       string // one sentence
	Example   string // an expression that needs no scope
	Result    string // what the example gives, as JSON
}

// Functions returns the language's own list of functions, sorted by name. What the library brings beyond
// it is off.
func Functions() []Function {
	out := make([]Function, 0, len(functions)+len(predicates))
	for _, f := range functions {
		d := f.doc
		d.Name = f.name
		out = append(out, d)
	}
	for _, p := range predicates {
		d := p.doc
		d.Name = p.name
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// function is one that is called with values.
type function struct {
	name   string
	params []param // the last one repeats if variadic
	least  int     // arguments that must be there
	more   bool    // the last parameter may repeat
	result func(args []value.Type) value.Type
	eval   func(r *run, at span, args []value.Value) (value.Value, error)
	doc    Function
}

// param is what an argument may be: one of some types.
type param []value.Type

func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

func (p param) String() string {
	words := make([]string, len(p))
	for i, t := range p {
		words[i] = t.String()
		if t.Kind == value.ListKind && t.ElemType().IsAny() {
			words[i] = "list"
		}
	}
	return strings.Join(words, " or ")
}

func (p param) takes(t value.Type) bool {
	for _, want := range p {
		if value.Assignable(t, want) {
			return true
		}
	}
	return false
}

// takesValue looks at the kind of v alone; the functions look at the elements of lists, and count it.
func (p param) takesValue(v value.Value) bool {
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

// numberOf is the result of arithmetic on the arguments, or on the elements of the one list.
func numberOf(args []value.Type) value.Type {
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
	oneString  = param{stringType}
	oneNumber  = param{numberType}
	oneList    = param{listType}
	oneObject  = param{objectType}
	numberList = param{numberType, value.ListOf(numberType)}
)

// functions is the list of the language, but for the predicates.
var functions = []*function{
	{name: "len", params: []param{{stringType, listType, objectType}}, least: 1, result: always(intType), eval: evalLen,
		doc: Function{Signature: "len(string, list or object) integer", Doc: "The number of characters, elements or fields.", Example: `len("plan")`, Result: `4`}},
	{name: "lower", params: []param{oneString}, least: 1, result: always(stringType), eval: evalLower,
		doc: Function{Signature: "lower(string) string", Doc: "The text in lower case.", Example: `lower("High")`, Result: `"high"`}},
	{name: "upper", params: []param{oneString}, least: 1, result: always(stringType), eval: evalUpper,
		doc: Function{Signature: "upper(string) string", Doc: "The text in upper case.", Example: `upper("High")`, Result: `"HIGH"`}},
	{name: "trim", params: []param{oneString}, least: 1, result: always(stringType), eval: evalTrim,
		doc: Function{Signature: "trim(string) string", Doc: "The text without white space at its ends.", Example: `trim(" a b ")`, Result: `"a b"`}},
	{name: "split", params: []param{oneString, oneString}, least: 2, result: always(value.ListOf(stringType)), eval: evalSplit,
		doc: Function{Signature: "split(string, separator) string[]", Doc: "The pieces of the text between the separators; with an empty separator its characters.", Example: `split("a,b", ",")`, Result: `["a","b"]`}},
	{name: "join", params: []param{{value.ListOf(stringType)}, oneString}, least: 2, result: always(stringType), eval: evalJoin,
		doc: Function{Signature: "join(string[], separator) string", Doc: "The texts of the list with the separator between them.", Example: `join(["a", "b"], ", ")`, Result: `"a, b"`}},
	{name: "replace", params: []param{oneString, oneString, oneString}, least: 3, result: always(stringType), eval: evalReplace,
		doc: Function{Signature: "replace(string, old, new) string", Doc: "The text with each old, which is not empty, replaced by new.", Example: `replace("a/b/c", "/", ".")`, Result: `"a.b.c"`}},
	{name: "string", params: []param{{anyType}}, least: 1, result: always(stringType), eval: evalString,
		doc: Function{Signature: "string(value) string", Doc: "A string as it is, anything else as compact JSON.", Example: `string([1, true])`, Result: `"[1,true]"`}},
	{name: "int", params: []param{{numberType, stringType}}, least: 1, result: always(intType), eval: evalInt,
		doc: Function{Signature: "int(number or string) integer", Doc: "The number without its fraction, or the whole number that the text spells.", Example: `int("42") + int(2.9)`, Result: `44`}},
	{name: "float", params: []param{{numberType, stringType}}, least: 1, result: always(numberType), eval: evalFloat,
		doc: Function{Signature: "float(number or string) number", Doc: "The number, or the one that the text spells.", Example: `float("0.5")`, Result: `0.5`}},
	{name: "abs", params: []param{oneNumber}, least: 1, result: numberOf, eval: evalAbs,
		doc: Function{Signature: "abs(number) number", Doc: "The number without its sign.", Example: `abs(-3)`, Result: `3`}},
	{name: "min", params: []param{numberList}, least: 1, more: true, result: numberOf, eval: evalMin,
		doc: Function{Signature: "min(number, …) number, min(number[]) number", Doc: "The smallest of the numbers; there must be one.", Example: `min(3, 1, 2)`, Result: `1`}},
	{name: "max", params: []param{numberList}, least: 1, more: true, result: numberOf, eval: evalMax,
		doc: Function{Signature: "max(number, …) number, max(number[]) number", Doc: "The largest of the numbers; there must be one.", Example: `max([3, 1, 2])`, Result: `3`}},
	{name: "first", params: []param{oneList}, least: 1, result: elemOf, eval: evalFirst,
		doc: Function{Signature: "first(list) element", Doc: "The first element, null if there is none.", Example: `first([7, 8]) ?? 0`, Result: `7`}},
	{name: "last", params: []param{oneList}, least: 1, result: elemOf, eval: evalLast,
		doc: Function{Signature: "last(list) element", Doc: "The last element, null if there is none.", Example: `last([7, 8]) ?? 0`, Result: `8`}},
	{name: "keys", params: []param{oneObject}, least: 1, result: always(value.ListOf(stringType)), eval: evalKeys,
		doc: Function{Signature: "keys(object) string[]", Doc: "The names of the fields, sorted.", Example: `keys({b: 1, a: 2})`, Result: `["a","b"]`}},
	{name: "values", params: []param{oneObject}, least: 1, result: fieldsOf, eval: evalValues,
		doc: Function{Signature: "values(object) list", Doc: "The values of the fields, in the order of their sorted names.", Example: `values({b: 1, a: 2})`, Result: `[2,1]`}},
	{name: "concat", params: []param{oneList}, least: 1, more: true, result: sameList, eval: evalConcat,
		doc: Function{Signature: "concat(list, …) list", Doc: "The elements of all lists in one.", Example: `concat([1], [2, 3])`, Result: `[1,2,3]`}},
	{name: "sort", params: []param{{value.ListOf(numberType), value.ListOf(stringType)}}, least: 1, result: sameList, eval: evalSort,
		doc: Function{Signature: "sort(number[] or string[]) list", Doc: "The elements in rising order; texts by their bytes.", Example: `sort([3, 1, 2])`, Result: `[1,2,3]`}},
	{name: "unique", params: []param{oneList}, least: 1, result: sameList, eval: evalUnique,
		doc: Function{Signature: "unique(list) list", Doc: "The elements without repeats, each at its first place.", Example: `unique([1, 2, 1])`, Result: `[1,2]`}},
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

// predicateFunc is a function whose second argument is evaluated for each element of its first.
type predicateFunc struct {
	name     string
	optional bool // the second argument may be left out: it is a plain function then
	boolean  bool // the body must give a boolean
	result   func(list, body value.Type) value.Type
	doc      Function
}

func gives(t value.Type) func(_, _ value.Type) value.Type {
	return func(_, _ value.Type) value.Type { return t }
}

// predicates is the list of the language's functions over elements.
var predicates = []*predicateFunc{
	{name: "all", boolean: true, result: gives(boolType),
		doc: Function{Signature: "all(list, predicate) boolean", Doc: "Whether the predicate holds for each element.", Example: `all([1, 2], # > 0)`, Result: `true`}},
	{name: "any", boolean: true, result: gives(boolType),
		doc: Function{Signature: "any(list, predicate) boolean", Doc: "Whether the predicate holds for at least one element.", Example: `any([1, 2], # > 1)`, Result: `true`}},
	{name: "none", boolean: true, result: gives(boolType),
		doc: Function{Signature: "none(list, predicate) boolean", Doc: "Whether the predicate holds for no element.", Example: `none([1, 2], # > 2)`, Result: `true`}},
	{name: "one", boolean: true, result: gives(boolType),
		doc: Function{Signature: "one(list, predicate) boolean", Doc: "Whether the predicate holds for exactly one element.", Example: `one([1, 2], # > 1)`, Result: `true`}},
	{name: "count", boolean: true, result: gives(intType),
		doc: Function{Signature: "count(list, predicate) integer", Doc: "The number of elements that the predicate holds for.", Example: `count([1, 2, 3], # > 1)`, Result: `2`}},
	{name: "filter", boolean: true, result: func(list, _ value.Type) value.Type { return list },
		doc: Function{Signature: "filter(list, predicate) list", Doc: "The elements that the predicate holds for.", Example: `filter([1, 2, 3], # > 1)`, Result: `[2,3]`}},
	{name: "find", boolean: true, result: func(list, _ value.Type) value.Type { return list.ElemType().OrNull() },
		doc: Function{Signature: "find(list, predicate) element", Doc: "The first element that the predicate holds for, null if there is none.", Example: `find([{n: 1}, {n: 2}], .n > 1)?.n`, Result: `2`}},
	{name: "map", result: func(_, body value.Type) value.Type { return value.ListOf(body) },
		doc: Function{Signature: "map(list, expression) list", Doc: "What the expression gives for each element.", Example: `map([1, 2], # * 10 + #index)`, Result: `[10,21]`}},
	{name: "sum", optional: true, result: func(_, body value.Type) value.Type { return numberOf([]value.Type{body}) },
		doc: Function{Signature: "sum(number[]) number, sum(list, expression) number", Doc: "The sum of the numbers, or of what the expression gives for each element; 0 if there is none.", Example: `sum([{n: 1}, {n: 2}], .n)`, Result: `3`}},
}

// sumFunction is sum without an expression.
var sumFunction = &function{name: "sum", params: []param{{value.ListOf(numberType)}}, least: 1, result: numberOf,
	eval: func(r *run, at span, args []value.Value) (value.Value, error) {
		return sumOf(r, at, args[0].(value.List))
	}}
