package view

import "example.com/pipe/engine/machine"

func finallyReason(rec machine.Record) string {
	switch rec := rec.(type) {
	case machine.FinallyStarted:
		return "all else had ended (" + rec.Status.String() + "): finally began"
	case machine.FinallyFinished:
		return "finally ended: " + rec.Status.String()
	}
	return ""
}
