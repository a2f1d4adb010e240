package compile

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
)

// changes compiles what a stage may change: whether it writes, where, and whether what it gave may be taken
// again.
func (c *compiler) changes(i int) {
	s := c.stages[i]
	n, syn := s.node, s.syn
	n.Writes = n.Role == plan.Implementation || syn.AllowedPaths != nil
	if n.Body != nil || syn.Gate != nil {
		n.Writes = false
	}
	if w := syn.Writes; w != nil {
		n.Writes = w.Value
		if g := syn.AllowedPaths; g != nil && !w.Value {
			d := c.diags.Errorf(fixed.CodePath, g.Span, "%s has allowed_paths and does not write, so that others may change files beside it", c.known.Label(i))
			d.Related = []diag.Related{{Span: w.Span, Message: "writes is false here"}}
			d.Help = "drop writes: false, or allowed_paths"
		}
	}
	if syn.AllowedPaths != nil {
		for _, sc := range syn.AllowedPaths.List {
			c.glob(sc)
			t, _ := c.typer.Template(sc, false, scope.Place{Stage: i, Key: "allowed_paths"})
			n.AllowedPaths = append(n.AllowedPaths, t)
		}
	}
	if syn.Cache == nil || !syn.Cache.Value {
		return
	}
	if n.Writes {
		d := c.diags.Errorf(CodeCache, syn.Cache.Span, "%s writes, so that its outputs alone are not all that it gives", c.known.Label(i))
		d.Help = "drop cache; it is for stages that leave the workspace as it is"
		switch {
		case syn.Writes != nil:
			d.Related = []diag.Related{{Span: syn.Writes.Span, Message: "writes is true here"}}
		case syn.AllowedPaths != nil:
			d.Related = []diag.Related{{Span: syn.AllowedPaths.Span, Message: "a stage with allowed_paths writes"}}
		case syn.Role != nil:
			d.Related = []diag.Related{{Span: syn.Role.Span, Message: "an implementation writes"}}
		default:
			d.Help += "; it is an implementation by its id or because a loop leads here: write writes: false if it changes nothing"
		}
		return
	}
	n.Cache = true
}

// glob reports a pattern of allowed_paths that can match no path of the workspace. An expression in it stands
// for a piece of a path.
func (c *compiler) glob(sc *source.Scalar) {
	text := literalGlob(sc)
	switch {
	case !doublestar.ValidatePattern(text):
		d := c.diags.Errorf(fixed.CodePath, sc.Span, "allowed_paths %q is no pattern: a bracket is not closed, or a backslash stands at its end", sc.Text)
		d.Help = `write paths with *, **, ? and {a,b}, such as "src/**/*.go"; \ makes the next character stand for itself`
	case path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..") || strings.ContainsRune(text, 0):
		d := c.diags.Errorf(fixed.CodePath, sc.Span, "allowed_paths %q leads out of the workspace", sc.Text)
		d.Help = "write a pattern relative to the workspace, without .."
	case strings.HasPrefix(text, "./") || text == ".":
		d := c.diags.Errorf(fixed.CodePath, sc.Span, "allowed_paths %q matches no path: paths are relative to the workspace and begin with a name", sc.Text)
		d.Help = "write " + strings.TrimPrefix(sc.Text, "./")
		if text == "." || text == "./" {
			d.Help = "write **, or drop allowed_paths: without it all paths are allowed"
		}
	case strings.HasPrefix(text, "!"):
		d := c.diags.Errorf(fixed.CodePath, sc.Span, "allowed_paths %q takes nothing away: a pattern says what may be changed, and there are no negations", sc.Text)
		d.Help = `list what may be changed; a file whose name begins with ! is written with \ before it`
	case strings.HasSuffix(text, "/"):
		d := c.diags.Errorf(fixed.CodePath, sc.Span, "allowed_paths %q matches no path: only files change, and their paths end in a name", sc.Text)
		d.Help = "write " + sc.Text + "** for all that lies in it"
	}
}

// literalGlob gives a pattern with a letter in the place of each expression.
func literalGlob(sc *source.Scalar) string {
	if !expr.HasExpr(sc.Text) {
		return sc.Text
	}
	pieces, _ := expr.SplitTemplate(*sc)
	var b strings.Builder
	for _, p := range pieces {
		if p.IsExpr {
			b.WriteByte('x')
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
