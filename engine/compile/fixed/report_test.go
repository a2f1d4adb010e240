package fixed_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs"
)

// TestFormats holds the formats of the language to those that can be read: their names, and which of them need a file.
func TestFormats(t *testing.T) {
	var words []string
	for _, s := range specs.Reference() {
		for _, k := range s.Keys {
			if s.Name == "feedback" && k.Name == "format" {
				words = slices.Sorted(slices.Values(k.Value.Words))
			}
		}
	}
	known := slices.Sorted(slices.Values(convert.Formats()))
	if diff := cmp.Diff(known, words); diff != "" {
		t.Errorf("formats that can be read (-) and that a document may name (+):\n%s", diff)
	}
	for _, f := range known {
		_, ds := specs.ParsePipeline(source.NewFile("p.yaml",
			"name: p\nversion: 1\nstages: [{id: a, run: ls, feedback: {format: "+f+", pattern: '(?P<line>x)'}}]\n"))
		lacks := slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == "missing-key" })
		if lacks != convert.NeedsFile(f) {
			t.Errorf("format %s: a path is required: %v, and of the report: %v", f, lacks, convert.NeedsFile(f))
		}
	}
}

// TestFeedbackOverCommand holds a stage that only says what words mean to the format of the command that it runs.
func TestFeedbackOverCommand(t *testing.T) {
	command := &plan.Feedback{Format: convert.GolangCI, OKExitCodes: []int{0, 1}, Severity: map[string]string{"error": "blocking"}}
	warning := &specs.Severity{Word: specs.Leaf[string]{Value: "warning"}, Meaning: &specs.Leaf[string]{Value: "blocking"}}
	only := &specs.Feedback{Severity: []*specs.Severity{warning}}
	own := &specs.Feedback{Severity: []*specs.Severity{warning}, Format: &specs.Leaf[string]{Value: convert.ESLint}}
	var ds diag.List
	for name, c := range map[string]struct {
		of   *specs.Feedback
		want *plan.Feedback
	}{
		"words only": {only, &plan.Feedback{Format: convert.GolangCI, OKExitCodes: []int{0, 1}, Severity: map[string]string{"error": "blocking", "warning": "blocking"}}},
		"a format":   {own, &plan.Feedback{Format: convert.ESLint, OKExitCodes: []int{0, 1}, Severity: map[string]string{"warning": "blocking"}}},
	} {
		if diff := cmp.Diff(c.want, fixed.Feedback(c.of, command, &ds)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(ds) > 0 || len(command.Severity) != 1 {
		t.Errorf("diagnostics: %v; the command's own severities: %v", ds, command.Severity)
	}
}
