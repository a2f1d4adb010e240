package specs

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// reader reads the mappings of the language, by the tables of their keys.
type reader struct {
	*read.Reader
	reference func() []Section // the tables, which can't name themselves
}

func newReader(doc *document.Document, diags *diag.List) *reader {
	return &reader{read.NewReader(doc, diags), Reference}
}

// field is a key of a mapping with its value.
type field = read.Field

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
	fs, ok = r.Fields(n, what)
	before := len(*r.Diags)
	var unknown []field
next:
	for _, f := range fs {
		for i := range keys {
			if keys[i].name != f.Name {
				continue
			}
			if v, done := r.Follow(f.Value); v != nil {
				outer := r.Words
				r.Words = keys[i].value.Words
				keys[i].read(r, v, into)
				r.Words = outer
				done()
			}
			continue next
		}
		if n == r.Top && len(f.Name) > len(ignored) && strings.HasPrefix(f.Name, ignored) {
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
	found := (*r.Diags)[before:]
	for _, f := range unknown {
		if remainder(n, f, found) {
			continue
		}
		if !misplaced(r, f, fs, what, keys) {
			r.Unknown(n, f, what, names)
		}
	}
	return fs, ok
}

// misplaced reports a key that is none of a mapping, but one of a mapping in it: of those that stand there, else of any.
func misplaced[T any](r *reader, f field, fs []field, what string, keys []key[T]) bool {
	var there, all []string
	for i := range keys {
		k := &keys[i]
		if !k.value.isMapping() || !r.isKeyOf(k.value.Keys, f.Name) {
			continue
		}
		if all = append(all, k.name); has(fs, k.name) {
			there = append(there, k.name)
		}
	}
	if len(there) > 0 {
		all = there
	}
	if len(all) == 0 {
		return false
	}
	write := make([]string, len(all))
	for i, name := range all {
		write[i] = name + ": {" + f.Name + ": …}"
	}
	r.Diags.Errorf(read.CodeUnknownKey, r.Doc.Span(f.Key), "unknown key %q in %s; it belongs in %s", f.Name, what,
		strings.Join(all, " or ")).Help = "write " + strings.Join(write, ", or ")
	return true
}

// isKeyOf reports whether the mapping of a section may have a key.
func (r *reader) isKeyOf(section, name string) bool {
	return slices.ContainsFunc(r.reference(), func(s Section) bool {
		return s.Name == section && slices.ContainsFunc(s.Keys, func(k Key) bool { return k.Name == name })
	})
}

// remainder reports whether a key of a { } is the rest of an expression that a comma split, and that was
// reported.
func remainder(n *yaml.Node, f field, found diag.List) bool {
	if n.Style&yaml.FlowStyle == 0 || !read.IsNull(f.Value) || f.Value.Value != "" || !strings.ContainsAny(f.Name, ")]\"'") {
		return false
	}
	return slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == document.CodeIndicator })
}

func has(fs []field, name string) bool { return find(fs, name) != nil }

func find(fs []field, name string) *field {
	for i := range fs {
		if fs[i].Name == name {
			return &fs[i]
		}
	}
	return nil
}
