package specs

import (
	"strings"
	"testing"

	"example.com/pipe/engine/source"
)

// TestSelfLoopSlips holds the mistakes in verifiers and refine_loop to one diagnostic each, with what to do.
func TestSelfLoopSlips(t *testing.T) {
	for text, want := range map[string]string{
		"run: ls, verifiers: ":                                                             "must be a list of commands, or a mapping that holds them, not empty",
		"run: ls, verifiers: []":                                                           "is empty; nothing would be verified",
		"run: ls, verifiers: {max_iterations: 2}":                                          `"verifiers" has no "commands"`,
		"run: ls, verifiers: [{run: ls}]":                                                  "its findings are known by the name",
		"run: ls, verifiers: [{name: a/b, run: ls}]":                                       "must be made of lower-case letters",
		"run: ls, role: review, verifiers: [make]":                                         "give the command a name, by which its findings are known",
		"refine_loop: {create: {run: ls}}":                                                 `"refine_loop" has no "validate"`,
		"refine_loop: {validate: {run: ls}}":                                               `"refine_loop" has no "create"`,
		"refine_loop: {create: {pipeline: p}, validate: {run: ls}}":                        `unknown key "pipeline" in "create" of "refine_loop"`,
		"refine_loop: {create: {run: ls}, validate: {uses: approval}}":                     "let a stage behind it be the approval",
		"refine_loop: {create: {run: ls}, validate: {agent: a}}":                           `say what the agent is to do`,
		"refine_loop: {create: {with: {n: 1}}, validate: {run: ls}}":                       "goes with a kind or a plugin, uses: NAME\n",
		"refine_loop: {create: {run: ls}, validate: {run: ls}}, prompt: x":                 "it goes into create or validate",
		"refine_loop: {create: {run: ls, agent: a, prompt: x}, validate: {run: ls}}":       "one thing is run: run, agent, command or uses",
		"refine_loop: {create: {run: ls}, validate: {run: ls}}, feedback: {format: items}": "goes back to create",
	} {
		_, ds := ParsePipeline(source.NewFile("p.yaml", "name: p\nversion: 1\nstages: [{id: a, "+text+"}]\n"))
		got := ds.Text()
		if len(ds) != 1 || !strings.Contains(got, want) {
			t.Errorf("%s: %d diagnostics, want one with %q:\n%s", text, len(ds), want, got)
		}
	}
}

// TestRefineLoop reads what create runs as what the stage itself runs.
func TestRefineLoop(t *testing.T) {
	p, ds := ParsePipeline(source.NewFile("p.yaml", "name: p\nversion: 1\nstages:\n  - id: a\n    refine_loop:\n"+
		"      create: {uses: kind, with: {n: 1}}\n      validate: {run: ls, shell: sh}\n"))
	if len(ds) > 0 {
		t.Fatal(ds.Text())
	}
	s := p.Stages[0]
	if s.Uses == nil || s.Uses.Value != "kind" || s.With == nil || len(s.With.Entries) != 1 || s.Run != nil {
		t.Errorf("the stage runs %+v", s)
	}
	if v := s.Refine.Validate; v == nil || v.Run == nil || v.Shell == nil || v.Uses != nil {
		t.Errorf("validate runs %+v", v)
	}
}
