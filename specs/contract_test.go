package specs

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

// Each contract of testdata has beside it the diagnostics as people read them; one without has its tree there.
func TestContracts(t *testing.T) {
	for _, pattern := range []string{"testdata/contract/*.yaml", "testdata/contract/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				f := readFile(t, path)
				c, l := ParseContract(f)
				for _, d := range l {
					if d.Span.File != f.Name || !d.Span.IsValid() || d.Span.End.Before(d.Span.Start) {
						t.Errorf("no proper place: %+v", d)
					}
				}
				if strings.HasPrefix(filepath.Base(path), "good") {
					if len(l) > 0 {
						t.Errorf("diagnostics:\n%s", l.Text(f))
					}
					golden(t, path+".tree", dump(f, c))
					return
				}
				if !l.HasErrors() {
					t.Error("it has no mistake")
				}
				golden(t, path+".want", l.Text(f))
			})
		}
	}
}

// The places of a Markdown contract are those of the file, whatever its line ends.
func TestContractPlaces(t *testing.T) {
	const text = "---\nname: places\npost_checks:\n  - {validation: 'len(x) > 0'}\n---\n\nText.\n"
	for name, text := range map[string]string{
		"as it is": text,
		"crlf":     strings.ReplaceAll(text, "\n", "\r\n"),
		"bom":      "\ufeff" + text,
		"blanks":   strings.ReplaceAll(text, "---\n", "--- \t\n"),
	} {
		c, l := ParseContract(source.NewFile("places.md", text))
		if len(l) > 0 || len(c.PostChecks) != 1 {
			t.Fatalf("%s: %s", name, l.Text())
		}
		if got := c.PostChecks[0].Validation.Pos(4); got != (source.Pos{Line: 4, Col: 23}) {
			t.Errorf("%s: the name is at %v", name, got)
		}
	}
}

func TestIsContract(t *testing.T) {
	for text, want := range map[string]bool{
		"---\ncacheable: true\n---\nstages: x\n":              true,
		"---\nname: x\n---\ncacheable: true\n":                false,
		"# Text\ncacheable: true\n":                           false,
		"name: x\ninput_schema: {}\n":                         true,
		"name: x\n\"pre_checks\": []\n":                       true,
		"name: x\nversion: 1\nstages:\n  - pre_checks: []\n":  false,
		"cacheable: true\nstages: []\n":                       false,
		"name: x\nnotes: |\n  stages: all\ncacheable: true\n": true,
		"": false,
	} {
		name := "x.yaml"
		if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "#") {
			name = "x.md"
		}
		if got := IsContract(source.NewFile(name, text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// FuzzParseContract throws texts at the reader: it ends, and each diagnostic has a place in the file.
func FuzzParseContract(f *testing.F) {
	f.Add("---\nname: x\n---\n")
	f.Add("---\ninput_schema: {required: [{name: a, type: b}]}\n--- \n---")
	f.Add("\ufeff---\r\npost_checks: [{validation: x ends with y}]\r\n---")
	f.Add("name: x\ninput_schema:\n  optional: [{name: a, default: &a [*a]}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"x.md", "x.yaml"} {
			file := source.NewFile(name, text)
			c, diags := ParseContract(file)
			checkFuzzed(t, file, diags)
			if c == nil {
				t.Fatal("no contract")
			}
		}
	})
}
