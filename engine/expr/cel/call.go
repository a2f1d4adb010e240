package cel

import (
	"slices"
	"strings"

	"github.com/antlr4-go/antlr/v4"
	"github.com/expr-lang/expr/ast"
	"github.com/google/cel-go/parser/gen"

	"example.com/pipe/engine/expr/eval"
)

// spelled gives, for functions and macros that CEL has, the language's names.
var spelled = map[string]string{
	"size":       "len",
	"double":     "float",
	"exists":     "any",
	"exists_one": "one",
	"existsOne":  "one",
}

// ours returns the language's name of a function.
func ours(name string) string {
	if s, ok := spelled[name]; ok {
		return s
	}
	return name
}

// call is a call that is being read.
type call struct {
	name   string
	base   ast.Node // of a method; nil: a global call
	args   []gen.IExprContext
	token  Span // of the name
	extent Span
}

func arguments(list gen.IExprListContext) []gen.IExprContext {
	if list == nil {
		return nil
	}
	return list.GetE()
}

func (r *reader) global(t *gen.GlobalCallContext) ast.Node {
	c := call{name: t.GetId().GetText(), args: arguments(t.GetArgs()), token: r.source.span(t.GetId()), extent: r.extent(t)}
	if t.GetLeadingDot() != nil {
		return r.problem(c.token, c.extent, NotOffered, "a dot before a name is not part of the language: write %s(…)", c.name)
	}
	switch {
	case c.name == "has":
		return r.has(c)
	case c.name == "matches" && len(c.args) == 2:
		return r.node(&ast.BinaryNode{Operator: c.name, Left: r.read(c.args[0]), Right: r.read(c.args[1])}, c.token, c.extent)
	case isMacro(c.name) && !(c.name == "sum" && len(c.args) == 1):
		hint := ""
		if c.name == "count" && len(c.args) == 1 {
			hint = "; the number of all elements is size(list)"
		}
		return r.problem(c.token, c.extent, BadCall, "%s is called behind its list: write list.%s(x, …)%s", c.name, c.name, hint)
	}
	return r.function(c)
}

// function reads a call of a function by its name; of a method, what stands before the dot is the first
// argument.
func (r *reader) function(c call) ast.Node {
	n := &ast.BuiltinNode{Name: ours(c.name)}
	if c.base != nil {
		n.Arguments = append(n.Arguments, c.base)
	}
	for _, a := range c.args {
		n.Arguments = append(n.Arguments, r.read(a))
	}
	return r.node(n, c.token, c.extent)
}

// has reads has(x.y), which is a test of the field against null.
func (r *reader) has(c call) ast.Node {
	if len(c.args) != 1 {
		return r.problem(c.token, c.extent, BadCall, "has takes one field, such as has(x.y)")
	}
	field := r.read(c.args[0])
	m, ok := field.(*ast.MemberNode)
	if _, named := memberName(m); !ok || !named {
		return r.problem(r.of(field), c.extent, BadCall, "has takes a field, such as has(x.y): for an element write x[?0].hasValue(), for a name x != null")
	}
	return r.notNull(field, c)
}

// memberName returns the name of the field that a member reads.
func memberName(m *ast.MemberNode) (string, bool) {
	if m == nil {
		return "", false
	}
	key, ok := m.Property.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return key.Value, true
}

func (r *reader) notNull(x ast.Node, c call) ast.Node {
	null := r.node(&ast.NilNode{}, c.token, c.token)
	return r.node(&ast.BinaryNode{Operator: "!=", Left: x, Right: null}, c.token, c.extent)
}

func (r *reader) method(t *gen.MemberCallContext) ast.Node {
	c := call{name: t.GetId().GetText(), args: arguments(t.GetArgs()), token: r.source.span(t.GetId())}
	if id, ok := libraryName(t.Member()); ok && !r.isVariable(id) {
		c.extent = r.extent(t)
		return r.library(id, c)
	}
	c.base = r.read(t.Member())
	c.extent = Span{From: r.of(c.base).From, To: r.extent(t).To}
	switch {
	case c.name == "orValue" || c.name == "or":
		if len(c.args) != 1 {
			return r.problem(c.token, c.extent, BadCall, "%s takes the value to use where there is none, such as x.?y.%s(0)", c.name, c.name)
		}
		return r.node(&ast.BinaryNode{Operator: "??", Left: c.base, Right: r.read(c.args[0])}, c.token, c.extent)
	case c.name == "hasValue" && len(c.args) == 0:
		return r.notNull(c.base, c)
	case c.name == "value" && len(c.args) == 0:
		return r.problem(c.token, c.extent, NotOffered, `"value" is not part of the language: write the field with a plain dot, or .orValue(…) for the case that there is none`)
	case c.name == "optMap" || c.name == "optFlatMap":
		return r.problem(c.token, c.extent, NotOffered, "%q is not part of the language: write has(x.y) ? … : …", c.name)
	case slices.Contains([]string{"contains", "startsWith", "endsWith", "matches"}, c.name):
		if len(c.args) != 1 {
			return r.problem(c.token, c.extent, BadCall, "%s takes one text, such as %s.%s(\"…\")", c.name, r.text(c.base), c.name)
		}
		return r.node(&ast.BinaryNode{Operator: c.name, Left: c.base, Right: r.read(c.args[0])}, c.token, c.extent)
	case isMacro(c.name) && !(c.name == "sum" && len(c.args) == 0):
		return r.macro(c)
	}
	return r.function(c)
}

// libraryName returns the name before the dot of a call such as optional.of(x) or math.least(a, b): those
// of CEL's extensions.
func libraryName(t antlr.ParseTree) (string, bool) {
	p, ok := t.(*gen.PrimaryExprContext)
	if !ok {
		return "", false
	}
	id, ok := p.Primary().(*gen.IdentContext)
	if !ok || !slices.Contains([]string{"optional", "math", "strings", "lists", "sets", "base64", "cel"}, id.GetId().GetText()) {
		return "", false
	}
	return id.GetId().GetText(), true
}

func (r *reader) isVariable(name string) bool {
	return slices.ContainsFunc(r.vars, func(v variable) bool { return v.name == name })
}

// library answers a call of one of CEL's extensions.
func (r *reader) library(lib string, c call) ast.Node {
	hint := "look at the language's own functions"
	switch lib + "." + c.name {
	case "optional.of", "optional.ofNonZeroValue":
		hint = "write the value itself"
	case "optional.none":
		hint = "write null"
	case "math.greatest":
		hint = "write max"
	case "math.least":
		hint = "write min"
	case "math.abs":
		hint = "write abs"
	case "cel.bind":
		hint = "write the value where it is used"
	case "sets.contains":
		hint = "write list.all(x, x in other)"
	}
	return r.problem(Span{From: c.extent.From, To: c.token.To}, c.extent, NoFunction, "%s.%s is not part of the language: %s", lib, c.name, hint)
}

// isMacro reports whether a function looks at the elements of a list, one by one.
func isMacro(name string) bool {
	return name == "transformList" || eval.FindPredicate(ours(name)) != nil
}

// macro reads list.all(x, …) and its like. Of three arguments the first is the element's place, but for
// list.map(x, condition, value) and transformList, which are CEL's own.
func (r *reader) macro(c call) ast.Node {
	name := ours(c.name)
	if name == "transformList" {
		name = "map"
		if len(c.args) != 3 {
			return r.problem(c.token, c.extent, BadCall, "transformList takes the name of the place, the name of the element and a value: write list.transformList(i, x, …)")
		}
	}
	filters := c.name == "map" && len(c.args) == 3
	names := len(c.args) - 1
	if filters {
		names = 1
	}
	if len(c.args) != 2 && len(c.args) != 3 {
		hint := ""
		if name == "count" && len(c.args) == 0 {
			hint = "; the number of all elements is size(list)"
		}
		return r.problem(c.token, c.extent, BadCall, "%s takes the name of the element and what to find out of it: write list.%s(x, …)%s", c.name, c.name, hint)
	}
	var vars []variable
	for i, a := range c.args[:names] {
		id, ok := plainName(a)
		if !ok {
			return r.problem(r.extent(a), c.extent, BadCall, "%s: want a name for the element, got %q: write list.%s(x, …)",
				c.name, clip(a.GetText()), c.name)
		}
		vars = append(vars, variable{name: id, level: r.level + 1, index: names == 2 && i == 0})
	}
	if len(vars) == 2 && vars[0].name == vars[1].name {
		return r.problem(r.extent(c.args[1]), c.extent, BadCall, "%s: %q stands for the place and for the element: give them two names", c.name, vars[0].name)
	}
	r.level++
	r.vars = append(r.vars, vars...)
	defer func() { r.level, r.vars = r.level-1, r.vars[:len(r.vars)-len(vars)] }()
	list := c.base
	for _, a := range c.args[names:] {
		step := name
		if filters && a != c.args[2] {
			step = "filter"
		}
		list = r.node(&ast.BuiltinNode{Name: step, Arguments: []ast.Node{list, r.read(a)}}, c.token, c.extent)
	}
	return list
}

// plainName returns the name that an argument is made of alone.
func plainName(t gen.IExprContext) (string, bool) {
	if t.GetStart() != t.GetStop() || t.GetStart().GetTokenType() != gen.CELLexerIDENTIFIER {
		return "", false
	}
	return strings.TrimSpace(t.GetText()), true
}

// Names returns the functions and macros that only CEL has, sorted.
func Names() []string {
	return []string{"double", "exists", "exists_one", "has", "hasValue", "orValue", "size", "transformList"}
}
