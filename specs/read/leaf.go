package read

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/data"
	"example.com/pipe/specs/document"
)

// Leaf is a decoded scalar with its place. A nil *Leaf is a key that is not there.
type Leaf[T any] struct {
	Value T
	Span  source.Span
}

// Text reads text that may be of several lines and hold ${{ }}.
func (r *Reader) Text(n *yaml.Node, what string) *source.Scalar {
	switch {
	case r.IsBlank(n):
		return nil
	case r.Doc.HasTag(n):
		r.Tagged(n, what)
		return nil
	case n.Kind == yaml.ScalarNode && !IsString(n) && !IsNull(n):
		r.WrongKind(n, what, "text")
		r.Advise("quote it: " + document.Quote(Short(n.Value)))
		return nil
	case !IsString(n):
		if !r.EatenTemplate(n, what) {
			r.WrongKind(n, what, "text")
		}
		return nil
	}
	s := r.Doc.Scalar(n)
	if r.CutTemplate(n, what) {
		return nil
	}
	return &s
}

func (r *Reader) Tagged(n *yaml.Node, what string) {
	off := r.Doc.Offset(n)
	tag, _, _ := strings.Cut(r.Doc.RestOfLine(off), " ")
	r.Diags.Errorf(CodeTagged, r.Doc.Between(off, off+len(tag)), "%s has the tag %q, which has no meaning here", what, Short(tag)).
		Help = "quote text that starts with \"!\""
}

// Filled is text that must not be empty.
func (r *Reader) Filled(n *yaml.Node, what string) *source.Scalar {
	s := r.Text(n, what)
	if s != nil && strings.TrimSpace(s.Text) == "" {
		r.Diags.Errorf(CodeValue, s.Span, "%s is empty", what)
		return nil
	}
	return s
}

// Str reads a string of one line that is not empty.
func (r *Reader) Str(n *yaml.Node, what string) *Leaf[string] {
	s := r.Filled(n, what)
	if s == nil {
		return nil
	}
	return &Leaf[string]{s.Text, s.Span}
}

// Word reads one of the words that the key may be.
func (r *Reader) Word(n *yaml.Node, what string) *Leaf[string] {
	words := r.Words
	if n.Kind != yaml.ScalarNode || IsNull(n) {
		r.WrongKind(n, what, "one of "+List(words))
		return nil
	}
	if r.Doc.HasTag(n) {
		r.Tagged(n, what)
		return nil
	}
	for _, w := range words {
		if n.Value == w {
			return &Leaf[string]{w, r.Doc.Span(n)}
		}
	}
	msg := ""
	if s := diag.Suggest(n.Value, words); s != "" {
		msg = "; " + s
	}
	r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s must be one of %s, not %q%s", what, List(words), Short(n.Value), msg)
	return nil
}

// Boolean reads true or false.
func (r *Reader) Boolean(n *yaml.Node, what string) *Leaf[bool] {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		if v, err := data.Scalar(n.Tag, n.Value); err == nil {
			b, _ := v.(bool)
			return &Leaf[bool]{b, r.Doc.Span(n)}
		}
	}
	r.WrongKind(n, what, "true or false")
	return nil
}

// Integer reads a whole number between two bounds.
func (r *Reader) Integer(n *yaml.Node, what string, low, high int64) *Leaf[int] {
	want := "a whole number from " + strconv.FormatInt(low, 10)
	if high < math.MaxInt32 {
		want += " to " + strconv.FormatInt(high, 10)
	} else {
		want += " on"
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		r.WrongKind(n, what, want)
		return nil
	}
	v, err := data.Scalar(n.Tag, n.Value)
	i, ok := v.(int64)
	if err != nil || !ok || i < low || i > high {
		r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s must be %s, not %s", what, want, Short(n.Value))
		return nil
	}
	return &Leaf[int]{int(i), r.Doc.Span(n)}
}

// Duration reads a length of time, at least low.
func (r *Reader) Duration(n *yaml.Node, what string, low time.Duration) *Leaf[time.Duration] {
	if n.Kind != yaml.ScalarNode || IsNull(n) {
		r.WrongKind(n, what, `a length of time such as "30m" or "5s"`)
		return nil
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case err != nil || n.Tag != "!!str":
		diagnostic := r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s must be a length of time such as \"30m\" or \"5s\", not %q", what, Short(n.Value))
		if n.Tag == "!!int" {
			diagnostic.Help = "give the unit: " + n.Value + "s or " + n.Value + "m"
		}
		return nil
	case d < low && low > 0:
		r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s must be more than 0, not %s", what, Short(n.Value))
		return nil
	case d < low:
		r.Diags.Errorf(CodeValue, r.Doc.Span(n), "%s must not be negative, as %s is", what, Short(n.Value))
		return nil
	}
	return &Leaf[time.Duration]{d, r.Doc.Span(n)}
}

// List reads a list, each entry with read. ok is false if there is none.
func (r *Reader) List(n *yaml.Node, what, of string, read func(n *yaml.Node)) (ok bool) {
	items, ok := r.items(n, what, of)
	for _, item := range items {
		if v, done := r.Follow(item); v != nil {
			read(v)
			done()
		}
	}
	return ok
}
