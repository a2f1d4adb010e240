package compile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/contract"
	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// Contracts finds the contract documents that pipelines name.
type Contracts interface {
	// Contract gives the document of a name, and what is wrong with its shape. No document and no error:
	// there is none.
	Contract(name string) (*specs.Contract, diag.List, error)
	// ContractNames gives the names of all there are, sorted.
	ContractNames() []string
}

// CheckContract says what is wrong with a contract beyond its shape. The name is the one by which stages know
// it, the file's.
func CheckContract(name string, doc *specs.Contract) diag.List { return contract.Check(name, doc) }

// contractOf finds and compiles the contract of a stage, once for all stages of the document that name it.
// Nil: there is none, or it was reported.
func (c *compiler) contractOf(name *specs.Leaf[string]) *contract.Contract {
	if name == nil {
		return nil
	}
	ct, known := c.family.contracts[name.Value]
	if !known {
		doc, err := c.contractDoc(name.Value)
		switch {
		case err != nil:
			c.diags.Errorf(contract.Code, name.Span, "contract %q: %v", name.Value, err)
		case doc != nil:
			ct = contract.Compile(name.Value, doc, &c.diags)
		}
		c.family.contracts[name.Value] = ct
	}
	if ct == nil {
		c.noContract(name)
	}
	return ct
}

// contractDoc gives a contract's document, and reports what is wrong with its shape.
func (c *compiler) contractDoc(name string) (*specs.Contract, error) {
	if c.opt.Contracts == nil {
		return nil, nil
	}
	doc, diags, err := c.opt.Contracts.Contract(name)
	c.diags.Add(diags...)
	return doc, err
}

// noContract reports a contract that is not there; one that can't be read was reported.
func (c *compiler) noContract(name *specs.Leaf[string]) {
	if slices.ContainsFunc(c.diags, func(d diag.Diagnostic) bool { return d.Code == contract.Code && d.Span == name.Span }) {
		return
	}
	d := c.diags.Errorf(CodeUnknownContract, name.Span, "there is no contract %q", name.Value)
	if c.opt.Contracts == nil {
		return
	}
	names := c.opt.Contracts.ContractNames()
	file := path.Base(name.Value)
	if bare := strings.TrimSuffix(file, path.Ext(file)); bare != name.Value && slices.Contains(names, bare) {
		d.Help = "a contract is named, not its file: write contract: " + bare
		return
	}
	if d.Help = diag.Suggest(name.Value, names); d.Help == "" && len(names) > 0 {
		d.Help = "there are " + strings.Join(names, ", ")
	}
}

// contractOutputs makes the outputs of a stage's contract outputs of the stage. What the stage declares itself
// must agree with the contract.
func (c *compiler) contractOutputs(s *stageInfo) {
	ct := c.contractOf(s.syn.Contract)
	if ct == nil {
		return
	}
	s.contract, s.node.Contract = ct, ct.Name
	at := s.syn.Contract.Span
	for _, want := range ct.Outputs {
		i := slices.IndexFunc(s.node.Outputs, func(p plan.Param) bool { return p.Name == want.Name })
		if i < 0 {
			if s.child != nil && want.Required {
				d := c.diags.Errorf(contract.Code, at, "the contract %q requires the output %q, which pipeline %q does not give", ct.Name, want.Name, s.child.Name)
				d.Help = "add it to the outputs of that pipeline"
				d.Related = ct.Declared(want.Name)
			}
			want.At = at.Start
			s.node.Outputs = append(s.node.Outputs, want)
			continue
		}
		own := &s.node.Outputs[i]
		switch there := s.outputSpan(want.Name); {
		case own.Type.IsAny():
			own.Type = want.Type
		case !value.Assignable(own.Type, want.Type):
			d := c.diags.Errorf(contract.Code, there, "output %q is %s here, and the contract %q says %s", want.Name, fixed.TypeName(own.Type), ct.Name, fixed.TypeName(want.Type))
			d.Help = "drop it here, it is an output by the contract, or give it that type"
			d.Related = ct.Declared(want.Name)
		case want.Required && !own.Required:
			d := c.diags.Errorf(contract.Code, there, "output %q need not be given here, and the contract %q requires it", want.Name, ct.Name)
			d.Help = "drop required"
			d.Related = ct.Declared(want.Name)
		}
	}
}

// outputSpan is where a stage declares an output.
func (s *stageInfo) outputSpan(name string) source.Span {
	for _, p := range s.syn.Outputs {
		if p.Name.Value == name {
			return p.Name.Span
		}
	}
	return s.syn.Contract.Span
}

// underContract holds the inputs of a stage to its contract and adds the contract's checks. An input beyond the
// contract is the stage's own; one that the contract knows and the stage does not give has its default, or null.
func (c *compiler) underContract(i int) {
	s := c.stages[i]
	ct := s.contract
	if ct == nil {
		return
	}
	for _, want := range ct.Inputs {
		c.contractInput(i, want)
	}
	c.contractNames(i)
	s.node.PreChecks = append(slices.Clip(ct.Pre), s.node.PreChecks...)
	s.node.PostChecks = append(slices.Clip(ct.Post), s.node.PostChecks...)
	cacheable := ct.Doc.Cacheable
	switch own := s.syn.Cache; {
	case cacheable == nil:
	case own == nil:
		s.node.Cache = cacheable.Value && !s.node.Writes && s.node.Body == nil && s.syn.Gate == nil
	case own.Value && !cacheable.Value:
		d := c.diags.Errorf(contract.Code, own.Span, "the contract %q says that what its stages give may not be reused", ct.Name)
		d.Related = []diag.Related{{Span: cacheable.Span, Message: "cacheable is false here"}}
		d.Help = "drop cache"
	}
}

// contractInput holds one input of a stage to the contract.
func (c *compiler) contractInput(i int, want plan.Param) {
	s := c.stages[i]
	ct := s.contract
	typ := fixed.ParamsType([]plan.Param{want}).Fields[0].Type
	given, key := s.givenInputs()
	isGiven := slices.ContainsFunc(given, func(e *specs.Entry) bool { return e.Name.Value == want.Name })
	own := findBinding(s.node.Inputs, want.Name)
	if own != nil && s.child != nil && own.Type.Optional && !isGiven { // an input of the pipeline that is null
		switch {
		case want.Required:
			own = nil
		case want.Default != nil && own.Type.Check(want.Default) == nil:
			own.Value.Value = want.Default
			isGiven = true
		}
	}
	if own != nil {
		has := own.Type
		if s.child != nil && isGiven { // the type is that of the pipeline's input, which could be missing
			has = has.NotNull()
		}
		if !value.Assignable(has, typ) {
			d := c.diags.Errorf(contract.Code, s.inputSpan(want.Name), "input %q is %s here, and the contract %q says %s", want.Name, fixed.TypeName(has), ct.Name, fixed.TypeName(typ))
			d.Related = ct.Declared(want.Name)
		}
		if s.child == nil {
			own.Type = typ
		}
		return
	}
	at := s.syn.Contract.Span
	if !want.Required {
		s.node.Inputs = append(s.node.Inputs, plan.Binding{Name: want.Name, Type: typ, Value: c.literal(want.Default, at)})
		return
	}
	if isGiven {
		return // its value was reported
	}
	d := c.diags.Errorf(contract.Code, at, "the contract %q requires the input %q, which %s does not give", ct.Name, want.Name, c.known.Label(i))
	d.Related = ct.Declared(want.Name)
	d.Help = fmt.Sprintf("add it to the stage's %s: %s: %s", key, want.Name, exampleValue(want.Type))
	var others []string
	for _, e := range given {
		if !hasParam(ct.Inputs, e.Name.Value) {
			others = append(others, e.Name.Value)
		}
	}
	if near := diag.Nearest(want.Name, others); near != "" {
		d.Help = fmt.Sprintf("the stage gives %q; if that is it, call it %s", near, want.Name)
	}
}

// givenInputs are what the document gives a stage, and the key under which it does.
func (s *stageInfo) givenInputs() (entries []*specs.Entry, key string) {
	switch {
	case s.child == nil:
		return s.syn.Inputs, "inputs"
	case s.syn.With == nil:
		return nil, "with"
	}
	return s.syn.With.Entries, "with"
}

// inputSpan is where a stage gives an input.
func (s *stageInfo) inputSpan(name string) source.Span {
	entries, _ := s.givenInputs()
	for _, e := range entries {
		if e.Name.Value == name {
			return e.Name.Span
		}
	}
	return s.syn.Contract.Span
}

// contractNames reports a name that is an input and an output where the contract knows one of them: its checks
// would read either.
func (c *compiler) contractNames(i int) {
	s := c.stages[i]
	ct := s.contract
	for _, b := range s.node.Inputs {
		if hasParam(s.node.Outputs, b.Name) && (hasParam(ct.Inputs, b.Name) || hasParam(ct.Outputs, b.Name)) {
			d := c.diags.Errorf(contract.Code, s.inputSpan(b.Name), "%q is an input and an output of %s, and the checks of the contract %q read it by its bare name", b.Name, c.known.Label(i), ct.Name)
			d.Help = "give one of them another name"
			d.Related = ct.Declared(b.Name)
		}
	}
}

func hasParam(ps []plan.Param, name string) bool {
	return slices.ContainsFunc(ps, func(p plan.Param) bool { return p.Name == name })
}

// exampleValue is how a value of a type may be written.
func exampleValue(t value.Type) string {
	switch t.Kind {
	case value.Int, value.Number:
		return "1"
	case value.Bool:
		return "true"
	case value.String:
		if len(t.Enum) > 0 {
			return t.Enum[0]
		}
	}
	return `"${{ … }}"`
}

// routing compiles the contract of routings, for a pipeline in which there are any.
func (c *compiler) routing(g *plan.Graph) *plan.Contract {
	if c.opt.Contracts == nil || !hasLoop(g, map[*plan.Node]bool{}) {
		return nil
	}
	doc, err := c.contractDoc(contract.ForRoutings)
	if err != nil {
		c.diags.Errorf(contract.Code, c.firstLoop(), "the contract %q, which holds at every routing: %v", contract.ForRoutings, err)
		return nil
	}
	if doc == nil {
		return nil
	}
	contract.Compile(contract.ForRoutings, doc, &c.diags)
	return contract.Routing(doc, &c.diags)
}

// firstLoop is where the first loop of the document is written.
func (c *compiler) firstLoop() source.Span {
	for _, s := range c.stages {
		if s.syn.Loop != nil {
			return s.syn.Loop.Span
		}
	}
	return source.Span{File: c.file}
}

// hasLoop reports whether a graph, or one inside of it, sends work back for what a review found. Stages that run
// the same pipeline share its nodes: seen holds the first ones of the graphs that were looked at.
func hasLoop(g *plan.Graph, seen map[*plan.Node]bool) bool {
	if len(g.Nodes) == 0 || seen[&g.Nodes[0]] {
		return false
	}
	seen[&g.Nodes[0]] = true
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Loop != nil && !n.Loop.OnReject || n.Body != nil && hasLoop(n.Body, seen) {
			return true
		}
	}
	return false
}
