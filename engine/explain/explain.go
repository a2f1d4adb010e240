package explain

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/check"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
)

// Pipeline is a pipeline explained.
type Pipeline struct {
	Name        string   `json:"name"`
	File        string   `json:"file,omitempty"`
	Description string   `json:"description,omitempty"`
	Workspace   string   `json:"workspace"`
	Unattended  bool     `json:"unattended,omitempty"`
	Inputs      []Param  `json:"inputs"`
	Outputs     []string `json:"outputs"`
	Graph
	Escalation *Escalation `json:"escalation,omitempty"`
	Routing    string      `json:"routing_contract,omitempty"` // what is asked at every routing
	Task       *Task       `json:"task,omitempty"`
}

// Graph is the stages of a pipeline.
type Graph struct {
	Steps   [][]string `json:"steps"` // ids: of each step those that may run side by side
	Stages  []Stage    `json:"stages"`
	Loops   []Loop     `json:"feedback_loops"`
	Finally []Stage    `json:"finally,omitempty"`
}

// Param is an input.
type Param struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"`
	Required    bool        `json:"required"`
	Default     *value.JSON `json:"default,omitempty"`
	Description string      `json:"description,omitempty"`
}

// Stage is one stage.
type Stage struct {
	ID          string    `json:"id"`
	Role        string    `json:"role"`
	Description string    `json:"description,omitempty"`
	Kind        string    `json:"kind"`           // "pipeline" where it runs one
	Runs        string    `json:"runs,omitempty"` // what it runs
	Needs       []string  `json:"needs"`
	When        string    `json:"when,omitempty"`
	ForEach     string    `json:"for_each,omitempty"`
	Writes      bool      `json:"writes,omitempty"`
	Contract    string    `json:"contract,omitempty"`
	Approval    *Asking   `json:"approval,omitempty"`
	AfterError  bool      `json:"continue_on_error,omitempty"`
	Discovery   bool      `json:"discovery,omitempty"` // it gets the task
	Report      *Report   `json:"report,omitempty"`
	Refine      *Refine   `json:"refine,omitempty"`
	Rollback    *Rollback `json:"rollback,omitempty"`

	Bound

	Inside *Graph `json:"inside,omitempty"` // of a pipeline
}

// Bound is how often a stage can run at the most, as long as no person grants more.
type Bound struct {
	MostRuns  int  `json:"most_runs"`               // of it, or of each of its items
	MostTries int  `json:"most_tries"`              // of these runs, with all retries
	PerItem   bool `json:"per_item,omitempty"`      // the figures are of each item
	ForItems  int  `json:"runs_for_item,omitempty"` // further runs for each item whose review sends work back
}

// Asking is what a person is asked before a stage.
type Asking struct {
	Approvers []string `json:"approvers,omitempty"`
	Timeout   string   `json:"timeout,omitempty"`
	OnTimeout string   `json:"on_timeout,omitempty"`
	OnReject  string   `json:"on_reject"`
}

// Escalation is what follows when a person is asked to decide.
type Escalation struct {
	Timeout   string   `json:"timeout,omitempty"`
	OnTimeout string   `json:"on_timeout,omitempty"`
	Notify    []string `json:"notify,omitempty"`
}

// Explain explains a plan.
func Explain(p *plan.Plan) *Pipeline {
	out := &Pipeline{Name: p.Name, File: p.File, Description: p.Description, Workspace: plan.InPlace.String(),
		Unattended: p.Unattended, Inputs: []Param{}, Outputs: []string{}}
	if p.Workspace != plan.UnknownWorkspace {
		out.Workspace = p.Workspace.String()
	}
	for i := range p.Inputs {
		out.Inputs = append(out.Inputs, param(&p.Inputs[i]))
	}
	for i := range p.Graph.Outputs {
		out.Outputs = append(out.Outputs, p.Graph.Outputs[i].Name)
	}
	if e := p.Escalation; e != nil {
		out.Escalation = &Escalation{}
		if e.Timeout > 0 {
			out.Escalation.Timeout, out.Escalation.OnTimeout = short(e.Timeout), e.OnTimeout.String()
		}
		for i := range e.Notify {
			out.Escalation.Notify = append(out.Escalation.Notify, e.Notify[i].Run)
		}
	}
	if p.Routing != nil {
		out.Routing = p.Routing.Name
	}
	if p.Task != nil {
		out.Task = task(p.Task)
	}
	all := setting{bounds: check.Bounds(&p.Graph), around: check.Bound{Runs: 1}}
	if p.Unattended {
		all.exhausted = plan.FailRun.String()
	}
	out.Graph = *all.graph(&p.Graph)
	return out
}

func param(p *plan.Param) Param {
	out := Param{Name: p.Name, Type: plan.TypeText(p.Type), Required: p.Required, Description: p.Description}
	if p.Default != nil {
		out.Default = &value.JSON{Value: p.Default}
	}
	return out
}

// setting is what is known of a graph from around it.
type setting struct {
	bounds    []check.Bound // of its stages
	around    check.Bound   // of the stage that runs it
	exhausted string        // what becomes of its loops in place of asking a person; "": a person is asked
}

func (s setting) graph(g *plan.Graph) *Graph {
	out := &Graph{Steps: [][]string{}, Stages: make([]Stage, 0, len(g.Nodes)), Loops: []Loop{}}
	step := make([]int, len(g.Nodes))
	for _, i := range g.Order() {
		for _, n := range g.Nodes[i].Needs {
			step[i] = max(step[i], step[n]+1)
		}
	}
	for i := range g.Nodes {
		for len(out.Steps) <= step[i] {
			out.Steps = append(out.Steps, []string{})
		}
		out.Steps[step[i]] = append(out.Steps[step[i]], g.Nodes[i].ID)
		st := explainStage(g, i)
		b := s.bounds[i]
		st.Bound = Bound{b.Runs, b.Tries, b.PerItem, b.Items}
		if n := &g.Nodes[i]; n.Body != nil {
			in := setting{bounds: b.Body, around: b, exhausted: s.exhausted}
			switch n.OnEscalation {
			case plan.EscalationFails, plan.EscalationFinds:
				in.exhausted = n.OnEscalation.String()
			}
			st.Inside = in.graph(n.Body)
		}
		out.Stages = append(out.Stages, st)
	}
	for i := range g.Nodes {
		if g.Nodes[i].Loop != nil {
			out.Loops = append(out.Loops, s.loop(g, i))
		}
	}
	if g.Finally != nil {
		for i := range g.Finally.Nodes {
			st := explainStage(g.Finally, i)
			st.Bound = Bound{s.around.Runs, s.around.Runs * max(1, g.Finally.Nodes[i].Retry.MaxAttempts), s.around.PerItem, s.around.Items}
			out.Finally = append(out.Finally, st)
		}
	}
	return out
}

func explainStage(g *plan.Graph, i int) Stage {
	n := &g.Nodes[i]
	s := Stage{ID: n.ID, Role: n.Role.String(), Description: n.Description, Kind: n.Kind, Runs: runs(n), Needs: []string{},
		Writes: n.Writes && n.Body == nil, Contract: n.Contract, AfterError: n.ContinueOnError,
		Discovery: n.Discovery, Report: report(n.Feedback)}
	if n.Body != nil {
		s.Kind = "pipeline"
	}
	for _, need := range n.Needs {
		s.Needs = append(s.Needs, g.Nodes[need].ID)
	}
	if n.When != nil && (n.Loop == nil || !n.Loop.Self) { // that of a part is that its stage has succeeded
		s.When = written(n.When)
	}
	if f := n.ForEach; f != nil {
		s.ForEach = f.As + " in " + itemsText(&f.Items)
	}
	if r := n.Refine; r != nil {
		s.Refine = &Refine{Name: r.Name}
		if r.FeedbackFile != nil {
			s.Refine.File = templateText(r.FeedbackFile)
		}
	}
	if r := n.Rollback; r != nil {
		s.Rollback = &Rollback{r.Strategy.String(), r.Description, r.Run}
	}
	if a := n.Approval; a != nil {
		s.Approval = &Asking{Approvers: a.Approvers, OnReject: plan.RejectFails.String()}
		if a.OnReject != plan.UnknownOnReject {
			s.Approval.OnReject = a.OnReject.String()
		}
		if a.Timeout > 0 {
			s.Approval.Timeout = short(a.Timeout)
		}
		if a.OnTimeout != plan.UnknownOnTimeout {
			s.Approval.OnTimeout = a.OnTimeout.String()
		}
	}
	return s
}

// short gives a length of time without the parts that are zero: "1h", "1m30s".
func short(d plan.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// written gives an expression with its language, if that is CEL: the same text may mean something else there.
func written(e *plan.Expr) string {
	if e.Language == plan.CELLanguage {
		return "{cel: " + e.Source + "}"
	}
	return e.Source
}

// itemsText says where the items of a for_each come from.
func itemsText(t *plan.Template) string {
	if len(t.Parts) == 1 && t.Parts[0].Expr != nil {
		return written(t.Parts[0].Expr)
	}
	if list, ok := t.Value.(value.List); ok {
		if text, err := value.Format(list); err == nil {
			return text
		}
	}
	return "a list"
}

// configValue gives a value of a stage's config; nil where there is none.
func configValue(n *plan.Node, key string) value.Value {
	v, _ := n.Config.Get(key)
	return v
}

// runs says what a stage runs: a script, the name of an agent, plugin or pipeline, the names of verifiers.
func runs(n *plan.Node) string {
	if n.Body != nil {
		return n.Pipeline
	}
	if list, ok := configValue(n, "commands").(value.List); ok {
		var names []string
		for _, c := range list {
			if o, ok := c.(*value.Object); ok {
				if name, ok := o.Get("name"); ok {
					names = append(names, fmt.Sprint(name))
				}
			}
		}
		return strings.Join(names, ", ")
	}
	for _, key := range []string{"name", "script"} {
		if text, ok := configValue(n, key).(string); ok && text != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}
