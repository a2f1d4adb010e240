package expr

import (
	"strings"
	"testing"

	library "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"example.com/pipe/engine/value"
)

// differFromCEL are the cases in which the language means something else than cel-go, with the reason.
var differFromCEL = map[string]string{
	"has(deep.`null`)":                      "a field that is null is not there",
	"items.map(i, i.?line.orValue(0))":      "a field that is null is not there",
	"9007199254740993 > 9007199254740992.0": "cel-go rounds the integer",
}

// cel-go is the judge of CEL: where both give a result, it is the same but for the cases above.
func TestAgreesWithCEL(t *testing.T) {
	compared, different := 0, map[string]bool{}
	for _, c := range readConformance(t) {
		if c.refuse != "" || c.lang != celLanguage {
			continue
		}
		theirs, ok := evalCEL(t, c)
		if !ok {
			continue // a function of ours alone, or what is more than CEL
		}
		compared++
		if theirs == c.result {
			continue
		}
		different[c.src] = true
		if differFromCEL[c.src] == "" {
			t.Errorf("line %d: %s\n   ours %s\n theirs %s", c.line, c.src, c.result, theirs)
		}
	}
	if compared < 130 {
		t.Errorf("compared %d cases, expected most", compared)
	}
	for src := range differFromCEL {
		if !different[src] {
			t.Errorf("%s is listed as different and is not: remove it", src)
		}
	}
}

// evalCEL gives what cel-go makes of a case, as canonical JSON; false if it refuses it.
func evalCEL(t *testing.T, c conformanceCase) (string, bool) {
	t.Helper()
	opts := []library.EnvOption{library.OptionalTypes(), ext.TwoVarComprehensions(), library.CrossTypeNumericComparisons(true)}
	vars := map[string]any{}
	for name, v := range c.scope.All() {
		if value.IsIdentifier(name) {
			opts = append(opts, library.Variable(name, library.DynType))
			vars[name] = forCEL(v)
		}
	}
	env, err := library.NewEnv(opts...)
	if err != nil {
		t.Fatal(err)
	}
	tree, issues := env.Compile(c.src)
	if issues.Err() != nil {
		return "", false
	}
	prg, err := env.Program(tree)
	if err != nil {
		return "", false
	}
	out, _, err := prg.Eval(vars)
	if err != nil {
		return "", false
	}
	v, ok := fromCEL(out)
	if !ok {
		return "", false
	}
	b, err := value.Canonical(v)
	return string(b), err == nil
}

// forCEL turns a value into what cel-go works on.
func forCEL(v value.Value) any {
	switch v := v.(type) {
	case nil:
		return types.NullValue
	case value.List:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = forCEL(e)
		}
		return out
	case *value.Object:
		out := map[string]any{}
		for name, e := range v.All() {
			out[name] = forCEL(e)
		}
		return out
	default:
		return v
	}
}

// fromCEL turns a result of cel-go into a value; an optional one that is not there is null.
func fromCEL(v ref.Val) (value.Value, bool) {
	switch v := v.(type) {
	case types.Null:
		return nil, true
	case *types.Optional:
		if !v.HasValue() {
			return nil, true
		}
		return fromCEL(v.GetValue())
	case types.Bool, types.Int, types.Double, types.String:
		w, err := value.FromAny(v.Value())
		return w, err == nil
	case traits.Mapper:
		o := value.NewObject()
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			e, ok := fromCEL(v.Get(key))
			if !ok {
				return nil, false
			}
			o.Set(strings.Clone(key.Value().(string)), e)
		}
		return o, true
	case traits.Lister:
		list := value.List{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			e, ok := fromCEL(it.Next())
			if !ok {
				return nil, false
			}
			list = append(list, e)
		}
		return list, true
	}
	return nil, false
}
