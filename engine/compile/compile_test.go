package compile

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

var update = flag.Bool("update", false, "rewrite golden files")

// testProject has a default agent and one with a name.
const testProject = `agents:
  default: {command: [./bin/agent]}
  reviewer: {command: [./bin/review, --strict], output: json}
`

// options gives what a test compiles with.
func options(t testing.TB) Options {
	t.Helper()
	project, ds := specs.ParseProject(source.NewFile("pipe.yaml", testProject))
	if ds.HasErrors() {
		t.Fatalf("pipe.yaml: %v", ds)
	}
	return Options{
		Agents: project.Agents,
		PromptFile: func(name string) (*source.File, error) {
			if name != "prompts/fix.md" {
				return nil, errors.New("no such file")
			}
			return source.NewFile("prompts/fix.md", "Fix it.\n\nThe task: ${{ inputs.task }}\n${{ brief }}\n"), nil
		},
		Pipeline: findChild,
		Version:  "0.4.1",
	}
}

// findChild finds a pipeline in testdata/children.
func findChild(ref string) (*Child, error) {
	b, err := os.ReadFile(filepath.Join("testdata", "children", ref+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("there is no pipeline %q; did you mean another one?", ref)
	}
	doc, ds := specs.ParsePipeline(source.NewFile("children/"+ref+".yaml", string(b)))
	return &Child{Name: ref, Doc: doc, Diags: ds, Pipeline: findChild, PromptFile: func(string) (*source.File, error) {
		return source.NewFile("children/prompt.md", "Look at ${{ inputs.what }}."), nil
	}}, nil
}

// parse reads and compiles a document.
func parse(t testing.TB, name, text string) (*plan.Plan, diag.List) {
	t.Helper()
	doc, ds := specs.ParsePipeline(source.NewFile(name, text))
	p, more := Compile(doc, options(t))
	ds.Add(more...)
	if ds.HasErrors() {
		p = nil // what the parser could not read is not in the plan
	}
	return p, ds.Sorted()
}

func TestGoldenPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, ds := parse(t, name+".yaml", string(text))
			if ds.HasErrors() {
				t.Fatalf("diagnostics:\n%s", ds.Text())
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".dump", p.Dump())
			b, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			q, err := plan.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p.Dump(), q.Dump()); diff != "" {
				t.Errorf("plan after plan.json (-want +got):\n%s", diff)
			}
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), rewrite it with -update:\n%s", file, diff)
	}
}
