package specs

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

// dump writes a syntax tree as one line for each leaf: its path, its value, and the text at its place.
func dump(f *source.File, v any) string {
	var b strings.Builder
	dumpValue(&b, f, "", reflect.ValueOf(v))
	return b.String()
}

func dumpValue(b *strings.Builder, f *source.File, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*source.File]() {
			dumpValue(b, f, path, v.Elem())
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, f, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
		return
	case reflect.Struct:
	default:
		if !v.IsZero() {
			fmt.Fprintf(b, "%s = %v\n", path, v.Interface())
		}
		return
	}
	switch s := v.Interface().(type) {
	case source.Span:
		fmt.Fprintf(b, "%s @ %d:%d-%d:%d\n", path, s.Start.Line, s.Start.Col, s.End.Line, s.End.Col)
		return
	case source.Scalar:
		fmt.Fprintf(b, "%s = %q from %q\n", path, s.Text, spanText(f, s.Span))
		return
	}
	if strings.HasPrefix(v.Type().Name(), "Leaf[") {
		span := v.FieldByName("Span").Interface().(source.Span)
		fmt.Fprintf(b, "%s = %v from %q\n", path, v.FieldByName("Value").Interface(), spanText(f, span))
		return
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		dumpValue(b, f, path+"."+v.Type().Field(i).Name, v.Field(i))
	}
}

func spanText(f *source.File, s source.Span) string {
	return f.Text()[f.Offset(s.Start):f.Offset(s.End)]
}

func TestTree(t *testing.T) {
	for _, name := range []string{"good", "whole"} {
		f := readFile(t, "testdata/pipeline/"+name+".yaml")
		p, diags := ParsePipeline(f)
		if len(diags) > 0 || p.Incomplete {
			t.Fatal(diags.Text(f))
		}
		golden(t, "testdata/pipeline/"+name+".tree", dump(f, p))
	}
	for _, name := range []string{"good", "commands"} {
		f := readFile(t, "testdata/project/"+name+".yaml")
		pr, diags := ParseProject(f)
		if len(diags) > 0 {
			t.Fatal(diags.Text(f))
		}
		golden(t, "testdata/project/"+name+".tree", dump(f, pr))
	}
}

// CRLF and a byte order mark change nothing but the bytes.
func TestTreeWithCRLF(t *testing.T) {
	f := readFile(t, "testdata/pipeline/good.yaml")
	crlf := source.NewFile(f.Name, "\ufeff"+strings.ReplaceAll(f.Text(), "\n", "\r\n"))
	want, _ := ParsePipeline(f)
	got, diags := ParsePipeline(crlf)
	if len(diags) > 0 {
		t.Fatal(diags.Text(crlf))
	}
	a, b := dump(f, want), strings.ReplaceAll(dump(crlf, got), `\r\n`, `\n`)
	if a != b {
		t.Errorf("the tree differs:\n%s\nwant:\n%s", b, a)
	}
}

// What was reported as wrong is left out, what stands beside it is kept.
func TestTreeOfBrokenDocument(t *testing.T) {
	f := readFile(t, "testdata/pipeline/thirty.yaml")
	p, diags := ParsePipeline(f)
	if !diags.HasErrors() || p.Incomplete {
		t.Fatalf("errors %v, incomplete %v", diags.HasErrors(), p.Incomplete)
	}
	golden(t, "testdata/pipeline/thirty.tree", dump(f, p))

	f = readFile(t, "testdata/pipeline/cut-quote.yaml")
	p, _ = ParsePipeline(f)
	if !p.Incomplete || len(p.Stages) != 2 || p.Stages[1].Agent == nil || p.Stages[1].When != nil {
		t.Errorf("of a cut file was read:\n%s", dump(f, p))
	}
}
