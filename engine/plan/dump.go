package plan

import (
	"fmt"
	"maps"
	"slices"
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
	if p.Workspace != UnknownWorkspace {
		d.line(1, "workspace %s", p.Workspace)
	}
	if p.Unattended {
		d.line(1, "unattended")
	}
	if e := p.Escalation; e != nil {
		if e.Timeout > 0 {
			d.line(1, "escalation timeout %s on_timeout %s", e.Timeout, e.OnTimeout)
		}
		for i := range e.Notify {
			d.line(1, "escalation notify %s", strconv.Quote(e.Notify[i].Run))
		}
	}
	if t := p.Task; t != nil {
		d.line(1, "task %s", templateText(&t.Key))
		d.template(2, "body", t.Body)
		d.template(2, "body_file", t.BodyFile)
		for i := range t.Repos {
			d.template(2, "repo", &t.Repos[i])
		}
	}
	if c := p.Routing; c != nil {
		d.line(1, "routing contract %s", c.Name)
		d.checks(2, "pre_check", c.PreChecks)
		d.checks(2, "post_check", c.PostChecks)
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

func (d *dumper) template(depth int, key string, t *Template) {
	if t != nil {
		d.line(depth, "%s %s", key, templateText(t))
	}
}

func (d *dumper) graph(depth int, g *Graph) {
	for i := range g.Nodes {
		d.node(depth, g, i)
	}
	for i := range g.Outputs {
		d.binding(depth, "output", &g.Outputs[i])
	}
	if g.Finally != nil {
		d.line(depth, "finally")
		d.graph(depth+1, g.Finally)
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
		line := fmt.Sprintf("for_each %s as %s", templateText(&f.Items), f.As)
		if f.MaxParallel > 0 {
			line += fmt.Sprintf(" max_parallel %d", f.MaxParallel)
		}
		d.line(depth, "%s", line)
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
		line := "body"
		if n.Pipeline != "" {
			line += " " + n.Pipeline
		}
		if n.OnEscalation != UnknownOnEscalation {
			line += " on_escalation " + n.OnEscalation.String()
		}
		d.line(depth, "%s", line)
		d.graph(depth+1, n.Body)
	}
}

func (d *dumper) checks(depth int, key string, cs []Check) {
	for i := range cs {
		line := fmt.Sprintf("%s %s %s", key, strconv.Quote(cs[i].Description), exprText(&cs[i].Validation))
		if cs[i].Contract != "" {
			line += " of " + cs[i].Contract
		}
		d.line(depth, "%s", line)
	}
}

// review writes how a stage's findings are read and where they go.
func (d *dumper) review(depth int, g *Graph, n *Node) {
	if f := n.Feedback; f != nil {
		codes := make([]string, len(f.OKExitCodes))
		for i, c := range f.OKExitCodes {
			codes[i] = strconv.Itoa(c)
		}
		if f.OKExitCodes == nil {
			codes = []string{"any"}
		}
		line := "feedback " + f.Format + " ok " + strings.Join(codes, " ")
		if f.Path != "" {
			line += " path " + strconv.Quote(f.Path)
		}
		if f.Pattern != "" {
			line += " pattern " + strconv.Quote(f.Pattern)
		}
		for _, word := range slices.Sorted(maps.Keys(f.Severity)) {
			line += " " + word + "=" + f.Severity[word]
		}
		d.line(depth, "%s", line)
	}
	if l := n.Loop; l != nil {
		line := fmt.Sprintf("loop to %s max %d on_exhausted %s rerun %s",
			g.Nodes[l.Target].ID, l.MaxIterations, l.OnExhausted, l.Rerun)
		if l.OnReject {
			line += " on_reject"
		}
		if l.Self {
			line += " self"
		}
		d.line(depth, "%s", line)
		d.line(depth+1, "convergence %s", convergenceText(&l.Convergence))
	}
	if r := n.Refine; r != nil {
		d.line(depth, "refine %s", r.Name)
		d.template(depth+1, "feedback_file", r.FeedbackFile)
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
	d.template(depth, "dir", n.Dir)
	if n.Config != nil {
		for name, v := range n.Config.All() {
			d.line(depth, "config %s = %s", name, valueText(v))
		}
	}
	for i := range n.With {
		d.binding(depth, "with", &n.With[i])
	}
	d.template(depth, "prompt", n.Prompt)
	if n.PromptBrief {
		d.line(depth, "prompt names brief")
	}
	if n.PromptOpenItems {
		d.line(depth, "prompt names open_items")
	}
	if n.Writes {
		d.line(depth, "writes")
	}
	d.approval(depth, n.Approval)
	d.line(depth, "on_interrupt %s", n.OnInterrupt)
	if n.ContinueOnError {
		d.line(depth, "continue_on_error")
	}
	if n.Contract != "" {
		d.line(depth, "contract %s", n.Contract)
	}
	if n.Cache {
		d.line(depth, "cache")
	}
	if n.Discovery {
		d.line(depth, "discovery")
	}
	d.rollback(depth, n.Rollback)
	for i := range n.AllowedPaths {
		d.line(depth, "allowed_paths %s", templateText(&n.AllowedPaths[i]))
	}
}

// rollback writes how what a stage did is undone.
func (d *dumper) rollback(depth int, r *Rollback) {
	if r == nil {
		return
	}
	d.line(depth, "rollback %s", r.Strategy)
	d.text(depth+1, "description", r.Description)
	d.text(depth+1, "run", r.Run)
	for i := range r.Env {
		d.binding(depth+1, "env", &r.Env[i])
	}
}

// convergenceText gives the rules that are on.
func convergenceText(c *Convergence) string {
	var on []string
	if c.NoChange {
		on = append(on, "no_change")
	}
	if c.SameItem > 0 {
		on = append(on, fmt.Sprintf("same_item %d", c.SameItem))
	}
	if c.Disputed > 0 {
		on = append(on, fmt.Sprintf("disputed %d", c.Disputed))
	}
	if c.RatchetFrom > 0 {
		on = append(on, fmt.Sprintf("ratchet_from %d", c.RatchetFrom))
	}
	if on == nil {
		return "off"
	}
	return strings.Join(on, " ")
}

func (d *dumper) approval(depth int, a *Approval) {
	if a == nil {
		return
	}
	line := "requires_approval"
	if a.Message != nil {
		line += " " + templateText(a.Message)
	}
	d.line(depth, "%s", line)
	if len(a.Approvers) > 0 {
		d.line(depth+1, "approvers %s", strings.Join(a.Approvers, " "))
	}
	if a.Timeout > 0 {
		d.line(depth+1, "timeout %s", a.Timeout)
	}
	if a.OnTimeout != UnknownOnTimeout {
		d.line(depth+1, "on_timeout %s", a.OnTimeout)
	}
	if a.OnReject != UnknownOnReject {
		d.line(depth+1, "on_reject %s", a.OnReject)
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
	if e.Language != ExprLanguage {
		s = e.Language.String() + " " + s
	}
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
