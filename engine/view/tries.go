package view

import (
	"slices"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// Try names one try of a stage; its folder holds what it printed.
type Try struct {
	Stage     string
	Iteration int
	Attempt   int
	Running   bool
}

// Tries gives the tries of a stage that were dispatched, in order; one that was interrupted and made again
// counts once.
func (r *Run) Tries(path string) []Try {
	s, ok := r.tree.byPath[path]
	if !ok {
		return nil
	}
	var out []Try
	for _, e := range s.history {
		st, ok := e.rec.(step.StageStarted)
		if !ok || st.Effect == "" {
			continue
		}
		t := Try{Stage: path, Iteration: st.Iteration, Attempt: st.Attempt}
		if n := len(out); n > 0 && out[n-1] == t {
			continue
		}
		out = append(out, t)
	}
	if n := len(out); n > 0 && s.status == step.Running {
		out[n-1].Running = true
	}
	return out
}

// Node gives the plan's node of a stage, nil if there is none.
func (r *Run) Node(path string) *plan.Node {
	if s, ok := r.tree.byPath[path]; ok {
		return s.node
	}
	return nil
}

// Escalation gives an open escalation by its id or by one of its sources; with both empty, the first. The
// bool says whether there is one.
func (r *Run) Escalation(id, source string) (Question, bool) {
	for _, e := range r.open {
		if id != "" && e.ID != id || source != "" && !slices.Contains(e.Sources, source) {
			continue
		}
		q := Question{ID: e.ID, Sources: e.Sources, Reason: e.Reason, Options: e.options(), Commands: r.escalationCommands(e)}
		for i := range e.Blocking {
			q.Items = append(q.Items, e.Blocking[i].ID)
		}
		return q, true
	}
	return Question{}, false
}

// Question is an open escalation as who answers it needs it.
type Question struct {
	ID      string
	Sources []string
	Reason  string
	Options []string

	Items    []string // ids of what blocks
	Commands []string // that answer it
}

// Approvals gives the paths of the stages that wait for an approval, in the order of the plan.
func (r *Run) Approvals() []string {
	out := make([]string, len(r.asked))
	for i, s := range r.asked {
		out[i] = s.path
	}
	return out
}
