package step

import "fmt"

// RunStatus is where a run stands. "interrupted" is not among them: it is derived from a free lock.
type RunStatus uint8

// The statuses of a run.
const (
	UnknownRunStatus RunStatus = iota
	RunRunning
	RunIsWaiting
	RunIsPaused
	RunSucceeded
	RunFailed
	RunCancelled
	RunRollingBack // it has failed, or was cancelled, and what its stages did is being undone
)

// StageStatus is where a stage stands.
type StageStatus uint8

// The statuses of a stage.
const (
	UnknownStageStatus StageStatus = iota
	Pending
	Waiting // for an approval, or for the next try
	Running
	Succeeded
	Failed
	Skipped
	NotRun
	Cancelled
	Stale
	Rejected // a person refused its start; the work goes back
)

// StaleCause says why a stage runs again.
type StaleCause uint8

// Why a stage runs again.
const (
	UnknownCause StaleCause = iota
	ByFeedback              // it is the target that work is sent back to
	ByUpstream              // something that it needs runs again
	ByDecision              // a person's decision
)

// Purpose says what a tree is read for.
type Purpose uint8

// What a tree is read for.
const (
	UnknownPurpose Purpose = iota
	ForApproval            // what a person is shown before a stage
	ForStart               // what a stage starts on: compared with what was approved, base of a round
	ForPause               // what a person is shown at an escalation
	ForOverride            // what goes on after an override: compared with what was overridden
)

var (
	runStatusWords   = [...]string{"unknown", "running", "waiting", "paused", "succeeded", "failed", "cancelled", "rolling_back"}
	stageStatusWords = [...]string{"unknown", "pending", "waiting", "running", "succeeded", "failed", "skipped", "not_run", "cancelled", "stale", "rejected"}
	staleCauseWords  = [...]string{"unknown", "feedback", "upstream", "decision"}
	purposeWords     = [...]string{"unknown", "approval", "start", "pause", "override"}
	answerKindWords  = [...]string{"unknown", "approve", "reject", "cancel", "retry", "refer-back", "override", "abort"}
)

func word[T ~uint8](words []string, v T) string {
	if int(v) < len(words) {
		return words[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}

// fromWord reads an enum's text. A word that this version does not know is the zero value: enumerations may
// grow, and readers go on.
func fromWord[T ~uint8](words []string, b []byte, v *T) {
	*v = 0
	for i, w := range words {
		if w == string(b) {
			*v = T(i)
		}
	}
}

func (s RunStatus) String() string   { return word(runStatusWords[:], s) }
func (s StageStatus) String() string { return word(stageStatusWords[:], s) }
func (c StaleCause) String() string  { return word(staleCauseWords[:], c) }
func (p Purpose) String() string     { return word(purposeWords[:], p) }
func (k AnswerKind) String() string  { return word(answerKindWords[:], k) }

// MarshalText implements encoding.TextMarshaler.
func (s RunStatus) MarshalText() ([]byte, error)   { return []byte(s.String()), nil }
func (s StageStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
func (c StaleCause) MarshalText() ([]byte, error)  { return []byte(c.String()), nil }
func (p Purpose) MarshalText() ([]byte, error)     { return []byte(p.String()), nil }
func (k AnswerKind) MarshalText() ([]byte, error)  { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *RunStatus) UnmarshalText(b []byte) error   { fromWord(runStatusWords[:], b, s); return nil }
func (s *StageStatus) UnmarshalText(b []byte) error { fromWord(stageStatusWords[:], b, s); return nil }
func (c *StaleCause) UnmarshalText(b []byte) error  { fromWord(staleCauseWords[:], b, c); return nil }
func (p *Purpose) UnmarshalText(b []byte) error     { fromWord(purposeWords[:], b, p); return nil }
func (k *AnswerKind) UnmarshalText(b []byte) error  { fromWord(answerKindWords[:], b, k); return nil }

// Ended reports whether a run with this status is over.
func (s RunStatus) Ended() bool { return s == RunSucceeded || s == RunFailed || s == RunCancelled }
