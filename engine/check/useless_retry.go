package check

import (
	"fmt"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

var uselessRetry = Rule{
	Code: "useless-retry",
	Doc:  "A retry that says when to try again, but allows a single try.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n, r := &p.Plan.Graph.Nodes[i], p.stages[i].Retry
			if r == nil || n.Retry.MaxAttempts > 1 {
				continue
			}
			key, at := "", source.Span{}
			switch {
			case len(r.On) > 0:
				key, at = "on", r.On[0].Span
			case r.Backoff != nil:
				key, at = "backoff", r.Backoff.Span
			case r.InitialDelay != nil:
				key, at = "initial_delay", r.InitialDelay.Span
			case r.MaxDelay != nil:
				key, at = "max_delay", r.MaxDelay.Span
			default:
				continue // max_attempts: 1 alone says what it means
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Code: "useless-retry", Span: at,
				Message: fmt.Sprintf("retry.%s of stage %q has no effect, since it is tried once", key, n.ID),
				Help:    "max_attempts counts all tries; write max_attempts: 2 for one more",
			})
		}
	},
}
