package fixed

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// Feedback compiles where a review's items come from. Of a stage that only says what words mean, the rest is that of
// the command which it runs; nil: there is none.
func Feedback(f *specs.Feedback, command *plan.Feedback, diags *diag.List) *plan.Feedback {
	if f == nil {
		return nil
	}
	out := &plan.Feedback{Format: Pick(convert.Items, f.Format)}
	out.OKExitCodes = ExitCodes(out.Format)
	if command != nil && f.Format == nil && f.Path == nil && f.Pattern == nil && f.Severity != nil {
		all := *command
		out = &all
	}
	if f.OKExitCodes != nil {
		out.OKExitCodes = make([]int, len(f.OKExitCodes))
		for i, l := range f.OKExitCodes {
			out.OKExitCodes[i] = l.Value
		}
	}
	if f.Path != nil {
		reportPath(out, f.Path, diags)
	}
	if f.Pattern != nil {
		out.Pattern = f.Pattern.Value
	}
	severities(out, f.Severity, diags)
	return out
}

// severities compiles what the words of a tool mean, over what was said of them before.
func severities(out *plan.Feedback, given []*specs.Severity, diags *diag.List) {
	if len(given) == 0 {
		return
	}
	all := map[string]string{}
	maps.Copy(all, out.Severity)
	words, open := convert.Mapping(out.Format)
	for _, s := range given {
		if s.Meaning == nil {
			continue
		}
		all[s.Word.Value] = s.Meaning.Value
		if words == nil || open || slices.ContainsFunc(words, func(w convert.Word) bool { return w.Word == s.Word.Value }) {
			continue
		}
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = w.Word
		}
		d := diags.Errorf(CodeFormat, s.Word.Span, "the format %q has no word %q for how severe a finding is", out.Format, s.Word.Value)
		if d.Help = diag.Suggest(s.Word.Value, known); d.Help == "" {
			d.Help = fmt.Sprintf("it has %s", strings.Join(known, ", "))
		}
	}
	out.Severity = all
}

// ExitCodes are the exit statuses with which a review took place; nil: any.
func ExitCodes(format string) []int {
	if codes, ok := convert.Defaults(format); ok {
		return codes
	}
	return []int{0}
}

// reportPath compiles where a report lies: in the workspace, or in the scratch folder of the try.
func reportPath(out *plan.Feedback, p *specs.Leaf[string], diags *diag.List) {
	out.Path = p.Value
	Unevaluated(diags, p, "feedback.path")
	if rest, ok := strings.CutPrefix(p.Value, "${PIPE_STAGE_DIR}/"); ok {
		out.Path = plan.StageDirVar + "/" + rest
	}
	name, ok := out.InStageDir()
	switch {
	case ok && (name == "" || path.Clean("/"+name) != "/"+name):
		diags.Errorf(CodePath, p.Span, "feedback.path %q names no file below %s", p.Value, plan.StageDirVar)
	case ok:
	case strings.HasPrefix(p.Value, "$") && !strings.HasPrefix(p.Value, "${{"):
		d := diags.Errorf(CodePath, p.Span, "feedback.path %q begins with a variable, and only %s/ is known there", p.Value, plan.StageDirVar)
		d.Help = "write a path relative to the workspace"
	default:
		InWorkspace(diags, p.Value, p.Span, "feedback.path")
	}
}
