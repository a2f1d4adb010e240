package expr

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/value"
)

func numbers(n int) value.List {
	list := make(value.List, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

func bigScope() *value.Object {
	texts := make(value.List, 2000)
	for i := range texts {
		texts[i] = strings.Repeat("x", 1000)
	}
	return value.NewObject(
		value.Field{Name: "list", Value: numbers(20_000)},
		value.Field{Name: "texts", Value: texts},
		value.Field{Name: "text", Value: strings.Repeat("ab", 1<<19)},
	)
}

// Whatever an expression does, it ends by a count.
func TestEvaluationIsBounded(t *testing.T) {
	const steps, bytes = "more than 1000000 steps", "more than 16777216 bytes"
	tests := []struct{ src, says string }{
		{`count(list, # % 2 == 0)`, ""},
		{`count(list, any(list, # == -1))`, steps},
		{`all(list, all(list, all(list, true)))`, steps},
		{`map(list, filter(list, false))`, steps},
		{`map(list, list + list)`, "+"},
		{`len(map(texts, map(texts, # + #)))`, bytes},
		{`replace(text, "a", text)`, bytes},
		{`replace(replace(text, "a", "aaaaaaaaaaaa"), "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")`, bytes},
		{`join(texts, text)`, bytes},
		{`len(map(list, upper(text)))`, bytes},
		{`map(list, split(text, "b"))`, bytes},
		{`map(list, concat(list, list))`, bytes},
		{`map(list, [#, #, #, #])`, ""},
		{`map(list, ({a: 1, b: [1, 2, 3, 4, 5, 6, 7, 8]}))`, ""},
		{`map(list, map([1, 2, 3, 4, 5, 6, 7, 8], ({a: [#, #, #, #]})))`, steps},
		{`len(unique(list))`, ""},
		{`map(list, unique(texts))`, bytes},
		{`map(list, sort(list))`, steps},
		{`any(list, texts == concat(texts, []) && false)`, steps},
		{`count(list, # in list && false)`, steps},
		{`map(list, text matches "(a|b)*c$")`, steps},
		{`map(list, len(text))`, steps},
		{`map(list, string(texts))`, bytes},
		{`map(list, sum(list))`, steps},
		{`map(list, max(list))`, steps},
		{`map(list, text contains "c")`, steps},
	}
	scope := bigScope()
	for _, tt := range tests {
		p, ds := Compile(plain(tt.src), value.Of(value.Any), value.Type{})
		if p == nil {
			if tt.says == "" || !strings.Contains(messages(ds), tt.says) {
				t.Errorf("%s: %s", tt.src, messages(ds))
			}
			continue
		}
		_, err := p.Eval(scope)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.src, err, tt.says)
		}
	}
}

func TestCompilationIsBounded(t *testing.T) {
	nested := "1 < 2 < 3"
	for range 40 {
		nested = "1 < len([" + nested + "]) < 3"
	}
	tests := []struct{ name, src, says string }{
		{"long text", strings.Repeat("true && ", 3000) + "true", "at most 16384 bytes"},
		{"many parts", "[" + strings.Repeat("1,", 3000) + "1]", "at most 2000 parts"},
		{"open brackets", strings.Repeat("(", 5000), "nest deeper than 100"},
		{"lists in lists", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nest deeper than 100"},
		{"brackets in a string", `"` + strings.Repeat("(", 5000) + `" == ""`, ""},
		{"negations", strings.Repeat("!", 10000) + "true", "at most 2000 parts"},
		{"signs", strings.Repeat("-", 10000) + "1", "at most 2000 parts"},
		{"words", strings.Repeat("not ", 4000) + "true", "at most 2000 parts"},
		{"choices", strings.Repeat("true ? ", 2000) + "1", "2000 parts"},
		{"choices without end", strings.Repeat("true ? 1 : ", 1400) + "1", "at most 2000 parts"},
		{"members", "a" + strings.Repeat(".a", 5000), "at most 2000 parts"},
		{"elements", "a" + strings.Repeat("[0]", 4000), "at most 2000 parts"},
		{"nested comparisons", nested, "nest too deep"},
		{"long pattern", `"a" matches "` + strings.Repeat("a", 1001) + `"`, "at most 1000 bytes"},
		{"wide pattern", `"a" matches "((a{1000}){1000}){1000}"`, "no regular expression"},
		{"nothing", " \n\t", "got nothing"},
		{"zero byte", "a\x00b", "does not belong"},
		{"no UTF-8", "\"\xff\xfe\" == a\xff", "does not belong"},
	}
	env := NewEnv(value.Of(value.Any))
	for _, tt := range tests {
		p, ds := env.Compile(plain(tt.src), value.Type{})
		if tt.says == "" && p == nil || tt.says != "" && (p != nil || !strings.Contains(messages(ds), tt.says)) {
			t.Errorf("%s: compiles %t, says %q, want %q", tt.name, p != nil, messages(ds), tt.says)
		}
		for _, d := range ds {
			if len(d.Message) > 400 {
				t.Errorf("%s: a message has %d bytes", tt.name, len(d.Message))
			}
		}
	}
}

// The mistakes of one expression are as many as a reader looks at.
func TestMistakesAreBounded(t *testing.T) {
	_, ds := Compile(plain("[a1"+strings.Repeat(", a1", 900)+"]"), sampleScope(), value.Type{})
	if len(ds) != maxMistakes {
		t.Errorf("got %d diagnostics, want %d", len(ds), maxMistakes)
	}
}

// A scope that is nothing like its declared type gives errors, never a crash.
func TestScopeOfOtherTypes(t *testing.T) {
	values := []value.Value{nil, true, int64(3), 2.5, "x", value.List{int64(1), "a", nil}, value.NewObject(), (*value.Object)(nil), value.List(nil)}
	srcs := []string{"inputs.fast && true", "inputs.n + 1", "inputs.n % 2", "-inputs.x", `inputs.s + "x"`, "len(inputs.files)",
		`inputs.files[0]`, `sort(inputs.files)`, `join(inputs.files, ",")`, `lower(inputs.s)`, `inputs.s matches "x"`, `inputs.s contains "x"`,
		`any(inputs.files, # == "a")`, "inputs.n in [1]", `"x" in inputs.files`, "inputs.n < 3", "inputs.any.x.y", "max(inputs.n, 1)", "int(inputs.s)",
		"stages.plan.outputs.o?.z", `stages[inputs.s].status`, "!inputs.fast", "inputs.fast ? 1 : 2", `unique(inputs.files)`, `keys(stages)`,
		"string(inputs.any)", "abs(inputs.n)", "sum(map(inputs.files, len(#)))", "split(inputs.s, inputs.s)", "first(inputs.files) ?? inputs.n"}
	env := NewEnv(sampleScope())
	for _, src := range srcs {
		p, ds := env.Compile(plain(src), value.Type{})
		if p == nil {
			t.Errorf("%s: %s", src, messages(ds))
			continue
		}
		for _, v := range values {
			inputs := value.NewObject()
			for _, name := range []string{"fast", "n", "x", "s", "files", "any"} {
				inputs.Set(name, v)
			}
			for _, scope := range []*value.Object{nil, value.NewObject(value.Field{Name: "inputs", Value: v}, value.Field{Name: "stages", Value: v}),
				value.NewObject(value.Field{Name: "inputs", Value: inputs}, value.Field{Name: "stages", Value: inputs})} {
				got, err := p.Eval(scope)
				if err != nil && strings.Contains(err.Error(), "our own mistake") {
					t.Errorf("%s with %v: %v", src, v, err)
				}
				if err == nil {
					if _, err := value.Canonical(got); err != nil {
						t.Errorf("%s with %v: %v", src, v, err)
					}
				}
			}
		}
	}
}

func TestEnvWith(t *testing.T) {
	base := NewEnv(sampleScope())
	env := base.With(field("outputs", value.ObjectOf(field("report", stringType))), field("iteration", intType))
	p, ds := env.Compile(plain(`outputs.report != "" && iteration > 1 && inputs.fast`), boolType)
	if p == nil {
		t.Fatal(messages(ds))
	}
	if _, ds := base.Compile(plain("iteration > 1"), boolType); !strings.Contains(messages(ds), `unknown name "iteration"`) {
		t.Errorf("the base knows the name too: %s", messages(ds))
	}
	if got, want := fmt.Sprint(p.Scope().FieldNames()), "[outputs iteration inputs]"; got != want {
		t.Errorf("scope has %s, want %s", got, want)
	}
	if _, ds := env.Compile(plain("iteratoin"), boolType); !strings.Contains(messages(ds), `"iteration"`) {
		t.Errorf("no suggestion from the added names: %s", messages(ds))
	}
}
