package compile

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// object makes an object of names and values in turn.
func object(kv ...any) *value.Object {
	o := value.NewObject()
	for i := 0; i < len(kv); i += 2 {
		o.Set(kv[i].(string), kv[i+1])
	}
	return o
}

// testScope is a scope for the stages of evaluations.yaml.
func testScope() *value.Object {
	item := object("id", "review.1", "severity", "blocking", "description", "broken", "file", "a.go", "line", int64(3),
		"status", "open", "first_round", int64(1), "last_round", int64(1))
	stage := func(outputs *value.Object) *value.Object {
		return object("status", "succeeded", "outputs", outputs, "iteration", int64(2), "attempts", int64(1),
			"feedback", object("blocking", value.List{item}, "advisory", value.List{}, "informational", value.List{}))
	}
	return object(
		"inputs", object("task", "build it", "n", int64(7), "ratio", 2.5, "tags", value.List{"a", "b"}, "extra", nil, "obj", object("k", object("z", int64(1)))),
		"run", object("id", "01J", "task_id", "t1", "pipeline", "p", "status", "running"),
		"stages", object(
			"plan", stage(object("steps", int64(4), "list", value.List{int64(3), int64(1)})),
			"maybe", object("status", "skipped", "outputs", object("x", nil), "iteration", int64(1), "attempts", int64(0),
				"feedback", object("blocking", value.List{}, "advisory", value.List{}, "informational", value.List{})),
			"code-review", stage(object()),
		),
		"iteration", int64(2), "attempt", int64(1), "brief", "", "open_items", value.List{item}, "changes", value.List{"a.go"},
		"outputs", object("sum", int64(9)), "exit_code", int64(0),
	)
}

// cases are expressions with their values; both programs and plans that have been through plan.json must
// agree on them.
var cases = []struct{ src, want string }{
	{`inputs.task`, `"build it"`},
	{`inputs.n % 2 == 1`, `true`},
	{`inputs.n / 2`, ``},
	{`inputs.ratio * 2`, ``},
	{`inputs.extra ?? "none"`, `"none"`},
	{`inputs.tags[1]`, `"b"`},
	{`inputs.obj`, `{"k":{"z":1}}`},
	{`len(inputs.tags) + stages.plan.outputs.steps`, `6`},
	{`stages.maybe.outputs.x ?? 5`, `5`},
	{`stages.maybe.status == "succeeded" ? stages.maybe.outputs.x : 0`, `0`},
	{`stages["code-review"].feedback.blocking[0].description`, `"broken"`},
	{`len(stages.plan.feedback.advisory) == 0 && iteration > 1`, `true`},
	{`open_items[0].line ?? 0`, `3`},
	{`filter(stages.plan.outputs.list, # > 1)`, `[3]`},
	{`sort(stages.plan.outputs.list)`, ``},
	{`run.task_id + "-" + run.pipeline`, `"t1-p"`},
	{`"a.go" in changes`, `true`},
	{`{"a": inputs.n, "b": [inputs.task]}`, ``},
	{`any(open_items, .severity == "blocking")`, `true`},
	{`inputs`, ``},
}

const evaluations = `name: evaluations
version: 1
inputs:
  task: string
  n: integer
  ratio: number
  tags: string[]
  extra: {type: string, required: false}
  obj: object
stages:
  - id: plan
    run: "true"
    outputs: {steps: integer, list: {type: array, items: integer}}
  - id: maybe
    when: inputs.n > 3
    run: "true"
    outputs: {x: integer}
  - id: code-review
    run: "true"
  - id: last
    run: "true"
    inputs:
`

// TestEvaluatorAgrees compares the value that an expression has against the types of the whole document,
// the value after its plan went through plan.json, and, where both compile, the value against a scope of
// which nothing is known.
func TestEvaluatorAgrees(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(evaluations)
	for i, c := range cases {
		doc.WriteString("      v" + string(rune('a'+i)) + ": '${{ " + strings.ReplaceAll(c.src, "'", "''") + " }}'\n")
	}
	p, ds := parse(t, "evaluations.yaml", doc.String())
	if p == nil {
		t.Fatalf("diagnostics:\n%s", ds.Text())
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := plan.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	node := &p.Graph.Nodes[p.Graph.Index("last")]
	thawed := &frozen.Graph.Nodes[p.Graph.Index("last")]
	scope := testScope()
	ev, again := NewEvaluator(), NewEvaluator()
	for i, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			v, err := node.Inputs[i].Value.Eval(ev, scope)
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, v)
			if c.want != "" && got != c.want {
				t.Errorf("value %s, want %s", got, c.want)
			}
			w, err := thawed.Inputs[i].Value.Eval(again, scope)
			if err != nil {
				t.Fatalf("from plan.json: %v", err)
			}
			if text(t, w) != got {
				t.Errorf("value %s from the plan, %s from plan.json", got, text(t, w))
			}
			untyped, _ := expr.Compile(source.NewScalar(c.src, source.Span{}, nil), value.Of(value.Any), value.Of(value.Any))
			if untyped == nil {
				t.Fatal("does not compile against a scope of which nothing is known")
			}
			u, err := untyped.Eval(scope)
			if err != nil {
				t.Fatalf("untyped: %v", err)
			}
			if text(t, u) != got {
				t.Errorf("value %s with types, %s without", got, text(t, u))
			}
		})
	}
}

func text(t *testing.T, v value.Value) string {
	t.Helper()
	b, err := value.JSON{Value: v}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEvaluatorErrors(t *testing.T) {
	ev := NewEvaluator()
	at := source.Pos{Line: 7, Col: 3}
	num := value.ObjectOf(value.FieldType{Name: "iteration", Type: value.Of(value.Int)})
	for _, c := range []struct {
		name  string
		e     plan.Expr
		scope *value.Object
		want  string
	}{
		{"division", plan.Expr{Source: "7 % iteration", Scope: num, At: at}, object("iteration", int64(0)), "7:3: "},
		{"missing", plan.Expr{Source: "iteration + 1", Scope: num, At: at, File: "p.md"}, object(), "p.md:7:3: "},
		{"does not compile", plan.Expr{Source: "iteration +", Scope: num, At: at}, object(), "7:3: "},
		{"CEL", plan.Expr{Source: "7 / iteration", Language: plan.CELLanguage, Scope: num, At: at}, object("iteration", int64(0)), "7:3: /: the divisor is 0"},
		{"CEL does not compile", plan.Expr{Source: "iteration ?? 1", Language: plan.CELLanguage, Scope: num, At: at}, object(), "7:3: "},
		{"wrong type", plan.Expr{Source: "iteration", Scope: value.Of(value.Any), Type: value.Of(value.Bool), At: at}, object("iteration", int64(1)), "7:3: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ev.Eval(c.e, c.scope)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("error %v, want %s…", err, c.want)
			}
			if _, ok := errors.AsType[*plan.EvalError](err); !ok {
				t.Errorf("error is a %T, want *plan.EvalError", err)
			}
		})
	}
}

// TestEvaluatorTypes evaluates the same text at two places that know different types of it.
func TestEvaluatorTypes(t *testing.T) {
	ev := NewEvaluator()
	scope := func(k value.Kind) value.Type {
		return value.ObjectOf(value.FieldType{Name: "x", Type: value.Of(k)})
	}
	one := plan.Expr{Source: "x + x", Scope: scope(value.Int), At: source.Pos{Line: 1, Col: 1}}
	two := plan.Expr{Source: "x + x", Scope: scope(value.String), At: source.Pos{Line: 2, Col: 1}}
	for range 2 {
		evalBoth(t, ev, one, two)
		one.At, two.At = source.Pos{}, source.Pos{} // types alone tell them apart
	}
}

// TestEvaluatorLanguages evaluates the same text in both languages.
func TestEvaluatorLanguages(t *testing.T) {
	ev := NewEvaluator()
	num := value.ObjectOf(value.FieldType{Name: "x", Type: value.Of(value.Int)})
	for range 2 {
		for lang, want := range map[plan.Language]value.Value{plan.ExprLanguage: 3.5, plan.CELLanguage: int64(3)} {
			e := plan.Expr{Source: "x / 2", Language: lang, Scope: num, At: source.Pos{Line: 1, Col: 1}}
			if v, err := ev.Eval(e, object("x", int64(7))); err != nil || v != want {
				t.Errorf("%s: %v, %v, want %v", lang, v, err, want)
			}
		}
	}
}

func evalBoth(t *testing.T, ev plan.Evaluator, one, two plan.Expr) {
	t.Helper()
	if v, err := ev.Eval(one, object("x", int64(2))); err != nil || v != int64(4) {
		t.Errorf("integers: %v, %v, want 4", v, err)
	}
	if v, err := ev.Eval(two, object("x", "a")); err != nil || v != "aa" {
		t.Errorf("strings: %v, %v, want aa", v, err)
	}
}

// TestConformance runs the conformance cases of both languages through plan.json: typed against the types of
// their scope and against a scope of which nothing is known, each must give what the case says.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../expr/testdata/conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	scope := value.NewObject()
	var src [2]string // by language; "": it has no such case
	typed, cases := 0, 0
	for n, line := range strings.Split(string(text), "\n") {
		key, rest, _ := strings.Cut(line, " ")
		switch key {
		case "scope":
			v, err := value.DecodeJSON([]byte(rest))
			if err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
			scope, _ = v.(*value.Object)
		case ">":
			src = [2]string{rest, ""} // CEL reads the text in its own way: what is its own case says so
		case "cel>":
			src[plan.CELLanguage] = rest
		case "!":
			src = [2]string{}
		case "=":
			for lang, text := range src {
				if text == "" || text == "-" {
					continue
				}
				e := plan.Expr{Source: text, Language: plan.Language(lang), Type: value.Of(value.Any), At: source.Pos{Line: n + 1, Col: 1}}
				cases++
				typed += conforms(t, e, scope, rest)
			}
			src = [2]string{}
		}
	}
	if cases < 250 || typed < cases/2 {
		t.Errorf("%d of %d cases compile against the types of their scope", typed, cases)
	}
	t.Logf("%d cases, %d of them typed", cases, typed)
}

// conforms checks one case, and gives 1 if it compiles against the types of its scope.
func conforms(t *testing.T, e plan.Expr, scope *value.Object, want string) (typed int) {
	t.Helper()
	compile := expr.Compile
	if e.Language == plan.CELLanguage {
		compile = expr.CompileCEL
	}
	for _, env := range []value.Type{value.TypeOf(scope), value.Of(value.Any)} {
		prog, _ := compile(source.NewScalar(e.Source, source.Span{}, nil), env, value.Of(value.Any))
		if prog == nil {
			continue // types may refuse what values allow
		}
		if !env.IsAny() {
			typed++
		}
		e.Scope = prog.Scope()
		if got := thawed(t, e, scope); got != want {
			t.Errorf("line %d: %s gives %s against %s, want %s", e.At.Line, e.Source, got, env, want)
		}
	}
	return typed
}

// thawed gives the canonical value of an expression that went through plan.json.
func thawed(t *testing.T, e plan.Expr, scope *value.Object) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back plan.Expr
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	v, err := NewEvaluator().Eval(back, scope)
	if err != nil {
		return err.Error()
	}
	c, err := value.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(c)
}
