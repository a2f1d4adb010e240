package derived

import (
	"encoding/json"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// The words of status.json for what has a word of its own there.
const (
	statusNotStarted = "not-started"
	statusInProgress = "in-progress"
	statusCompleted  = "completed"
)

// StatusHead is what stands in status.json before its stages.
type StatusHead struct {
	Version    int           `json:"version"`
	Run        string        `json:"run"`
	Pipeline   string        `json:"pipeline"`
	TaskID     string        `json:"task_id"`
	Status     string        `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	StartedAt  *step.Instant `json:"started_at"`
	FinishedAt *step.Instant `json:"finished_at"`
}

// StatusStages stands between the head and the stages of status.json: who wants the head alone cuts there.
const StatusStages = `,"stages":`

// statusFile is status.json: where the run and each stage stand, and nothing else.
func (w *Files) statusFile() ([]byte, error) {
	info := w.view.Info()
	head := StatusHead{Version: 1, Run: info.Run, Pipeline: info.Pipeline, TaskID: info.TaskID,
		Status: w.view.StatusWord(), Reason: w.view.Reason()}
	if at := w.view.Started(); at != 0 {
		head.StartedAt = &at
	}
	if at := w.view.Finished(); at != 0 {
		head.FinishedAt = &at
	}
	b, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	b = append(append(b[:len(b)-1], StatusStages...), '{')
	for _, path := range w.view.Paths() {
		if _, half := w.refine.pairs.Target(path); half {
			continue // its stage speaks for it
		}
		entry, err := w.stageEntry(path)
		if err != nil {
			return nil, err
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, entry...)
	}
	return append(b, "}}\n"...), nil
}

// stageEntry is the name of a stage and what is said of it: its status, its output once it is completed, and the
// attempts of its refine loop.
func (w *Files) stageEntry(path string) ([]byte, error) {
	status := w.stageWord(path)
	fields := []struct {
		name string
		v    any
	}{{"status", status}}
	if out, ok := w.refine.outputs[path]; ok && status == statusCompleted {
		fields = append(fields, struct {
			name string
			v    any
		}{"output", out})
	}
	if l, ok := w.refine.book.Of(path); ok {
		fields = append(fields, struct {
			name string
			v    any
		}{l.Key(), l.Refinement()})
	}
	b, err := json.Marshal(path)
	if err != nil {
		return nil, err
	}
	b = append(b, ':', '{')
	for i, f := range fields {
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(f.v)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), v...)
	}
	return append(b, '}'), nil
}

// stageWord says where a stage stands. One that is looped with itself is completed when its loop has settled.
func (w *Files) stageWord(path string) string {
	status, _ := w.view.StageStatus(path)
	source, ok := w.refine.pairs.Source(path)
	if !ok {
		return statusWord(status)
	}
	looking, known := w.view.StageStatus(source)
	if !known {
		return statusWord(status)
	}
	switch status {
	case step.Succeeded:
		if looking == step.Succeeded && w.settled(source) || looking == step.Skipped {
			return statusCompleted
		}
		switch looking {
		case step.Failed, step.Cancelled, step.NotRun:
			return statusWord(looking)
		}
		return statusInProgress
	case step.Stale, step.Pending:
		if l, ok := w.refine.book.Of(path); ok && l.Number() > 0 {
			return statusInProgress // between two attempts
		}
	}
	return statusWord(status)
}

// settled reports whether the loop of a source that has looked has settled: what it found was accepted, or waived.
func (w *Files) settled(source string) bool {
	l, ok := w.view.Loop(source)
	if !ok {
		return true // of all items of a list: that has succeeded when they have
	}
	if l.Last == feedback.Accept.String() {
		return true
	}
	for _, item := range w.view.ItemsOf(source) {
		if item.Severity == feedback.Blocking && item.IsOpen() {
			return false
		}
	}
	return l.Last == "override"
}

func statusWord(s step.StageStatus) string {
	switch s {
	case step.Pending:
		return statusNotStarted
	case step.Running:
		return statusInProgress
	case step.Succeeded:
		return statusCompleted
	}
	return s.String()
}
