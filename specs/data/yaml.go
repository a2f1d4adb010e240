package data

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// ReadYAML reads exactly one YAML document of strings, numbers, bools, nulls, lists and mappings with keys
// that are strings. Aliases and "<<" are followed within the budget of values. A time is the string that
// stands there.
func ReadYAML(b []byte) (value.Value, error) {
	if err := check(b, MaxYAML); err != nil {
		return nil, err
	}
	root, err := parseYAML(strings.TrimPrefix(string(b), "\ufeff"))
	if err != nil {
		return nil, err
	}
	r := &yamlReader{}
	return r.read(root, 0)
}

// parseYAML returns the node of the only document.
func parseYAML(text string) (node *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some of its own inconsistencies
			err = &Error{Message: fmt.Sprintf("not YAML: %v", p)}
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, &Error{source.Pos{Line: 1, Col: 1}, "expected a YAML document, and there is none"}
	} else if err != nil {
		return nil, syntaxError(text, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, errorAt(&second, "expected one document, and a second one starts here")
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(text, err)
	}
	if len(first.Content) != 1 {
		return nil, &Error{source.Pos{Line: 1, Col: 1}, "expected a YAML document, and there is none"}
	}
	return first.Content[0], nil
}

// syntaxError takes the line out of the parser's message. Of a character that YAML has no place for it names none.
func syntaxError(text string, err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if at := strings.IndexFunc(text, isControl); at >= 0 && strings.Contains(msg, "control characters") {
		return &Error{place([]byte(text), at), "not YAML: a control character (write it as an escape inside double quotes)"}
	}
	if strings.Contains(msg, "max depth") {
		msg = "values are nested too deeply"
	}
	e := &Error{source.Pos{Line: 1, Col: 1}, "not YAML: " + msg} // where no line is named
	if _, rest, ok := strings.Cut(msg, "unknown anchor '"); ok {
		name, _, _ := strings.Cut(rest, "'")
		e.Pos = place([]byte(text), strings.Index(text, "*"+name))
	}
	if number, rest, ok := strings.Cut(strings.TrimPrefix(msg, "line "), ": "); ok && strings.HasPrefix(msg, "line ") {
		if n, err := strconv.Atoi(number); err == nil {
			e.Pos, e.Message = source.Pos{Line: n, Col: 1}, "not YAML: "+rest
		}
	}
	return e
}

// isControl reports whether YAML allows a character in escapes alone.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r >= 0xd800 && r < 0xe000 || r == 0xfffe || r == 0xffff
}

func errorAt(n *yaml.Node, format string, args ...any) error {
	return &Error{source.Pos{Line: n.Line, Col: n.Column}, fmt.Sprintf(format, args...)}
}

type yamlReader struct {
	n    int
	open []*yaml.Node // nodes of anchors that are being read
}

func (r *yamlReader) read(n *yaml.Node, depth int) (value.Value, error) {
	if r.n++; r.n > MaxValues {
		return nil, errorAt(n, "the document stands for more than %d values", MaxValues)
	}
	if depth > MaxDepth {
		return nil, errorAt(n, "values are nested more than %d levels deep", MaxDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if err := r.enter(n); err != nil {
			return nil, err
		}
		defer r.leave()
		return r.read(n.Alias, depth+1)
	case yaml.SequenceNode:
		if err := knownTag(n, "!!seq"); err != nil {
			return nil, err
		}
		out := make(value.List, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := r.read(c, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		if err := knownTag(n, "!!map"); err != nil {
			return nil, err
		}
		return r.mapping(n, depth)
	}
	switch n.Tag {
	case "!!str", "!!timestamp", "!!merge":
		return n.Value, nil
	}
	v, err := Scalar(n.Tag, n.Value)
	if err != nil {
		return nil, errorAt(n, "%v", err)
	}
	return v, nil
}

func knownTag(n *yaml.Node, want string) error {
	if n.Tag != want {
		return errorAt(n, "a value with the tag %q has no form here", short(n.Tag))
	}
	return nil
}

// enter notes that an alias is being followed.
func (r *yamlReader) enter(n *yaml.Node) error {
	for _, o := range r.open {
		if o == n.Alias {
			return errorAt(n, "the anchor %q contains itself", short(n.Value))
		}
	}
	r.open = append(r.open, n.Alias)
	return nil
}

func (r *yamlReader) leave() { r.open = r.open[:len(r.open)-1] }

func (r *yamlReader) mapping(n *yaml.Node, depth int) (value.Value, error) {
	out := value.NewObject()
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merges = append(merges, val)
			continue
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, errorAt(n.Content[i], "a key must be a string")
		}
		if _, twice := out.Get(key.Value); twice {
			return nil, errorAt(n.Content[i], "the key %q is given twice in one mapping", short(key.Value))
		}
		v, err := r.read(val, depth+1)
		if err != nil {
			return nil, err
		}
		out.Set(key.Value, v)
	}
	for _, m := range merges {
		if err := r.merge(m, out, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merge adds the keys of the value of "<<" that are not there yet.
func (r *yamlReader) merge(n *yaml.Node, out *value.Object, depth int) error {
	v, err := r.read(n, depth)
	if err != nil {
		return err
	}
	list, ok := v.(value.List)
	if !ok {
		list = value.List{v}
	}
	for _, m := range list {
		o, ok := m.(*value.Object)
		if !ok {
			return errorAt(n, `the value of "<<" must be a mapping or a list of mappings`)
		}
		for name, v := range o.All() {
			if _, there := out.Get(name); !there {
				out.Set(name, v)
			}
		}
	}
	return nil
}
