package expr

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/pipe/engine/expr/cel"
	"example.com/pipe/engine/value"
)

// FuzzCompileEval looks for texts that upset the parser, the checker or the evaluation, for diagnostics
// without a place, and for results that are not the same twice.
func FuzzCompileEval(f *testing.F) {
	for _, src := range []string{"1 + 2", "inputs.n > 3 && !inputs.fast", `stages["a-b"].status == "x"`, "filter(inputs.files, # contains \"a\")",
		"stages.plan.outputs.o?.z ?? `x`", "a ? b : c", "{a: [1, 2.5e3]}", "x not in [1] // c", "'\\u00e9' matches \"^.$\"", "${{ a }}", "a-b.c", "1<2<3"} {
		f.Add(src)
	}
	envs := []*Env{NewEnv(sampleScope()), NewEnv(value.Of(value.Any))}
	scope := sampleValues()
	f.Fuzz(func(t *testing.T, src string) {
		checkAnyText(t, ownLanguage, envs, scope, src)
	})
}

// FuzzCompileEvalCEL is FuzzCompileEval for CEL.
func FuzzCompileEvalCEL(f *testing.F) {
	for _, src := range []string{"1 + 2", "inputs.n > 3 && !inputs.fast", "stages.`a-b`.status == 'x'", "inputs.files.filter(f, f.contains(\"a\"))",
		"stages.plan.outputs.?o.z.orValue(r'x')", "a ? b : c", "{'a': [1, 2.5e3]}", "!(x in [1]) // c", "'\\u00e9'.matches(\"^.$\")", "${{ a }}", "a-b.c",
		"has(a.b) || [?x]", "x.map(i, j, i) + 1u", "\"\"\"a\"\"\"", "- - 5", "a.b.c{d: 1}", ".a(", "x ?? y"} {
		f.Add(src)
	}
	envs := []*Env{NewEnv(sampleScope()), NewEnv(value.Of(value.Any))}
	scope := sampleValues()
	f.Fuzz(func(t *testing.T, src string) {
		checkAnyText(t, celLanguage, envs, scope, src)
		if plain := cel.Plain(src); len(plain) != len(src) {
			t.Errorf("%q: %q has another length", src, plain)
		}
		if len(CutCEL(plain(src))) == 0 {
			t.Errorf("%q: cut into nothing", src)
		}
	})
}

type failer interface {
	Errorf(format string, args ...any)
}

func checkAnyText(t failer, lang language, envs []*Env, scope *value.Object, src string) {
	for _, env := range envs {
		p, ds := compilers[lang](env, plain(src), value.Type{})
		for _, d := range ds {
			if !d.Span.IsValid() || d.Span.End.Before(d.Span.Start) || d.Message == "" || d.Code == "" {
				t.Errorf("%q: diagnostic %+v lacks a place, a message or a code", src, d)
			}
		}
		if p == nil {
			if len(ds) == 0 {
				t.Errorf("%q: no program and no diagnostic", src)
			}
			continue
		}
		if a, b := evalText(p, scope), evalText(p, scope); a != b {
			t.Errorf("%q: gives %s, then %s", src, a, b)
		}
	}
	pieces, ds := SplitTemplate(plain(src))
	if len(pieces) == 0 && len(ds) == 0 && src != "" {
		t.Errorf("%q: no piece and no diagnostic", src)
	}
}

func evalText(p *Program, scope *value.Object) string {
	v, err := p.Eval(scope)
	if err != nil {
		return "error: " + err.Error()
	}
	b, err := value.Canonical(v)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

// sampleValues is a scope of the type of sampleScope.
func sampleValues() *value.Object {
	v, err := value.DecodeJSON([]byte(`{
		"inputs": {"fast": true, "n": 4, "x": 0.5, "s": "text", "complexity": "low", "files": ["a.go", "b.md"], "any": {"a": [1, "b", null]}},
		"my-name": "x", "stages": {"build-all-v2": {"c-d": 1, "e": [2]}, "a-b": {"status": "skipped"}, "plan": {"status": "succeeded", "outputs": {"n": 2, "o": {"z": "end"}}}},
		"open_items": [{"severity": "blocking", "line": 3}, {"severity": "advisory", "line": null}]}`))
	if err != nil {
		panic(err)
	}
	return v.(*value.Object)
}

// grammar makes expressions of a language that mostly parse, so that the checker and the evaluation see more of them than
// from random texts.
type grammar struct {
	t     *rapid.T
	lang  language
	depth int
	vars  int // of the macros around, in CEL
}

func (g *grammar) pick(what string, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(g.t, what)
}

func (g *grammar) expr() string {
	if g.depth++; g.depth > 40 {
		return "1"
	}
	if g.lang == celLanguage {
		return g.cel()
	}
	switch g.pick("form", "leaf", "leaf", "binary", "binary", "unary", "choice", "call", "predicate", "index", "list") {
	case "binary":
		op := g.pick("op", "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in", "contains", "??", "matches")
		return "(" + g.expr() + ") " + op + " (" + g.expr() + ")"
	case "unary":
		return g.pick("unary", "!", "-", "not ") + "(" + g.expr() + ")"
	case "choice":
		return "(" + g.expr() + ") ? (" + g.expr() + ") : (" + g.expr() + ")"
	case "call":
		name := g.pick("function", "len", "lower", "sort", "unique", "keys", "values", "sum", "min", "first", "last", "string", "int", "concat", "abs")
		return name + "(" + g.expr() + ")"
	case "predicate":
		name := g.pick("predicate", "all", "any", "none", "one", "filter", "map", "count", "find", "sum")
		return name + "(" + g.expr() + ", " + g.pick("body", "# == 1", "# > 1", ".line ?? 0", "#index", g.expr()) + ")"
	case "index":
		return "(" + g.expr() + ")" + g.pick("key", "[0]", `["a"]`, "?.a", ".z", "[-1]")
	case "list":
		return "[" + g.expr() + ", " + g.expr() + "]"
	default:
		return g.pick("leaf", "1", "2.5", `"a"`, "true", "nil", "[]", "{a: 1}", "#", "inputs.n", "inputs.s", "inputs.fast", "inputs.files", "inputs.any",
			"stages.plan.outputs.n", "stages.plan.outputs.o?.z", "open_items", "stages", "inputs.complexity", "missing", "9223372036854775807")
	}
}

// cel is expr in CEL.
func (g *grammar) cel() string {
	switch g.pick("form", "leaf", "leaf", "binary", "binary", "unary", "choice", "call", "macro", "index", "list", "has", "optional") {
	case "binary":
		op := g.pick("op", "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in")
		return "(" + g.expr() + ") " + op + " (" + g.expr() + ")"
	case "unary":
		return g.pick("unary", "!", "-") + "(" + g.expr() + ")"
	case "choice":
		return "(" + g.expr() + ") ? (" + g.expr() + ") : (" + g.expr() + ")"
	case "call":
		name := g.pick("function", "size", "lower", "sort", "unique", "keys", "values", "sum", "min", "first", "last", "string", "int", "double", "concat", "abs")
		if g.pick("style", "function", "method") == "method" {
			return "(" + g.expr() + ")." + name + "()"
		}
		return name + "(" + g.expr() + ")"
	case "macro":
		name := g.pick("macro", "all", "exists", "none", "one", "filter", "map", "count", "find", "sum", "transformList")
		list, v := g.expr(), fmt.Sprintf("v%d", g.vars)
		g.vars++
		defer func() { g.vars-- }()
		names := v
		if name == "transformList" || name != "map" && g.pick("index", "", "index") != "" {
			names = v + "i, " + v
		}
		return "(" + list + ")." + name + "(" + names + ", " + g.pick("body", v+" == 1", v+" > 1", v+".?line.orValue(0)", g.expr()) + ")"
	case "index":
		return "(" + g.expr() + ")" + g.pick("key", "[0]", `["a"]`, ".?a", ".z", "[-1]", "[?0]", `.contains("a")`)
	case "list":
		return "[" + g.expr() + ", " + g.expr() + "]"
	case "has":
		return "has((" + g.expr() + ")." + g.pick("field", "a", "line", "n") + ")"
	case "optional":
		return "(" + g.expr() + ").?a" + g.pick("end", "", ".b", ".hasValue()", ".orValue("+g.expr()+")", ".or("+g.expr()+")")
	default:
		leaves := []string{"1", "2.5", "2.0", `"a"`, "true", "null", "[]", `{"a": 1}`, "inputs.n", "inputs.s", "inputs.fast", "inputs.files", "inputs.any", "inputs.x",
			"stages.plan.outputs.n", "stages.plan.outputs.?o.z", "open_items", "stages", "inputs.complexity", "missing", "9223372036854775807"}
		for i := range g.vars {
			leaves = append(leaves, fmt.Sprintf("v%d", i))
		}
		return g.pick("leaf", leaves...)
	}
}

func TestRandomExpressions(t *testing.T) { checkRandom(t, ownLanguage) }

func TestRandomExpressionsOfCEL(t *testing.T) { checkRandom(t, celLanguage) }

// Types never change a result, programs are deterministic, and a program's scope is enough for it. But where
// CEL asks whether numbers are integers, it refuses what it does not know.
func checkRandom(t *testing.T, lang language) {
	compile := compilers[lang]
	typed, loose := NewEnv(sampleScope()), NewEnv(value.Of(value.Any))
	scope := sampleValues()
	rapid.Check(t, func(t *rapid.T) {
		src := (&grammar{t: t, lang: lang}).expr()
		checkAnyText(t, lang, []*Env{typed, loose}, scope, src)
		p, _ := compile(typed, plain(src), value.Type{})
		if p == nil {
			return
		}
		got := evalText(p, scope)
		if q, ds := compile(loose, plain(src), value.Type{}); q == nil && strings.Contains(messages(ds), "not known whether") {
			return
		} else if q == nil {
			t.Errorf("%s compiles with types and not without: %s", src, messages(ds))
		} else if other := evalText(q, scope); other != got {
			t.Errorf("%s gives %s with types and %s without", src, got, other)
		}
		if q, ds := compile(NewEnv(p.Scope()), plain(src), value.Type{}); q == nil {
			t.Errorf("%s does not compile against its own scope: %s", src, messages(ds))
		}
		v, err := p.Eval(scope)
		if err == nil {
			if err := p.Type().Check(v); err != nil {
				t.Errorf("%s has type %s and gives another: %v", src, p.Type(), err)
			}
		}
	})
}
