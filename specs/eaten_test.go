package specs

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// written puts an expression behind a key as an author might, and returns what is read and the file's
// errors.
func written(t *rapid.T, before, raw, after string) (text string, help []string) {
	t.Helper()
	f := source.NewFile("x.yaml", "name: x\nversion: 1\nstages:\n  - id: a\n    run: x\n"+before+raw+after+"\n")
	p, diags := ParsePipeline(f)
	for _, d := range diags {
		help = append(help, d.Help)
	}
	if len(p.Stages) == 1 {
		s := p.Stages[0]
		switch {
		case s.When != nil:
			text = s.When.Text
		case len(s.PostChecks) == 1 && s.PostChecks[0].Validation != nil:
			text = s.PostChecks[0].Validation.Text
		case len(s.Inputs) == 1 && s.Inputs[0].Value != nil && s.Inputs[0].Value.Scalar != nil:
			text = s.Inputs[0].Value.Scalar.Text
		}
	}
	if len(diags) == 0 && text == "" {
		t.Fatalf("%q is lost without a diagnostic", raw)
	}
	return text, help
}

var exprToken = rapid.SampledFrom([]string{
	"inputs.fast", "a", "3", "-1", "1.5", "true", `"x"`, `'y'`, `"a: b"`, `" #1"`, `'it\'s'`, "==", "&&", "||", "!", "not", "in", "+", "-",
	"*", ">", "|", "?", ":", "??", "(", ")", "[", "]", "{", "}", ",", "#", ".x", "%", "@", "&", "`raw`", "len(a)", `xs["k"]`, "${{", "}}", "~",
})

func drawExpr(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "tokens") {
		b.WriteString(exprToken.Draw(t, "token"))
		b.WriteString(rapid.SampledFrom([]string{"", " ", " "}).Draw(t, "space"))
	}
	return strings.TrimSpace(b.String())
}

// No expression is changed behind its author's back: it is read as it stands, or there is an error. Cut
// off may be only what follows a complete expression as a comment. What the help says to write instead is
// read as the whole expression.
func TestNoExpressionIsEatenSilently(t *testing.T) {
	for name, place := range map[string]struct{ before, after string }{
		"block":    {"    when: ", ""},
		"check":    {"    post_checks:\n      - validation: ", ""},
		"flow":     {"    post_checks: [{validation: ", "}]"},
		"template": {"    inputs:\n      x: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				raw := drawExpr(t)
				if name == "template" {
					if strings.Contains(raw, "{{") || strings.Contains(raw, "}}") {
						return // text around several templates
					}
					raw = "${{ " + raw + " }}"
				}
				if raw[0] == '"' || raw[0] == '\'' {
					if rest, closed := document.AfterQuote(raw); closed && (rest == "" || rest[0] == '#' || name == "flow" && strings.ContainsAny(rest[:1], ",}")) {
						return // a proper quoted scalar
					}
				}
				text, help := written(t, place.before, raw, place.after)
				if len(help) == 0 {
					if raw[0] == '&' && strings.HasSuffix(raw, " "+text) {
						return // an anchor, which is allowed
					}
					head, _, cut := strings.Cut(raw, " #")
					if text != raw && !(cut && text == strings.TrimSpace(head) && !read.Incomplete(head)) && !properFlow(name, raw, text) {
						t.Fatalf("%q is read as %q without a diagnostic", raw, text)
					}
					return
				}
				if len(help) != 1 || name == "flow" || strings.Contains(raw, " #") || !strings.HasPrefix(help[0], "write ") {
					return
				}
				_, rewrite, _ := strings.Cut(help[0], ": ")
				if again, more := written(t, place.before, rewrite, place.after); len(more) > 0 || again != raw {
					t.Fatalf("for %q the help is %q, which is read as %q, %q", raw, help[0], again, more)
				}
			})
		})
	}
}

// properFlow reports whether a comma or bracket ended the expression where it is complete: then it is what
// the author may have meant.
func properFlow(name, raw, text string) bool {
	return name == "flow" && strings.HasPrefix(raw, text) && !read.Incomplete(text)
}

func TestIncomplete(t *testing.T) {
	for s, want := range map[string]bool{
		"a": false, "a == ": true, `a == "x`: true, `a == "x"`: false, "f(a,": true, "f(a)": false, "a and": true, "brand": false,
		"xs[": true, `"\""`: false, "`a": true, "x not": true, "not": true, "": true, "a.": true, "(a)) ": false,
	} {
		if got := read.Incomplete(s); got != want {
			t.Errorf("incomplete(%q) = %v", s, got)
		}
	}
}
