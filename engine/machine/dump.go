package machine

import (
	"encoding/json"
	"fmt"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// Dump returns the whole state as JSON, the same bytes for the same state: what folding the records must give
// again.
func (m *Machine) Dump() []byte {
	s := &m.s
	d := dumpedState{
		Run: s.run, Status: s.status, Reason: s.reason, Started: s.started, Inputs: s.inputs,
		Ready: paths(s.ready), Unrouted: paths(s.ended), Closed: paths(s.closed),
		NextEffect: s.nextEffect, Active: s.active, Stopping: s.stopping, Held: paths(s.held),
		Writer: pathOf(s.writer), Items: s.ledger.Entries(), History: s.history,
		NextEscalation: s.nextEscalation, Waiting: s.waiting, Worked: s.worked, WorkTree: s.workTree,
		Shown: s.shown, Told: s.told, Overrides: len(s.overrides), IsShown: s.isShown, Cancelling: s.cancelling, Answers: len(s.answers),
		Undo: s.undo.dump(), Issue: s.sent.issue, SentBack: s.sent.defects,
	}
	for _, i := range s.all {
		d.Stages = append(d.Stages, i.dump())
	}
	for _, e := range s.effects {
		d.Effects = append(d.Effects, dumpedEffect{ID: e.id, Stage: pathOf(e.inst), Until: e.until, Purpose: e.purpose, Kind: int(e.kind)})
	}
	for _, l := range s.loops {
		d.Loops = append(d.Loops, dumpedLoop{Counter: l.counter, Last: l.last, Pending: l.pending, Summary: l.summary, Learnt: l.learnt})
	}
	for _, e := range s.escalations {
		d.Escalations = append(d.Escalations, e.Escalation)
	}
	for i := range s.decided {
		d.Decided = append(d.Decided, s.decided[i].ID)
	}
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("machine: dump the state: %v", err)) // values are JSON by their own contract
	}
	return out
}

type dumpedState struct {
	Run                          step.RunInfo
	Status                       step.RunStatus
	Reason                       string
	Started                      step.Instant
	Inputs                       *value.Object
	Stages                       []dumpedStage
	Ready, Unrouted, Closed      []string
	Effects                      []dumpedEffect
	NextEffect, Active, Stopping int
	Held                         []string
	Writer                       string
	Items                        []feedback.Item
	Loops                        []dumpedLoop
	History                      []feedback.HistoryEntry
	Escalations                  []feedback.Escalation
	Decided                      []string
	NextEscalation, Waiting      int
	Worked, IsShown, Cancelling  bool
	WorkTree, Shown              step.Tree
	Answers, Told, Overrides     int
	Undo                         string
	Issue                        envelope.Issue
	SentBack                     map[string][]envelope.PriorDefect
}

type dumpedEffect struct {
	ID, Stage string
	Kind      int
	Until     step.Instant
	Purpose   step.Purpose
}

type dumpedLoop struct {
	Counter feedback.Counter
	Last    string
	Pending []string
	Summary string
	Learnt  *envelope.Diagnosis
}

type dumpedStage struct {
	Path                                                                string
	Status                                                              step.StageStatus
	Iteration, Attempt, Next, Unmet, Undone                             int
	Effect, Class, Reason                                               string
	ExitCode                                                            *int
	Outputs, Before                                                     *value.Object
	Each                                                                value.Value
	Met, Done, Came, Redo, Stopping, Holding, Accepted, Unrouted, Round bool
	Blocked, Asks, HadBefore, Disputed, Live, Dispatched                bool
	Approval, Undo                                                      string
	StartTree                                                           *step.Tree
	Note, Brief, Base, Reviewed                                         string
	BriefIDs, Changes, Items                                            []string
}

func (i *instance) dump() dumpedStage {
	d := dumpedStage{
		Path: i.path, Status: i.status, Iteration: i.iteration, Attempt: i.attempt, Next: i.next, Unmet: i.unmet,
		Undone: i.undone, Effect: i.effect, Class: i.class, Reason: i.reason, ExitCode: i.exitCode,
		Outputs: i.outputs, Before: i.before, Each: i.each, Met: i.met, Done: i.done, Came: i.came,
		Redo: i.redo != nil, Stopping: i.stopping, Holding: i.holding, Accepted: i.accepted, Unrouted: i.unrouted,
		Round: i.round, Blocked: i.blocked, Asks: i.asks, HadBefore: i.hadBefore, Disputed: i.disputed,
		Approval: fmt.Sprintf("%+v", i.approval), Reviewed: i.reviewed, StartTree: i.startTree, Undo: fmt.Sprintf("%+v", i.undo), Note: i.note, Brief: i.brief,
		Dispatched: i.dispatched, Base: i.base, BriefIDs: i.briefIDs, Changes: i.changes, Items: paths(i.items),
	}
	if i.body != nil {
		d.Live, d.Undone = i.body.live, i.body.undone
	}
	return d
}

func paths(list []*instance) []string {
	out := make([]string, len(list))
	for k, i := range list {
		out[k] = i.path
	}
	return out
}

func pathOf(i *instance) string {
	if i == nil {
		return ""
	}
	return i.path
}
