package plan

import "iter"

// Reads reports whether the expression reads a name of the scope, such as ScopeBrief.
func (e *Expr) Reads(name string) bool {
	_, ok := e.Scope.Field(name)
	return ok
}

// Exprs walks all expressions of the node that see its scope: not those of its body, and not the checks of its
// contract, whose bare names are no names of the scope.
func (n *Node) Exprs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) {
		n.walk(yield)
	}
}

// Reads reports whether an expression of the node reads a name of the scope. Who builds a scope need not
// find out what nobody reads.
func (n *Node) Reads(name string) bool {
	for e := range n.Exprs() {
		if e.Reads(name) {
			return true
		}
	}
	return false
}

func (n *Node) walk(yield func(*Expr) bool) bool {
	if n.When != nil && !yield(n.When) {
		return false
	}
	if n.ForEach != nil && !n.ForEach.Items.walk(yield) {
		return false
	}
	for _, bs := range [][]Binding{n.Inputs, n.With, n.Env} {
		for i := range bs {
			if !bs[i].Value.walk(yield) {
				return false
			}
		}
	}
	for _, cs := range [][]Check{n.PreChecks, n.PostChecks} {
		for i := range cs {
			if cs[i].Contract == "" && !yield(&cs[i].Validation) {
				return false
			}
		}
	}
	for _, t := range []*Template{n.Dir, n.Prompt} {
		if t != nil && !t.walk(yield) {
			return false
		}
	}
	if n.Refine != nil && n.Refine.FeedbackFile != nil && !n.Refine.FeedbackFile.walk(yield) {
		return false
	}
	if n.Rollback != nil {
		for i := range n.Rollback.Env {
			if !n.Rollback.Env[i].Value.walk(yield) {
				return false
			}
		}
	}
	for i := range n.AllowedPaths {
		if !n.AllowedPaths[i].walk(yield) {
			return false
		}
	}
	return n.Approval == nil || n.Approval.Message == nil || n.Approval.Message.walk(yield)
}

// Exprs walks all expressions of the task.
func (t *Task) Exprs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) {
		for _, part := range []*Template{&t.Key, t.Body, t.BodyFile} {
			if part != nil && !part.walk(yield) {
				return
			}
		}
		for i := range t.Repos {
			if !t.Repos[i].walk(yield) {
				return
			}
		}
	}
}

// Exprs walks all expressions of the template.
func (t *Template) Exprs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) { t.walk(yield) }
}

func (t *Template) walk(yield func(*Expr) bool) bool {
	for i := range t.Parts {
		if e := t.Parts[i].Expr; e != nil && !yield(e) {
			return false
		}
	}
	for i := range t.Fields {
		if !t.Fields[i].Value.walk(yield) {
			return false
		}
	}
	for i := range t.Items {
		if !t.Items[i].walk(yield) {
			return false
		}
	}
	return true
}
