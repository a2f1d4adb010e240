package compile

import (
	"path"
	"strings"
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/specs"
)

// The defaults of time limits and tries.
const (
	defaultTimeout      = 30 * time.Minute
	defaultMaxAttempts  = 1
	defaultInitialDelay = 5 * time.Second
	defaultMaxDelay     = 5 * time.Minute
)

// retry compiles a stage's retry over the defaults of the pipeline.
func retry(defaults *specs.Defaults, r *specs.Retry, diags *diag.List) plan.Retry {
	var def, own specs.Retry
	if defaults != nil && defaults.Retry != nil {
		def = *defaults.Retry
	}
	if r != nil {
		own = *r
	}
	out := plan.Retry{
		MaxAttempts:  pick(defaultMaxAttempts, def.MaxAttempts, own.MaxAttempts),
		Backoff:      pickWord(plan.Exponential, def.Backoff, own.Backoff),
		InitialDelay: plan.Duration(pick(defaultInitialDelay, def.InitialDelay, own.InitialDelay)),
		MaxDelay:     plan.Duration(pick(defaultMaxDelay, def.MaxDelay, own.MaxDelay)),
	}
	if def.MaxDelay == nil && own.MaxDelay == nil {
		out.MaxDelay = max(out.MaxDelay, out.InitialDelay)
	}
	on := def.On
	if own.On != nil {
		on = own.On
	}
	for _, w := range on {
		out.On = append(out.On, w.Value)
	}
	// of two that stand side by side, package specs has said it
	if r != nil && out.InitialDelay > out.MaxDelay && (own.InitialDelay == nil) != (own.MaxDelay == nil) {
		at := own.InitialDelay
		if at == nil {
			at = own.MaxDelay
		}
		diags.Errorf(CodeRetry, at.Span, "the first delay of %s is longer than max_delay, which is %s", out.InitialDelay, out.MaxDelay)
	}
	return out
}

// timeout compiles a stage's time limit.
func timeout(defaults *specs.Defaults, l *specs.Leaf[specs.Duration]) plan.Duration {
	var def *specs.Leaf[specs.Duration]
	if defaults != nil {
		def = defaults.Timeout
	}
	return plan.Duration(pick(defaultTimeout, def, l))
}

// feedback compiles where a review's items come from.
func feedback(f *specs.Feedback, diags *diag.List) *plan.Feedback {
	if f == nil {
		return nil
	}
	out := &plan.Feedback{Format: pick("items", f.Format)}
	out.OKExitCodes = defaultExitCodes(out.Format)
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
	return out
}

// defaultExitCodes are the exit statuses with which a review took place; nil: any.
func defaultExitCodes(format string) []int {
	switch format {
	case "items":
		return []int{0}
	case "junit": // whether the report is whole says more than any status
		return nil
	}
	return []int{0, 1} // a tool that has found something says 1
}

// reportPath compiles where a report lies: in the workspace, or in the scratch folder of the try.
func reportPath(out *plan.Feedback, p *specs.Leaf[string], diags *diag.List) {
	out.Path = p.Value
	unevaluated(diags, p, "feedback.path")
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
		inWorkspace(diags, p.Value, p.Span, "feedback.path")
	}
}
