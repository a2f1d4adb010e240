package specs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// Whatever a file holds: there is a tree, each diagnostic has a place inside the file, nothing that could
// steer a terminal is printed, and a file without mistakes reads the same with CRLF.
func FuzzParsePipeline(f *testing.F) {
	paths, err := filepath.Glob("testdata/p*/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	for _, text := range hostileTexts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		file := source.NewFile("x.yaml", text)
		p, diags := ParsePipeline(file)
		checkFuzzed(t, file, diags)
		if p == nil {
			t.Fatal("no tree")
		}
		if !diags.HasErrors() && (p.Incomplete || p.Name == nil || len(p.Stages) == 0) {
			t.Error("no mistake was found, and the tree is not whole")
		}
		if diags.Len() == 0 && !strings.Contains(text, "\r") {
			crlf := source.NewFile("x.yaml", strings.ReplaceAll(text, "\n", "\r\n"))
			other, more := ParsePipeline(crlf)
			if a, b := dump(file, p), strings.ReplaceAll(dump(crlf, other), `\r\n`, `\n`); a != b || len(more) > 0 {
				t.Errorf("with CRLF the tree is\n%s%s\nwithout\n%s", b, more.Short(), a)
			}
		}
	})
}

// FuzzParseProject is the same for pipe.yaml.
func FuzzParseProject(f *testing.F) {
	paths, err := filepath.Glob("testdata/project/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	for _, text := range hostileTexts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		file := source.NewFile("pipe.yaml", text)
		p, diags := ParseProject(file)
		checkFuzzed(t, file, diags)
		if p == nil {
			t.Fatal("no project")
		}
		if again, more := ParseProject(file); dump(file, again) != dump(file, p) || more.Short() != diags.Short() {
			t.Error("it is not read the same twice")
		}
	})
}

// hostileTexts are those of hostileDocuments that a fuzzer can do something with.
func hostileTexts() []string {
	var out []string
	for _, c := range hostileDocuments() {
		if len(c.text) <= 2<<10 {
			out = append(out, c.text)
		}
	}
	slices.Sort(out) // map order
	return out
}

func checkFuzzed(t *testing.T, f *source.File, diags diag.List) {
	t.Helper()
	for _, d := range diags {
		end := source.Pos{Line: f.Lines() + 1, Col: 1}
		if !d.Span.IsValid() || d.Span.End.Before(d.Span.Start) || end.Before(d.Span.Start) {
			t.Errorf("no place in the file: %+v", d)
		}
		if d.Code == "" || d.Message == "" || len(d.Related) > 2 {
			t.Errorf("not a proper diagnostic: %+v", d)
		}
	}
	for _, r := range diags.Text(f) {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Fatalf("the text holds the control character %q", r)
		}
	}
}
