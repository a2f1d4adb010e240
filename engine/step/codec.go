package step

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalRecord returns a record's JSON form: one object, "type" first.
func MarshalRecord(r Record) ([]byte, error) { return marshalTyped(r.RecordType(), r) }

// MarshalEvent returns an event's JSON form: one object, "type" first.
func MarshalEvent(e Event) ([]byte, error) { return marshalTyped(e.EventType(), e) }

// UnmarshalRecord reads what MarshalRecord wrote, this version or an earlier one. A type that this version
// does not know is an error: a state folded without it would be wrong.
func UnmarshalRecord(b []byte) (Record, error) {
	r, err := unmarshalTyped(b, newRecord)
	if err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	return r, nil
}

// UnmarshalEvent reads what MarshalEvent wrote.
func UnmarshalEvent(b []byte) (Event, error) {
	e, err := unmarshalTyped(b, newEvent)
	if err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return e, nil
}

func marshalTyped(name string, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	fmt.Fprintf(&buf, `{"type":%q`, name)
	head := buf.Len()
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write a %s: %w", name, err)
	}
	b := bytes.TrimRight(buf.Bytes(), "\n")
	if string(b[head:]) == "{}" {
		return append(b[:head], '}'), nil
	}
	b[head] = ',' // the object's own brace becomes the comma after the type
	return b, nil
}

func unmarshalTyped[T any](b []byte, fresh func(string) (target any, read func() T)) (T, error) {
	var none T
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return none, err
	}
	target, read := fresh(head.Type)
	if target == nil {
		return none, fmt.Errorf("type %q is not one that this version knows", head.Type)
	}
	if err := json.Unmarshal(b, target); err != nil {
		return none, fmt.Errorf("%s: %w", head.Type, err)
	}
	return read(), nil
}

// into pairs a fresh *T to decode into with a function that gives the decoded T back as an R.
func into[T any, R any](wrap func(T) R) (any, func() R) {
	p := new(T)
	return p, func() R { return wrap(*p) }
}

func record[T Record]() (any, func() Record) { return into(func(r T) Record { return r }) }
func event[T Event]() (any, func() Event)    { return into(func(e T) Event { return e }) }

func newEvent(name string) (any, func() Event) {
	switch name {
	case "start":
		return event[Start]()
	case "stage_ended":
		return event[StageEnded]()
	case "stage_lost":
		return event[StageLost]()
	case "timer_fired":
		return event[TimerFired]()
	case "notified":
		return event[Notified]()
	case "tree_read":
		return event[TreeRead]()
	case "rolled_back":
		return event[RolledBack]()
	case "resumed":
		return event[Resumed]()
	case "answer":
		return event[Answer]()
	}
	return nil, nil
}

// newRecord is a flat table of all record types that were ever released.
func newRecord(name string) (any, func() Record) {
	switch name {
	case "run.started":
		return record[RunStarted]()
	case "run.waiting":
		return record[RunWaiting]()
	case "run.paused":
		return record[RunPaused]()
	case "run.resumed":
		return record[RunResumed]()
	case "run.cancelling":
		return record[RunCancelling]()
	case "run.finished":
		return record[RunFinished]()
	case "stage.started":
		return record[StageStarted]()
	case "stage.succeeded":
		return record[StageSucceeded]()
	case "stage.failed":
		return record[StageFailed]()
	case "stage.skipped":
		return record[StageSkipped]()
	case "stage.rejected":
		return record[StageRejected]()
	case "stage.not_run":
		return record[StageNotRun]()
	case "stage.cancelled":
		return record[StageCancelled]()
	case "stage.interrupted":
		return record[StageInterrupted]()
	case "stage.stale":
		return record[StageStale]()
	case "retry.scheduled":
		return record[RetryScheduled]()
	case "retry.due":
		return record[RetryDue]()
	case "check.failed":
		return record[CheckFailed]()
	case "tree.asked":
		return record[TreeAsked]()
	case "tree.recorded":
		return record[TreeRecorded]()
	case "feedback.received":
		return record[FeedbackReceived]()
	case "feedback.routed":
		return record[FeedbackRouted]()
	case "item.opened":
		return record[ItemOpened]()
	case "item.changed":
		return record[ItemChanged]()
	case "approval.asked":
		return record[ApprovalAsked]()
	case "approval.answered":
		return record[ApprovalAnswered]()
	case "escalation.raised":
		return record[EscalationRaised]()
	case "escalation.decided":
		return record[EscalationDecided]()
	case "notify.started":
		return record[NotifyStarted]()
	case "notify.finished":
		return record[NotifyFinished]()
	case "finally.started":
		return record[FinallyStarted]()
	case "finally.finished":
		return record[FinallyFinished]()
	case "rollback.started":
		return record[RollbackStarted]()
	case "rollback.finished":
		return record[RollbackFinished]()
	case "answer.refused":
		return record[AnswerRefused]()
	case "event.ignored":
		return record[EventIgnored]()
	}
	return nil, nil
}

// RecordType implements Record.
func (RunStarted) RecordType() string        { return "run.started" }
func (RunWaiting) RecordType() string        { return "run.waiting" }
func (RunPaused) RecordType() string         { return "run.paused" }
func (RunResumed) RecordType() string        { return "run.resumed" }
func (RunCancelling) RecordType() string     { return "run.cancelling" }
func (RunFinished) RecordType() string       { return "run.finished" }
func (StageStarted) RecordType() string      { return "stage.started" }
func (StageSucceeded) RecordType() string    { return "stage.succeeded" }
func (StageFailed) RecordType() string       { return "stage.failed" }
func (StageSkipped) RecordType() string      { return "stage.skipped" }
func (StageRejected) RecordType() string     { return "stage.rejected" }
func (StageNotRun) RecordType() string       { return "stage.not_run" }
func (StageCancelled) RecordType() string    { return "stage.cancelled" }
func (StageInterrupted) RecordType() string  { return "stage.interrupted" }
func (StageStale) RecordType() string        { return "stage.stale" }
func (RetryScheduled) RecordType() string    { return "retry.scheduled" }
func (RetryDue) RecordType() string          { return "retry.due" }
func (CheckFailed) RecordType() string       { return "check.failed" }
func (TreeAsked) RecordType() string         { return "tree.asked" }
func (TreeRecorded) RecordType() string      { return "tree.recorded" }
func (FeedbackReceived) RecordType() string  { return "feedback.received" }
func (FeedbackRouted) RecordType() string    { return "feedback.routed" }
func (ItemOpened) RecordType() string        { return "item.opened" }
func (ItemChanged) RecordType() string       { return "item.changed" }
func (ApprovalAsked) RecordType() string     { return "approval.asked" }
func (ApprovalAnswered) RecordType() string  { return "approval.answered" }
func (EscalationRaised) RecordType() string  { return "escalation.raised" }
func (EscalationDecided) RecordType() string { return "escalation.decided" }
func (NotifyStarted) RecordType() string     { return "notify.started" }
func (NotifyFinished) RecordType() string    { return "notify.finished" }
func (FinallyStarted) RecordType() string    { return "finally.started" }
func (FinallyFinished) RecordType() string   { return "finally.finished" }
func (RollbackStarted) RecordType() string   { return "rollback.started" }
func (RollbackFinished) RecordType() string  { return "rollback.finished" }
func (AnswerRefused) RecordType() string     { return "answer.refused" }
func (EventIgnored) RecordType() string      { return "event.ignored" }
