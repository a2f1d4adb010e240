package view

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// exhausted says which rule ended the loop of a stage that failed, for which items and in which round; "" where none
// did.
func (r explainer) exhausted(s *stage) string {
	for i := len(s.history) - 1; i >= 0; i-- {
		if rec, ok := s.history[i].rec.(step.FeedbackRouted); ok {
			if rec.Source != s.path || rec.Action != feedback.Escalate {
				return ""
			}
			return "the loop of " + quoted(s.path) + ": " + r.routeReason(s, &rec)
		}
	}
	return ""
}

// receivedReason says what a review gave, and what of it would block but for the rule ratchet_from.
func (r explainer) receivedReason(rec *step.FeedbackReceived) string {
	text := fmt.Sprintf("it gave %s, %d blocking", count(rec.Items, "item"), rec.Blocking)
	if rec.Disputed > 0 {
		text += fmt.Sprintf(", and disputed %s", count(rec.Disputed, "item"))
	}
	if names := learnt(rec.Diagnosis); len(names) > 0 {
		text += ", with " + strings.Join(names, ", ")
	}
	var late []string
	for _, item := range r.ledger.Of(rec.Source) {
		if item.Ratcheted && item.FirstRound == rec.Round {
			late = append(late, item.ID)
		}
	}
	if len(late) > 0 {
		text += "; rule ratchet_from: " + r.itemTexts(late) + " would block, but came late and not on lines that had changed"
	}
	return text
}

// learnt names what a review knew beside its items.
func learnt(d *envelope.Diagnosis) []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, part := range []struct {
		has  bool
		name string
	}{
		{len(d.Assembly) > 0, "assembly_fixer_concerns"}, {d.Gate != nil, "squash_gate_output"}, {d.CI != nil, "ci_failure_detail"},
		{d.Verifier != nil, "verifier_chain_detail"}, {d.Resolver != nil, "resolver_diagnosis"},
	} {
		if part.has {
			out = append(out, part.name)
		}
	}
	return out
}

// slimDiagnosis keeps of what a review learnt what it is about.
func slimDiagnosis(d *envelope.Diagnosis) *envelope.Diagnosis {
	if d == nil {
		return nil
	}
	out := &envelope.Diagnosis{}
	if len(d.Assembly) > 0 {
		out.Assembly = make([]envelope.AssemblyFixerConcern, 1)
	}
	if d.Gate != nil {
		out.Gate = &envelope.GateOutput{}
	}
	if d.CI != nil {
		out.CI = &envelope.CIFailure{}
	}
	if d.Verifier != nil {
		out.Verifier = &envelope.VerifierChainResult{VerifierName: d.Verifier.VerifierName}
	}
	if d.Resolver != nil {
		out.Resolver = &envelope.ResolverDiagnosis{}
	}
	return out
}

// senderOf is the source of an envelope; "" without one, and for the ordinary one, a review with its items.
func senderOf(e *envelope.Envelope) string {
	if e == nil || e.Source == envelope.SourceReviewerVerdict {
		return ""
	}
	return oneLine(string(e.Source), maxText)
}

// ruleText says what a rule that ended a loop looks at, with the figures that the loop of s has for it; "" for one that
// is not known.
func (r explainer) ruleText(s *stage, rule string) string {
	var c plan.Convergence
	if s.node != nil && s.node.Loop != nil {
		c = s.node.Loop.Convergence
	}
	switch rule {
	case feedback.ReasonIterationCap:
		return ", its iterations are used up"
	case feedback.ReasonNoChange:
		return ", the target left the workspace and its outputs as they were"
	case feedback.ReasonSameItem:
		return fmt.Sprintf(", an item was not fixed in %s in a row", count(max(c.SameItem, 1), "round"))
	case feedback.ReasonDisputed:
		return fmt.Sprintf(", the target disputed an item %s", count(max(c.Disputed, 1), "time"))
	}
	return ""
}

// routeReason tells a review what followed from it, and a target which items sent work back to it.
func (r explainer) routeReason(s *stage, rec *step.FeedbackRouted) string {
	round := fmt.Sprintf("iteration %d of %d", rec.Iteration, rec.MaxIterations)
	if s.path == rec.Target && s.path != rec.Source {
		return fmt.Sprintf("%q sent work back (%s): %s", rec.Source, round, r.itemTexts(rec.Items))
	}
	switch rec.Action {
	case feedback.Accept:
		return "it was accepted: no blocking item is open (" + round + ")"
	case feedback.ReImplement:
		return fmt.Sprintf("it sent work back to %q (%s): %s", rec.Target, round, r.itemTexts(rec.Items))
	case feedback.Escalate:
		return fmt.Sprintf("it may not go on, rule %s%s (%s): %s", rec.Rule, r.ruleText(s, rec.Rule), round, r.itemTexts(rec.Items))
	case feedback.UnknownAction:
	}
	return ""
}

// itemTexts names up to five items with their texts.
func (r explainer) itemTexts(ids []string) string {
	const most = 5
	var out []string
	for _, id := range ids[:min(len(ids), most)] {
		text := id
		if item, ok := r.ledger.Get(id); ok {
			if p := place(&item); p != "" {
				text += " " + oneLine(p, 80)
			}
			text += " " + oneLine(item.Description, 100)
		}
		out = append(out, text)
	}
	if n := len(ids) - most; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	if len(out) == 0 {
		return "no items"
	}
	return strings.Join(out, "; ")
}

func escalationReason(e *feedback.Escalation) string {
	text := fmt.Sprintf("%s of %s, rule %s after iteration %d of %d", e.ID, e.Source(), e.Reason, e.Iterations, e.Max)
	if e.Reason == feedback.ReasonInterrupted {
		text = fmt.Sprintf("%s of %s: it was interrupted and its on_interrupt asks", e.ID, e.Source())
	}
	var ids []string
	for i := range e.Blocking {
		ids = append(ids, e.Blocking[i].ID)
	}
	if len(ids) > 0 {
		text += ", items " + strings.Join(ids, ", ")
	}
	return text
}

// decisionReason tells the stage that work was sent back to what a person wrote, and the others what was decided.
func decisionReason(s *stage, rec *step.EscalationDecided) string {
	note := ""
	if rec.Note != "" {
		note = `: "` + oneLine(rec.Note, maxText) + `"`
	}
	if isReferredBack(s, *rec) {
		who := oneLine(rec.By, 80)
		if who == "" {
			who = "a person"
		}
		return "it runs again: " + who + " referred it back" + because(rec.Reason) + note
	}
	if rec.Answer == "" {
		return "nobody decided in time: " + rec.Decision
	}
	what := rec.Decision
	if !rec.Closed && len(rec.Items) > 0 {
		what += " of " + oneLine(strings.Join(rec.Items, ", "), maxText)
	}
	return "a person decided " + what + byWhom(rec.By) + because(rec.Reason) + note
}
