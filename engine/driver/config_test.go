package driver_test

import (
	"context"
	"encoding/json"
	"testing"

	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// What a stage says in with reaches its kind, over what the plan holds; a process finds all of it in PIPE_INPUT,
// or the part that the kind gives away.
func TestConfigOfAKind(t *testing.T) {
	t.Parallel()
	called := map[string]string{"with": "secret", "none": "nosuch"}
	for given, want := range map[string]string{
		"":     `{"a":1,"secret":"s","with":{"n":3,"text":"x"}}`,
		"with": `{"n":3,"text":"x"}`,
		"none": `{}`,
	} {
		var got *value.Object
		kind := stage.Kind{
			Name: "echo", Given: given, Called: called[given],
			Config: []stage.Field{
				{Name: "a", Type: value.Of(value.Int)},
				{Name: "secret", Type: value.Of(value.String), Default: "s"},
				{Name: "with", Type: value.Of(value.ObjectKind)},
			},
			Run: func(_ context.Context, call *stage.Call) (stage.Outcome, error) {
				got = call.Config
				return stage.Outcome{}, nil
			},
		}
		w := newWorld(t, "name: one\nversion: 1\ninputs: {n: integer}\nstages:\n"+
			"  - {id: s, uses: echo, with: {a: 1, with: {n: \"${{ inputs.n }}\", text: x}}}\n", kind)
		w.inputs = value.NewObject(value.Field{Name: "n", Value: int64(3)})
		if status := w.run(); status != step.RunSucceeded {
			t.Fatalf("status %s", status)
		}
		if b, err := json.Marshal(got); err != nil || !sameJSON(t, string(b), `{"a":1,"secret":"s","with":{"n":3,"text":"x"}}`) {
			t.Errorf("the kind got %s, %v", b, err)
		}
		var in struct {
			Kind   string
			Config json.RawMessage
		}
		if err := json.Unmarshal([]byte(w.read("stages/s/1.1/input.json")), &in); err != nil || !sameJSON(t, string(in.Config), want) {
			t.Errorf("given %q: PIPE_INPUT has the config %s, %v; want %s", given, in.Config, err, want)
		}
		if kind := map[string]string{"": "echo", "with": "s", "none": "echo"}[given]; in.Kind != kind {
			t.Errorf("given %q: PIPE_INPUT has the kind %q, want %q", given, in.Kind, kind)
		}
	}
}

// sameJSON compares without regard to the order of fields.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	sorted := func(text string) string {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	return sorted(a) == sorted(b)
}
