package compile

import (
	"strings"
	"testing"

	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

// TestKindOutputs: what a kind gives need not be declared, may be, and has its type.
func TestKindOutputs(t *testing.T) {
	opt := options(t)
	opt.Kinds = []stage.Kind{{Name: "command"}, {Name: "join", Outputs: []stage.Field{{Name: "commit", Type: value.Of(value.String)}}}}
	for outputs, want := range map[string]string{
		"":                                "",
		"    outputs: {commit: string}\n": "",
		"    outputs: {other: {type: string, required: false}}\n": "",
		"    outputs: {commit: integer}\n":                        `output "commit" is integer here, and the kind "join" gives it as string`,
	} {
		text := "name: p\nversion: 1\nstages:\n  - id: a\n    uses: join\n" + outputs + "  - id: b\n    env: {C: \"${{ stages.a.outputs.commit }}\"}\n    run: echo $C\n"
		dump, ds := compileText(t, text, opt)
		if got := ds.Short(); (want == "") != (len(ds) == 0) || !strings.Contains(got, want) {
			t.Errorf("%q: %s", outputs, got)
		}
		if want == "" && strings.Count(dump, "output commit") != 1 {
			t.Errorf("%q: want one output commit in\n%s", outputs, dump)
		}
	}
}

// TestKindElsewhere: where a target need not change the workspace, that it did not is no reason to stop, unless a
// document says so.
func TestKindElsewhere(t *testing.T) {
	opt := options(t)
	opt.Kinds = []stage.Kind{{Name: "command"}, {Name: "join", Elsewhere: true}, {Name: "look"}}
	for uses, want := range map[string]bool{
		"join, feedback_loop: {target_stage: a}":                                 false,
		"look, feedback_loop: {target_stage: a}":                                 true,
		"join, feedback_loop: {target_stage: a, convergence: {no_change: true}}": true,
		"join, feedback_loop: {target_stage: a, convergence: {same_item: 3}}":    false,
	} {
		dump, ds := compileText(t, "name: p\nversion: 1\nstages:\n  - {id: a, role: implementation, run: \"true\"}\n  - {id: b, uses: "+uses+"}\n", opt)
		if len(ds) != 0 || strings.Contains(dump, "no_change") != want {
			t.Errorf("%s: %v\n%s", uses, ds, dump)
		}
	}
}

// TestKindJudges: what only judges has no work of its own, so nothing sends it back to itself.
func TestKindJudges(t *testing.T) {
	opt := options(t)
	opt.Kinds = []stage.Kind{{Name: "command"}, {Name: "verifiers"}, {Name: "look", Judges: true}, {Name: "join"}}
	for text, want := range map[string]string{
		"{id: a, uses: join, role: implementation, verifiers: [{name: t, run: make}]}":                 "",
		"{id: a, uses: look, verifiers: [{name: t, run: make}]}":                                       `6:19: error: stage "a" is of the kind "look", which only judges, so there is no work of its own to send back [loop-target]`,
		"{id: a, refine_loop: {create: {uses: look}, validate: {run: \"true\", feedback: {path: f}}}}": `which only judges`,
		"{id: a, refine_loop: {create: {run: make}, validate: {uses: look}}}":                          "",
	} {
		_, ds := compileText(t, "name: p\nversion: 1\nstages:\n  - {id: w, role: implementation, run: make}\n\n  - "+text+"\n", opt)
		if got := ds.Short(); (want == "") != (got == "") || !strings.Contains(got, want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s:\n%s", text, got)
		}
	}
}
