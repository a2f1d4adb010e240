package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/pipe/engine"
	"example.com/pipe/engine/step"
)

// The parts of a pipeline that runs others.
var parts = []string{
	"pipe.yaml", "agents: {default: {command: [cat], output: text}}\n",
	"pipelines/outer.yaml", `name: outer
version: 1
inputs: {who: {type: "string[]", default: [ann, bob]}}
outputs: {said: "${{ join(stages.each.outputs.said, \" \") }}", one: "${{ stages.one.outputs.said }}"}
stages:
  - id: one
    pipeline: parts/inner.yaml
    with: {who: "${{ inputs.who[0] }}"}
  - id: each
    for_each: {items: inputs.who, as: who}
    pipeline: named
    with: {who: "${{ each.who }}", n: "${{ each.index }}"}
finally:
  - id: end
    env: {STATUS: "${{ run.status }} ${{ stages.one.outputs.said ?? \"\" }}"}
    run: echo "$STATUS" > ../end
`,
	"pipelines/parts/inner.yaml", `name: inner
version: 1
inputs: {who: string}
outputs: {said: "${{ stages.say.outputs.text }}"}
stages:
  - id: say
    agent: anyone
    prompt_file: say.md
    outputs: {text: string}
`,
	"pipelines/parts/say.md", "hello ${{ inputs.who }}",
	".pipe/pipelines/named.yaml", `name: named
version: 1
inputs: {who: string, n: integer}
outputs: {said: "${{ inputs.n }}${{ stages.in.outputs.said }}"}
stages:
  - id: in
    pipeline: ../../pipelines/parts/inner.yaml
    with: {who: "${{ inputs.who }}"}
`,
}

// A pipeline runs others, by name and by path, which run others: each stage of each is a stage of the run.
func TestPipelinesInside(t *testing.T) {
	p := project(t, parts...)
	l, err := p.Load("outer", "")
	if err != nil || l.Plan == nil {
		t.Fatalf("%v\n%s", err, l.Diags.Text(l.Sources...))
	}
	var names []string
	for _, f := range l.Sources {
		names = append(names, f.Name)
	}
	for _, want := range []string{"pipelines/parts/inner.yaml", "pipelines/parts/say.md", ".pipe/pipelines/named.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among what a run keeps: %v", want, names)
		}
	}
	res, err := p.Run(t.Context(), l, engine.RunOptions{})
	if err != nil || res.Status != step.RunSucceeded {
		t.Fatalf("got %+v, %v", res, err)
	}
	b, err := os.ReadFile(filepath.Join(p.Root, "..", "end"))
	if got := strings.TrimSpace(string(b)); err != nil || got != "succeeded hello ann" {
		t.Errorf("the end says %q, %v", got, err)
	}
}

// What is wrong in a pipeline inside is said in its own file, and a name that is none like that of "pipe run".
func TestMistakesInside(t *testing.T) {
	files := slices.Clone(parts)
	files = append(files, "pipelines/wrong.yaml", `name: wrong
version: 1
stages:
  - id: a
    pipeline: outre
  - id: b
    pipeline: ./parts/iner.yaml
  - id: c
    pipeline: parts/bad.yaml
`, "pipelines/parts/bad.yaml", "name: bad\nversion: 1\nstages:\n  - id: x\n    rn: y\n")
	p := project(t, files...)
	l, err := p.Load("wrong", "")
	if err != nil || l.Plan != nil {
		t.Fatalf("%v %v", l.Plan, err)
	}
	text := l.Diags.Text(l.Sources...)
	for _, want := range []string{
		`pipelines/wrong.yaml:5:15: error: there is no pipeline "outre"; did you mean "outer"?`,
		`pipelines/wrong.yaml:7:15: error: there is no pipeline "./parts/iner.yaml"; no file `,
		`pipelines/parts/bad.yaml:5:5: error: unknown key "rn" in stage "x"; did you mean "run"?`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// A shipped pipeline runs those beside it by path, and by name what the project has first.
func TestShippedInside(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "pipelines", "mine.yaml"), "name: mine\nversion: 1\noutputs: {x: project}\nstages: [{id: a, run: \"true\"}]\n")
	inner := &fstest.MapFile{Data: []byte("name: mine\nversion: 1\noutputs: {x: shipped}\nstages: [{id: a, run: \"true\"}]\n")}
	p, err := engine.OpenProject(root, engine.Options{Shipped: fstest.MapFS{
		"ship.yaml": {Data: []byte("name: ship\nversion: 1\nstages:\n  - {id: by-name, pipeline: mine}\n  - {id: by-path, pipeline: ./mine.yaml}\n")},
		"mine.yaml": inner, "far.yaml": {Data: []byte("name: far\nversion: 1\nstages: [{id: a, pipeline: ../pipe.yaml}]\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Load("ship", "")
	if err != nil || l.Plan == nil {
		t.Fatalf("%v\n%s", err, l.Diags.Text(l.Sources...))
	}
	for i, want := range []string{"project", "shipped"} {
		if got := l.Plan.Graph.Nodes[i].Body.Outputs[0].Value.Value; got != want {
			t.Errorf("stage %d runs the pipeline of the %v, want %s", i, got, want)
		}
	}
	if l, err := p.Load("far", ""); err != nil || l.Plan != nil || !strings.Contains(l.Diags.Short(), `there is no pipeline "../pipe.yaml"`) {
		t.Errorf("a shipped pipeline reaches out of what is shipped: %v %s", err, l.Diags.Short())
	}
}
