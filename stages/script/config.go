package script

import (
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
)

// CodeTemplate is the code of a script that is made of values.
const CodeTemplate diag.Code = "script-template"

// Config checks the script, for the default shell, that a key of a kind's config holds; that it is missing is
// reported by its declaration. One with ${{ }} in it is refused: no value may become a piece of a script.
func (c *Checker) Config(p *stage.CheckPass, key string) {
	at, written := p.Scalars[key]
	v, ok := p.Config.Get(key)
	if !ok {
		if from := strings.Index(at.Text, "${{"); written && from >= 0 {
			p.Report(diag.Diagnostic{
				Severity: diag.Error, Code: CodeTemplate, Span: at.At(from, from+len("${{")),
				Message: "${{ }} is not evaluated in \"" + key + "\", so that no value can become a piece of a script",
				Help:    "give the stage an env, whose values may hold ${{ }}, and use the variable in the script",
			})
		}
		return
	}
	text, ok := v.(string)
	if !ok {
		return // its type is checked by its declaration
	}
	if !written {
		at = source.NewScalar(text, p.Span, nil)
	}
	c.Check(Written{Key: key, Text: text, At: at}, p.Report)
}

// Of gives the script that a key of a call's config holds, "" for none.
func Of(call *stage.Call, key string) string {
	v, _ := call.Config.Get(key)
	text, _ := v.(string)
	return text
}
