package explain

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
)

// Loop is a loop that sends work back.
type Loop struct {
	Source        string   `json:"source"`
	Target        string   `json:"target"`
	Self          bool     `json:"self,omitempty"` // the source is a part of the target: its verifiers, or the validation of its refine loop
	MaxIterations int      `json:"max_iterations"`
	OnExhausted   string   `json:"on_exhausted"`        // escalate, fail, or findings: of the stage around it
	OnReject      bool     `json:"on_reject,omitempty"` // it is taken when a person rejects
	Again         []string `json:"runs_again"`          // what runs again with the target, in order
	Rules         []Rule   `json:"rules"`
	Off           []string `json:"rules_off,omitempty"` // names of the rules that are switched off
	RatchetFrom   int      `json:"ratchet_from,omitempty"`
}

// Rule is a rule by which a loop ends before its findings are gone.
type Rule struct {
	Name string `json:"name"` // as records spell it
	Text string `json:"text"`
}

func (s setting) loop(g *plan.Graph, i int) Loop {
	l := g.Nodes[i].Loop
	out := Loop{Source: g.Nodes[i].ID, Target: g.Nodes[l.Target].ID, Self: l.Self, MaxIterations: l.MaxIterations,
		OnExhausted: l.OnExhausted.String(), OnReject: l.OnReject, Again: []string{}, RatchetFrom: l.Convergence.RatchetFrom}
	out.rules(g, i)
	if s.exhausted != "" && l.OnExhausted != plan.FailRun {
		out.OnExhausted = s.exhausted
	}
	behind := downstream(g, l.Target)
	if l.Rerun == plan.Path {
		way := upstream(g, i)
		for n := range behind {
			behind[n] = behind[n] && (way[n] || n == i)
		}
	}
	for _, n := range g.Order() {
		if behind[n] {
			out.Again = append(out.Again, g.Nodes[n].ID)
		}
	}
	return out
}

// rules gives the rules of a loop, in the order in which they are asked, and those that are off.
func (l *Loop) rules(g *plan.Graph, i int) {
	loop := g.Nodes[i].Loop
	c := loop.Convergence
	rule := func(on bool, name, format string, args ...any) {
		if on {
			l.Rules = append(l.Rules, Rule{name, fmt.Sprintf(format, args...)})
		} else {
			l.Off = append(l.Off, name)
		}
	}
	if g.Nodes[loop.Target].Body == nil { // of a pipeline nobody knows what it left as it was
		rule(c.NoChange, feedback.ReasonNoChange, "the target was sent work, left the tree and its outputs as they were, and disputed nothing")
	}
	rule(true, feedback.ReasonIterationCap, "blocking items are open after iteration %d", loop.MaxIterations)
	rule(c.Disputed > 0, feedback.ReasonDisputed, "the target has disputed the same item %s, and it is still open", often(c.Disputed))
	rule(c.SameItem > 0, feedback.ReasonSameItem, "the same item was not fixed in %s", rounds(c.SameItem))
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func rounds(n int) string {
	if n == 1 {
		return "a round"
	}
	return fmt.Sprintf("%d rounds in a row", n)
}

func downstream(g *plan.Graph, from int) []bool {
	out := make([]bool, len(g.Nodes))
	for _, i := range g.Order() {
		out[i] = slices.ContainsFunc(g.Nodes[i].Needs, func(n int) bool { return n == from || out[n] })
	}
	return out
}

func upstream(g *plan.Graph, from int) []bool {
	out := make([]bool, len(g.Nodes))
	order := g.Order()
	for _, i := range slices.Backward(order) {
		if i != from && !out[i] {
			continue
		}
		for _, n := range g.Nodes[i].Needs {
			out[n] = true
		}
	}
	return out
}
