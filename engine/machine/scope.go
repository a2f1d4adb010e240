package machine

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// preparation is what a start of an instance is evaluated against. It is a plan.Evaluator that adds to the
// scope the stages that an expression names, and no others.
type preparation struct {
	d                  *decider
	i                  *instance
	iteration, attempt int

	brief    string
	briefIDs []string
	items    []feedback.Item
	base     *value.Object

	bareNames *value.Object // for the checks of a contract; nil: not asked for yet
}

// prepare builds the scope of an instance for the given try.
func (d *decider) prepare(i *instance, iteration, attempt int) *preparation {
	p := &preparation{d: d, i: i, iteration: iteration, attempt: attempt}
	p.handOver()
	inputs := d.s.inputs
	if owner := i.frame.owner; owner != nil {
		inputs = owner.started.Inputs
	}
	changes := value.List{}
	if i.isSource() {
		for _, path := range i.target().changes {
			changes = append(changes, path)
		}
	}
	p.base = value.NewObject(
		value.Field{Name: plan.ScopeInputs, Value: inputs},
		value.Field{Name: plan.ScopeRun, Value: d.runObject(i)},
		value.Field{Name: plan.ScopeIteration, Value: int64(iteration)},
		value.Field{Name: plan.ScopeAttempt, Value: int64(attempt)},
		value.Field{Name: plan.ScopeBrief, Value: p.brief},
		value.Field{Name: plan.ScopeOpenItems, Value: feedback.ItemList(p.items)},
		value.Field{Name: plan.ScopeChanges, Value: changes},
	)
	if i.item >= 0 {
		p.base.Set("each", value.NewObject(
			value.Field{Name: i.node.ForEach.As, Value: i.each},
			value.Field{Name: "index", Value: int64(i.item)},
		))
	}
	return p
}

func (d *decider) runObject(i *instance) *value.Object {
	r, status := d.s.run, step.RunRunning
	if i.isFinal() {
		status = i.frame.outcome
	}
	return value.NewObject(
		value.Field{Name: plan.RunID, Value: r.Run},
		value.Field{Name: plan.RunTaskID, Value: r.TaskID},
		value.Field{Name: plan.RunPipeline, Value: r.Pipeline},
		value.Field{Name: plan.RunStatus, Value: status.String()},
	)
}

// handOver finds what is handed to the instance: to a target the items that it was not given yet and a
// person's note, as a brief; to a target and to a review the open items.
func (p *preparation) handOver() {
	i, s := p.i, p.d.s
	loops := s.loopsTo[i.path]
	if p.attempt > 1 || i.holdsBrief() {
		p.brief, p.briefIDs = i.brief, i.briefIDs
	} else {
		p.brief, p.briefIDs = p.d.newBrief(i, loops)
	}
	for _, l := range inOrder(s, loops) {
		p.items = withItems(p.items, s.ledger.Open(l.counter.Source))
	}
	if i.isSource() {
		p.items = withItems(p.items, s.ledger.Open(i.path))
	}
}

// holdsBrief reports whether i is in the middle of a try, so that its brief is the one it was given.
func (i *instance) holdsBrief() bool { return i.status == step.Running }

// newBrief builds the brief of a target from what its reviews gave or confirmed and it was not handed yet.
func (d *decider) newBrief(i *instance, loops []*loop) (string, []string) {
	in := feedback.BriefInput{Target: i.path, Note: i.note, TaskID: d.s.run.TaskID}
	var given []string
	for _, l := range inOrder(d.s, loops) {
		if d.s.isUnrouted(l) {
			continue
		}
		var agents []string
		n := 0
		for _, id := range l.pending {
			item, ok := d.s.ledger.Said(l.counter.Source, id)
			if !ok || !item.IsOpen() {
				continue
			}
			if !slices.Contains(given, item.ID) { // by another of its sources
				in.Items = append(in.Items, item)
				given = append(given, item.ID)
			}
			if item.SourceAgent != "" {
				agents = append(agents, item.SourceAgent)
			}
			n++
		}
		if n > 0 || (i.note != "" && l.last == decisionReferBack) {
			in.Sources = append(in.Sources, feedback.BriefSource{Stage: l.counter.Source, Agents: agents})
			in.Iteration = max(in.Iteration, l.counter.Iteration)
		}
	}
	if in.Iteration == 0 {
		in.Iteration = i.iteration + 1
	}
	if len(in.Sources) == 0 { // a person sends it to a stage that the target needs
		in.Sources = []feedback.BriefSource{{Stage: string(envelope.SourceOperatorReferBack)}}
	}
	return feedback.Brief(in, d.m.count), given
}

// inOrder gives loops in the order of their sources in the plan, without those that an earlier run of the task
// left and whose source this run does not have.
func inOrder(s *state, loops []*loop) []*loop {
	var out []*loop
	for _, l := range loops {
		if s.byPath[l.counter.Source] != nil {
			out = append(out, l)
		}
	}
	for a := 1; a < len(out); a++ {
		for b := a; b > 0 && byOrder(s.at(out[b].counter.Source), s.at(out[b-1].counter.Source)) < 0; b-- {
			out[b], out[b-1] = out[b-1], out[b]
		}
	}
	return out
}

// Eval implements plan.Evaluator.
func (p *preparation) Eval(e plan.Expr, scope *value.Object) (value.Value, error) {
	if stages := p.stages(e); stages.Len() > 0 {
		with := value.NewObject()
		for name, v := range scope.All() {
			with.Set(name, v)
		}
		with.Set(plan.ScopeStages, stages)
		scope = with
	}
	return p.d.m.ev.Eval(e, scope)
}

// stages gives the stages that an expression reads, as its scope in the plan says.
func (p *preparation) stages(e plan.Expr) *value.Object {
	out := value.NewObject()
	for _, f := range e.Scope.Fields {
		if f.Name != plan.ScopeStages {
			continue
		}
		for _, stage := range f.Type.Fields {
			if i := p.i.frame.find(stage.Name); i != nil {
				out.Set(stage.Name, p.readable(i))
			}
		}
	}
	return out
}

// find gives the stage with an id that expressions of a frame may name.
func (f *frame) find(id string) *instance {
	if n, ok := f.graph.index[id]; ok {
		return f.slots[n]
	}
	if f.of != nil {
		return f.of.find(id)
	}
	return nil
}

// readable gives a stage as the instance sees it. Of a for_each some of whose items run again, an item that only
// waits for the same one of them sees that item's status, and what each item gave last.
func (p *preparation) readable(i *instance) *value.Object {
	out := p.d.stageObject(i)
	if p.i.item < 0 || !i.isGroup() || i.status != step.Running {
		return out
	}
	outputs := value.NewObject()
	for _, o := range i.node.Outputs {
		outputs.Set(o.Name, outputList(i, o.Name))
	}
	out.Set(plan.StageStatus, itemOf(i, p.i.item).status.String())
	out.Set(plan.StageOutputs, outputs)
	return out
}

// outputList gives one output of all items of a for_each, in their order.
func outputList(i *instance, name string) value.List {
	list := make(value.List, len(i.items))
	for k, item := range i.items {
		list[k], _ = item.outputs.Get(name)
	}
	return list
}

func (p *preparation) holds(e plan.Expr, scope *value.Object) (bool, error) {
	v, err := p.Eval(e, scope)
	if err != nil {
		return false, err
	}
	ok, isBool := v.(bool)
	if !isBool {
		return false, &plan.EvalError{At: e.At, Err: fmt.Errorf("%q gives %s, want true or false", e.Source, value.Describe(v))}
	}
	return ok, nil
}

// list gives the items of a for_each.
func (p *preparation) list(t *plan.Template) (value.List, error) {
	v, err := t.Eval(p, p.base)
	if err != nil {
		return nil, err
	}
	list, ok := v.(value.List)
	if !ok {
		return nil, &plan.EvalError{File: t.File, At: t.At, Err: fmt.Errorf("the items are %s, want a list", value.Describe(v))}
	}
	return list, nil
}

// ended adds what a post_check sees of the try that ended.
func (p *preparation) ended(e step.StageEnded) {
	p.base.Set(plan.ScopeOutputs, withDeclared(p.i.node, e.Outputs))
	if e.ExitCode != nil {
		p.base.Set(plan.ScopeExitCode, int64(*e.ExitCode))
	}
}

// values gives what a check that failed had before it: the stages that it names, and the stage's outputs.
func (p *preparation) values(e plan.Expr) *value.Object {
	out := value.NewObject()
	if stages := p.stages(e); stages.Len() > 0 {
		out.Set(plan.ScopeStages, stages)
	}
	for _, name := range []string{plan.ScopeInputs, plan.ScopeOutputs, plan.ScopeExitCode} {
		if v, ok := p.base.Get(name); ok && strings.Contains(e.Source, name) {
			out.Set(name, v)
		}
	}
	return out
}

// fill evaluates what a try gets.
func (p *preparation) fill(r *step.StageStarted) error {
	n := p.i.node
	var err error
	if len(n.Inputs) > 0 {
		if r.Inputs, err = plan.EvalObject(n.Inputs, p, p.base); err != nil {
			return err
		}
	}
	if len(n.Env) > 0 {
		r.Env = value.NewObject()
		for k := range n.Env {
			text, err := n.Env[k].Value.EvalText(p, p.base)
			if err != nil {
				return err
			}
			r.Env.Set(n.Env[k].Name, text)
		}
	}
	if len(n.With) > 0 {
		if r.With, err = plan.EvalObject(n.With, p, p.base); err != nil {
			return err
		}
	}
	for k := range n.AllowedPaths {
		glob, err := n.AllowedPaths[k].EvalText(globbing{p}, p.base)
		if err != nil {
			return err
		}
		r.AllowedPaths = append(r.AllowedPaths, glob)
	}
	if n.Dir != nil {
		if r.Dir, err = n.Dir.EvalText(p, p.base); err != nil {
			return err
		}
	}
	if file := p.i.feedbackFile(); file != nil {
		if r.FeedbackFile, err = file.EvalText(p, p.base); err != nil {
			return err
		}
	}
	if n.Prompt != nil {
		if r.Prompt, err = p.prompt(); err != nil {
			return err
		}
	}
	return nil
}

// globbing is the evaluator of a glob: what an expression gives stands for itself in it.
type globbing struct{ plan.Evaluator }

// Eval implements plan.Evaluator.
func (g globbing) Eval(e plan.Expr, scope *value.Object) (value.Value, error) {
	v, err := g.Evaluator.Eval(e, scope)
	if s, ok := v.(string); ok {
		v = globQuoter.Replace(s)
	}
	return v, err
}

var globQuoter = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`)

func (d *decider) stageObject(i *instance) *value.Object {
	var blocking, advisory, informational value.List = value.List{}, value.List{}, value.List{}
	open := d.s.ledger.Open(i.path)
	status := i.status
	if v := i.verifier(); v != nil { // nobody can name it, and what it finds, and how it ends, is of its stage
		open = slices.Concat(open, d.s.ledger.Open(v.path))
		if status == step.Succeeded && (v.status == step.Failed || v.status == step.NotRun || v.status == step.Cancelled) {
			status = v.status
		}
	}
	for _, item := range open {
		switch item.Severity {
		case feedback.Blocking:
			blocking = append(blocking, item.Object())
		case feedback.Advisory:
			advisory = append(advisory, item.Object())
		default:
			informational = append(informational, item.Object())
		}
	}
	return value.NewObject(
		value.Field{Name: plan.StageStatus, Value: status.String()},
		value.Field{Name: plan.StageOutputs, Value: withDeclared(i.node, i.outputs)},
		value.Field{Name: plan.StageIteration, Value: int64(i.iteration)},
		value.Field{Name: plan.StageAttempts, Value: int64(i.attempt)},
		value.Field{Name: plan.StageFeedback, Value: value.NewObject(
			value.Field{Name: plan.FeedbackBlocking, Value: blocking},
			value.Field{Name: plan.FeedbackAdvisory, Value: advisory},
			value.Field{Name: plan.FeedbackInformational, Value: informational},
		)},
	)
}

// withDeclared gives outputs with each declared one there, null where the stage gave none.
func withDeclared(n *plan.Node, outputs *value.Object) *value.Object {
	out := value.NewObject()
	for _, p := range n.Outputs {
		v, _ := outputs.Get(p.Name)
		out.Set(p.Name, v)
	}
	for name, v := range outputs.All() {
		out.Set(name, v)
	}
	return out
}

// outputsOf evaluates the outputs of a graph whose stages have all ended.
func (d *decider) outputsOf(f *frame) (*value.Object, error) {
	if len(f.graph.Outputs) == 0 {
		return nil, nil
	}
	p := d.prepare(f.slots[0], 0, 0)
	return plan.EvalObject(f.graph.Outputs, p, value.NewObject(p.base.At(0), p.base.At(1)))
}

// compositeOutputs gives the outputs of a for_each, lists in the order of its items, or those of a body.
func (d *decider) compositeOutputs(i *instance) (*value.Object, error) {
	if !i.isGroup() {
		return d.outputsOf(i.body)
	}
	out := value.NewObject()
	for _, p := range i.node.Outputs {
		out.Set(p.Name, outputList(i, p.Name))
	}
	return out, nil
}
