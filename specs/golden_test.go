package specs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares got with the golden file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it again); got:\n%s", path, got)
	}
}

func readFile(t *testing.T, path string) *source.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return source.NewFile(filepath.Base(path), string(b))
}

// Each document of testdata has beside it the diagnostics as people read them.
func TestDiagnostics(t *testing.T) {
	seen := map[diag.Code]bool{}
	for pattern, parse := range map[string]func(*source.File) diag.List{
		"testdata/pipeline/*.yaml": func(f *source.File) diag.List { _, l := ParsePipeline(f); return l },
		"testdata/project/*.yaml":  func(f *source.File) diag.List { _, l := ParseProject(f); return l },
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				f := readFile(t, path)
				l := parse(f)
				for _, d := range l {
					seen[d.Code] = true
					if d.Span.File != f.Name || !d.Span.IsValid() || d.Span.End.Before(d.Span.Start) {
						t.Errorf("no proper place: %+v", d)
					}
					if strings.HasSuffix(d.Message, ".") || strings.HasPrefix(d.Message, "invalid") {
						t.Errorf("not in the house's style: %s", d.Message)
					}
				}
				golden(t, strings.TrimSuffix(path, ".yaml")+".want", l.Text(f))
			})
		}
	}
	for _, c := range []diag.Code{document.CodeTag, document.CodeComment, document.CodeAfterQuote, document.CodeColon, document.CodeIndicator, document.CodeSyntax, document.CodeEncoding,
		document.CodeMany, document.CodeEmpty, document.CodeAlias, read.CodeUnknownKey, read.CodeDuplicateKey, read.CodeMissingKey, read.CodeKind, read.CodeValue,
		read.CodeConflict, read.CodeTagged, codeNewer, codePattern} {
		if !seen[c] {
			t.Errorf("no document of testdata has a mistake of the code %q", c)
		}
	}
}
