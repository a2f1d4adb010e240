package scope

import (
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// text is the text of an expression and the language that it is written in.
type text struct {
	source.Scalar
	cel bool
}

func (x text) language() plan.Language {
	if x.cel {
		return plan.CELLanguage
	}
	return plan.ExprLanguage
}

func (x text) compile(env *expr.Env, want value.Type) (*expr.Program, []diag.Diagnostic) {
	if x.cel {
		return env.CompileCEL(x.Scalar, want)
	}
	return env.Compile(x.Scalar, want)
}

// plain gives the text for scanMentions, which knows one language; places in it are those of the text.
func (x text) plain() string {
	if x.cel {
		return expr.PlainCEL(x.Text)
	}
	return x.Text
}

// orElse gives what to write for an expression whose value may be missing.
func (x text) orElse(other string) string {
	src := strings.TrimSpace(x.Text)
	if !x.cel {
		return "${{ " + src + " ?? " + other + " }}"
	}
	if strings.ContainsAny(src, " ?:") {
		src = "(" + src + ")"
	}
	return src + ".orValue(" + other + ")"
}
