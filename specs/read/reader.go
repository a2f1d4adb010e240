package read

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
	CodeUnknownKey   diag.Code = "unknown-key"
	CodeDuplicateKey diag.Code = "duplicate-key"
	CodeMissingKey   diag.Code = "missing-key"
	CodeKind         diag.Code = "wrong-kind"
	CodeValue        diag.Code = "wrong-value"
	CodeConflict     diag.Code = "key-conflict"
	CodeTagged       diag.Code = "yaml-tag"
)

// A Reader walks the nodes of one document into a syntax tree. It goes on after each mistake: what could
// not be read is left nil.
type Reader struct {
	Doc     *document.Document
	Diags   *diag.List
	Top     *yaml.Node              // the document's own mapping
	open    []*yaml.Node            // nodes of anchors that are being read
	aliased int                     // nodes reached through aliases
	over    bool                    // the budget of aliased nodes is used up, and that was reported
	edge    map[*yaml.Node]bool     // of a cut document: the nodes that may lack what was cut off
	Words   []string                // what the key that is being read may be, if that is one of a few words
	Meant   map[*yaml.Node][]string // keys that unknown ones of a mapping are likely meant for
}

// NewReader gives the reader of a document, which reports into diags.
func NewReader(doc *document.Document, diags *diag.List) *Reader {
	r := &Reader{Doc: doc, Diags: diags, Top: doc.Content(), Meant: map[*yaml.Node][]string{}}
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

// Field is a key of a mapping with its value.
type Field struct {
	Name  string
	Key   *yaml.Node
	Value *yaml.Node
}

// Follow returns the node that n stands for, an alias resolved. It returns nil, after a diagnostic, where
// an anchor contains itself or the budget of aliased nodes is used up. The caller calls the done function
// when it has read the node.
func (r *Reader) Follow(n *yaml.Node) (*yaml.Node, func()) {
	if n.Kind != yaml.AliasNode {
		if len(r.open) > 0 && !r.spend(n) {
			return nil, nil
		}
		return n, func() {}
	}
	for _, o := range r.open {
		if o == n.Alias {
			r.Diags.Errorf(document.CodeAlias, r.Doc.Span(n), "the anchor %q contains itself", n.Value)
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
func (r *Reader) spend(n *yaml.Node) bool {
	if r.aliased++; r.aliased <= document.MaxAliased {
		return true
	}
	if !r.over {
		r.over = true
		r.Diags.Errorf(document.CodeAlias, r.Doc.Span(n), "aliases and merges stand for more than %d values in this file", document.MaxAliased).
			Help = "an alias of a value that holds aliases multiplies; write the value out, or use a default"
	}
	return false
}

// Fields returns the keys of a mapping in order, "<<" merged in. Keys that are no strings and repeated
// keys are reported. ok is false, after a diagnostic, if n is no mapping.
func (r *Reader) Fields(n *yaml.Node, what string) (fs []Field, ok bool) {
	if n.Kind != yaml.MappingNode {
		r.WrongKind(n, what, "a mapping (key: value)")
		return nil, false
	}
	if n.Tag != "!!map" {
		r.Tagged(n, what)
	}
	fs = make([]Field, 0, len(n.Content)/2)
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
			d := r.Diags.Errorf(CodeDuplicateKey, r.Doc.Span(key), "the key %q is given twice in %s", name, what)
			d.Related = []diag.Related{{Span: r.Doc.Span(first), Message: "first given here"}}
			continue
		}
		if seen != nil {
			seen[name] = key
		}
		fs = append(fs, Field{name, key, val})
	}
	for _, m := range merges {
		fs = r.merge(m, fs, seen, what)
	}
	return fs, true
}

func findKey(fs []Field, seen map[string]*yaml.Node, name string) *yaml.Node {
	if seen != nil {
		return seen[name]
	}
	for i := range fs {
		if fs[i].Name == name {
			return fs[i].Key
		}
	}
	return nil
}

// merge adds the keys of the value of "<<" that are not there yet.
func (r *Reader) merge(n *yaml.Node, fs []Field, seen map[string]*yaml.Node, what string) []Field {
	n, done := r.Follow(n)
	if n == nil {
		return fs
	}
	defer done()
	if n.Kind == yaml.SequenceNode {
		for _, m := range n.Content {
			if m.Kind == yaml.SequenceNode {
				r.WrongKind(m, `an entry of "<<"`, "a mapping")
				continue
			}
			fs = r.merge(m, fs, seen, what)
		}
		return fs
	}
	more, _ := r.Fields(n, `the value of "<<"`)
	for _, f := range more {
		if !r.spend(f.Key) {
			break
		}
		if findKey(fs, seen, f.Name) != nil {
			continue
		}
		if seen != nil {
			seen[f.Name] = f.Key
		}
		fs = append(fs, f)
	}
	return fs
}

func (r *Reader) keyName(key *yaml.Node) (string, bool) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	switch {
	case key.Kind != yaml.ScalarNode:
		r.Diags.Errorf(CodeKind, r.Doc.Span(key), "a key must be a string, not %s", kindName(key))
		return "", false
	case key.Tag == "!!null" && key.Value == "":
		r.Diags.Errorf(CodeKind, r.Doc.Span(key), "a key is missing before this \":\"")
		return "", false
	}
	return key.Value, true
}

// items returns the entries of a sequence; ok is false, after a diagnostic, if n is none.
func (r *Reader) items(n *yaml.Node, what, of string) ([]*yaml.Node, bool) {
	if n.Kind != yaml.SequenceNode {
		r.WrongKind(n, what, "a list of "+of)
		return nil, false
	}
	if n.Tag != "!!seq" {
		r.Tagged(n, what)
	}
	return n.Content, true
}

// WrongKind reports a value of the wrong kind.
func (r *Reader) WrongKind(n *yaml.Node, what, want string) {
	if r.IsBlank(n) {
		return
	}
	r.Diags.Errorf(CodeKind, r.Doc.Span(n), "%s must be %s, not %s", what, want, kindName(n))
}

// IsBlank reports whether n is the empty value that is left of one that was reported already.
func (r *Reader) IsBlank(n *yaml.Node) bool {
	return IsNull(n) && (r.Doc.Blank[n.Line] || r.edge[n])
}

// IsNull reports whether a node is null, or nothing.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// IsString reports whether a node is text.
func IsString(n *yaml.Node) bool {
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
		return "the bool " + Short(n.Value)
	case "!!int", "!!float":
		return "the number " + Short(n.Value)
	case "!!str", "!!timestamp", "!!merge":
		return fmt.Sprintf("the string %q", Short(n.Value))
	}
	return "a value with the tag " + Short(n.Tag)
}

// Short cuts a text that a message quotes.
func Short(s string) string {
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

// Missing reports a required key that is not there, unless an unknown one was reported that is meant for it.
func (r *Reader) Missing(at *yaml.Node, span source.Span, what, key, help string) {
	if r.edge[at] || slices.Contains(r.Meant[at], key) {
		return
	}
	r.Diags.Errorf(CodeMissingKey, span, "%s has no %q; it is required", what, key).Help = help
}

// Advise says what to do about what was reported last.
func (r *Reader) Advise(help string) { (*r.Diags)[len(*r.Diags)-1].Help = help }

// Unknown reports a key of the mapping n that is none, with the nearest one and all there are.
func (r *Reader) Unknown(n *yaml.Node, f Field, what string, keys []string) {
	msg := fmt.Sprintf("unknown key %q in %s", Short(f.Name), what)
	if s := diag.Suggest(f.Name, keys); s != "" {
		msg += "; " + s
		r.Meant[n] = append(r.Meant[n], diag.Nearest(f.Name, keys))
	}
	r.Diags.Errorf(CodeUnknownKey, r.Doc.Span(f.Key), "%s", msg).Help = "the keys of " + what + " are " + List(keys)
}

// List names words in a message.
func List(words []string) string { return strings.Join(words, ", ") }
