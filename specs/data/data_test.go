package data

import (
	"errors"
	"strings"
	"testing"

	"example.com/pipe/engine/value"
)

func show(t *testing.T, v value.Value) string {
	t.Helper()
	s, err := value.JSON{Value: v}.MarshalJSON()
	if err != nil {
		t.Fatalf("%#v: %v", v, err)
	}
	return string(s)
}

func TestReadJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"b": 1, "a": [true, null, "x", 1.5]}`: `{"b":1,"a":[true,null,"x",1.5]}`,
		" \n 12 \n":                             `12`,
		"\ufeff{}":                              `{}`,
		`[3.0, 1e3, -0, 9223372036854775807]`:   `[3,1000,0,9223372036854775807]`,
		`"\u00e4\n"`:                            `"ä\n"`,
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth): strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	} {
		v, err := ReadJSON([]byte(text))
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		if got := show(t, v); got != want {
			t.Errorf("%.40s is read as %s, want %s", text, got, want)
		}
	}
	v, err := ReadJSON([]byte(`[3, 3.0, 0.5]`))
	if err != nil {
		t.Fatal(err)
	}
	l := v.(value.List)
	if l[0] != int64(3) || l[1] != int64(3) || l[2] != 0.5 {
		t.Errorf("numbers are %#v", l)
	}
}

func TestReadJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "1:1: expected a JSON document, and there is none",
		" \n ":                             "2:2: expected a JSON document, and there is none",
		"{\"a\": 1,\n \"ä\": 2, \"a\": 3}": `2:10: the name "a" is given twice in one object`,
		"{} {}":                            "1:4: expected one document, and more text follows it",
		"{}\n}":                            "2:1: expected one document, and more text follows it",
		"[1,":                              "1:4: the document ends in the middle of a value",
		"{\"a\"":                           "1:5: the document ends in the middle of a value",
		"[1, 99999999999999999999]":        `1:5: number "99999999999999999999" does not fit 64 bits: write it as a string`,
		"[1e999]":                          `1:2: number "1e999" is out of range`,
		"{a: 1}":                           "1:2: not JSON:",
		"[01]":                             "1:3: not JSON:",
		"[1 2]":                            "1:4: not JSON:",
		"[\n 1,]":                          "2:4: not JSON:",
		"nul":                              "1:",
		"]":                                "1:1: not JSON:",
		"\"\x00\"":                         "1:2: not JSON:",
		"\"ä\xff\"":                        "1:3: the document holds a byte that is not UTF-8",
		strings.Repeat("[", MaxDepth+1):    "1:101: values are nested more than 100 levels deep",
		strings.Repeat(" ", MaxJSON+1):     "the document has 8388609 bytes, more than the 8388608 allowed",
		"[1]]":                             "1:4: expected one document",
		"{\"a\": 1}{":                      "1:9: expected one document",
	} {
		_, err := ReadJSON([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q gives %v, want %s", text, err, want)
		}
		var at *Error
		if !errors.As(err, &at) {
			t.Errorf("%.60q gives an error of the type %T", text, err)
		}
	}
}

func TestReadJSONLines(t *testing.T) {
	l, err := ReadJSONLines([]byte("{\"a\":1}\r\n\n [2] \n\"x\""))
	if err != nil || show(t, l) != `[{"a":1},[2],"x"]` {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := ReadJSONLines(nil); err != nil || len(l) != 0 {
		t.Errorf("no lines: %v, %v", l, err)
	}
	for text, want := range map[string]string{
		"{}\n\n{} {}\n":                          "3:4: expected one document",
		"1\n[":                                   "2:2: the document ends",
		"1\n\xff":                                "2:1: the document holds a byte",
		strings.Repeat("[0,0]\n", MaxValues/3+1): "166667:4: the document holds more",
		strings.Repeat(" ", MaxJSON+1):           "the document has",
	} {
		if _, err := ReadJSONLines([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q gives %v, want %s", text, err, want)
		}
	}
}

func TestReadYAML(t *testing.T) {
	for text, want := range map[string]string{
		"b: 1\na: [true, ~, x, 1.5, 0x10, 1_000]\n": `{"b":1,"a":[true,null,"x",1.5,16,1000]}`,
		"- &a {x: 1}\n- *a\n- <<: *a\n  y: 2\n":     `[{"x":1},{"x":1},{"y":2,"x":1}]`,
		"<<: [{a: 1, b: 1}, {b: 2, c: 2}]\nb: 0\n":  `{"b":0,"a":1,"c":2}`,
		"when: 2024-01-02\n1: x\n":                  `{"when":"2024-01-02","1":"x"}`,
		"\ufefft: |\r\n  a\r\n  b\r\n":              `{"t":"a\nb\n"}`,
		"--- 3.0\n":                                 `3`,
		"!!str 5":                                   `"5"`,
		"[a, !!float 2]":                            `["a",2]`,
		"&k a: {*k : b}":                            `{"a":{"a":"b"}}`,
		"x:":                                        `{"x":null}`,
	} {
		v, err := ReadYAML([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := show(t, v); got != want {
			t.Errorf("%q is read as %s, want %s", text, got, want)
		}
	}
}

func TestReadYAMLErrors(t *testing.T) {
	bomb := "a0: &a0 [x]\n"
	for i := range 9 {
		n := string(rune('0' + i))
		m := string(rune('1' + i))
		bomb += "a" + m + ": &a" + m + " [" + strings.TrimSuffix(strings.Repeat("*a"+n+",", 10), ",") + "]\n"
	}
	for text, want := range map[string]string{
		"":                         "1:1: expected a YAML document, and there is none",
		"# x\n":                    "1:1: expected a YAML document, and there is none",
		"a: 1\n---\nb: 2\n":        "2:1: expected one document, and a second one starts here",
		"a: 1\n---\nb: [\n":        "3:1: not YAML:",
		"a: 1\nb: 2\na: 3\n":       `3:1: the key "a" is given twice in one mapping`,
		"a: 1\n b: 2\n":            "2:1: not YAML: mapping values are not allowed in this context",
		"a: 1\nb: *b\n":            "2:4: not YAML: unknown anchor 'b' referenced",
		"a: &a [*a]\n":             `1:8: the anchor "a" contains itself`,
		"&a {<<: *a}":              `1:9: the anchor "a" contains itself`,
		"<<: 3":                    `1:5: the value of "<<" must be a mapping or a list of mappings`,
		"[a]: 1":                   "1:1: a key must be a string",
		"a: !x 1":                  `1:4: a value with the tag "!x" has no form here`,
		"a: !x [1]":                `1:4: a value with the tag "!x" has no form here`,
		"a: !x {b: 1}":             `1:4: a value with the tag "!x" has no form here`,
		"a: !!binary aGk=":         `1:4: a value with the tag "!!binary" has no form here`,
		"a: .nan":                  `1:4: ".nan" is not a finite number`,
		"a: -.inf":                 `1:4: "-.inf" is not a finite number`,
		"a: 9223372036854775808":   "1:4: the number 9223372036854775808 does not fit 64 bits",
		"a: 99999999999999999999":  "1:4: the number 99999999999999999999 does not fit 64 bits",
		"a: !!int x":               `1:4: "x" is not a whole number`,
		"a: !!float x":             `1:4: "x" is not a finite number`,
		"a: !!bool x":              `1:4: "x" is not a bool: expected true or false`,
		"a: \xff":                  "1:4: the document holds a byte that is not UTF-8",
		"a: 1\nb: \x00":            "2:4: not YAML: a control character",
		"\xff\xfea\x00":            "1:1: the document is UTF-16 text, expected UTF-8",
		strings.Repeat("[", 20000): "1:1: not YAML: values are nested too deeply",
		bomb:                       "2:6: the document stands for more than 500000 values",
		strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2): "1:102: values are nested more than 100 levels deep",
		strings.Repeat(" ", MaxYAML+1):                                    "the document has 1048577 bytes",
	} {
		_, err := ReadYAML([]byte(text))
		if err == nil {
			t.Errorf("%.60q gives no error, want %s", text, want)
		} else if got := err.Error(); !strings.HasPrefix(got, want) && text != bomb || !strings.HasSuffix(got, "values") && text == bomb {
			t.Errorf("%.60q gives %v, want %s", text, err, want)
		}
	}
}

func TestScalarUnknownTag(t *testing.T) {
	if _, err := Scalar("!!set", "x"); err == nil || !strings.Contains(err.Error(), `"!!set"`) {
		t.Errorf("an unknown tag gives %v", err)
	}
	if _, err := Scalar("!!int", strings.Repeat("9", 100)); err == nil || len(err.Error()) > 120 {
		t.Errorf("a number of 100 digits gives %v", err)
	}
}

// What is read can be written and read again as the same value, and every error is one of ours.
func fuzzed(t *testing.T, v value.Value, err error) {
	var at *Error
	if err != nil {
		if !errors.As(err, &at) || at.Message == "" {
			t.Fatalf("not an error of this package: %v", err)
		}
		if !at.Pos.IsValid() || at.Pos.Col < 1 {
			t.Fatalf("an error without a place: %v", err)
		}
		return
	}
	b, err := value.Canonical(v)
	if err != nil {
		t.Fatalf("%#v cannot be written: %v", v, err)
	}
	back, err := ReadJSON(b)
	if err != nil || !value.Equal(v, back) {
		t.Fatalf("%s is read back as %#v, %v", b, back, err)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x",null,true]}`, "[1]\n{}", `{"a":1,"a":2}`, `"\ud800"`, "\ufeff{}", "\xfe\xff\x00[", strings.Repeat("[", 200), "// x", "1e5", "[-0.0]", "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ReadJSON(b)
		fuzzed(t, v, err)
		l, err := ReadJSONLines(b)
		fuzzed(t, l, err)
	})
}

func FuzzReadYAML(f *testing.F) {
	for _, s := range []string{"a: [1, 2.5, x, ~, true]", "\xff\xfea\x00", "a: \x00", "b: *a", strings.Repeat("[", 200), "a: &a {<<: *a}", "a: 1\r\nb: 2\r", "&a [*a]", "<<: {a: 1}", "- |\n x\n- !!int 3", "? a\n: b", "0o7: 1_0", "{a: .inf}", "--- a\n--- b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 8<<10 {
			return
		}
		v, err := ReadYAML(b)
		fuzzed(t, v, err)
	})
}
