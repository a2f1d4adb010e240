package plan

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/pipe/engine/value"
)

// Dump gives the canonical text of the plan, which tests compare: a line for each thing, indented under
// what it belongs to, in the order of the document. Defaults are written out; what is off or empty is not
// there. Places stand behind "@".
func (p *Plan) Dump() string {
	d := &dumper{}
	d.line(0, "plan %s version %d", p.Name, p.Version)
	d.text(1, "description", p.Description)
	for i := range p.Inputs {
		d.param(1, "input", &p.Inputs[i])
	}
	d.graph(1, &p.Graph)
	return d.b.String()
}

type dumper struct{ b strings.Builder }

func (d *dumper) line(depth int, format string, args ...any) {
	for range depth {
		d.b.WriteString("  ")
	}
	fmt.Fprintf(&d.b, format, args...)
	d.b.WriteByte('\n')
}

func (d *dumper) text(depth int, key, s string) {
	if s != "" {
		d.line(depth, "%s %s", key, strconv.Quote(s))
	}
}

func (d *dumper) graph(depth int, g *Graph) {
	for i := range g.Nodes {
		d.node(depth, g, i)
	}
	for i := range g.Outputs {
		d.binding(depth, "output", &g.Outputs[i])
	}
}

func (d *dumper) node(depth int, g *Graph, i int) {
	n := &g.Nodes[i]
	kind := n.Kind
	if kind == "" {
		kind = "body"
	}
	d.line(depth, "stage %s %s %s @%d:%d", n.ID, n.Role, kind, n.At.Line, n.At.Col)
	depth++
	d.text(depth, "description", n.Description)
	if len(n.Needs) > 0 {
		ids := make([]string, len(n.Needs))
		for k, need := range n.Needs {
			ids[k] = g.Nodes[need].ID
		}
		d.line(depth, "needs %s", strings.Join(ids, " "))
	}
	if n.When != nil {
		d.line(depth, "when %s", exprText(n.When))
	}
	if f := n.ForEach; f != nil {
		d.line(depth, "for_each %s as %s", exprText(&f.Items), f.As)
	}
	for k := range n.Inputs {
		d.binding(depth, "input", &n.Inputs[k])
	}
	for k := range n.Outputs {
		d.param(depth, "output", &n.Outputs[k])
	}
	d.checks(depth, "pre_check", n.PreChecks)
	d.checks(depth, "post_check", n.PostChecks)
	d.review(depth, g, n)
	d.execution(depth, n)
	if n.Body != nil {
		d.line(depth, "body")
		d.graph(depth+1, n.Body)
	}
}

func (d *dumper) checks(depth int, key string, cs []Check) {
	for i := range cs {
		d.line(depth, "%s %s %s", key, strconv.Quote(cs[i].Description), exprText(&cs[i].Validation))
	}
}

// review writes how a stage's findings are read and where they go.
func (d *dumper) review(depth int, g *Graph, n *Node) {
	if f := n.Feedback; f != nil {
		codes := make([]string, len(f.OKExitCodes))
		for i, c := range f.OKExitCodes {
			codes[i] = strconv.Itoa(c)
		}
		line := "feedback " + f.Format + " ok " + strings.Join(codes, " ")
		if f.Path != "" {
			line += " path " + strconv.Quote(f.Path)
		}
		if f.Pattern != "" {
			line += " pattern " + strconv.Quote(f.Pattern)
		}
		d.line(depth, "%s", line)
	}
	if l := n.Loop; l != nil {
		d.line(depth, "loop to %s max %d on_exhausted %s rerun %s",
			g.Nodes[l.Target].ID, l.MaxIterations, l.OnExhausted, l.Rerun)
	}
}

// execution writes how a stage is carried out.
func (d *dumper) execution(depth int, n *Node) {
	r := n.Retry
	line := fmt.Sprintf("retry %d %s %s..%s", r.MaxAttempts, r.Backoff, r.InitialDelay, r.MaxDelay)
	if len(r.On) > 0 {
		line += " on " + strings.Join(r.On, " ")
	}
	d.line(depth, "%s", line)
	d.line(depth, "timeout %s", n.Timeout)
	for i := range n.Env {
		d.binding(depth, "env", &n.Env[i])
	}
	if n.Dir != nil {
		d.line(depth, "dir %s", templateText(n.Dir))
	}
	if n.Config != nil {
		for name, v := range n.Config.All() {
			d.line(depth, "config %s = %s", name, valueText(v))
		}
	}
	if n.Prompt != nil {
		d.line(depth, "prompt %s", templateText(n.Prompt))
	}
	if n.PromptBrief {
		d.line(depth, "prompt names brief")
	}
	if n.PromptOpenItems {
		d.line(depth, "prompt names open_items")
	}
	if n.Writes {
		d.line(depth, "writes")
	}
	if a := n.Approval; a != nil {
		line := "requires_approval"
		if a.Message != nil {
			line += " " + templateText(a.Message)
		}
		d.line(depth, "%s", line)
	}
	d.line(depth, "on_interrupt %s", n.OnInterrupt)
	if n.ContinueOnError {
		d.line(depth, "continue_on_error")
	}
}

func (d *dumper) param(depth int, key string, p *Param) {
	line := fmt.Sprintf("%s %s %s", key, p.Name, TypeText(p.Type))
	if p.Required {
		line += " required"
	}
	if p.Default != nil {
		line += " = " + valueText(p.Default)
	}
	if p.Description != "" {
		line += " " + strconv.Quote(p.Description)
	}
	if p.At.IsValid() {
		line += fmt.Sprintf(" @%d:%d", p.At.Line, p.At.Col)
	}
	d.line(depth, "%s", line)
}

func (d *dumper) binding(depth int, key string, b *Binding) {
	d.line(depth, "%s %s %s = %s", key, b.Name, TypeText(b.Type), templateText(&b.Value))
}

// exprText gives an expression on one line, what it reads and where it stands.
func exprText(e *Expr) string {
	s := fmt.Sprintf("%s -> %s", strconv.Quote(e.Source), TypeText(e.Type))
	if len(e.Scope.Fields) > 0 {
		s += " reads " + TypeText(e.Scope)
	}
	if e.At.IsValid() {
		file := e.File
		if file != "" {
			file += ":"
		}
		s += fmt.Sprintf(" @%s%d:%d", file, e.At.Line, e.At.Col)
	}
	return s
}

func templateText(t *Template) string {
	switch {
	case len(t.Parts) > 0:
		parts := make([]string, len(t.Parts))
		for i := range t.Parts {
			if e := t.Parts[i].Expr; e != nil {
				parts[i] = "${" + exprText(e) + "}"
			} else {
				parts[i] = strconv.Quote(t.Parts[i].Text)
			}
		}
		return strings.Join(parts, " + ")
	case len(t.Fields) > 0:
		fields := make([]string, len(t.Fields))
		for i := range t.Fields {
			fields[i] = strconv.Quote(t.Fields[i].Name) + ": " + templateText(&t.Fields[i].Value)
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case len(t.Items) > 0:
		items := make([]string, len(t.Items))
		for i := range t.Items {
			items[i] = templateText(&t.Items[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return valueText(t.Value)
}

func valueText(v value.Value) string {
	b, err := value.JSON{Value: v}.MarshalJSON()
	if err != nil {
		return "!" + err.Error()
	}
	return string(b)
}

// TypeText gives a type whole on one line: "string?", "string(low|high)", "{a: integer, …}[]".
func TypeText(t value.Type) string {
	var s string
	switch {
	case t.Kind == value.ListKind && t.Elem != nil:
		s = TypeText(*t.Elem) + "[]"
	case t.Kind == value.ObjectKind && len(t.Fields) > 0:
		fields := make([]string, len(t.Fields), len(t.Fields)+1)
		for i, f := range t.Fields {
			fields[i] = f.Name + ": " + TypeText(f.Type)
		}
		if t.Open {
			fields = append(fields, "…")
		}
		s = "{" + strings.Join(fields, ", ") + "}"
	case len(t.Enum) > 0:
		s = t.Kind.String() + "(" + strings.Join(t.Enum, "|") + ")"
	default:
		s = t.Kind.String()
	}
	if t.Optional {
		s += "?"
	}
	return s
}
