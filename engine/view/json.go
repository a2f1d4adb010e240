package view

import (
	"bytes"
	"encoding/json"
	"fmt"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

// JSONVersion is the version of the form that JSON writes: within it names are only added. A name that is
// not there does not apply; null is "not yet".
const JSONVersion = 1

type jsonRun struct {
	Version     int              `json:"version"`
	Run         string           `json:"run"`
	Pipeline    string           `json:"pipeline"`
	TaskID      string           `json:"task_id"`
	Branch      string           `json:"branch,omitempty"`
	Status      string           `json:"status"`
	Reason      string           `json:"reason,omitempty"`
	StartedAt   *step.Instant    `json:"started_at"`
	FinishedAt  *step.Instant    `json:"finished_at"`
	Stages      []any            `json:"stages"`
	Loops       []jsonLoop       `json:"feedback_loops"`
	Escalation  *jsonEscalation  `json:"escalation"`
	Escalations []jsonEscalation `json:"escalations"`
	Approvals   []jsonApproval   `json:"approvals"`
	Budget      jsonBudget       `json:"budget"`
	Outputs     *value.Object    `json:"outputs,omitempty"`
	Rollbacks   []jsonRollback   `json:"rollbacks,omitempty"`
}

type jsonBudget struct {
	StageRuns int `json:"stage_runs"` // tries that were dispatched
}

// jsonStage is a stage that is to run, runs, or ran: what it has not given yet is null.
type jsonStage struct {
	ID         string        `json:"id"`
	Path       string        `json:"path"`
	Role       string        `json:"role"`
	Status     string        `json:"status"`
	Iteration  int           `json:"iteration"`
	Attempts   int           `json:"attempts"`
	Outputs    *value.Object `json:"outputs"`
	StartedAt  *step.Instant `json:"started_at"`
	DurationMS *int64        `json:"duration_ms"`
	Class      string        `json:"class,omitempty"`
	ExitCode   *int          `json:"exit_code,omitempty"`
	Message    string        `json:"message,omitempty"`
	Cached     bool          `json:"cached,omitempty"`
	PartOf     string        `json:"part_of,omitempty"` // path of the stage whose work it verifies
}

// jsonIdle is a stage that gives nothing in this iteration: skipped, not run, or failed or cancelled before
// it started.
type jsonIdle struct {
	ID         string        `json:"id"`
	Path       string        `json:"path"`
	Role       string        `json:"role"`
	Status     string        `json:"status"`
	Iteration  int           `json:"iteration"`
	Attempts   int           `json:"attempts"`
	StartedAt  *step.Instant `json:"started_at,omitempty"`
	DurationMS *int64        `json:"duration_ms,omitempty"`
	Class      string        `json:"class,omitempty"`
	ExitCode   *int          `json:"exit_code,omitempty"`
	Message    string        `json:"message,omitempty"`
	PartOf     string        `json:"part_of,omitempty"`
}

type jsonLoop struct {
	Source        string     `json:"source"`
	Target        string     `json:"target"`
	Iteration     int        `json:"iteration"`
	MaxIterations int        `json:"max_iterations"`
	LastAction    *string    `json:"last_action"`
	OpenItems     value.List `json:"open_items"`
}

type jsonApproval struct {
	Stage     string       `json:"stage"`
	Iteration int          `json:"iteration"`
	AskedAt   step.Instant `json:"asked_at"`
	Message   string       `json:"message,omitempty"`
	Rounds    int          `json:"rounds,omitempty"`
	Again     string       `json:"again,omitempty"`

	Approvers []string      `json:"approvers,omitempty"`  // who may answer; none: anybody
	Until     *step.Instant `json:"until,omitempty"`      // its deadline
	OnTimeout string        `json:"on_timeout,omitempty"` // what it becomes then
}

// JSON gives the run as one line of JSON with a line end, the same for the same records.
func (r *Run) JSON() ([]byte, error) {
	doc := jsonRun{
		Version: JSONVersion, Run: r.info.Run, Pipeline: r.info.Pipeline, TaskID: r.info.TaskID, Branch: r.Branch(),
		Status: r.StatusWord(), Reason: r.reason,
		StartedAt: instant(r.started), FinishedAt: instant(r.finished),
		Stages: make([]any, 0, len(r.tree.stages)), Loops: make([]jsonLoop, 0, len(r.tree.loops)),
		Escalations: make([]jsonEscalation, 0, len(r.open)), Approvals: make([]jsonApproval, 0, len(r.asked)),
		Budget: jsonBudget{r.tries}, Outputs: r.outputs,
	}
	if doc.Pipeline == "" {
		doc.Pipeline = r.plan.Name
	}
	for _, s := range r.tree.ordered() {
		doc.Stages = append(doc.Stages, s.json())
	}
	for _, l := range r.tree.loops {
		doc.Loops = append(doc.Loops, l.json(&r.ledger))
	}
	for _, e := range r.open {
		doc.Escalations = append(doc.Escalations, e.json())
	}
	if len(doc.Escalations) > 0 {
		doc.Escalation = &doc.Escalations[0]
	}
	for _, b := range r.rollbacks {
		doc.Rollbacks = append(doc.Rollbacks, b.json())
	}
	for _, s := range r.asked {
		a := s.approval
		doc.Approvals = append(doc.Approvals, jsonApproval{s.path, s.iteration, a.asked, a.message, a.rounds, a.again,
			a.approvers, instant(a.until), a.onTimeout})
	}
	return Marshal(doc)
}

// Marshal gives v as one line of JSON with a line end. Text of stages in it can neither break the document
// nor move a cursor.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return safeJSON(buf.Bytes()), nil
}

func (s *stage) json() any {
	out := jsonStage{
		ID: s.id(), Path: s.path, Role: s.role().String(), Status: s.status.String(),
		Iteration: s.iteration, Attempts: s.attempts, Outputs: s.outputs, StartedAt: instant(s.started), Cached: s.cached,
		PartOf: s.owner(),
	}
	if s.ended {
		out.DurationMS = &s.duration
	}
	if f := s.failure; f != nil {
		out.Class, out.Message = f.class, f.message
		if f.exitCode != nil && *f.exitCode >= 0 { // else no process gave one
			out.ExitCode = f.exitCode
		}
	}
	switch s.status {
	case step.Succeeded:
		if out.Outputs == nil {
			out.Outputs = value.NewObject()
		}
	case step.Failed, step.Skipped, step.NotRun, step.Cancelled:
		return jsonIdle{ID: out.ID, Path: out.Path, Role: out.Role, Status: out.Status, Iteration: out.Iteration,
			Attempts: out.Attempts, StartedAt: s.startedHere(), DurationMS: s.durationHere(out.DurationMS),
			Class: out.Class, ExitCode: out.ExitCode, Message: out.Message, PartOf: out.PartOf}
	}
	return out
}

// startedHere is the start of a stage that ended without outputs; none if it did not start.
func (s *stage) startedHere() *step.Instant {
	if s.status == step.Skipped || s.status == step.NotRun {
		return nil
	}
	return instant(s.started)
}

func (s *stage) durationHere(ms *int64) *int64 {
	if s.startedHere() == nil {
		return nil
	}
	return ms
}

func (l *loop) json(items *feedback.Ledger) jsonLoop {
	out := jsonLoop{Source: l.Source, Target: l.Target, Iteration: l.Iteration, MaxIterations: l.Cap,
		OpenItems: feedback.ItemList(items.Open(l.Source))}
	if l.last != "" {
		out.LastAction = &l.last
	}
	return out
}

func instant(i step.Instant) *step.Instant {
	if i == 0 {
		return nil
	}
	return &i
}
