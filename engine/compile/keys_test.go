package compile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// TestKeys holds each key of the language against a document that uses it well, of which there is nothing to
// say, and one that does not, whose lines say what is wrong with them. They stand in testdata/keys, as
// KEY.good.yaml and KEY.bad.yaml; the first line tells those of pipe.yaml and of contracts.
func TestKeys(t *testing.T) {
	keys := keysOfSpecs()
	if len(keys) < 70 {
		t.Fatalf("found only the keys %v", keys)
	}
	known := map[string]bool{}
	for _, key := range keys {
		for _, kind := range []string{"good", "bad"} {
			name := key + "." + kind + ".yaml"
			known[name] = true
			t.Run(key+"/"+kind, func(t *testing.T) {
				text, err := os.ReadFile(filepath.Join("testdata", "keys", name))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(text), key+":") {
					t.Errorf("it does not use the key %q", key)
				}
				if wanted := strings.Contains(string(text), "# want "); wanted != (kind == "bad") {
					t.Errorf("a %s document that wants diagnostics: %v", kind, wanted)
				}
				ds := diagnose(t, name, string(text))
				checkWants(t, string(text), ds)
			})
		}
	}
	files, err := filepath.Glob("testdata/keys/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s is of no key that the language has", f)
		}
	}
}

// diagnose says what is wrong with a document of one of the three kinds.
func diagnose(t *testing.T, name, text string) diag.List {
	t.Helper()
	f := source.NewFile(name, text)
	switch first, _, _ := strings.Cut(text, "\n"); first {
	case "# pipe.yaml":
		_, ds := specs.ParseProject(f)
		return ds.Sorted()
	case "# contract":
		doc, ds := specs.ParseContract(f)
		ds.Add(CheckContract("c", doc)...)
		return ds.Sorted()
	}
	doc, ds := specs.ParsePipeline(f)
	opt := options(t)
	opt.Contracts = goodContracts
	_, more := Compile(doc, opt)
	ds.Add(more...)
	return ds.Sorted()
}

// keysOfSpecs gives the keys of the language.
func keysOfSpecs() []string {
	var keys []string
	for _, s := range specs.Reference() {
		for _, k := range s.Keys {
			keys = append(keys, k.Name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
