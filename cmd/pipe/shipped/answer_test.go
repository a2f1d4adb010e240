package shipped

import (
	"fmt"
	"strings"
)

// answers gives what the agents of a pipeline's stages say where they find nothing to blame.
var answers = map[string]map[string]string{
	"full-feature": {
		"plan":                 `{"outputs": {"plan": "# Deleting notes\n\n1. Store.Delete\n2. its test", "criteria": ["a note can be deleted", "deleting a note that is not there is an error"]}, "replies": []}`,
		"architecture_review":  clean,
		"implement":            `{"outputs": {"summary": "notes can be deleted"}, "replies": []}`,
		"security_verify":      clean,
		"observability_review": clean,
		"quality_review":       clean,
	},
	"bug-fix": {
		"diagnose":       `{"outputs": {"cause": "the title is cut at a line end that need not be there", "reproduction": "the tests of the title"}}`,
		"fix":            `{"outputs": {"summary": "a title may be the whole text"}, "replies": []}`,
		"quality_review": clean,
	},
	"refactor": {
		"plan":           `{"outputs": {"plan": "1. say in one place where a note is kept", "invariants": ["notes that exist are found"]}}`,
		"refactor":       `{"outputs": {"summary": "where a note is kept is said once"}, "replies": []}`,
		"quality_review": clean,
	},
	"security-review": {
		"audit": `{"outputs": {"findings": [{"title": "names leave the folder", "severity": "high", "file": "README.md", "line": 3,
			"attack": "whoever chooses a name reads any .txt file", "suggested_fix": "refuse names that are paths"}], "report": "all of it was read"}}`,
		"fix":             `{"outputs": {"summary": "names that are paths are refused"}, "replies": []}`,
		"security_verify": clean,
	},
	"performance": {
		"profile": `{"outputs": {"analysis": "each word reads every note again", "measurement": "count what is read", "target": "each note is read once",
			"baseline": [{"name": "notes read", "value": 6, "unit": "files", "spread": 0, "better": "lower"}]}}`,
		"implement": `{"outputs": {"summary": "each note is read once"}, "replies": []}`,
		"benchmark_verify": `{"outputs": {"numbers": [{"name": "notes read", "value": 3, "unit": "files", "spread": 0, "baseline": 6}]},
			"summary": "as promised", "feedback_items": [], "replies": []}`,
		"observability_review": clean,
	},
}

const clean = `{"summary": "nothing to blame", "feedback_items": [], "replies": []}`

// numbers is the output that a review of the stage must give besides its items.
func numbers(stage string) string {
	if stage != "benchmark_verify" {
		return ""
	}
	return `"outputs": {"numbers": [{"name": "notes read", "value": 3, "unit": "files", "spread": 0, "baseline": 6}]}, `
}

// blames is the answer of a review that finds something.
func blames(stage string) string {
	return fmt.Sprintf(`{%s"summary": "not yet", "feedback_items": [{"severity": "blocking", "file": "README.md", "line": 3,
		"description": "%s can be read in two ways", "suggested_fix": "say which"}], "replies": []}`, numbers(stage), stage)
}

// replies is the answer of a stage to the first item of a review, as a JSON object that adds nothing new.
func replies(stage, review, status, reason string) string {
	return fmt.Sprintf(`{%s"summary": "looked again", "feedback_items": [], "replies": [{"id": "%s.1", "status": "%s", "reason": "%s"}]}`,
		numbers(stage), review, status, reason)
}

// disputes is an implementation's answer that gives its usual outputs and disputes the first item of a review.
func disputes(usual, review string) string {
	return strings.Replace(usual, `"replies": []`, `"replies": [{"id": "`+review+`.1", "status": "disputed", "reason": "there is one way to read it"}]`, 1)
}
