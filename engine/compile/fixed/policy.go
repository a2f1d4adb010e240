package fixed

import (
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

// Retry compiles a stage's retry over the defaults of the pipeline.
func Retry(defaults *specs.Defaults, r *specs.Retry, diags *diag.List) plan.Retry {
	var def, own specs.Retry
	if defaults != nil && defaults.Retry != nil {
		def = *defaults.Retry
	}
	if r != nil {
		own = *r
	}
	out := plan.Retry{
		MaxAttempts:  Pick(defaultMaxAttempts, def.MaxAttempts, own.MaxAttempts),
		Backoff:      PickWord(plan.Exponential, def.Backoff, own.Backoff),
		InitialDelay: plan.Duration(Pick(defaultInitialDelay, def.InitialDelay, own.InitialDelay)),
		MaxDelay:     plan.Duration(Pick(defaultMaxDelay, def.MaxDelay, own.MaxDelay)),
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

// Timeout compiles a stage's time limit.
func Timeout(defaults *specs.Defaults, l *specs.Leaf[specs.Duration]) plan.Duration {
	var def *specs.Leaf[specs.Duration]
	if defaults != nil {
		def = defaults.Timeout
	}
	return plan.Duration(Pick(defaultTimeout, def, l))
}
