package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	keys := keysOfSpecs(t)
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

// keysOfSpecs reads the keys from the tables by which package specs reads documents: entries {name, func}.
func keysOfSpecs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "specs", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			entry, ok := n.(*ast.CompositeLit)
			if !ok || len(entry.Elts) != 2 {
				return true
			}
			name, isName := entry.Elts[0].(*ast.BasicLit)
			if _, isFunc := entry.Elts[1].(*ast.FuncLit); isName && isFunc {
				key, err := strconv.Unquote(name.Value)
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, key)
			}
			return true
		})
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
