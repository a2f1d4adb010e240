package machine

import (
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// bare gives what the checks of a stage's contract see: its inputs, and after a try its outputs, by their bare
// names. What the stage was not given, or gave none of, is null.
func (p *preparation) bare(e plan.Expr) (*value.Object, error) {
	if p.bareNames == nil {
		inputs := (*value.Object)(nil)
		if s := p.i.started; s != nil && p.i.status == step.Running { // of a composite that starts again it is the last start
			inputs = s.Inputs
		} else {
			var err error
			if inputs, err = plan.EvalObject(p.i.node.Inputs, p, p.base); err != nil {
				return nil, err
			}
		}
		p.bareNames = value.NewObject()
		for name, v := range inputs.All() {
			p.bareNames.Set(name, v)
		}
		outputs, _ := p.base.Get(plan.ScopeOutputs)
		if o, ok := outputs.(*value.Object); ok {
			for name, v := range o.All() {
				p.bareNames.Set(name, v)
			}
		}
	}
	return reading(e, p.bareNames), nil
}

// reading gives of a scope what an expression reads; what is not there is null.
func reading(e plan.Expr, scope *value.Object) *value.Object {
	out := value.NewObject()
	for _, f := range e.Scope.Fields {
		v, _ := scope.Get(f.Name)
		out.Set(f.Name, v)
	}
	return out
}

// check asks one check of a stage. Of one that does not hold it gives what it read, and an error if it could not
// be asked.
func (p *preparation) check(c *plan.Check) (bool, *value.Object, error) {
	if c.Contract == "" {
		ok, err := p.holds(c.Validation, p.base)
		if ok {
			return true, nil, nil
		}
		return false, p.values(c.Validation), err
	}
	scope, err := p.bare(c.Validation)
	if err != nil {
		return false, nil, err
	}
	ok, err := p.holds(c.Validation, scope)
	return ok, scope, err
}

// keepsContract holds a routing that is about to be recorded against the contract of routings. What breaks it
// fails the review: nothing is routed for it.
func (d *decider) keepsContract(i *instance, action feedback.Action, c feedback.Counter) bool {
	contract := d.m.plan.Routing
	if contract == nil || i.returns() { // a person's rejection is no review
		return true
	}
	given := d.routing(i, action, c)
	p := d.prepare(i, i.iteration, i.attempt)
	for _, part := range []struct {
		when   string
		checks []plan.Check
	}{{"pre", contract.PreChecks}, {"post", contract.PostChecks}} {
		for k := range part.checks {
			check := &part.checks[k]
			scope := given(check.Validation)
			ok, err := p.holds(check.Validation, scope)
			if err == nil && ok {
				continue
			}
			d.emit(step.CheckFailed{Stage: i.path, When: part.when, Description: check.Description, Validation: check.Validation.Source, Values: scope})
			d.fail(i, failure{class: string(stage.FailedCheck), message: "at the routing: " + d.brokenCheck(part.when, check, err)})
			return false
		}
	}
	return true
}

// routing gives what the checks of a routing see. c is the counter after it.
func (d *decider) routing(i *instance, action feedback.Action, c feedback.Counter) func(plan.Expr) *value.Object {
	before := d.s.loopOf(i).counter
	target := i.target()
	blocking := d.s.ledger.OpenBlocking(i.path)
	return func(e plan.Expr) *value.Object {
		out := value.NewObject()
		for _, f := range e.Scope.Fields {
			var v value.Value
			switch f.Name {
			case plan.RoutingSourceStage:
				v = i.node.ID
			case plan.RoutingSourceRole:
				v = i.node.Role.String()
			case plan.RoutingTargetStage:
				v = target.node.ID
			case plan.RoutingTargetRole:
				v = target.node.Role.String()
			case plan.RoutingFeedbackItems:
				v = feedback.ItemList(d.s.ledger.Open(i.path))
			case plan.RoutingTaskID:
				v = d.s.run.TaskID
			case plan.RoutingIteration:
				v = int64(before.Iteration)
			case plan.RoutingMaxIterations:
				v = int64(before.Cap)
			case plan.RoutingAction:
				v = action.String()
			case plan.RoutingIterationCount:
				v = int64(c.Iteration)
			case plan.RoutingFilteredFeedback:
				v = feedback.ItemList(blocking)
			case plan.RoutingImplementationBrief:
				v = d.routedBrief(action, c, blocking)
			case plan.RoutingEscalationContext:
				v = d.routedContext(action, c, blocking)
			}
			out.Set(f.Name, v)
		}
		return out
	}
}

func (d *decider) routedBrief(action feedback.Action, c feedback.Counter, blocking []feedback.Item) value.Value {
	if action != feedback.ReImplement {
		return nil
	}
	return feedback.Brief(feedback.BriefInput{Iteration: c.Iteration, Target: c.Target, Items: blocking,
		TaskID: d.s.run.TaskID, Sources: []feedback.BriefSource{{Stage: c.Source, Agents: agentsOf(blocking)}}}, d.m.count)
}

func agentsOf(items []feedback.Item) []string {
	var out []string
	for i := range items {
		if a := items[i].SourceAgent; a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

func (d *decider) routedContext(action feedback.Action, c feedback.Counter, blocking []feedback.Item) value.Value {
	if action != feedback.Escalate {
		return nil
	}
	return feedback.Escalation{TaskID: d.s.run.TaskID, Sources: []string{c.Source}, Iterations: c.Iteration,
		Blocking: blocking, History: d.s.history}.Context()
}
