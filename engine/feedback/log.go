package feedback

import "fmt"

// logTag starts every log line of the protocol.
const logTag = "[cross-stage-feedback] "

// LogParsed says how many items a stage gave.
func LogParsed(n int, source string) string {
	return fmt.Sprintf(logTag+"Parsed %d feedback items from %s", n, oneLine(source))
}

// LogAdvisory is the line of an advisory item: it is logged and blocks nothing.
func LogAdvisory(i Item) string {
	file := i.File
	if file == "" {
		file = "no file"
		if i.Line > 0 {
			file = fmt.Sprintf("no file:%d", i.Line)
		}
	}
	return fmt.Sprintf(logTag+"Advisory: %s (%s)", oneLine(i.Description), oneLine(file))
}

// LogCounts says how many items block and how many advise.
func LogCounts(blocking, advisory int) string {
	return fmt.Sprintf(logTag+"%d blocking, %d advisory", blocking, advisory)
}

// LogAccepting says that nothing blocks.
func LogAccepting() string { return logTag + "No blocking items, accepting" }

// LogCapReached says that a loop is at its cap.
func LogCapReached(iteration, maxIterations int) string {
	return fmt.Sprintf(logTag+"Iteration cap reached (%d/%d), escalating", iteration, maxIterations)
}

// LogTriggering says that the target runs again, and in which iteration.
func LogTriggering(iteration int) string {
	return fmt.Sprintf(logTag+"Triggering re-implementation (iteration %d)", iteration)
}

// LogItems is the summary line of a review.
func LogItems(task string, p Pair, items, blocking int) string {
	return fmt.Sprintf(logTag+"task=%s source=%s target=%s items=%d blocking=%d",
		oneLine(task), oneLine(p.Source), oneLine(p.Target), items, blocking)
}

// LogAction is the summary line of a decision.
func LogAction(task string, a Action, iteration, maxIterations int) string {
	return fmt.Sprintf(logTag+"task=%s action=%s iteration=%d/%d", oneLine(task), a, iteration, maxIterations)
}

// LogEscalated is the summary line of an escalation.
func LogEscalated(task, reason string) string {
	return fmt.Sprintf(logTag+"task=%s escalated reason=%q", oneLine(task), oneLine(reason))
}
