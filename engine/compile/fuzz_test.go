package compile

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/pipe/engine/check"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// FuzzCompile throws documents at parser, compiler and advice: none of them gives up, each diagnostic has a
// place in a file, and a plan comes back from plan.json as it was.
func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(b))
		}
	}
	opt := options(f)
	f.Fuzz(func(t *testing.T, text string) {
		doc, ds := specs.ParsePipeline(source.NewFile("f.yaml", text))
		p, more := Compile(doc, opt)
		for _, d := range more {
			if !d.Span.IsValid() || d.Message == "" || d.Code == "" {
				t.Errorf("diagnostic without a place or a word: %+v", d)
			}
		}
		if p == nil {
			if !more.HasErrors() {
				t.Error("no plan, and no error that says why")
			}
			return
		}
		if ds.HasErrors() {
			return // what could not be read may be missing in the plan
		}
		check.Check(p, doc)
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Decode(b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if p.Dump() != q.Dump() {
			t.Errorf("plan changes in a round trip:\n%s\n%s", p.Dump(), q.Dump())
		}
	})
}
