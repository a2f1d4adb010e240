package specs

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
)

// The codes of mistakes of shape.
const (
	codeUnknownKey   diag.Code = "unknown-key"
	codeDuplicateKey diag.Code = "duplicate-key"
	codeMissingKey   diag.Code = "missing-key"
	codeKind         diag.Code = "wrong-kind"
	codeValue        diag.Code = "wrong-value"
	codeConflict     diag.Code = "key-conflict"
	codeTagged       diag.Code = "yaml-tag"
)

// A reader walks the nodes of one document into a syntax tree. It goes on after each mistake: what could
// not be read is left nil.
type reader struct {
	doc     *document.Document
	diags   *diag.List
	top     *yaml.Node              // the document's own mapping
	open    []*yaml.Node            // nodes of anchors that are being read
	aliased int                     // nodes reached through aliases
	over    bool                    // the budget of aliased nodes is used up, and that was reported
	edge    map[*yaml.Node]bool     // of a cut document: the nodes that may lack what was cut off
	words   []string                // what the key that is being read may be, if that is one of a few words
	meant   map[*yaml.Node][]string // keys that unknown ones of a mapping are likely meant for
}

func newReader(doc *document.Document, diags *diag.List) *reader {
	r := &reader{doc: doc, diags: diags, top: doc.Content(), meant: map[*yaml.Node][]string{}}
	if doc.Cut && doc.Root != nil {
		r.edge = map[*yaml.Node]bool{}
		for n := doc.Root; ; n = n.Content[len(n.Content)-1] {
			r.edge[n] = true
			if len(n.Content) == 0 {
				break
			}
		}
	}
	return r
}

// field is a key of a mapping with its value.
type field struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// follow returns the node that n stands for, an alias resolved. It returns nil, after a diagnostic, where
// an anchor contains itself or the budget of aliased nodes is used up. The caller calls the done function
// when it has read the node.
func (r *reader) follow(n *yaml.Node) (*yaml.Node, func()) {
	if n.Kind != yaml.AliasNode {
		if len(r.open) > 0 && !r.spend(n) {
			return nil, nil
		}
		return n, func() {}
	}
	for _, o := range r.open {
		if o == n.Alias {
			r.diags.Errorf(document.CodeAlias, r.doc.Span(n), "the anchor %q contains itself", n.Value)
			return nil, nil
		}
	}
	if len(r.open) >= document.MaxDepth || !r.spend(n) {
		return nil, nil
	}
	r.open = append(r.open, n.Alias)
	return n.Alias, func() { r.open = r.open[:len(r.open)-1] }
}

// spend counts a node that is read through an alias.
func (r *reader) spend(n *yaml.Node) bool {
	if r.aliased++; r.aliased <= document.MaxAliased {
		return true
	}
	if !r.over {
		r.over = true
		r.diags.Errorf(document.CodeAlias, r.doc.Span(n), "aliases and merges stand for more than %d values in this file", document.MaxAliased).
			Help = "an alias of a value that holds aliases multiplies; write the value out, or use a default"
	}
	return false
}

// fields returns the keys of a mapping in order, "<<" merged in. Keys that are no strings and repeated
// keys are reported. ok is false, after a diagnostic, if n is no mapping.
func (r *reader) fields(n *yaml.Node, what string) (fs []field, ok bool) {
	if n.Kind != yaml.MappingNode {
		r.wrongKind(n, what, "a mapping (key: value)")
		return nil, false
	}
	if n.Tag != "!!map" {
		r.tagged(n, what)
	}
	fs = make([]field, 0, len(n.Content)/2)
	var seen map[string]*yaml.Node
	if len(n.Content) > 32 {
		seen = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merges = append(merges, val)
			continue
		}
		name, ok := r.keyName(key)
		if !ok {
			continue
		}
		if first := findKey(fs, seen, name); first != nil {
			d := r.diags.Errorf(codeDuplicateKey, r.doc.Span(key), "the key %q is given twice in %s", name, what)
			d.Related = []diag.Related{{Span: r.doc.Span(first), Message: "first given here"}}
			continue
		}
		if seen != nil {
			seen[name] = key
		}
		fs = append(fs, field{name, key, val})
	}
	for _, m := range merges {
		fs = r.merge(m, fs, seen, what)
	}
	return fs, true
}

func findKey(fs []field, seen map[string]*yaml.Node, name string) *yaml.Node {
	if seen != nil {
		return seen[name]
	}
	for i := range fs {
		if fs[i].name == name {
			return fs[i].key
		}
	}
	return nil
}

// merge adds the keys of the value of "<<" that are not there yet.
func (r *reader) merge(n *yaml.Node, fs []field, seen map[string]*yaml.Node, what string) []field {
	n, done := r.follow(n)
	if n == nil {
		return fs
	}
	defer done()
	if n.Kind == yaml.SequenceNode {
		for _, m := range n.Content {
			if m.Kind == yaml.SequenceNode {
				r.wrongKind(m, `an entry of "<<"`, "a mapping")
				continue
			}
			fs = r.merge(m, fs, seen, what)
		}
		return fs
	}
	more, _ := r.fields(n, `the value of "<<"`)
	for _, f := range more {
		if !r.spend(f.key) {
			break
		}
		if findKey(fs, seen, f.name) != nil {
			continue
		}
		if seen != nil {
			seen[f.name] = f.key
		}
		fs = append(fs, f)
	}
	return fs
}

func (r *reader) keyName(key *yaml.Node) (string, bool) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	switch {
	case key.Kind != yaml.ScalarNode:
		r.diags.Errorf(codeKind, r.doc.Span(key), "a key must be a string, not %s", kindName(key))
		return "", false
	case key.Tag == "!!null" && key.Value == "":
		r.diags.Errorf(codeKind, r.doc.Span(key), "a key is missing before this \":\"")
		return "", false
	}
	return key.Value, true
}

// items returns the entries of a sequence; ok is false, after a diagnostic, if n is none.
func (r *reader) items(n *yaml.Node, what, of string) ([]*yaml.Node, bool) {
	if n.Kind != yaml.SequenceNode {
		r.wrongKind(n, what, "a list of "+of)
		return nil, false
	}
	if n.Tag != "!!seq" {
		r.tagged(n, what)
	}
	return n.Content, true
}

// wrongKind reports a value of the wrong kind.
func (r *reader) wrongKind(n *yaml.Node, what, want string) {
	if r.isBlank(n) {
		return
	}
	r.diags.Errorf(codeKind, r.doc.Span(n), "%s must be %s, not %s", what, want, kindName(n))
}

// isBlank reports whether n is the empty value that is left of one that was reported already.
func (r *reader) isBlank(n *yaml.Node) bool {
	return isNull(n) && (r.doc.Blank[n.Line] || r.edge[n])
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func isString(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "!!timestamp" || n.Tag == "!!merge")
}

// kindName says what a node is, in words that fit "not …".
func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!null":
		if n.Value == "" {
			return "empty"
		}
		return "null"
	case "!!bool":
		return "the bool " + short(n.Value)
	case "!!int", "!!float":
		return "the number " + short(n.Value)
	case "!!str", "!!timestamp", "!!merge":
		return fmt.Sprintf("the string %q", short(n.Value))
	}
	return "a value with the tag " + short(n.Tag)
}

// short cuts a text that a message quotes.
func short(s string) string {
	const most = 60
	if i := strings.IndexAny(s, "\r\n"); i >= 0 && i < most {
		return s[:i] + "…"
	}
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}

// missing reports a required key that is not there, unless an unknown one was reported that is meant for it.
func (r *reader) missing(at *yaml.Node, span source.Span, what, key, help string) {
	if r.edge[at] || slices.Contains(r.meant[at], key) {
		return
	}
	r.diags.Errorf(codeMissingKey, span, "%s has no %q; it is required", what, key).Help = help
}

// unknown reports a key of the mapping n that is none, with the nearest one and all there are.
func (r *reader) unknown(n *yaml.Node, f field, what string, keys []string) {
	msg := fmt.Sprintf("unknown key %q in %s", short(f.name), what)
	if s := diag.Suggest(f.name, keys); s != "" {
		msg += "; " + s
		r.meant[n] = append(r.meant[n], diag.Nearest(f.name, keys))
	}
	r.diags.Errorf(codeUnknownKey, r.doc.Span(f.key), "%s", msg).Help = "the keys of " + what + " are " + list(keys)
}

func list(words []string) string { return strings.Join(words, ", ") }
