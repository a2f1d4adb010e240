package view

import (
	"strconv"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// Line gives a record as one line of text without a line end: its time in UTC, what it is about, what
// happened, and key=value pairs. Records that matter to the machine alone give none.
func Line(at step.Instant, rec step.Record) (string, bool) {
	l := &line{}
	l.b.WriteString(at.String())
	if !l.run(rec) && !l.stage(rec) && !l.review(rec) && !l.person(rec) {
		return "", false
	}
	return l.b.String(), true
}

// line builds an event line.
type line struct{ b strings.Builder }

func (l *line) say(about, what string) *line {
	l.b.WriteByte(' ')
	l.b.WriteString(oneLine(about, maxText))
	l.b.WriteByte(' ')
	l.b.WriteString(what)
	return l
}

// text adds a pair; an empty text adds none.
func (l *line) text(key, s string) *line {
	if s != "" {
		l.b.WriteByte(' ')
		l.b.WriteString(key)
		l.b.WriteByte('=')
		l.b.WriteString(word(s))
	}
	return l
}

// whole adds a pair whose text holds a command: cut, it would do something else.
func (l *line) whole(key, s string) *line {
	if s != "" {
		l.b.WriteString(" " + key + "=" + wordOf(s, longText))
	}
	return l
}

// number adds a pair; 0 adds none.
func (l *line) number(key string, n int) *line {
	if n != 0 {
		l.text(key, strconv.Itoa(n))
	}
	return l
}

func (l *line) count(key string, n int) *line { return l.text(key, strconv.Itoa(n)) }

func (l *line) try(iteration, attempt int) *line {
	return l.number("iteration", iteration).number("attempt", attempt)
}

// durationOf is the duration of a try that failed, -1 where it was no try that failed: its loop is exhausted, or it
// never started.
func durationOf(rec *step.StageFailed) int64 {
	if rec.Effect == "" && rec.DurationMS == 0 {
		return -1
	}
	return rec.DurationMS
}

// failure adds how a try failed; a negative duration adds none.
func (l *line) failure(class string, exitCode *int, ms int64, message string) *line {
	l.text("class", class)
	if exitCode != nil && *exitCode >= 0 {
		l.count("exit_code", *exitCode)
	}
	if ms >= 0 {
		l.text("duration", Duration(ms))
	}
	return l.text("message", message)
}

// deadline adds when a question is answered although nobody did, and how.
func (l *line) deadline(until step.Instant, onTimeout string) *line {
	if until != 0 {
		l.text("until", until.String()).text("on_timeout", onTimeout)
	}
	return l
}

// ownerOf names what a finally belongs to.
func ownerOf(stage string) string {
	if stage == "" {
		return "run"
	}
	return stage
}

func (l *line) list(key string, ss []string) *line {
	const most = 10
	if len(ss) > most {
		return l.text(key, strings.Join(ss[:most], ",")+",… ("+strconv.Itoa(len(ss))+")")
	}
	return l.text(key, strings.Join(ss, ","))
}

func (l *line) run(rec step.Record) bool {
	switch rec := rec.(type) {
	case step.RunStarted:
		l.say("run", "started").text("run", rec.Run.Run).text("pipeline", rec.Run.Pipeline).
			text("task_id", rec.Run.TaskID).number("jobs", rec.Run.Jobs)
		if rec.Run.Unattended {
			l.text("unattended", "true")
		}
		for _, c := range rec.Loops {
			l.text("loop", c.Source+">"+c.Target+" goes on at "+strconv.Itoa(c.Iteration)+"/"+strconv.Itoa(c.Cap))
		}
	case step.RunWaiting:
		l.say("run", "waiting").text("reason", rec.Reason)
	case step.RunPaused:
		l.say("run", "paused").text("reason", rec.Reason)
	case step.RunResumed:
		l.say("run", "resumed").number("ended_processes", rec.Ended)
	case step.RunCancelling:
		l.say("run", "cancelling").text("reason", rec.Reason).text("by", rec.By).text("why", rec.Why)
		if rec.Finally {
			l.text("finally", "stopped")
		}
		if rec.Rollback {
			l.text("rollback", "true")
		}
	case step.FinallyStarted:
		l.say(ownerOf(rec.Stage), "finally_started").text("status", rec.Status.String()).text("reason", rec.Reason)
	case step.FinallyFinished:
		l.say(ownerOf(rec.Stage), "finally_finished").text("status", rec.Status.String())
	case step.RollbackStarted:
		l.say(rec.Stage, "rollback_started").text("strategy", rec.Strategy)
	case step.RollbackFinished:
		l.say(rec.Stage, "rollback_finished").text("class", rec.Class).whole("message", rec.Message).
			text("recovery", rec.Recovery).list("files", rec.Files)
	case step.NotifyStarted:
		l.say(rec.Escalation, "notify_started").text("run", rec.Run)
	case step.NotifyFinished:
		l.say(rec.Escalation, "notify_finished").text("class", rec.Class).text("message", rec.Message)
	case step.RunFinished:
		l.say("run", rec.Status.String()).text("reason", rec.Reason).number("open_items", len(rec.OpenItems))
	case step.EventIgnored:
		l.say("event", "ignored").text("event", rec.Event).text("effect", rec.Effect).text("why", rec.Why)
	default:
		return false
	}
	return true
}

func (l *line) stage(rec step.Record) bool {
	switch rec := rec.(type) {
	case step.StageStarted:
		l.say(rec.Stage, "started").try(rec.Iteration, rec.Attempt).list("items", rec.BriefIDs).
			text("envelope", senderOf(rec.Envelope))
	case step.StageSucceeded:
		l.say(rec.Stage, "succeeded").try(rec.Iteration, rec.Attempt).
			text("duration", Duration(rec.DurationMS)).text("reason", rec.Reason)
		if rec.Cached {
			l.text("cached", "true")
		}
	case step.StageFailed:
		l.say(rec.Stage, "failed").try(rec.Iteration, rec.Attempt).text("reason", rec.Reason).
			failure(rec.Class, rec.ExitCode, durationOf(&rec), rec.Message)
	case step.StageSkipped:
		l.say(rec.Stage, "skipped").number("iteration", rec.Iteration).text("reason", rec.Reason)
	case step.StageRejected:
		l.say(rec.Stage, "sent_back").number("iteration", rec.Iteration)
	case step.StageNotRun:
		l.say(rec.Stage, "not_run").text("needed", rec.Needed)
		if rec.Gone {
			l.text("reason", "no such item any more")
		}
	case step.StageCancelled:
		l.say(rec.Stage, "cancelled")
	case step.StageInterrupted:
		l.say(rec.Stage, "interrupted").try(rec.Iteration, rec.Attempt)
	case step.StageStale:
		l.say(rec.Stage, "stale").text("cause", rec.Cause.String())
		if rec.Anew {
			l.text("counts", "anew")
		}
	case step.RetryScheduled:
		l.say(rec.Stage, "retry_scheduled").try(rec.Iteration, rec.Attempt).text("until", rec.Until.String()).
			failure(rec.Class, rec.ExitCode, rec.DurationMS, rec.Message)
	case step.CheckFailed:
		l.say(rec.Stage, "check_failed").text("when", rec.When).text("description", rec.Description).
			text("validation", rec.Validation)
	default:
		return false
	}
	return true
}

func (l *line) review(rec step.Record) bool {
	switch rec := rec.(type) {
	case step.FeedbackReceived:
		l.say(rec.Source, "feedback_received").text("target", rec.Target).count("items", rec.Items).
			count("blocking", rec.Blocking).number("disputed", rec.Disputed).list("learnt", learnt(rec.Diagnosis))
	case step.FeedbackRouted:
		l.say(rec.Source, "feedback_routed").text("target", rec.Target).text("action", rec.Action.String()).
			text("iteration", strconv.Itoa(rec.Iteration)+"/"+strconv.Itoa(rec.MaxIterations)).
			text("rule", rec.Rule).list("items", rec.Items)
	case step.ItemOpened:
		l.say(rec.Item.ID, "opened").text("severity", rec.Item.Severity.String()).
			list("source", rec.Item.Sources).text("at", place(&rec.Item)).text("description", rec.Item.Description)
		if rec.Item.Ratcheted {
			l.text("rule", "ratchet_from")
		}
	case step.ItemChanged:
		l.say(rec.Item.ID, rec.Item.Status.String()).number("iteration", rec.Item.StatusRound).
			text("by", rec.Item.By).text("reason", rec.Item.Reason).text("same_as", rec.Item.SameAs)
	default:
		return false
	}
	return true
}

func (l *line) person(rec step.Record) bool {
	switch rec := rec.(type) {
	case step.ApprovalAsked:
		l.say(rec.Stage, "approval_asked").number("iteration", rec.Iteration).text("message", rec.Message).
			text("again", rec.Again).list("approvers", rec.Approvers).deadline(rec.Until, rec.OnTimeout)
	case step.ApprovalAnswered:
		what := "rejected"
		if rec.Approved {
			what = "approved"
		}
		l.say(rec.Stage, what).text("by", rec.By).text("reason", rec.Reason).text("warning", rec.Warning)
	case step.EscalationRaised:
		e := rec.Escalation
		l.say(e.ID, "escalation_raised").text("source", e.Source()).text("target", e.Target).
			text("reason", e.Reason).number("blocking", len(e.Blocking)).deadline(rec.Until, rec.OnTimeout)
	case step.EscalationDecided:
		l.say(rec.ID, "escalation_decided").text("decision", rec.Decision).text("by", rec.By).
			text("to", rec.To).number("rounds", rec.Rounds).list("covered", rec.Covered).list("items", rec.Items).
			text("reason", rec.Reason).text("note", rec.Note).text("warning", rec.Warning)
		if !rec.Closed {
			l.text("still", "open")
		}
	case step.AnswerRefused:
		l.say("answer", "refused").text("answer", rec.Answer).text("why", rec.Why)
	default:
		return false
	}
	return true
}

// place is where an item is, empty if that is not known.
func place(i *feedback.Item) string {
	if i.File == "" && i.Line == 0 {
		return ""
	}
	return i.Place()
}
