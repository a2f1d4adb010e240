package value

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parsed(t *testing.T, s string) Type {
	t.Helper()
	typ, err := ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestTypeText(t *testing.T) {
	for _, s := range []string{"string", "integer", "number", "boolean", "object", "any", "null", "string[]", "integer[][]", "object[]", "string?", "any[]", "number[]?", "string?[]"} {
		if got := parsed(t, s).String(); got != s {
			t.Errorf("%q is written as %q", s, got)
		}
	}
	if got := parsed(t, "list").String(); got != "any[]" {
		t.Errorf("list is written as %q", got)
	}
	for _, s := range []string{"", "str", "String", "string[", "[]", "?", "string??", "unknown", "string []", strings.Repeat("[]", 100)} {
		if typ, err := ParseType(s); err == nil {
			t.Errorf("%q is read as %v", s, typ)
		}
	}
	for k := UnknownKind; k <= ObjectKind; k++ {
		b, err := k.MarshalText()
		var back Kind
		if err != nil || back.UnmarshalText(b) != nil || back != k {
			t.Errorf("kind %d comes back from %q as %d", k, b, back)
		}
	}
	var k Kind
	if _, err := Kind(99).MarshalText(); err == nil || k.UnmarshalText([]byte("text")) == nil || Kind(99).String() != "unknown" {
		t.Error("a kind that does not exist has a text")
	}
}

func TestTypeJSON(t *testing.T) {
	typ := ObjectOf(FieldType{"files", ListOf(OneOf("a", "b"))}, FieldType{"n", Of(Int).OrNull()})
	b, err := json.Marshal(typ)
	const want = `{"kind":"object","fields":[{"name":"files","type":{"kind":"list","elem":{"kind":"string","enum":["a","b"]}}},{"name":"n","type":{"kind":"integer","optional":true}}]}`
	if err != nil || string(b) != want {
		t.Fatalf("got %s, %v", b, err)
	}
	var back Type
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(back); string(again) != want {
		t.Errorf("came back as %s", again)
	}
}

func TestCheck(t *testing.T) {
	item := ObjectOf(FieldType{"line", Of(Int)}, FieldType{"a-b", Of(String).OrNull()})
	tests := []struct {
		typ  Type
		in   string
		want string // empty: it is of the type
	}{
		{Of(String), `"a"`, ""},
		{Of(String), `1`, "outputs.x: want string, got integer 1"},
		{Of(String), `null`, "outputs.x: want string, got null"},
		{Of(String).OrNull(), `null`, ""},
		{Of(Int), `3`, ""},
		{Of(Int), `3.5`, "outputs.x: want integer, got number 3.5"},
		{Of(Number), `3`, ""},
		{Of(Number), `"3"`, `outputs.x: want number, got string "3"`},
		{Of(Bool), `"true"`, `outputs.x: want boolean, got string "true"`},
		{Of(Null), `1`, "outputs.x: want null, got integer 1"},
		{Type{}, `[{}]`, ""},
		{Of(Any), `null`, ""},
		{OneOf("low", "high"), `"low"`, ""},
		{OneOf("low", "high"), `"mid"`, `outputs.x: want one of "low", "high", got string "mid"`},
		{ListOf(Of(Int)), `[1,2,"a"]`, `outputs.x[2]: want integer, got string "a"`},
		{ListOf(Of(Int)), `{}`, `outputs.x: want integer[], got an object`},
		{Of(ListKind), `[1,"a",null]`, ""},
		{Of(ObjectKind), `{"any":1}`, ""},
		{item, `{"line":1}`, ""},
		{item, `{"line":1,"a-b":2}`, `outputs.x["a-b"]: want string or null, got integer 2`},
		{item, `{}`, `outputs.x.line: want integer, got nothing`},
		{item, `{"line":1,"more":2}`, `outputs.x.more: is not declared`},
		{OpenObjectOf(item.Fields...), `{"line":1,"more":2}`, ""},
		{ListOf(item), `[{"line":1},{"line":[]}]`, `outputs.x[1].line: want integer, got a list of 0`},
		{item, `[]`, `outputs.x: want object, got a list of 0`},
	}
	for _, tt := range tests {
		err := tt.typ.CheckAt("outputs.x", decode(t, tt.in))
		if got := errText(err); got != tt.want {
			t.Errorf("%s as %s: got %q, want %q", tt.in, tt.typ, got, tt.want)
		}
	}
	if err := Of(Int).Check(2.0); err != nil {
		t.Errorf("a whole number that is a float is refused: %v", err)
	}
	if got := errText(Of(Int).Check(struct{}{})); got != "want integer, got a Go value of type struct {}" {
		t.Errorf("got %q", got)
	}
	if got := errText(ObjectOf(FieldType{"a", Of(Int)}).Check((*Object)(nil))); got != "a: want integer, got nothing" {
		t.Errorf("got %q", got)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestReadString(t *testing.T) {
	tests := []struct{ typ, in, want, err string }{
		{"string", " a b ", `" a b "`, ""},
		{"string", "null", `"null"`, ""},
		{"any", "3", `"3"`, ""},
		{"integer", "42", "42", ""},
		{"integer", " -7 ", "-7", ""},
		{"integer", "3.0", "3", ""},
		{"integer", "3.5", "", "want integer, got number 3.5"},
		{"integer", "0x1f", "", `want integer, got string "0x1f"`},
		{"integer", "1_000", "", "want integer"},
		{"integer", "", "", `want integer, got string ""`},
		{"integer", "99999999999999999999", "", "want integer"},
		{"number", "0.5", "0.5", ""},
		{"number", "Infinity", "", "want number"},
		{"number", "+1", "", "want number"},
		{"boolean", "true", "true", ""},
		{"boolean", "false", "false", ""},
		{"boolean", "yes", "", `want boolean, got string "yes"`},
		{"boolean", "True", "", "want boolean"},
		{"string[]", `["a","b"]`, `["a","b"]`, ""},
		{"string[]", `a,b`, "", "want string[] as JSON"},
		{"string[]", `[1]`, "", `[0]: want string, got integer 1`},
		{"object", `{"a":1}`, `{"a":1}`, ""},
		{"object", `[]`, "", "want object, got a list of 0"},
		{"integer?", "null", "null", ""},
		{"integer", "null", "", "want integer, got null"},
		{"null", "null", "null", ""},
		{"null", "x", "", "want null"},
	}
	for _, tt := range tests {
		v, err := parsed(t, tt.typ).ReadString(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q as %s: got %v, %v, want error %q", tt.in, tt.typ, v, err, tt.err)
			}
			continue
		}
		if b, _ := Canonical(v); err != nil || string(b) != tt.want {
			t.Errorf("%q as %s: got %s, %v, want %s", tt.in, tt.typ, b, err, tt.want)
		}
	}
	if _, err := OneOf("a", "b").ReadString("c"); errText(err) != `want one of "a", "b", got string "c"` {
		t.Errorf("got %v", err)
	}
}

func TestAssignable(t *testing.T) {
	closed := ObjectOf(FieldType{"a", Of(Int)})
	wide := ObjectOf(FieldType{"a", Of(Int)}, FieldType{"b", Of(String)})
	tests := []struct {
		from, to Type
		want     bool
	}{
		{Of(Int), Of(Number), true},
		{Of(Number), Of(Int), false},
		{Of(Any), Of(Int), true},
		{Of(Int), Of(Any), true},
		{Type{}, Of(Int), true},
		{Of(Int).OrNull(), Of(Int), false},
		{Of(Int), Of(Int).OrNull(), true},
		{Of(Int).OrNull(), Of(Number).OrNull(), true},
		{Of(Null), Of(Int), false},
		{Of(Null), Of(Int).OrNull(), true},
		{Of(String), Of(Int), false},
		{OneOf("a"), OneOf("a", "b"), true},
		{OneOf("a", "c"), OneOf("a", "b"), false},
		{Of(String), OneOf("a", "b"), true},
		{OneOf("a"), Of(String), true},
		{ListOf(Of(Int)), ListOf(Of(Number)), true},
		{ListOf(Of(String)), ListOf(Of(Number)), false},
		{Of(ListKind), ListOf(Of(Number)), true},
		{closed, Of(ObjectKind), true},
		{closed, wide, false},
		{wide, closed, false},
		{wide, OpenObjectOf(closed.Fields...), true},
		{closed, ObjectOf(FieldType{"a", Of(Int)}, FieldType{"b", Of(String).OrNull()}), true},
		{Of(ObjectKind), closed, true},
		{ObjectOf(FieldType{"a", Of(String)}), closed, false},
	}
	for _, tt := range tests {
		if got := Assignable(tt.from, tt.to); got != tt.want {
			t.Errorf("%s to %s: got %t", tt.from, tt.to, got)
		}
	}
}

func TestJoin(t *testing.T) {
	one := ObjectOf(FieldType{"a", Of(Int)}, FieldType{"b", Of(String)})
	tests := []struct {
		a, b Type
		want string // as JSON
	}{
		{Of(Int), Of(Number), `{"kind":"number"}`},
		{Of(Int), Of(Int), `{"kind":"integer"}`},
		{Of(Int), Of(String), `{"kind":"any"}`},
		{Of(Int), Of(Null), `{"kind":"integer","optional":true}`},
		{Of(Null), Of(Null), `{"kind":"null"}`},
		{Of(Int).OrNull(), Of(Number), `{"kind":"number","optional":true}`},
		{OneOf("a", "b"), OneOf("b", "c"), `{"kind":"string","enum":["a","b","c"]}`},
		{OneOf("a", "b"), Of(String), `{"kind":"string"}`},
		{ListOf(Of(Int)), Of(ListKind), `{"kind":"list","elem":{"kind":"any"}}`},
		{ListOf(Of(Int)), ListOf(Of(Number)), `{"kind":"list","elem":{"kind":"number"}}`},
		{one, one, `{"kind":"object","fields":[{"name":"a","type":{"kind":"integer"}},{"name":"b","type":{"kind":"string"}}]}`},
		{one, ObjectOf(FieldType{"a", Of(Number)}, FieldType{"c", Of(Bool)}), `{"kind":"object","fields":[{"name":"a","type":{"kind":"number"}},` +
			`{"name":"b","type":{"kind":"string","optional":true}},{"name":"c","type":{"kind":"boolean","optional":true}}]}`},
		{ObjectOf(FieldType{"a", Of(Int)}), Of(ObjectKind), `{"kind":"object","fields":[{"name":"a","type":{"kind":"any"}}],"open":true}`},
	}
	for _, tt := range tests {
		b, err := json.Marshal(Join(tt.a, tt.b))
		if err != nil || string(b) != tt.want {
			t.Errorf("%s and %s join to %s, want %s", tt.a, tt.b, b, tt.want)
		}
	}
}

// A value is of the type that its own and another's have in common.
func TestJoinHoldsBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values(2).Draw(t, "a"), values(2).Draw(t, "b")
		j := Join(TypeOf(a), TypeOf(b))
		for _, v := range []Value{a, b} {
			if err := j.Check(v); err != nil {
				t.Fatalf("%s and %s join to %s: %v", TypeOf(a), TypeOf(b), j, err)
			}
		}
	})
}

func TestPaths(t *testing.T) {
	for want, p := range map[string][2]string{"a.b": {"a", "b"}, `a["b-c"]`: {"a", "b-c"}, "b": {"", "b"}, `["1"]`: {"", "1"}, `a[""]`: {"a", ""}} {
		if got := JoinPath(p[0], p[1]); got != want {
			t.Errorf("%q and %q: got %s, want %s", p[0], p[1], got, want)
		}
	}
}
