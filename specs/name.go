package specs

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// nameForm is what a name is made of.
type nameForm struct {
	*regexp.Regexp
	of string // in words
}

var (
	pipelineName = nameForm{regexp.MustCompile(`^[a-z][a-z0-9-]*$`), "lower-case letters, digits and dashes, beginning with a letter"}
	stageID      = nameForm{regexp.MustCompile(`^[a-z][a-z0-9_-]*$`), `lower-case letters, digits, "_" and "-", beginning with a letter`}
	paramName    = nameForm{regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`), `letters, digits, "_" and "-", beginning with a letter or "_"`}

	// envName is a name of a shell's variable.
	envName = nameForm{regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), `letters, digits and "_", beginning with a letter or "_"`}

	// bareName is a name that a check can read alone, without an object before it.
	bareName = envName
)

// maxName is the most characters of a stage's id and of a pipeline's name: both become names of files.
const maxName = 80

// near gives a name of the form that is much like a text, "" if there is none.
func (f nameForm) near(text string) string {
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

// name reads a name.
func (r *reader) name(n *yaml.Node, what string, form nameForm) *Leaf[string] {
	if n.Kind == yaml.ScalarNode && !isString(n) && !isNull(n) && n.Style&yaml.TaggedStyle == 0 {
		r.badName(Leaf[string]{n.Value, r.doc.Span(n)}, what, form)
		return nil
	}
	l := r.str(n, what)
	if l == nil || !r.goodName(*l, what, form) {
		return nil
	}
	return l
}

func (r *reader) goodName(l Leaf[string], what string, form nameForm) bool {
	if !form.MatchString(l.Value) {
		r.badName(l, what, form)
		return false
	}
	if (form == stageID || form == pipelineName) && len(l.Value) > maxName {
		r.diags.Errorf(codeValue, l.Span, "%s must have at most %d characters, and %q has %d", what, maxName, short(l.Value), len(l.Value))
		return false
	}
	return true
}

func (r *reader) badName(l Leaf[string], what string, form nameForm) {
	such := ""
	if near := form.near(l.Value); near != "" && near != l.Value {
		such = `, such as "` + near + `"`
	}
	r.diags.Errorf(codeValue, l.Span, "%s must be made of %s%s, and %q is not", what, form.of, such, short(l.Value))
}
