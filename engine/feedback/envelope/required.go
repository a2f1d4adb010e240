package envelope

import (
	"fmt"
	"strings"
)

// Slot names a part of an envelope.
type Slot string

// The slots: each has the name of its field.
const (
	SlotAcceptanceCriteria    Slot = "AcceptanceCriteria"
	SlotRepos                 Slot = "Repos"
	SlotPriorDefectHistory    Slot = "PriorDefectHistory"
	SlotReviewerConcerns      Slot = "ReviewerConcerns"
	SlotAssemblyFixerConcerns Slot = "AssemblyFixerConcerns"
	SlotSquashGateOutput      Slot = "SquashGateOutput"
	SlotCIFailureDetail       Slot = "CIFailureDetail"
	SlotVerifierChainDetail   Slot = "VerifierChainDetail"
	SlotOperatorReferBackNote Slot = "OperatorReferBackNote"
	SlotResolverDiagnosis     Slot = "ResolverDiagnosis"
)

// Required holds, by source and target, the slots that an envelope must fill. A source goes to one target
// only. Acceptance criteria are nowhere required: an issue may have none. It is only read.
var Required = map[Source]map[IssueState][]Slot{
	SourceReviewerVerdict:   {IssueStateFeedback: {SlotPriorDefectHistory, SlotReviewerConcerns}},
	SourceAssemblyFixer:     {IssueStateFeedback: {SlotPriorDefectHistory, SlotAssemblyFixerConcerns}},
	SourceSquashGate:        {IssueStateFeedback: {SlotPriorDefectHistory, SlotSquashGateOutput}},
	SourceCIFailure:         {IssueStateFeedback: {SlotPriorDefectHistory, SlotCIFailureDetail}},
	SourceVerifierChain:     {IssueStateFeedback: {SlotPriorDefectHistory, SlotVerifierChainDetail}},
	SourcePriorDefect:       {IssueStateImplementing: {SlotPriorDefectHistory}},
	SourceOperatorReferBack: {IssueStateFeedback: {SlotOperatorReferBackNote}},
	SourceMergeResolver:     {IssueStateImplementing: {SlotResolverDiagnosis}},
}

// TargetOf gives the state that a source's envelopes are for; "" for a source that is not known.
func TargetOf(s Source) IssueState {
	for target := range Required[s] { // a row has one target
		return target
	}
	return ""
}

// InvalidError says how an envelope breaks the contract of its source.
type InvalidError struct {
	Source Source
	Target IssueState
	Slot   Slot // the first one that is missing; "": Source and Target have no row in Required
}

// Error names the source, the target and, where that is it, the missing slot.
func (e *InvalidError) Error() string {
	if e.Slot != "" {
		return fmt.Sprintf("envelope from %q for target %q: slot %q is empty, expected what %s", e.Source, e.Target, e.Slot, e.Source.knows())
	}
	if target := TargetOf(e.Source); target != "" {
		return fmt.Sprintf("envelope from %q for target %q: this source has no such target, expected %q", e.Source, e.Target, target)
	}
	known := make([]string, 0, len(Required))
	for _, s := range Sources() {
		known = append(known, string(s))
	}
	return fmt.Sprintf("envelope from %q for target %q: the source is not known, expected one of %s", e.Source, e.Target, strings.Join(known, ", "))
}

// knows says what a source's envelope must hold, for a message.
func (s Source) knows() string {
	switch s {
	case SourceReviewerVerdict:
		return "the reviewer found and the history of the rounds"
	case SourceAssemblyFixer:
		return "the assembly found and the history of the rounds"
	case SourceSquashGate:
		return "the gate said and the history of the rounds"
	case SourceCIFailure:
		return "CI said and the history of the rounds"
	case SourceVerifierChain:
		return "the verifier said and the history of the rounds"
	case SourcePriorDefect:
		return "earlier rounds sent back"
	case SourceOperatorReferBack:
		return "the person wrote"
	case SourceMergeResolver:
		return "the resolver said"
	}
	return "its row in the matrix asks for"
}

// Validate reports, as an *InvalidError, a pair of source and target that has no row in Required, or the first
// slot of its row that is empty. Slots of other sources may be filled too.
func (e Envelope) Validate() error {
	row, ok := Required[e.Source][e.Target]
	if !ok {
		return &InvalidError{Source: e.Source, Target: e.Target}
	}
	for _, slot := range row {
		if !e.Has(slot) {
			return &InvalidError{e.Source, e.Target, slot}
		}
	}
	return nil
}

// Has reports whether a slot is filled.
func (e Envelope) Has(s Slot) bool {
	switch s {
	case SlotAcceptanceCriteria:
		return len(e.AcceptanceCriteria) > 0
	case SlotRepos:
		return len(e.Repos) > 0
	case SlotPriorDefectHistory:
		return len(e.PriorDefectHistory) > 0
	case SlotReviewerConcerns:
		return len(e.ReviewerConcerns) > 0
	case SlotAssemblyFixerConcerns:
		return len(e.AssemblyFixerConcerns) > 0
	case SlotSquashGateOutput:
		return e.SquashGateOutput != nil
	case SlotCIFailureDetail:
		return e.CIFailureDetail != nil
	case SlotVerifierChainDetail:
		return e.VerifierChainDetail != nil
	case SlotOperatorReferBackNote:
		return strings.TrimSpace(e.OperatorReferBackNote) != ""
	case SlotResolverDiagnosis:
		return e.ResolverDiagnosis != nil
	}
	return false
}

// Validate reports the first of IssueKey and IssueBody that is missing; everything else may be.
func (d DiscoveryInput) Validate() error {
	for _, slot := range []struct{ name, text string }{{"IssueKey", d.IssueKey}, {"IssueBody", d.IssueBody}} {
		if strings.TrimSpace(slot.text) == "" {
			return fmt.Errorf("discovery input: slot %q is empty, expected what the pipeline's task says; write it under \"task\"", slot.name)
		}
	}
	return nil
}
