package value

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func decode(t *testing.T, text string) Value {
	t.Helper()
	v, err := DecodeJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestObjectKeepsOrder(t *testing.T) {
	o := NewObject(Field{"b", int64(1)}, Field{"a", int64(2)}, Field{"b", int64(3)})
	if got := fmt.Sprint(o.Keys()); got != "[b a]" {
		t.Errorf("keys are %s, want [b a]", got)
	}
	if v, ok := o.Get("b"); !ok || v != int64(3) {
		t.Errorf("b is %v, %t: want the later value", v, ok)
	}
	for i := range 100 { // past the number from which there is an index
		o.Set(fmt.Sprintf("f%d", i), int64(i))
	}
	o.Set("f50", "new")
	if o.Len() != 102 || o.At(52).Name != "f50" || o.At(52).Value != "new" {
		t.Errorf("field 52 of %d is %+v, want f50 in its place", o.Len(), o.At(52))
	}
	for i := range 100 {
		if _, ok := o.Get(fmt.Sprintf("f%d", i)); !ok {
			t.Errorf("f%d is not found", i)
		}
	}
	if _, ok := o.Get("f100"); ok {
		t.Error("f100 is found and was never set")
	}
	n := 0
	for range o.All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("walked %d fields, want to stop after 2", n)
	}
}

func TestNilObjectIsEmpty(t *testing.T) {
	var o *Object
	if _, ok := o.Get("x"); ok || o.Len() != 0 || len(o.Keys()) != 0 || o.Clone() != nil {
		t.Error("a nil object is not empty")
	}
	for name := range o.All() {
		t.Errorf("a nil object has a field %q", name)
	}
	if b, err := Canonical(o); err != nil || string(b) != "{}" {
		t.Errorf("a nil object is %s, %v", b, err)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	a := decode(t, `{"l": [{"x": 1}], "o": {"y": 2}}`).(*Object)
	b := a.Clone()
	l, _ := b.Get("l")
	l.(List)[0].(*Object).Set("x", int64(9))
	o, _ := b.Get("o")
	o.(*Object).Set("z", true)
	if got, _ := Canonical(a); string(got) != `{"l":[{"x":1}],"o":{"y":2}}` {
		t.Errorf("the original changed to %s", got)
	}
}

func TestDecodeJSON(t *testing.T) {
	tests := []struct{ in, want, err string }{
		{`null`, `<nil> null`, ""},
		{`3`, `int64 3`, ""},
		{`-0`, `int64 0`, ""},
		{`3.0`, `int64 3`, ""},
		{`3e2`, `int64 300`, ""},
		{`0.5`, `float64 0.5`, ""},
		{`1e300`, `float64 1e+300`, ""},
		{`9007199254740993`, `int64 9007199254740993`, ""},
		{`9223372036854775807`, `int64 9223372036854775807`, ""},
		{`9223372036854775808`, "", `number "9223372036854775808" does not fit 64 bits`},
		{`1e400`, "", "out of range"},
		{`"a\u00e9"`, `string "aé"`, ""},
		{`[]`, `value.List []`, ""},
		{`{"b":1,"a":[true,{}]}`, `*value.Object {"b":1,"a":[true,{}]}`, ""},
		{`{"a":1,"a":2}`, "", `name "a" stands twice`},
		{`{"a":{"b":1,"b":2}}`, "", `name "b" stands twice`},
		{`1 2`, "", "want one value"},
		{`{} x`, "", "want one value"},
		{``, "", "ends in the middle"},
		{`[1,`, "", "read JSON"},
		{`{"a"`, "", "ends in the middle"},
		{`{a:1}`, "", "read JSON"},
		{`01`, "", "read JSON"},
		{`NaN`, "", "read JSON"},
		{strings.Repeat("[", 1000), "", "nest deeper than 200"},
		{strings.Repeat(`{"a":`, 1000), "", "nest deeper than 200"},
	}
	for _, tt := range tests {
		v, err := DecodeJSON([]byte(tt.in))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %v, %v, want error %q", tt.in, v, err, tt.err)
			}
			continue
		}
		b, _ := json.Marshal(JSON{v})
		if got := fmt.Sprintf("%T %s", v, b); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	tests := []struct {
		in   Value
		want string
	}{
		{NewObject(Field{"b", int64(1)}, Field{"a", List{nil, true, "x"}}), `{"a":[null,true,"x"],"b":1}`},
		{"<a> & \"b\" \\ \n\t\r\x01\x7f\u2028é", `"<a> & \"b\" \\ \n\t\r\u0001\u007f\u2028é"`},
		{"bad \xff", "\"bad \ufffd\""},
		{1.0, `1`},
		{-0.25, `-0.25`},
		{1e-9, `1e-09`},
		{1e19, `1e+19`},
		{0.1, `0.1`},
		{List(nil), `[]`},
		{map[string]any{"b": 1, "a": []any{json.Number("2.0")}}, `{"a":[2],"b":1}`},
	}
	for _, tt := range tests {
		got, err := Canonical(tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("%v: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
	inf, one := 1e308, int64(1)
	for _, bad := range []Value{inf * 10, struct{}{}, List{&one}} {
		if got, err := Canonical(bad); err == nil {
			t.Errorf("%v: got %s, want an error", bad, got)
		}
	}
}

func TestJSONCarriesValues(t *testing.T) {
	type doc struct {
		V JSON    `json:"v,omitzero"`
		O *Object `json:"o,omitempty"`
	}
	in := doc{V: JSON{decode(t, `{"b":1,"a":[1.5,2]}`)}, O: NewObject(Field{"z", int64(1)}, Field{"a", "<"})}
	b, err := json.Marshal(in)
	if err != nil || string(b) != `{"v":{"b":1,"a":[1.5,2]},"o":{"z":1,"a":"\u003c"}}` {
		t.Fatalf("got %s, %v", b, err)
	}
	var out doc
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if !Equal(in.V.Value, out.V.Value) || !Equal(in.O, out.O) || fmt.Sprint(out.O.Keys()) != "[z a]" {
		t.Errorf("got %+v back", out)
	}
	if b, _ := json.Marshal(doc{}); string(b) != `{}` {
		t.Errorf("an empty one is %s", b)
	}
	for _, bad := range []string{`{"v":{"a":1,"a":1}}`, `{"o":[]}`, `{"o":{"a":1,"a":1}}`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("%s: want an error", bad)
		}
	}
	if err := json.Unmarshal([]byte(`{"o":null}`), &out); err != nil {
		t.Error(err)
	}
}

func TestFormat(t *testing.T) {
	for want, v := range map[string]Value{"a \"b\"": "a \"b\"", "3": int64(3), "0.5": 0.5, "true": true, `[1,"<x>"]`: List{int64(1), "<x>"}, `{"b":1,"a":2}`: decode(t, `{"b":1,"a":2}`), "": ""} {
		if got, err := Format(v); err != nil || got != want {
			t.Errorf("%v: got %q, %v, want %q", v, got, err, want)
		}
	}
	if got, err := Format(nil); err == nil {
		t.Errorf("null: got %q, want an error", got)
	}
}

func TestFromAny(t *testing.T) {
	v, err := FromAny(map[string]any{"z": []string{"a"}, "a": map[string]any{"n": 2.0, "m": json.Number("7"), "f": float32(0.5), "i": int32(3), "u": uint64(4), "j": JSON{int64(5)}}})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(JSON{v}); string(b) != `{"a":{"f":0.5,"i":3,"j":5,"m":7,"n":2,"u":4},"z":["a"]}` {
		t.Errorf("got %s", b)
	}
	deep := any(nil)
	for range 300 {
		deep = []any{deep}
	}
	for _, bad := range []any{struct{}{}, uint64(1 << 63), []any{make(chan int)}, map[string]any{"a": complex(1, 1)}, json.Number("x"), deep, List{NewObject(Field{"a", []byte("x")})}} {
		if v, err := FromAny(bad); err == nil {
			t.Errorf("%T: got %v, want an error", bad, v)
		}
	}
}

func TestEqualAndOrder(t *testing.T) {
	equal := [][2]Value{{int64(1), 1.0}, {nil, nil}, {List{int64(1)}, List{1.0}}, {(*Object)(nil), NewObject()},
		{decode(t, `{"a":1,"b":2}`), decode(t, `{"b":2,"a":1}`)}}
	for _, p := range equal {
		if !Equal(p[0], p[1]) || !Equal(p[1], p[0]) {
			t.Errorf("%v and %v are not equal", p[0], p[1])
		}
	}
	differ := [][2]Value{{int64(1), "1"}, {nil, false}, {int64(9007199254740993), 9007199254740992.0}, {List{}, NewObject()}, {true, int64(1)}, {0.5, "0.5"},
		{List{int64(1)}, List{int64(1), int64(1)}}, {decode(t, `{"a":1}`), decode(t, `{"b":1}`)}, {decode(t, `{"a":1}`), decode(t, `{"a":1,"b":1}`)}, {struct{}{}, struct{}{}}}
	for _, p := range differ {
		if Equal(p[0], p[1]) || Equal(p[1], p[0]) {
			t.Errorf("%v and %v are equal", p[0], p[1])
		}
	}
	rising := []Value{-1e300, int64(-9223372036854775808), int64(-2), -1.5, int64(-1), int64(0), 0.5, int64(1), 9007199254740992.0, int64(9007199254740993), int64(9223372036854775807), 9223372036854775808.0, 1e300}
	for i, a := range rising {
		for j, b := range rising {
			if got, want := CompareNumbers(a, b), compareOrdered(int64(i), int64(j)); got != want {
				t.Errorf("%v against %v: got %d, want %d", a, b, got, want)
			}
		}
	}
}

// values makes any value.
func values(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := 7
		if depth == 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64().Draw(t, "int")
		case 3:
			return FromFloat(rapid.Float64Range(-1e300, 1e300).Draw(t, "float"))
		case 4:
			return rapid.String().Draw(t, "string")
		case 5:
			list := List{}
			for _, v := range rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "list") {
				list = append(list, v)
			}
			return list
		default:
			o := NewObject()
			for _, name := range rapid.SliceOfN(rapid.String(), 0, 12).Draw(t, "names") {
				o.Set(name, values(depth-1).Draw(t, "field"))
			}
			return o
		}
	})
}

// Values come back from JSON as they were, in their order, and equal ones have one canonical form.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		b, err := json.Marshal(JSON{v})
		if err != nil {
			t.Fatal(err)
		}
		var back JSON
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		again, _ := json.Marshal(back)
		if !Equal(v, back.Value) || string(again) != string(b) {
			t.Fatalf("%s came back as %s", b, again)
		}
		c, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := DecodeJSON(c)
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := Canonical(w); string(d) != string(c) || !Equal(v, w) || !Equal(v, Clone(v)) {
			t.Fatalf("canonical %s came back as %s", c, d)
		}
		if err := TypeOf(v).Check(v); err != nil {
			t.Fatalf("%s is not of its own type %s: %v", c, TypeOf(v), err)
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,null,"x"]}`, `[1e9,-0.0,1E+2]`, `"\ud800"`, `{"a":1,"a":2}`, `[[[`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := DecodeJSON([]byte(s))
		if err != nil {
			return
		}
		b, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		w, err := DecodeJSON(b)
		if err != nil || !Equal(v, w) {
			t.Fatalf("%q: canonical %s: %v", s, b, err)
		}
	})
}
