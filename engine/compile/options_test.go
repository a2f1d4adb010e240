package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

const oneAgent = `name: p
version: 1
stages:
  - id: a
    agent: reviewr
    prompt: go
`

func compileText(t *testing.T, text string, opt Options) (string, diag.List) {
	t.Helper()
	doc, ds := specs.ParsePipeline(source.NewFile("p.yaml", text))
	if ds.HasErrors() {
		t.Fatal(ds.Text())
	}
	p, ds := Compile(doc, opt)
	if p == nil {
		return "", ds
	}
	return p.Dump(), ds
}

func TestMissingAgent(t *testing.T) {
	opt := options(t)
	opt.Agents = opt.Agents[1:] // without the default
	dump, ds := compileText(t, oneAgent, opt)
	if dump != "" || len(ds) != 1 || ds[0].Severity != diag.Error {
		t.Fatalf("want one error and no plan, got %v", ds)
	}
	want := "did you mean \"reviewer\"? or add to pipe.yaml, with the command that starts your agent:\nagents:\n  reviewr:\n    command: [./bin/my-agent]\n    output: json"
	if diff := cmp.Diff(want, ds[0].Help); diff != "" {
		t.Errorf("help (-want +got):\n%s", diff)
	}
	opt.AllowMissingAgents = true
	dump, ds = compileText(t, oneAgent, opt)
	if len(ds) != 1 || ds[0].Severity != diag.Warning || !strings.Contains(dump, `config name = "reviewr"`) {
		t.Errorf("want one warning and a plan, got %v\n%s", ds, dump)
	}
	if strings.Contains(dump, "config command") {
		t.Errorf("an agent that is not there has a command:\n%s", dump)
	}
}

// TestTextOutput reads the output of an agent that gives a text, which no stage need declare.
func TestTextOutput(t *testing.T) {
	const reader = "  - id: b\n    run: cat\n    inputs: {said: \"${{ stages.a.outputs.text }}\"}\n"
	opt := options(t)
	project, _ := specs.ParseProject(source.NewFile("pipe.yaml", "agents:\n  reviewr: {command: [./bin/say], output: text}\n"))
	opt.Agents = project.Agents
	for outputs, want := range map[string]string{
		"": "", "    outputs: {text: string}\n": "", "    outputs: {other: {type: string, required: false}}\n": "", "    outputs: {text: {enum: [yes, no]}}\n": "",
		"    outputs: {text: integer}\n": "p.yaml:7:15: error: output \"text\" is integer here, and the agent \"reviewr\" gives it as string [type]\n",
	} {
		dump, ds := compileText(t, oneAgent+outputs+reader, opt)
		if got := ds.Short(); got != want {
			t.Errorf("%q: %q, want %q", outputs, got, want)
		}
		if want == "" && !strings.Contains(dump, "output text ") {
			t.Errorf("%q: no output in\n%s", outputs, dump)
		}
	}
	_, ds := compileText(t, oneAgent+reader, options(t))
	if !ds.HasErrors() {
		t.Error("an agent that gives no text has the output")
	}
}

func TestPromptFileWithoutReader(t *testing.T) {
	opt := options(t)
	opt.PromptFile = nil
	_, ds := compileText(t, strings.Replace(oneAgent, "prompt: go", "prompt_file: go.md", 1), opt)
	if len(ds) != 1 || ds[0].Code != CodePromptFile {
		t.Errorf("want a %s, got %v", CodePromptFile, ds)
	}
}

// TestKinds lets a kind see each config, fill in what is not there, and report into a script.
func TestKinds(t *testing.T) {
	var seen []string
	look := func(p *stage.CheckPass) {
		seen = append(seen, p.Stage)
		sc, ok := p.Scalars["script"]
		if !ok {
			return
		}
		if i := strings.Index(sc.Text, "fi"); i >= 0 {
			p.Report(diag.Diagnostic{Severity: diag.Error, Code: "script", Span: sc.At(i, i+2), Message: "fi without if"})
		}
	}
	opt := options(t)
	opt.Kinds = []stage.Kind{
		{Name: "command", Config: []stage.Field{{Name: "shell", Type: value.Of(value.String), Default: "bash"}}, Check: look},
		{Name: "agent", Config: []stage.Field{{Name: "output", Type: value.Of(value.String), Default: "text"}}, Check: look},
	}
	text := oneAgent + "  - id: b\n    run: |\n      true\n      fi\n  - id: c\n    run: \"true\"\n    shell: sh\n"
	_, ds := compileText(t, text, opt)
	if diff := cmp.Diff([]string{"a", "b", "c"}, seen); diff != "" {
		t.Errorf("stages that the kinds saw (-want +got):\n%s", diff)
	}
	if got := ds.Short(); got != "p.yaml:10:7: error: fi without if [script]\n" {
		t.Errorf("diagnostics %q", got)
	}
	dump, _ := compileText(t, strings.Replace(text, "      fi\n", "", 1), opt)
	for _, want := range []string{`config output = "text"`, `config shell = "bash"`, `config shell = "sh"`} {
		if strings.Count(dump, want) != 1 {
			t.Errorf("%d times %s in\n%s", strings.Count(dump, want), want, dump)
		}
	}
	opt.Kinds = opt.Kinds[:1]
	_, ds = compileText(t, oneAgent, opt)
	if len(ds) != 1 || ds[0].Code != CodeUnknownKind {
		t.Errorf("want a %s, got %v", CodeUnknownKind, ds)
	}
}

// TestNeeds compares the reduced needs of random documents with what a table of all pairs says: no need is
// implied by another, and what runs before a stage is what its document says.
func TestNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 90).Draw(t, "stages")
		var b strings.Builder
		b.WriteString("name: p\nversion: 1\nstages:\n")
		before := make([][]bool, n) // by stage: those before it
		for i := range n {
			before[i] = make([]bool, n)
			fmt.Fprintf(&b, "  - id: s%d\n    run: \"true\"\n", i)
			var needs []int
			if rapid.Bool().Draw(t, "default") {
				for k := range i {
					needs = append(needs, k)
				}
			} else {
				var ids []string
				for range rapid.IntRange(0, min(i, 4)).Draw(t, "needs") {
					k := rapid.IntRange(0, i-1).Draw(t, "need")
					if id := fmt.Sprintf("s%d", k); !strings.Contains(strings.Join(ids, " ")+" ", id+" ") {
						ids, needs = append(ids, id), append(needs, k)
					}
				}
				fmt.Fprintf(&b, "    needs: [%s]\n", strings.Join(ids, ", "))
			}
			for _, k := range needs {
				before[i][k] = true
				for j, yes := range before[k] {
					before[i][j] = before[i][j] || yes
				}
			}
		}
		doc, ds := specs.ParsePipeline(source.NewFile("p.yaml", b.String()))
		p, more := Compile(doc, Options{})
		if p == nil {
			t.Fatalf("%s%s\n%s", ds.Short(), more.Short(), b.String())
		}
		for i := range n {
			got := make([]bool, n)
			for _, k := range p.Graph.Nodes[i].Needs {
				if got[k] {
					t.Fatalf("s%d needs s%d, which another need implies", i, k)
				}
				for _, o := range p.Graph.Nodes[i].Needs {
					if before[o][k] {
						t.Fatalf("s%d needs s%d, which s%d implies", i, k, o)
					}
				}
				got[k] = true
			}
			for _, k := range p.Graph.Nodes[i].Needs {
				for j, yes := range before[k] {
					got[j] = got[j] || yes
				}
			}
			if diff := cmp.Diff(before[i], got); diff != "" {
				t.Fatalf("what runs before s%d (-want +got):\n%s\n%s", i, diff, b.String())
			}
		}
	})
}

// TestEdgesStayFew compiles stages that all wait for all above: the edges grow with the stages.
func TestEdgesStayFew(t *testing.T) {
	doc, _ := specs.ParsePipeline(source.NewFile("big.yaml", bigPipeline(2000, "chain")))
	p, ds := Compile(doc, options(t))
	if p == nil {
		t.Fatal(ds.Short())
	}
	edges := 0
	for i := range p.Graph.Nodes {
		edges += len(p.Graph.Nodes[i].Needs)
	}
	if edges != 1999 {
		t.Errorf("%d edges between 2000 stages in a row, want 1999", edges)
	}
}
