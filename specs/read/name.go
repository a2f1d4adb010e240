package read

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Form is what a name is made of.
type Form struct {
	*regexp.Regexp
	of string // in words
}

// The forms of names.
var (
	PipelineName = Form{regexp.MustCompile(`^[a-z][a-z0-9-]*$`), "lower-case letters, digits and dashes, beginning with a letter"}
	StageID      = Form{regexp.MustCompile(`^[a-z][a-z0-9_-]*$`), `lower-case letters, digits, "_" and "-", beginning with a letter`}
	ParamName    = Form{regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`), `letters, digits, "_" and "-", beginning with a letter or "_"`}

	// EnvName is a name of a shell's variable.
	EnvName = Form{regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), `letters, digits and "_", beginning with a letter or "_"`}

	// BareName is a name that a check can read alone, without an object before it.
	BareName = EnvName
)

// maxName is the most characters of a stage's id and of a pipeline's name: both become names of files.
const maxName = 80

// near gives a name of the form that is much like a text, "" if there is none.
func (f Form) near(text string) string {
	if !f.MatchString("A") {
		text = strings.ToLower(text)
	}
	link := "_"
	if f.MatchString("a-") {
		link = "-"
	}
	pieces := strings.FieldsFunc(text, func(r rune) bool { return r == '-' && link == "_" || !f.MatchString("a"+string(r)) })
	if name := strings.Join(pieces, link); f.MatchString(name) && len(name) <= maxName {
		return name
	}
	return ""
}

// Name reads a name.
func (r *Reader) Name(n *yaml.Node, what string, form Form) *Leaf[string] {
	if n.Kind == yaml.ScalarNode && !IsString(n) && !IsNull(n) && n.Style&yaml.TaggedStyle == 0 {
		r.badName(Leaf[string]{n.Value, r.Doc.Span(n)}, what, form)
		return nil
	}
	l := r.Str(n, what)
	if l == nil || !r.GoodName(*l, what, form) {
		return nil
	}
	return l
}

func (r *Reader) GoodName(l Leaf[string], what string, form Form) bool {
	if !form.MatchString(l.Value) {
		r.badName(l, what, form)
		return false
	}
	if (form == StageID || form == PipelineName) && len(l.Value) > maxName {
		r.Diags.Errorf(CodeValue, l.Span, "%s must have at most %d characters, and %q has %d", what, maxName, Short(l.Value), len(l.Value))
		return false
	}
	return true
}

func (r *Reader) badName(l Leaf[string], what string, form Form) {
	such := ""
	if near := form.near(l.Value); near != "" && near != l.Value {
		such = `, such as "` + near + `"`
	}
	r.Diags.Errorf(CodeValue, l.Span, "%s must be made of %s%s, and %q is not", what, form.of, such, Short(l.Value))
}
