package view

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// StageState is a stage as a screen shows it that follows a run.
type StageState struct {
	Path      string
	Status    step.StageStatus
	Iteration int
	Attempt   int
	Effect    string       // of its last try; "" where none was dispatched
	Since     step.Instant // when the last try began; 0 before one
	Took      int64        // of the last try, in ms; -1 before one ended
	Composite bool         // it has stages of its own, and no process
	Source    *LoopState   // the loop that it is the source of; nil: of none
	Target    *LoopState   // the loop that it alone is the target of; nil: of none, or of several
	OpenItems int          // of those that it is the source of
	Asked     bool         // it waits for an approval, or for the decision of an escalation
	Word      string       // its status for people: "escalated" of one about which a person is asked
	Trouble   string       // what was wrong with its last try, or what keeps it, in one line that is safe to print
}

// Stages gives all stages in the order of the plan.
func (r *Run) Stages() []StageState {
	targets := map[string]*LoopState{}
	for _, l := range r.tree.loops {
		state := l.state()
		if _, ok := targets[l.Target]; ok {
			targets[l.Target] = nil
			continue
		}
		targets[l.Target] = &state
	}
	stages := r.tree.ordered()
	out := make([]StageState, len(stages))
	for i, s := range stages {
		out[i] = r.overview(s)
		out[i].Target = targets[s.path]
		if l, ok := r.tree.loopOf[s.path]; ok {
			state := l.state()
			out[i].Source, out[i].OpenItems = &state, len(r.ledger.Open(s.path))
		}
	}
	return out
}

func (r *Run) overview(s *stage) StageState {
	o := StageState{Path: s.path, Status: s.status, Iteration: s.iteration, Attempt: s.attempts, Took: -1,
		Composite: s.isComposite(), Trouble: s.remark(), Word: r.statusText(s)}
	o.Asked = s.approval != nil || o.Word == escalated
	if s.ended && (s.attempts > 0 || s.duration > 0) && s.status != step.Running {
		o.Took = s.duration
	}
	for i := len(s.history) - 1; i >= 0; i-- {
		if st, ok := s.history[i].rec.(step.StageStarted); ok {
			o.Since, o.Effect = st.At, st.Effect
			break
		}
	}
	return o
}

// isComposite reports whether the stage stands for others: its instances, or the stages of its body.
func (s *stage) isComposite() bool {
	if s.node == nil {
		return false
	}
	return s.node.Body != nil || s.isGroup()
}

// isGroup reports whether the stage stands for the items of a for_each.
func (s *stage) isGroup() bool {
	_, item := splitIndex(s.path)
	return s.node != nil && s.node.ForEach != nil && item < 0
}

// Ask is one thing that a person is asked.
type Ask struct {
	What     string   // in one line that is safe to print
	Text     []string // more about it, in lines that are safe to print
	Commands []string // that answer it
}

// Questions gives all that a person is asked at the moment, also while other stages still run: open approvals in
// the order of the plan, then open escalations.
func (r *Run) Questions() []Ask {
	var out []Ask
	for _, s := range r.asked {
		t := &page{}
		t.question(s.approval)
		out = append(out, Ask{What: "stage \"" + oneLine(s.path, maxText) + "\" waits for an approval",
			Text: textLines(t.b.String()), Commands: s.commands(r.info.Run)})
	}
	for _, e := range r.open {
		what := oneLine(strings.Join(e.Sources, ", "), maxText) + ": " + oneLine(e.Reason, maxText)
		out = append(out, Ask{What: what, Text: e.summary(), Commands: r.escalationCommands(e)})
	}
	return out
}

// summary says what is to be decided: how far the loop came, and what blocks.
func (e *escalation) summary() []string {
	var out []string
	if e.Max > 0 {
		out = append(out, fmt.Sprintf("%d of %s made, %s left", e.Iterations, count(e.Max, "iteration"),
			count(len(e.Blocking), "blocking item")))
	}
	for i := range e.Blocking {
		out = append(out, itemLine(&e.Blocking[i]))
	}
	return out
}

func itemLine(i *feedback.Item) string {
	s := oneLine(i.ID, maxText) + "  " + i.Severity.String()
	if at := place(i); at != "" {
		s += "  " + oneLine(at, maxText)
	}
	return s + "  " + oneLine(i.Description, maxText)
}

func textLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, strings.TrimSpace(l))
	}
	return out
}
