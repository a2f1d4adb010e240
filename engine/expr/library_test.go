package expr

import (
	"slices"
	"strings"
	"testing"

	library "github.com/expr-lang/expr"

	"example.com/pipe/engine/value"
)

// differ are the cases in which the language means something else than the library, with the reason.
var differ = map[string]string{
	`9007199254740993 > 9007199254740992.0`: "the library rounds the integer",
	`string(list)`:                          "the library writes Go's form",
	`string(deep.null ?? {z: 1, a: 2})`:     "the library writes Go's form",
	`keys({b: 1, a: 2, c: 3})`:              "the library gives a random order",
	`values({b: 1, a: 2, c: 3})`:            "the library gives a random order",
}

// The library's own machine is the judge of the grammar: where both give a result, it is the same but for the
// cases above.
func TestAgreesWithLibrary(t *testing.T) {
	compared, different := 0, map[string]bool{}
	for _, c := range readConformance(t) {
		if c.refuse != "" || c.lang != ownLanguage {
			continue
		}
		theirs, err := library.Eval(c.src, native(c.scope))
		if err != nil {
			continue // a function of ours alone, or a missing value that is guarded here
		}
		v, err := value.FromAny(widen(theirs))
		if err != nil {
			t.Errorf("line %d: %s: %v", c.line, c.src, err)
			continue
		}
		b, err := value.Canonical(v)
		if err != nil {
			continue // an infinity, which we refuse
		}
		compared++
		if string(b) == c.result {
			continue
		}
		different[c.src] = true
		if differ[c.src] == "" {
			t.Errorf("line %d: %s\n   ours %s\n theirs %s", c.line, c.src, c.result, b)
		}
	}
	if compared < 90 {
		t.Errorf("compared %d cases, expected most", compared)
	}
	for src := range differ {
		if !different[src] && !strings.Contains(differ[src], "random") {
			t.Errorf("%s is listed as different and is not: remove it", src)
		}
	}
}

// native turns a value into what the library works on.
func native(v value.Value) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case value.List:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = native(e)
		}
		return out
	case *value.Object:
		out := map[string]any{}
		for name, e := range v.All() {
			out[name] = native(e)
		}
		return out
	default:
		return v
	}
}

// widen turns the library's typed slices into plain ones.
func widen(v any) any {
	switch v := v.(type) {
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = widen(out[i])
		}
		return out
	case []int:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[strings.Clone(k)] = widen(e)
		}
		return out
	default:
		return v
	}
}
