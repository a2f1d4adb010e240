package view

import (
	"example.com/pipe/engine/step"
)

func finallyReason(rec step.Record) string {
	switch rec := rec.(type) {
	case step.FinallyStarted:
		return "all else had ended (" + rec.Status.String() + "): finally began"
	case step.FinallyFinished:
		return "finally ended: " + rec.Status.String()
	}
	return ""
}
