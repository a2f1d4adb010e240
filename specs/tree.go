package specs

import (
	"gopkg.in/yaml.v3"

	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"

	"example.com/pipe/specs/data"
)

// constant reads any value as written; nothing in it is an expression in CEL.
func (r *reader) constant(n *yaml.Node, what string) *Data { return r.tree(n, what, 0, false) }

// data reads any value as written, in which expressions may stand.
func (r *reader) data(n *yaml.Node, what string) *Data { return r.tree(n, what, 0, true) }

// tree reads a value of the given depth. exprs says whether a mapping with the key cel is an expression.
func (r *reader) tree(n *yaml.Node, what string, depth int, exprs bool) *Data {
	n, done := r.Follow(n)
	if n == nil {
		return nil
	}
	defer done()
	if depth > document.MaxDepth {
		r.Diags.Errorf(document.CodeDepth, r.Doc.Span(n), "%s is nested more than %d levels deep", what, document.MaxDepth)
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		if exprs && r.isCEL(n) {
			sc := r.cel(n, what)
			if sc == nil {
				return nil
			}
			return &Data{Kind: CELData, Scalar: sc, Span: sc.Span}
		}
		if r.EatenTemplate(n, what) {
			return nil
		}
		fs, _ := r.Fields(n, what)
		d := &Data{Kind: MappingData, Span: r.Doc.Whole(n), Fields: make([]*Entry, 0, len(fs))}
		for _, f := range fs {
			d.Fields = append(d.Fields, r.entry(f, what, depth+1, exprs))
		}
		return d
	case yaml.SequenceNode:
		d := &Data{Kind: SequenceData, Span: r.Doc.Whole(n), Items: make([]*Data, 0, len(n.Content))}
		for _, item := range n.Content {
			if v := r.tree(item, what, depth+1, exprs); v != nil {
				d.Items = append(d.Items, v)
			}
		}
		return d
	}
	return r.scalarData(n, what)
}

func (r *reader) scalarData(n *yaml.Node, what string) *Data {
	switch {
	case r.IsBlank(n):
		return nil
	case r.Doc.HasTag(n):
		r.Tagged(n, what)
		return nil
	case read.IsString(n):
		if r.CutTemplate(n, what) {
			return nil
		}
		s := r.Doc.Scalar(n)
		return &Data{Kind: ScalarData, Scalar: &s, Span: s.Span}
	}
	v, err := data.Scalar(n.Tag, n.Value)
	if err != nil {
		r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), "%s: %s", what, err)
		return nil
	}
	return &Data{Kind: ValueData, Value: v, Span: r.Doc.Span(n)}
}

func (r *reader) entry(f field, what string, depth int, exprs bool) *Entry {
	return &Entry{
		Name:  Leaf[string]{Value: f.Name, Span: r.Doc.Span(f.Key)},
		Value: r.tree(f.Value, what, depth, exprs),
	}
}

// entries reads a mapping of names to values. A name of which the value was reported as wrong stays, with
// a nil value.
func (r *reader) entries(n *yaml.Node, what, of string, check func(Leaf[string]) bool) []*Entry {
	fs, ok := r.Fields(n, what)
	if !ok {
		return nil
	}
	out := make([]*Entry, 0, len(fs))
	for _, f := range fs {
		name := Leaf[string]{Value: f.Name, Span: r.Doc.Span(f.Key)}
		if !check(name) {
			continue
		}
		out = append(out, &Entry{Name: name, Value: r.data(f.Value, of+` "`+read.Short(f.Name)+`"`)})
	}
	return out
}
