package explain_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/explain"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestExplain compares what is said of pipelines with golden text. A case is an archive: pipeline.yaml, the
// pipelines that it names as NAME.yaml, and text and json.
func TestExplain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e := explainCase(t, a)
			b, err := json.MarshalIndent(e, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]string{"text": e.Text(0), "json": string(b) + "\n"} {
				want := part(a, name)
				if diff := cmp.Diff(string(want.Data), got); diff != "" && !*update {
					t.Errorf("%s differs (- want, + got):\n%s", name, diff)
				}
				want.Data = []byte(got)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestReportIsWhole: however many words a format has, those that were overridden are there, also on a narrow terminal.
func TestReportIsWhole(t *testing.T) {
	r := &explain.Report{Format: "semgrep"}
	for i := range 60 {
		r.Words = append(r.Words, explain.Word{Word: fmt.Sprintf("WORD_%02d", i), Severity: "advisory"})
	}
	r.Words[59].Severity, r.Words[59].Default = "blocking", "advisory"
	p := &explain.Pipeline{Graph: explain.Graph{Stages: []explain.Stage{{ID: "scan", Report: r}}}}
	for _, width := range []int{0, 60} {
		text := p.Text(width)
		if !strings.Contains(text, "  scan reads semgrep: WORD_59 -> blocking (overridden, else") || !strings.Contains(text, "WORD_58 -> advisory") {
			t.Errorf("in %d columns a word is missing:\n%s", width, text)
		}
		for line := range strings.Lines(text[strings.Index(text, "scan reads"):]) {
			if width > 0 && len(line) > width+1 {
				t.Errorf("in %d columns a line is longer: %q", width, line)
			}
		}
	}
}

func part(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

func explainCase(t *testing.T, a *txtar.Archive) *explain.Pipeline {
	t.Helper()
	read := func(name string) *specs.Pipeline {
		f := part(a, name)
		if f == nil {
			return nil
		}
		doc, diags := specs.ParsePipeline(source.NewFile(name, string(f.Data)))
		if diags.HasErrors() {
			t.Fatalf("%s", diags.Text())
		}
		return doc
	}
	p, diags := compile.Compile(read("pipeline.yaml"), compile.Options{
		AllowMissingAgents: true,
		Pipeline: func(name string) (*compile.Child, error) {
			return &compile.Child{Name: name, Doc: read(name + ".yaml")}, nil
		},
	})
	if p == nil {
		t.Fatalf("%s", diags.Text())
	}
	return explain.Explain(p)
}
