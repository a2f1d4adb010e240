package view

import "example.com/pipe/engine/feedback"

// LoopState is where a feedback loop stands.
type LoopState struct {
	feedback.Counter
	Last string // the last action or decision: "accept", "re_implement", "escalate", "override", …; "" before the first
}

// Loops gives all feedback loops: those of the plan in its order, then those of instances in the order in
// which they came up.
func (r *Run) Loops() []LoopState {
	out := make([]LoopState, len(r.tree.loops))
	for i, l := range r.tree.loops {
		out[i] = l.state()
	}
	return out
}

// Loop gives the loop of a source, by the path of the source.
func (r *Run) Loop(source string) (LoopState, bool) {
	l, ok := r.tree.loopOf[source]
	if !ok {
		return LoopState{}, false
	}
	return l.state(), true
}

func (l *loop) state() LoopState { return LoopState{l.Counter, l.last} }

// ItemsOf gives all items of a source whatever their status, in order of ids.
func (r *Run) ItemsOf(source string) []feedback.Item { return r.ledger.Of(source) }

// Items gives all items of the run whatever their status, in order of ids.
func (r *Run) Items() []feedback.Item { return r.ledger.Items() }
