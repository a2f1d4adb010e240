// Package feedback is the protocol that sends findings of review stages back to the stage that must act on
// them: items, the ledger that keeps their identity over the rounds, the budget of rounds, the brief for
// the target, the escalation to a person, the state files and log lines. It is pure: the machine calls it,
// and all it does ends in the machine's records.
//
// Words: a review leaves a Result; its findings are Items; the Ledger keeps every item of a run with its
// status; a Loop (source, target) has a Counter of rounds and a cap; what to do after a review is an
// Action. The forms, names and figures are those of the cross-stage-feedback document.
//
// Package feedback/convert turns reports of tools into results; reading files is the driver's work.
package feedback

// Severity says what an item does: a blocking one sends work back, the others are logged.
type Severity uint8

// The severities of items.
const (
	UnknownSeverity Severity = iota
	Blocking
	Advisory
	Informational
)

// Status is where an item stands. An item is open unless it is fixed, withdrawn or waived.
type Status uint8

// The statuses of items.
const (
	UnknownStatus Status = iota
	Open
	Fixed
	NotFixed
	Withdrawn
	Waived
	Disputed
	Escalated
)

// Item is one finding of a review. The fields down to Category are the reviewer's; the others the
// engine's. It is one flat struct, long as it is, because its JSON is one flat object in all documents.
type Item struct {
	Severity     Severity `json:"severity"`
	File         string   `json:"file,omitempty"` // relative to the repository root, with slashes
	Line         int      `json:"line,omitempty"` // 1-based; 0: none
	Description  string   `json:"description"`
	SuggestedFix string   `json:"suggested_fix,omitempty"`
	SourceAgent  string   `json:"source_agent,omitempty"`
	GateID       string   `json:"gate_id,omitempty"`
	Category     string   `json:"category,omitempty"` // "security" comes first in a brief

	ID          string   `json:"id,omitempty"` // source and number: "quality_review.1"; never changes, is never given twice
	Status      Status   `json:"status,omitempty"`
	FirstRound  int      `json:"first_round,omitempty"`  // iteration of the loop in which it was found
	LastRound   int      `json:"last_round,omitempty"`   // iteration in which its source last gave or confirmed it
	Sources     []string `json:"sources,omitempty"`      // paths of the stages that gave it
	Fingerprint string   `json:"fingerprint,omitempty"`  // its evidence: rule or text, file, and text of the line
	Flags       []string `json:"flags,omitempty"`        // what was dropped from it, in words
	Reason      string   `json:"reason,omitempty"`       // why it has its status
	By          string   `json:"by,omitempty"`           // who gave it its status: a stage's path, or a person
	StatusRound int      `json:"status_round,omitempty"` // iteration in which it got its status

	// How often the target disputed it, and in how many rounds in a row its source looked again and found it not
	// fixed; both since a person was last asked about it.
	Disputes int `json:"disputes,omitempty"`
	Unfixed  int `json:"unfixed,omitempty"`

	Dispute string `json:"dispute,omitempty"` // why the target disputed it last, in its words; it stays for who decides

	Ratcheted bool   `json:"ratcheted,omitempty"` // it would block, but was found late, on lines that had not changed
	SameAs    string `json:"same_as,omitempty"`   // id of an earlier item of another source that it is one with
}

// IsOpen reports whether the item still counts.
func (i *Item) IsOpen() bool {
	return i.Status != Fixed && i.Status != Withdrawn && i.Status != Waived
}

// Reply answers an item by its id.
type Reply struct {
	ID     string `json:"id"`
	Status Status `json:"status"` // fixed, not_fixed, withdrawn; of a target: disputed
	Reason string `json:"reason,omitempty"`
}

// PriorAllFixed as a result's Prior says that all earlier items are fixed.
const PriorAllFixed = "all_fixed"

// PriorUnseen as a result's Prior says that nothing was looked at: earlier items stay as they are. No document says
// it; the engine does, for a review that could not look.
const PriorUnseen = "unseen"

// Result is what a review, or a target, said in one execution.
type Result struct {
	Summary string  `json:"summary,omitempty"`
	Items   []Item  `json:"feedback_items"`
	Replies []Reply `json:"replies,omitempty"`
	Prior   string  `json:"prior,omitempty"`
}

// IsComplete reports whether the result is the complete present list: an open item of its source that it
// does not hold is fixed.
func (r *Result) IsComplete() bool { return len(r.Replies) == 0 && r.Prior == "" }
