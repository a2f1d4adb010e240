package expr

import (
	"testing"

	"pgregory.net/rapid"

	"example.com/pipe/engine/value"
)

// conditions makes tests of what may be missing, combined at random.
func conditions(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		form := 0
		if depth > 0 {
			form = rapid.IntRange(0, 4).Draw(t, "form")
		}
		sub := conditions(depth - 1)
		switch form {
		case 1:
			return "(" + sub.Draw(t, "left") + " && " + sub.Draw(t, "right") + ")"
		case 2:
			return "(" + sub.Draw(t, "left") + " || " + sub.Draw(t, "right") + ")"
		case 3:
			return "!(" + sub.Draw(t, "negated") + ")"
		case 4:
			return "(" + sub.Draw(t, "cond") + " ? " + sub.Draw(t, "then") + " : " + sub.Draw(t, "other") + ")"
		default:
			return rapid.SampledFrom([]string{"true", "false", "s.a.outputs.n != nil", "s.a.outputs.n == nil", "nil != s.a.outputs.o", "s.a.outputs.o == nil",
				"s.a.outputs.o?.z != nil", "s.a.status == \"succeeded\"", "s.a.status != \"succeeded\"", "s.a.status == \"skipped\"", "s.a.status != \"skipped\"",
				"s.a.outputs.o?.z == \"x\"", "s.a.outputs.n > 1", "s.a.outputs.o.z == \"x\"", "(s.a.outputs.n ?? 0) > 1"}).Draw(t, "test")
		}
	})
}

// What compiles never meets a null: each combination of tests that the check takes for a guard is one, in
// every scope of the declared type.
func TestGuardsHold(t *testing.T) {
	scopeType := value.ObjectOf(field("s", value.ObjectOf(field("a", value.ObjectOf(
		field("status", value.OneOf("succeeded", "skipped")),
		field("outputs", value.ObjectOf(field("n", intType.OrNull()), field("o", value.ObjectOf(field("z", stringType)).OrNull()))))))))
	var scopes []*value.Object
	for _, text := range []string{
		`{"s": {"a": {"status": "succeeded", "outputs": {"n": 2, "o": {"z": "x"}}}}}`,
		`{"s": {"a": {"status": "succeeded", "outputs": {"n": 0, "o": {"z": "y"}}}}}`,
		`{"s": {"a": {"status": "skipped", "outputs": {"n": null, "o": null}}}}`,
		`{"s": {"a": {"status": "skipped", "outputs": {"n": 2, "o": null}}}}`,
		`{"s": {"a": {"status": "skipped", "outputs": {"n": null, "o": {"z": "x"}}}}}`,
	} {
		v, err := value.DecodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		scopes = append(scopes, v.(*value.Object))
	}
	env := NewEnv(scopeType)
	compiled := 0
	rapid.Check(t, func(t *rapid.T) {
		for _, src := range rapid.SliceOfN(conditions(3), 30, 30).Draw(t, "srcs") {
			p, _ := env.Compile(plain(src), boolType)
			if p == nil {
				continue
			}
			compiled++
			for _, scope := range scopes {
				if _, err := p.Eval(scope); err != nil {
					b, _ := value.Canonical(scope)
					t.Fatalf("%s compiles and fails with %s: %v", src, b, err)
				}
			}
		}
	})
	if compiled == 0 {
		t.Error("nothing compiled: the test shows nothing")
	}
}
