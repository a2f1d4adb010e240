package specs

import (
	"strings"
	"testing"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// A tab that indents is found where it stands, in pipelines and in pipe.yaml.
func TestTabs(t *testing.T) {
	pipeline := func(f *source.File) diag.List { _, l := ParsePipeline(f); return l }
	project := func(f *source.File) diag.List { _, l := ParseProject(f); return l }
	for _, test := range []struct {
		text  string
		parse func(*source.File) diag.List
		line  int
	}{
		{"name: x\nversion: 1\nstages:\n\t- id: a\n", pipeline, 4},
		{"name: x\nversion: 1\nstages:\n\n  \t- id: a\n    run: x\n", pipeline, 5},
		{"name: x\nversion: 1\nstages:\n  - id: a\n\trun: x\n", pipeline, 5},
		{"name: x\nversion: 1\nstages:\n  - id: a\n    run: x\n    retry:\n\t\tmax_attempts: 2\n", pipeline, 7},
		{"\tname: x\n", pipeline, 1},
		{"agents:\n\tdefault: {command: [x]}\n", project, 2},
		{"agents:\n  default:\n\t  command: [x]\n", project, 3},
	} {
		l := test.parse(source.NewFile("f.yaml", test.text))
		if l.Count(diag.Error) != 1 || l[0].Span.Start.Line != test.line || l[0].Message != "a tab can't indent a line; use spaces" {
			t.Errorf("%q: want line %d, got:\n%s", test.text, test.line, l.Text())
		}
	}
	// Another character that starts nothing is no tab.
	l := pipeline(source.NewFile("f.yaml", "name: x\nversion: 1\nstages:\n@x\n"))
	if strings.Contains(l.Text(), "tab") {
		t.Errorf("got %s", l.Text())
	}
}

// The parser ends plain text inside { } at a question mark, which people write in messages.
func TestQuestionMark(t *testing.T) {
	_, l := ParsePipeline(source.NewFile("p.yaml",
		"name: p\nversion: 1\nstages:\n  - id: a\n    run: x\n    requires_approval: {message: Publish it?, timeout: 1h}\n    tmeout: 3m\n"))
	got := l.Text()
	for _, want := range []string{`p.yaml:6:34: error: inside { } and [ ] YAML splits this text at its brackets, commas and question marks`,
		`write message: 'Publish it?'`, `did you mean "timeout"?`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if len(l) != 2 {
		t.Errorf("want two mistakes, got\n%s", got)
	}
}

// A key that belongs one level deeper is shown where, and not with all the keys of the mapping.
func TestMisplacedKey(t *testing.T) {
	for line, want := range map[string]string{
		"convergence: {same_item: 2}": "it belongs in refine_loop or feedback_loop or verifiers [unknown-key]\nwrite refine_loop: {convergence: …}, or feedback_loop: {convergence: …}, or verifiers: {convergence: …}",
		"create: {run: x}":            "it belongs in refine_loop [unknown-key]\nwrite refine_loop: {create: …}",
		"validate: {run: x}":          "it belongs in refine_loop [unknown-key]\nwrite refine_loop: {validate: …}",
		"feedback_loop: {target_stage: a}, convergence: {same_item: 2}": "it belongs in feedback_loop [unknown-key]\nwrite feedback_loop: {convergence: …}",
		"agents: 1": "unknown key \"agents\" in stage \"b\"; did you mean \"agent\"? [unknown-key]\nthe keys of stage",
	} {
		_, l := ParsePipeline(source.NewFile("p.yaml", "name: p\nversion: 1\nstages: [{id: a, run: x}, {id: b, run: x, "+line+"}]\n"))
		if len(l) != 1 || !strings.Contains(l[0].Message+" ["+string(l[0].Code)+"]\n"+l[0].Help, want) {
			t.Errorf("%s: want %q, got:\n%s", line, want, l.Text())
		}
	}
}

// A slip in a required key is one mistake.
func TestSlipInARequiredKey(t *testing.T) {
	for text, want := range map[string]string{
		"nmae: x\nversion: 1\nstages: [{id: a, run: x}]\n":                   `did you mean "name"`,
		"name: x\nverison: 1\nstages: [{id: a, run: x}]\n":                   `did you mean "version"`,
		"name: x\nversion: 1\nstage: [{id: a, run: x}]\n":                    `did you mean "stages"`,
		"name: x\nversion: 1\nstages: [{Id: a, run: x}]\n":                   `did you mean "id"`,
		"name: x\nversion: 1\nstages: [{id: a, agent: x, promt: y}]\n":       `did you mean "prompt"`,
		"name: x\nversion: 1\nstages: [{id: a, agent: x, promt_file: y}]\n":  `did you mean "prompt_file"`,
		"name: x\nversion: 1\nstages: [{id: a, run: x}]\nnmae: y\nfoobar: 1": "",
	} {
		_, l := ParsePipeline(source.NewFile("p.yaml", text))
		wantN := 1
		if want == "" {
			wantN = 2 // both unknown keys; "name" is there
		}
		if len(l) != wantN || !strings.Contains(l.Text(), want) {
			t.Errorf("%q: got %d:\n%s", text, len(l), l.Text())
		}
	}
	_, l := ParsePipeline(source.NewFile("p.yaml", "x: 1\nversion: 1\nstages: [{id: a, run: x}]\n"))
	if len(l) != 2 {
		t.Errorf("a key that is near nothing hides a missing one:\n%s", l.Text())
	}
}
