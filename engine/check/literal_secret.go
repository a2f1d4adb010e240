package check

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs"
)

// secretPrefixes begin the credentials of well-known services. Guessing by names would find too much.
func secretPrefixes() []string {
	return []string{"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-ant-", "sk_live_", "rk_live_", "AKIA", "xoxb-", "xoxp-", "AIza", "npm_", "-----BEGIN "}
}

var literalSecret = Rule{
	Code: "literal-secret",
	Doc:  "A credential written out in env or with: it is in the repository, in the frozen plan and in every log of it.",
	Run: func(p *Pass) {
		for _, s := range slices.Concat(p.Doc.Stages, p.Doc.Finally) {
			var with []*specs.Entry
			if s.With != nil {
				with = s.With.Entries
			}
			for _, e := range slices.Concat(s.Env, with) {
				if e.Value == nil || e.Value.Kind != specs.ScalarData || e.Value.Scalar == nil {
					continue
				}
				text := e.Value.Scalar.Text
				for _, prefix := range secretPrefixes() {
					if strings.HasPrefix(text, prefix) && len(text) >= len(prefix)+12 {
						p.Report(diag.Diagnostic{
							Severity: diag.Warning, Code: "literal-secret", Span: e.Value.Span,
							Message: fmt.Sprintf("the value of %s looks like a credential", e.Name.Value),
							Help:    "stages get the environment of the run: set it there, leave it out here, and replace the credential",
						})
						break
					}
				}
			}
		}
	},
}
