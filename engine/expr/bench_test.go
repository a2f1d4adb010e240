package expr

import (
	"fmt"
	"testing"

	"example.com/pipe/engine/value"
)

// wideScope is the scope of a pipeline of n stages.
func wideScope(n int) value.Type {
	stages := make([]value.FieldType, n)
	for i := range stages {
		stages[i] = field(fmt.Sprintf("stage_%d", i), value.ObjectOf(
			field("status", value.OneOf("succeeded", "skipped")),
			field("outputs", value.ObjectOf(field("n", intType.OrNull()), field("report", stringType.OrNull())))))
	}
	return value.ObjectOf(field("inputs", value.ObjectOf(field("fast", boolType))), field("stages", value.ObjectOf(stages...)))
}

// BenchmarkCheck10000Stages compiles two conditions for each of 10,000 stages against the scope of all.
func BenchmarkCheck10000Stages(b *testing.B) {
	const n = 10_000
	scope := wideScope(n)
	srcs := make([]string, 0, 2*n)
	for i := range n {
		srcs = append(srcs, "!inputs.fast && iteration > 1",
			fmt.Sprintf(`stages.stage_%d.status == "succeeded" && stages.stage_%d.outputs.n > 3`, i, i))
	}
	for b.Loop() {
		env := NewEnv(scope)
		for i, src := range srcs {
			own := env.With(field("iteration", intType))
			if p, ds := own.Compile(plain(src), boolType); p == nil {
				b.Fatal(i, messages(ds))
			}
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	env := NewEnv(sampleScope())
	src := plain(`!inputs.fast && stages.plan.status == "succeeded" && (stages.plan.outputs.n ?? 0) > 3`)
	for b.Loop() {
		env.Compile(src, boolType)
	}
}

func BenchmarkEval(b *testing.B) {
	p, _ := NewEnv(sampleScope()).Compile(plain(`inputs.fast && stages.plan.status == "succeeded" && (stages.plan.outputs.n ?? 0) > 1`), boolType)
	scope := sampleValues()
	for b.Loop() {
		if _, err := p.Eval(scope); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileCEL(b *testing.B) {
	env := NewEnv(sampleScope())
	src := plain(`!inputs.fast && stages.plan.status == "succeeded" && stages.plan.outputs.n.orValue(0) > 3`)
	for b.Loop() {
		if p, ds := env.CompileCEL(src, boolType); p == nil {
			b.Fatal(messages(ds))
		}
	}
}
