package expr

import (
	"strings"
	"testing"

	"example.com/pipe/engine/value"
)

// The index of wide types changes nothing but the cost.
func TestWideScope(t *testing.T) {
	env := NewEnv(wideScope(500))
	for range 2 { // the second round meets the index
		p, ds := env.Compile(plain(`stages.stage_499.status == "succeeded" && stages.stage_0.outputs.n == nil`), boolType)
		if p == nil {
			t.Fatal(messages(ds))
		}
		stages, _ := p.Scope().Field("stages")
		if got := strings.Join(stages.FieldNames(), " "); got != "stage_499 stage_0" {
			t.Errorf("the program's scope has the stages %s", got)
		}
		_, ds = env.Compile(plain(`stages.stage_500.status == ""`), boolType)
		if got := messages(ds); !strings.Contains(got, `"stages" has no "stage_500": did you mean`) {
			t.Errorf("got %q", got)
		}
	}
}

// A name that is read whole is in the program's scope whole.
func TestScopeKeepsWhatIsReadWhole(t *testing.T) {
	for src, want := range map[string]int{`keys(stages)`: 3, `stages[inputs.s]`: 3, `stages.plan.status`: 1, `[stages.plan.status, keys(stages)]`: 3, `stages.plan`: 1} {
		p, ds := Compile(plain(src), sampleScope(), value.Type{})
		if p == nil {
			t.Fatal(messages(ds))
		}
		stages, _ := p.Scope().Field("stages")
		if len(stages.Fields) != want {
			t.Errorf("%s: the scope has %d stages, want %d", src, len(stages.Fields), want)
		}
		if plan, ok := stages.Field("plan"); src == "stages.plan" && (!ok || len(plan.Fields) != 2) {
			t.Errorf("%s: plan is cut to %v", src, plan.FieldNames())
		}
	}
}
