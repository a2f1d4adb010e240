package merge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/script"
)

// kindReferBack is the kind of the one action that there is.
const kindReferBack = "refer_back_child"

// answer reads what a fixer says. Its texts say what is wrong with it, "" for nothing.
type answer struct {
	names []string // of the branches
	dir   string   // in which the fixer ran
}

// commentLimit is how much of a comment is taken over, in bytes.
const commentLimit = 8000

func (a answer) actions(said *value.Object) ([]concern, string) {
	if name := unknownField(said, "actions"); name != "" {
		return nil, fmt.Sprintf("it has an unknown field %q, expected actions", name)
	}
	v, _ := said.Get("actions")
	actions, ok := v.(value.List)
	if !ok || len(actions) == 0 {
		return nil, fmt.Sprintf("actions: expected a list with at least one action, found %s", value.Describe(v))
	}
	var out []concern
	for i, v := range actions {
		more, why := a.action(v)
		if why != "" {
			return nil, fmt.Sprintf("actions[%d]%s", i, why)
		}
		out = append(out, more...)
	}
	return out, ""
}

func (a answer) action(v value.Value) ([]concern, string) {
	action, ok := v.(*value.Object)
	if !ok {
		return nil, ": expected an object, found " + value.Describe(v)
	}
	if name := unknownField(action, "kind", "child", "concerns"); name != "" {
		return nil, fmt.Sprintf(": it has an unknown field %q, expected kind, child, concerns", name)
	}
	if kind, _ := action.Get("kind"); kind != kindReferBack {
		return nil, fmt.Sprintf(".kind: expected %q, found %s", kindReferBack, value.Describe(kind))
	}
	given, _ := action.Get("child")
	child, _ := given.(string)
	if !slices.Contains(a.names, child) {
		return nil, fmt.Sprintf(".child: expected one of the branches %s, found %s", strings.Join(a.names, ", "), value.Describe(given))
	}
	list, _ := action.Get("concerns")
	concerns, ok := list.(value.List)
	if !ok || len(concerns) == 0 {
		return nil, ".concerns: expected a list with at least one concern, found " + value.Describe(list)
	}
	var out []concern
	for i, v := range concerns {
		c, why := a.concern(v)
		if why != "" {
			return nil, fmt.Sprintf(".concerns[%d]%s", i, why)
		}
		out = append(out, concern{child, c})
	}
	return out, ""
}

func (a answer) concern(v value.Value) (c envelope.AssemblyFixerConcern, why string) {
	o, ok := v.(*value.Object)
	if !ok {
		return c, ": expected an object, found " + value.Describe(v)
	}
	if name := unknownField(o, "file", "line", "comment"); name != "" {
		return c, fmt.Sprintf(": it has an unknown field %q, expected file, line, comment", name)
	}
	for _, f := range []struct {
		name string
		into *string
	}{{"file", &c.File}, {"comment", &c.Comment}} {
		v, _ := o.Get(f.name)
		text, ok := v.(string)
		if v != nil && !ok {
			return c, fmt.Sprintf(".%s: expected text, found %s", f.name, value.Describe(v))
		}
		*f.into = strings.TrimSpace(script.Clean(text))
	}
	if c.Comment == "" {
		return c, ".comment: missing, expected what is wrong"
	}
	c.Comment = script.Cut(c.Comment, commentLimit)
	if c.File, ok = a.file(c.File); !ok {
		return c, ".file: it leads out of the repository, expected a path relative to its top"
	}
	line, _ := o.Get("line")
	n, ok := line.(int64)
	if line != nil && (!ok || n < 0 || n > 1<<31-1) {
		return c, ".line: expected a whole number from 1, found " + value.Describe(line)
	}
	c.Line = int(n)
	return c, ""
}

// unknownField gives the first field of an object that is none of those; "" for none.
func unknownField(o *value.Object, known ...string) string {
	for name := range o.All() {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// file is a path relative to the top of the repository, with slashes; a fixer may give one in the folder in which it
// ran. False for one that leads out of it.
func (a answer) file(path string) (string, bool) {
	if path == "" {
		return "", true
	}
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(a.dir, path)
		if err != nil {
			return "", false
		}
		path = rel
	}
	return filepath.ToSlash(filepath.Clean(path)), filepath.IsLocal(path)
}
