package specs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/data"
	"example.com/pipe/specs/document"
)

// key is a key of a mapping: what it may be, what holds without it and what it means, for people, and the
// reader of its value. The node given is never an alias.
type key[T any] struct {
	name     string
	value    Value
	fallback string
	doc      string
	read     func(r *reader, n *yaml.Node, into *T)
}

// ignored starts the keys of a document that are left alone: anchors have a place there.
const ignored = "x-"

// readKeys reads a mapping by its keys and returns the fields that it has. ok is false if it is none.
func readKeys[T any](r *reader, n *yaml.Node, what string, keys []key[T], into *T) (fs []field, ok bool) {
	fs, ok = r.fields(n, what)
	before := len(*r.diags)
	var unknown []field
next:
	for _, f := range fs {
		for i := range keys {
			if keys[i].name != f.name {
				continue
			}
			if v, done := r.follow(f.value); v != nil {
				outer := r.words
				r.words = keys[i].value.Words
				keys[i].read(r, v, into)
				r.words = outer
				done()
			}
			continue next
		}
		if n == r.top && len(f.name) > len(ignored) && strings.HasPrefix(f.name, ignored) {
			continue
		}
		unknown = append(unknown, f)
	}
	if len(unknown) == 0 {
		return fs, ok
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	found := (*r.diags)[before:]
	for _, f := range unknown {
		if !remainder(n, f, found) {
			r.unknown(n, f, what, names)
		}
	}
	return fs, ok
}

// remainder reports whether a key of a { } is the rest of an expression that a comma split, and that was
// reported.
func remainder(n *yaml.Node, f field, found diag.List) bool {
	if n.Style&yaml.FlowStyle == 0 || !isNull(f.value) || f.value.Value != "" || !strings.ContainsAny(f.name, ")]\"'") {
		return false
	}
	return slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == document.CodeIndicator })
}

func has(fs []field, name string) bool { return find(fs, name) != nil }

func find(fs []field, name string) *field {
	for i := range fs {
		if fs[i].name == name {
			return &fs[i]
		}
	}
	return nil
}

// text reads text that may be of several lines and hold ${{ }}.
func (r *reader) text(n *yaml.Node, what string) *source.Scalar {
	switch {
	case r.isBlank(n):
		return nil
	case r.doc.HasTag(n):
		r.tagged(n, what)
		return nil
	case n.Kind == yaml.ScalarNode && !isString(n) && !isNull(n):
		r.wrongKind(n, what, "text")
		last := &(*r.diags)[len(*r.diags)-1]
		last.Help = "quote it: " + document.Quote(short(n.Value))
		return nil
	case !isString(n):
		if !r.eatenTemplate(n, what) {
			r.wrongKind(n, what, "text")
		}
		return nil
	}
	s := r.doc.Scalar(n)
	if r.cutTemplate(n, what) {
		return nil
	}
	return &s
}

func (r *reader) tagged(n *yaml.Node, what string) {
	off := r.doc.Offset(n)
	tag, _, _ := strings.Cut(r.doc.RestOfLine(off), " ")
	r.diags.Errorf(codeTagged, r.doc.Between(off, off+len(tag)), "%s has the tag %q, which has no meaning here", what, short(tag)).
		Help = "quote text that starts with \"!\""
}

// filled is text that must not be empty.
func (r *reader) filled(n *yaml.Node, what string) *source.Scalar {
	s := r.text(n, what)
	if s != nil && strings.TrimSpace(s.Text) == "" {
		r.diags.Errorf(codeValue, s.Span, "%s is empty", what)
		return nil
	}
	return s
}

// message reads text for a process or a person that must not be empty, or {cel: …} in its place.
func (r *reader) message(n *yaml.Node, what string) *Text {
	if r.isCEL(n) {
		if sc := r.cel(n, what); sc != nil {
			return &Text{*sc, true}
		}
		return nil
	}
	if sc := r.filled(n, what); sc != nil {
		return &Text{*sc, false}
	}
	return nil
}

// str reads a string of one line that is not empty.
func (r *reader) str(n *yaml.Node, what string) *Leaf[string] {
	s := r.filled(n, what)
	if s == nil {
		return nil
	}
	return &Leaf[string]{s.Text, s.Span}
}

// word reads one of the words that the key may be.
func (r *reader) word(n *yaml.Node, what string) *Leaf[string] {
	words := r.words
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.wrongKind(n, what, "one of "+list(words))
		return nil
	}
	if r.doc.HasTag(n) {
		r.tagged(n, what)
		return nil
	}
	for _, w := range words {
		if n.Value == w {
			return &Leaf[string]{w, r.doc.Span(n)}
		}
	}
	msg := ""
	if s := diag.Suggest(n.Value, words); s != "" {
		msg = "; " + s
	}
	r.diags.Errorf(codeValue, r.doc.Span(n), "%s must be one of %s, not %q%s", what, list(words), short(n.Value), msg)
	return nil
}

// boolean reads true or false.
func (r *reader) boolean(n *yaml.Node, what string) *Leaf[bool] {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		if v, err := data.Scalar(n.Tag, n.Value); err == nil {
			b, _ := v.(bool)
			return &Leaf[bool]{b, r.doc.Span(n)}
		}
	}
	r.wrongKind(n, what, "true or false")
	return nil
}

// integer reads a whole number between two bounds.
func (r *reader) integer(n *yaml.Node, what string, low, high int64) *Leaf[int] {
	want := "a whole number from " + strconv.FormatInt(low, 10)
	if high < math.MaxInt32 {
		want += " to " + strconv.FormatInt(high, 10)
	} else {
		want += " on"
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		r.wrongKind(n, what, want)
		return nil
	}
	v, err := data.Scalar(n.Tag, n.Value)
	i, ok := v.(int64)
	if err != nil || !ok || i < low || i > high {
		r.diags.Errorf(codeValue, r.doc.Span(n), "%s must be %s, not %s", what, want, short(n.Value))
		return nil
	}
	return &Leaf[int]{int(i), r.doc.Span(n)}
}

// duration reads a length of time, at least low.
func (r *reader) duration(n *yaml.Node, what string, low time.Duration) *Leaf[Duration] {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.wrongKind(n, what, `a length of time such as "30m" or "5s"`)
		return nil
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case err != nil || n.Tag != "!!str":
		diagnostic := r.diags.Errorf(codeValue, r.doc.Span(n), "%s must be a length of time such as \"30m\" or \"5s\", not %q", what, short(n.Value))
		if n.Tag == "!!int" {
			diagnostic.Help = "give the unit: " + n.Value + "s or " + n.Value + "m"
		}
		return nil
	case d < low && low > 0:
		r.diags.Errorf(codeValue, r.doc.Span(n), "%s must be more than 0, not %s", what, short(n.Value))
		return nil
	case d < low:
		r.diags.Errorf(codeValue, r.doc.Span(n), "%s must not be negative, as %s is", what, short(n.Value))
		return nil
	}
	return &Leaf[Duration]{d, r.doc.Span(n)}
}

// list reads a list, each entry with read. ok is false if there is none.
func (r *reader) list(n *yaml.Node, what, of string, read func(n *yaml.Node)) (ok bool) {
	items, ok := r.items(n, what, of)
	for _, item := range items {
		if v, done := r.follow(item); v != nil {
			read(v)
			done()
		}
	}
	return ok
}
