package view

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/step"
)

// Explanation says why a stage, or the run, stands where it does.
type Explanation struct {
	Stage     string   `json:"stage,omitempty"` // path; "" is the run
	Status    string   `json:"status"`
	Reasons   []string `json:"reasons"` // sentences, the oldest first; safe to print
	Commands  []string `json:"commands,omitempty"`
	Iteration int      `json:"iteration,omitempty"` // of the last try
	Attempt   int      `json:"attempt,omitempty"`   // of the last try; its folder holds what it printed
	Resume    bool     `json:"-"`                   // nothing is asked: the command goes on with the run
	Failed    bool     `json:"failed,omitempty"`    // the last try failed: its last lines say more
}

// Why explains a stage from the records that concern it, and whether there is such a stage.
func (r *Run) Why(path string) (Explanation, bool) {
	s, ok := r.tree.byPath[path]
	if !ok {
		return Explanation{}, false
	}
	explain := explainer{r}
	out := Explanation{Stage: path, Status: s.status.String(), Reasons: []string{},
		Iteration: s.iteration, Attempt: s.attempts,
		Failed: s.failure != nil && (s.status == step.Failed || s.status == step.Waiting)}
	for i, e := range s.history {
		if i > 0 && isReferredBack(s, s.history[i-1].rec) {
			if _, ok := e.rec.(step.StageStale); ok {
				continue // the note has said it
			}
		}
		if text := explain.reasonOf(s, e.rec); text != "" {
			out.Reasons = append(out.Reasons, e.at.String()+" "+text)
		}
	}
	if len(out.Reasons) == 0 {
		out.Reasons = append(out.Reasons, explain.pendingReason(s))
	}
	if s.approval != nil {
		out.Commands = append(out.Commands, s.commands(r.info.Run)...)
	}
	for _, e := range r.open {
		if r.isAbout(e, s) {
			out.Reasons = append(out.Reasons, openReason(s, e))
			out.Commands = append(out.Commands, r.escalationCommands(e)...)
		}
	}
	if !s.isDone() && r.goesOnByResume() {
		out.Reasons = append(out.Reasons, r.resumeReason("the run"))
		out.Commands, out.Resume = append(out.Commands, command("resume", r.info.Run)), true
	}
	return out, true
}

// resumeReason says why nothing but a resume is wanted; what names the run.
func (r *Run) resumeReason(what string) string {
	if by, ok := r.Answered(); ok {
		return what + " was answered" + byWhom(by) + " and goes on with: " + command("resume", r.info.Run)
	}
	return "no process carries " + what + " on: the last one was stopped or died"
}

// isReferredBack reports whether a record sends work back to a stage with a person's note.
func isReferredBack(s *stage, rec step.Record) bool {
	d, ok := rec.(step.EscalationDecided)
	return ok && d.To == s.path
}

// explainer puts records into words; it looks at the run for what they refer to.
type explainer struct{ *Run }

// WhyRun explains where the run as a whole stands: how it came there, and the stages that made it so.
func (r *Run) WhyRun() Explanation {
	out := Explanation{Status: r.StatusWord(), Reasons: []string{}, Commands: r.Commands()}
	for _, e := range r.history {
		if text := r.runReason(e.rec); text != "" {
			out.Reasons = append(out.Reasons, e.at.String()+" "+text)
		}
	}
	const most = 20
	n := 0
	for _, s := range r.tree.ordered() {
		if s.status != step.Failed {
			continue
		}
		if n++; n <= most {
			out.Reasons = append(out.Reasons, fmt.Sprintf("stage %q failed: %s", s.path, s.failure.text()))
			if text := (explainer{r}).exhausted(s); text != "" {
				out.Reasons = append(out.Reasons, text)
			}
		}
	}
	if n > most {
		out.Reasons = append(out.Reasons, fmt.Sprintf("and %s more failed", count(n-most, "stage")))
	}
	if out.Resume = r.goesOnByResume(); out.Resume {
		out.Reasons = append(out.Reasons, r.resumeReason("it"))
	}
	for _, s := range r.asked {
		out.Reasons = append(out.Reasons, fmt.Sprintf("stage %q waits for an approval", s.path))
	}
	for _, e := range r.open {
		out.Reasons = append(out.Reasons, "escalation "+escalationReason(&e.Escalation))
	}
	return out
}

func (r *Run) runReason(rec step.Record) string {
	switch rec := rec.(type) {
	case step.RunStarted:
		return "the run started"
	case step.RunWaiting:
		return "it waits: nothing can go on before the approval is answered"
	case step.RunPaused:
		return "it paused: " + oneLine(rec.Reason, maxText) + ", a person decides"
	case step.RunResumed:
		if rec.Ended > 0 {
			return fmt.Sprintf("it went on, after %s left over from before had been ended", count(rec.Ended, "process"))
		}
		return "it went on"
	case step.RollbackStarted, step.RollbackFinished:
		if text := r.rollbackReason(rec); text != "" {
			return text
		}
	case step.RunCancelling:
		text := "it was stopped" + byWhom(rec.By) + because(rec.Reason)
		if rec.Finally {
			text += ", and what stands in finally as well"
		}
		if rec.Rollback {
			text += "; what its stages did is undone"
		}
		return text
	case step.FinallyStarted, step.FinallyFinished:
		return finallyReason(rec)
	case step.NotifyFinished:
		if rec.Class != "" {
			return fmt.Sprintf("a notification of %s failed: %s", rec.Escalation, oneLine(rec.Message, maxText))
		}
		return "somebody was notified of " + rec.Escalation
	case step.RunFinished:
		if rec.Reason == rec.Status.String() {
			return "it ended: " + rec.Reason
		}
		return "it ended: " + rec.Status.String() + because(rec.Reason)
	}
	return ""
}

// pendingReason says why a stage has not come to its start.
func (r explainer) pendingReason(s *stage) string {
	if r.status.Ended() {
		return "the run ended before it came to its start"
	}
	if s.node == nil || len(s.order) == 0 {
		return "it has not come to its start"
	}
	prefix := prefixOf(s)
	g := &r.plan.Graph
	if prefix != "" {
		if parent, _ := r.tree.locate(strings.TrimSuffix(prefix, "/")); parent != nil && parent.Body != nil {
			g = parent.Body
		}
	}
	var waits []string
	for _, i := range s.node.Needs {
		path := prefix + g.Nodes[i].ID
		if need := r.tree.byPath[path]; need != nil && need.status != step.Succeeded && need.status != step.Skipped {
			waits = append(waits, fmt.Sprintf("%q (%s)", path, need.status))
		}
	}
	if len(waits) == 0 {
		return "it has not come to its start: other stages run first, or a loop it needs has not settled"
	}
	return "it needs " + strings.Join(waits, ", ")
}

// prefixOf is the path of the graph that a stage stands in, with a "/" at its end; "" for that of the run. The id of
// what verifies a stage has a "/" of its own.
func prefixOf(s *stage) string {
	base, _ := splitIndex(s.path)
	return strings.TrimSuffix(base, s.node.ID)
}

func (r explainer) reasonOf(s *stage, rec step.Record) string {
	switch rec := rec.(type) {
	case step.StageStarted:
		return startReason(&rec)
	case step.StageSucceeded:
		if rec.Reason != "" {
			return "it counts as succeeded: " + oneLine(rec.Reason, maxText)
		}
		if rec.Cached {
			return fmt.Sprintf("iteration %d did not run: an equal execution had succeeded before (cache)", rec.Iteration)
		}
		return fmt.Sprintf("iteration %d, attempt %d succeeded in %s", rec.Iteration, rec.Attempt, Duration(rec.DurationMS))
	case step.StageFailed:
		f := failure{rec.Class, rec.ExitCode, rec.Message, rec.Reason}
		if rec.Attempt == 0 {
			return fmt.Sprintf("iteration %d failed before a try: %s", rec.Iteration, f.textOf(longText))
		}
		return fmt.Sprintf("iteration %d, attempt %d failed for good: %s", rec.Iteration, rec.Attempt, f.textOf(longText))
	case step.RetryScheduled:
		f := failure{rec.Class, rec.ExitCode, rec.Message, ""}
		return fmt.Sprintf("iteration %d, attempt %d failed: %s; attempt %d of %d follows at %s", rec.Iteration,
			rec.Attempt-1, f.textOf(longText), rec.Attempt, s.maxAttempts(rec.Attempt), rec.Until)
	case step.StageRejected:
		return fmt.Sprintf("iteration %d did not start: it was rejected, and the work goes back", rec.Iteration)
	case step.FinallyStarted, step.FinallyFinished:
		return finallyReason(rec)
	case step.StageSkipped:
		if rec.Reason != "" {
			return fmt.Sprintf("iteration %d was skipped: %s", rec.Iteration, rec.Reason)
		}
		if s.node != nil && s.node.When != nil {
			return fmt.Sprintf("iteration %d was skipped: when: %s was false", rec.Iteration,
				oneLine(s.node.When.Source, maxText))
		}
		return fmt.Sprintf("iteration %d was skipped", rec.Iteration)
	case step.StageNotRun:
		if rec.Needed != "" {
			return fmt.Sprintf("it can't run: it needs %q, which %s", rec.Needed, r.ended(rec.Needed))
		}
		if rec.Gone {
			return "it does not run again: the for_each has fewer items than it had, and this is none of them any more"
		}
		return "it can't run: a stage that it needs failed"
	case step.StageCancelled:
		return "it was stopped, or not started, because the run stopped or it has to run again"
	case step.StageInterrupted:
		return fmt.Sprintf("iteration %d, attempt %d was interrupted: the process that ran it died; it counts as no attempt",
			rec.Iteration, rec.Attempt)
	case step.StageStale:
		return staleReason(rec)
	case step.RollbackStarted, step.RollbackFinished:
		return r.rollbackReason(rec)
	case step.CheckFailed:
		return fmt.Sprintf("its %s_check %q did not hold: %s", rec.When, oneLine(rec.Description, maxText),
			oneLine(rec.Validation, maxText))
	}
	return r.reviewReason(s, rec)
}

func (r explainer) reviewReason(s *stage, rec step.Record) string {
	switch rec := rec.(type) {
	case step.FeedbackReceived:
		return r.receivedReason(&rec)
	case step.FeedbackRouted:
		return r.routeReason(s, &rec)
	case step.ApprovalAsked:
		if rec.Again != "" {
			return "it asked once more for an approval: " + oneLine(rec.Again, maxText)
		}
		return "it asked for an approval"
	case step.ApprovalAnswered:
		word := "rejected"
		if rec.Approved {
			word = "approved"
		}
		if rec.Answer == "" {
			return "nobody answered (" + rec.By + "), it counts as " + word
		}
		return "it was " + word + byWhom(rec.By) + because(rec.Reason)
	case step.EscalationRaised:
		return "it was escalated: " + escalationReason(&rec.Escalation)
	case step.EscalationDecided:
		return decisionReason(s, &rec)
	}
	return ""
}

func startReason(rec *step.StageStarted) string {
	text := fmt.Sprintf("iteration %d, attempt %d started", rec.Iteration, rec.Attempt)
	if len(rec.BriefIDs) > 0 {
		text += " with items " + strings.Join(rec.BriefIDs, ", ")
	}
	if source := senderOf(rec.Envelope); source != "" {
		text += " (" + source + ")"
	}
	return text
}

func staleReason(rec step.StageStale) string {
	if rec.Anew {
		return "it runs again and counts its iterations anew: something else made its stage run again"
	}
	switch rec.Cause {
	case step.ByFeedback:
		return "it runs again: work was sent back to it"
	case step.ByUpstream:
		return "it runs again: a stage that it needs runs again"
	case step.ByDecision:
		return "it runs again: a person decided so"
	case step.UnknownCause:
	}
	return "it runs again"
}

// ended says how a stage that was needed came to its end.
func (r explainer) ended(path string) string {
	if s, ok := r.tree.byPath[path]; ok {
		if s.failure != nil && s.status == step.Failed {
			return "failed: " + s.failure.text()
		}
		return "is " + s.status.String()
	}
	return "failed"
}

func (s *stage) maxAttempts(atLeast int) int {
	if s.node != nil {
		return max(s.node.Retry.MaxAttempts, atLeast)
	}
	return atLeast
}

func byWhom(who string) string {
	if who == "" {
		return ""
	}
	return " by " + oneLine(who, 80)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + oneLine(reason, maxText)
}

// count gives a number with its noun, in the plural where it is not 1.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
