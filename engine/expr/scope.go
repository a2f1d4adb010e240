package expr

import "example.com/pipe/engine/value"

// Scope returns the type of the program's scope cut down to what the program reads: a field that no Ref
// leads through is left out, what a Ref ends at is there whole. The program compiles against it to the
// same result, and its size does not grow with the pipeline.
func (p *Program) Scope() value.Type {
	t := value.Type{Kind: value.ObjectKind, Open: p.env.open()}
	paths := make([][]string, len(p.refs))
	for i, r := range p.refs {
		paths[i] = r.Path
	}
	for _, name := range firsts(paths) {
		if ft, ok := p.env.lookup(name); ok {
			ft = p.env.cut(ft, below(paths, name))
			t.Fields = append(t.Fields, value.FieldType{Name: name, Type: ft})
		}
	}
	return t
}

// cut returns t with just the fields that the paths, which begin below t, lead through.
func (e *Env) cut(t value.Type, paths [][]string) value.Type {
	if t.Kind != value.ObjectKind {
		return t
	}
	for _, path := range paths {
		if len(path) == 0 { // it is read whole
			return t
		}
	}
	small := value.Type{Kind: t.Kind, Open: t.Open, Optional: t.Optional}
	for _, name := range firsts(paths) {
		if ft, ok := e.fields.get(t, name); ok {
			small.Fields = append(small.Fields, value.FieldType{Name: name, Type: e.cut(ft, below(paths, name))})
		}
	}
	return small
}

// firsts returns the first names of the paths, in order, without repeats.
func firsts(paths [][]string) []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range paths {
		if !seen[p[0]] {
			seen[p[0]] = true
			names = append(names, p[0])
		}
	}
	return names
}

// below returns what is left of the paths that begin with name.
func below(paths [][]string, name string) [][]string {
	var rest [][]string
	for _, p := range paths {
		if p[0] == name {
			rest = append(rest, p[1:])
		}
	}
	return rest
}
