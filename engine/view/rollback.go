package view

import (
	"slices"
	"strings"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// rollback is what became of what a stage did, at the end of a run that failed or was given up.
type rollback struct {
	stage, strategy string
	at, finished    step.Instant
	ended           bool
	class, message  string
	recovery        string
	files           []string
}

type jsonRollback struct {
	Stage      string        `json:"stage"`
	Strategy   string        `json:"strategy"`
	Status     string        `json:"status"` // running, succeeded or failed
	StartedAt  step.Instant  `json:"started_at"`
	FinishedAt *step.Instant `json:"finished_at"`
	Class      string        `json:"class,omitempty"`
	Message    string        `json:"message,omitempty"`
	Recovery   string        `json:"recovery,omitempty"` // git ref, or folder, that holds what was there before
	Files      []string      `json:"files,omitempty"`    // that were put back
}

// applyRollback takes in the beginning or the end of a rollback.
func (r *Run) applyRollback(at step.Instant, rec step.Record) {
	path := ""
	switch rec := rec.(type) {
	case step.RollbackStarted:
		path = rec.Stage
		r.status = step.RunRollingBack
		r.rollbacks = append(r.rollbacks, &rollback{stage: path, strategy: rec.Strategy, at: at})
	case step.RollbackFinished:
		path = rec.Stage
		r.status = step.RunRunning
		for _, b := range r.rollbacks {
			if b.stage == path {
				b.ended, b.class, b.message, b.recovery, b.files = true, rec.Class, rec.Message, rec.Recovery, rec.Files
				b.finished = at
			}
		}
	}
	s := r.tree.stage(path)
	if n := len(r.rollbacks); n > 0 && r.rollbacks[n-1].stage == path {
		s.undone = r.rollbacks[n-1]
	}
	s.history = append(s.history, entry{at, slimRollback(rec)})
	r.history = append(r.history, entry{at, slimRollback(rec)})
}

// slimRollback drops what the explanations do not need.
func slimRollback(rec step.Record) step.Record {
	switch rec := rec.(type) {
	case step.RollbackStarted:
		rec.Env = nil
		return rec
	case step.RollbackFinished:
		rec.Files = nil
		return rec
	}
	return rec
}

// goesOn is the status of a run that goes on.
func (r *Run) goesOn() step.RunStatus {
	if n := len(r.rollbacks); n > 0 && !r.rollbacks[n-1].ended {
		return step.RunRollingBack
	}
	return step.RunRunning
}

// Forgotten reports whether the run was made to forget what it remembered of a stage: its rollback cleared it away.
func (r *Run) Forgotten(stage string) bool {
	return slices.ContainsFunc(r.rollbacks, func(b *rollback) bool {
		return b.stage == stage && b.ended && b.class == "" && b.strategy == plan.MemoryCleanup.String()
	})
}

// Undoable gives the stages that were started and have a rollback, in the order of the plan: what they did is undone
// when the run fails, or when who stops it wishes so.
func (r *Run) Undoable() []string {
	var out []string
	for _, s := range r.tree.ordered() {
		if s.node == nil || s.node.Rollback == nil || s.isGroup() {
			continue
		}
		if slices.ContainsFunc(s.history, func(e entry) bool { _, ok := e.rec.(step.StageStarted); return ok }) {
			out = append(out, s.path)
		}
	}
	return out
}

// ByHand gives what is left to do by hand to undo what the stages did, in order of the rollbacks.
func (r *Run) ByHand() []string {
	var out []string
	for _, b := range r.rollbacks {
		if b.ended && (b.class != "" || b.isManual()) {
			out = append(out, oneLine(b.stage, maxText)+": "+oneLine(b.message, longText))
		}
	}
	return out
}

func (b *rollback) status() string {
	switch {
	case !b.ended:
		return step.Running.String()
	case b.class != "":
		return step.Failed.String()
	}
	return step.Succeeded.String()
}

// isManual reports whether it says what a person is to do, and does nothing.
func (b *rollback) isManual() bool { return b.strategy == plan.Manual.String() }

// leftToPerson is what texts say of a rollback that nothing but a person can make.
const leftToPerson = "left to a person"

// text is its status for people.
func (b *rollback) text() string {
	if b.isManual() && b.status() == step.Succeeded.String() {
		return leftToPerson
	}
	return b.status()
}

// remark is what stands behind what is said about the stage otherwise.
func (b *rollback) remark() string {
	switch {
	case b == nil:
		return ""
	case !b.ended:
		return "; is being undone (" + oneLine(b.strategy, maxText) + ")"
	case b.class != "":
		return "; could not be undone (" + oneLine(b.class, maxText) + ")"
	case b.isManual():
		return "; undoing it is " + leftToPerson
	}
	return "; undone"
}

func (b *rollback) json() jsonRollback {
	return jsonRollback{Stage: b.stage, Strategy: b.strategy, Status: b.status(), StartedAt: b.at,
		FinishedAt: instant(b.finished), Class: b.class, Message: b.message, Recovery: b.recovery, Files: b.files}
}

// rollbackReason says for an explanation what was undone, and how to get back what was there before.
func (r *Run) rollbackReason(rec step.Record) string {
	switch rec := rec.(type) {
	case step.RollbackStarted:
		return "what " + quoted(rec.Stage) + " did is undone (" + oneLine(rec.Strategy, maxText) + ")"
	case step.RollbackFinished:
		text := "it was undone"
		switch {
		case rec.Class == "" && slices.ContainsFunc(r.rollbacks, func(b *rollback) bool { return b.stage == rec.Stage && b.isManual() }):
			text = "undoing it is " + leftToPerson
		case rec.Class != "":
			text = "it could not be undone (" + oneLine(rec.Class, maxText) + ")"
		}
		text = "what " + quoted(rec.Stage) + " did: " + text + because(rec.Message)
		if rec.Recovery != "" && !strings.Contains(rec.Message, rec.Recovery) {
			text += "; what was there before is kept in " + oneLine(rec.Recovery, maxText)
		}
		return text
	}
	return ""
}

func quoted(name string) string { return `"` + oneLine(name, maxText) + `"` }

// rollbacks shows what was undone; the messages say what was saved where, and are never cut.
func (t *page) rollbacks(r *Run) {
	if len(r.rollbacks) == 0 {
		return
	}
	t.blank()
	rows := [][]string{{"ROLLBACK", "STRATEGY", "STATUS"}}
	for _, b := range r.rollbacks {
		rows = append(rows, []string{oneLine(b.stage, maxText), b.strategy, b.text()})
	}
	t.table(rows)
	for _, b := range r.rollbacks {
		if b.message != "" {
			t.whole("  " + oneLine(b.stage, maxText) + ": " + oneLine(b.message, longText))
		}
		if b.recovery != "" && !strings.Contains(b.message, b.recovery) {
			t.whole("  " + oneLine(b.stage, maxText) + ": what was there before is kept in " + oneLine(b.recovery, maxText))
		}
	}
}
