package driver

import (
	"strings"
	"testing"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
)

func TestOutputs(t *testing.T) {
	params := []plan.Param{
		{Name: "s", Type: value.Of(value.String)},
		{Name: "n", Type: value.Of(value.Int)},
		{Name: "l", Type: value.ListOf(value.Of(value.String))},
		{Name: "b", Type: value.Of(value.Bool)},
		{Name: "mode", Type: value.OneOf("fast", "slow")},
		{Name: "must", Type: value.Of(value.String), Required: true},
	}
	for _, c := range []struct {
		name  string
		file  string
		given *value.Object
		want  string // JSON of the outputs, or the beginning of the error after "error: "
	}{
		{"lines", "s=a=b<<c\nn=3\nmust=x\n", nil, `{"s":"a=b<<c","n":3,"must":"x"}`},
		{"blank lines and CR LF", "\r\nmust=x\r\n\n", nil, `{"must":"x"}`},
		{"no line feed at the end", "must=x", nil, `{"must":"x"}`},
		{"empty value", "s=\nmust=", nil, `{"s":"","must":""}`},
		{"several lines", "must<<END\na\n\nb=c\nEND\nn=1", nil, `{"n":1,"must":"a\n\nb=c"}`},
		{"mark with an equals sign", "must<<A=B\nx\nA=B\n", nil, `{"must":"x"}`},
		{"nothing between the marks", "must<<E\nE\n", nil, `{"must":""}`},
		{"list as JSON", `l=["a","b"]` + "\nmust=x", nil, `{"l":["a","b"],"must":"x"}`},
		{"object", `{"must":"x","n":3.0,"b":false}`, nil, `{"n":3,"b":false,"must":"x"}`},
		{"object over lines", "{\n \"must\": \"x\"\n}\n", nil, `{"must":"x"}`},
		{"given by the kind", "", obj("must", "x"), `{"must":"x"}`},
		{"both, of different names", "s=a", obj("must", "x"), `{"s":"a","must":"x"}`},
		{"given twice", "must=a", obj("must", "x"), `error: output "must" is given twice: in PIPE_OUTPUT (line 1) and in the answer of the stage`},
		{"missing", "s=a", nil, `error: output "must" is declared and was not given`},
		{"undeclared, near", "mst=a", nil, `error: output "mst" (line 1) is not declared; did you mean "must"?`},
		{"undeclared by the kind", "must=x", obj("zzz", "x"), `error: output "zzz" is not declared`},
		{"repeated", "s=a\nmust=x\ns=b", nil, `error: line 3: "s" is given a second time, first in line 1`},
		{"repeated in JSON", `{"must":"x","must":"y"}`, nil, `error: it begins with "{", so it must be exactly one JSON object`},
		{"wrong type in a line", "n=three\nmust=x", nil, `error: output "n" (line 1): want integer, got string "three"`},
		{"wrong type in JSON", `{"must":"x","n":"3"}`, nil, `error: output "n": want integer, got string "3"`},
		{"wrong type by the kind", "", obj("must", int64(3)), `error: output must: want string, got integer 3`},
		{"null for what may be missing", `{"must":"x","n":null,"mode":null}`, nil, `{"must":"x"}`},
		{"null for what may be missing, by the kind", "must=x", obj("n", nil), `{"must":"x"}`},
		{"null for what must be there", `{"must":null}`, nil, `error: output "must": want string, got null`},
		{"no such word", "mode=medium\nmust=x", nil, `error: output "mode" (line 1): want one of "fast", "slow"`},
		{"no form", "must=x\nhello", nil, `error: line 2: want name=value or name<<MARK, got "hello"`},
		{"no end", "must<<END\nx\n", nil, `error: line 1: the value of "must" has no end: want a line "END" after it`},
		{"no mark", "must<<\nx\n", nil, `error: line 1: want a mark after "<<"`},
		{"no name", "=x", nil, `error: line 1: want a name before the value`},
		{"two objects", `{"must":"x"}{"n":1}`, nil, `error: it begins with "{", so it must be exactly one JSON object`},
		{"torn object", `{"must":`, nil, `error: it begins with "{", so it must be exactly one JSON object`},
		{"not UTF-8", "must=\xff", nil, `error: it is not UTF-8: byte 6 of the file (line 1) begins no character`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			texts, err := parseOutput([]byte(c.file))
			var out *value.Object
			if err == nil {
				out, err = readOutputs(params, c.given, texts)
			}
			if err != nil {
				got = "error: " + err.Error()
			} else {
				b, err := out.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				got = string(b)
			}
			if got != c.want && !(strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOutputDefaults(t *testing.T) {
	out, err := readOutputs([]plan.Param{{Name: "n", Type: value.Of(value.Int), Default: int64(7), Required: true}}, nil, nil)
	if v, _ := out.Get("n"); err != nil || v != int64(7) {
		t.Errorf("got %v, %v", out, err)
	}
	if out, err = readOutputs(nil, nil, nil); err != nil || out != nil {
		t.Errorf("a stage without outputs: got %v, %v", out, err)
	}
}

func obj(name string, v value.Value) *value.Object {
	return value.NewObject(value.Field{Name: name, Value: v})
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte("a=b\nc<<E\nx\nE\n"))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		texts, err := parseOutput(b)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, o := range texts {
			if o.name == "" && !o.read || seen[o.name] {
				t.Fatalf("name %q is empty or repeated", o.name)
			}
			seen[o.name] = true
		}
	})
}
