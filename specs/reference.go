package specs

import "strings"

// A Section is one kind of mapping in the language, such as a stage, with the keys that it may have.
type Section struct {
	Name string
	Keys []Key
}

// Key is what people are told of a key, where its reader is declared.
type Key struct {
	Name    string
	Value   Value
	Default string // in Markdown: what holds without the key. Required: there is nothing that could
	Doc     string // in Markdown: what it means
}

// Required is the default of a key that must be there.
const Required = "required"

// Value is what a key may be.
type Value struct {
	Form  string   // in words, such as "duration"; empty where Words say it
	Words []string // one of these
	Keys  string   // the section of the mapping that it may be, or of those that it holds
}

// isMapping reports whether it may be a mapping with keys of its own.
func (v *Value) isMapping() bool {
	return v.Keys != "" && (v.Form == "mapping" || strings.HasSuffix(v.Form, ", mapping"))
}

// The forms of values.
var (
	aText     = Value{Form: "text"}
	aName     = Value{Form: "name"}
	aFlag     = Value{Form: "true, false"}
	aNumber   = Value{Form: "whole number"}
	aDuration = Value{Form: "duration"}
	aScript   = Value{Form: "script"}
	anExpr    = Value{Form: "expression", Keys: "cel"}
	aTemplate = Value{Form: "text", Keys: "cel"}
	aType     = Value{Form: "type"}
	someTexts = Value{Form: "list of texts"}
	someNames = Value{Form: "list of names"}
	values    = Value{Form: "names with values", Keys: "cel"}
	exhausted = words("escalate", "fail") // of on_exhausted
)

func words(words ...string) Value { return Value{Words: words} }

func keysOf(section string) Value { return Value{Form: "mapping", Keys: section} }

func listOf(what, section string) Value { return Value{Form: "list of " + what, Keys: section} }

func namesOf(what, section string) Value { return Value{Form: "names with " + what, Keys: section} }

// Reference gives all keys of the language, those of one mapping together, in the order in which people read
// of them.
func Reference() []Section {
	return []Section{
		section("pipeline", pipelineKeys),
		section("task", taskKeys),
		section("defaults", defaultsKeys),
		section("default_loop", loopDefaultKeys),
		section("declaration", inputKeys),
		section("stage", stageKeys),
		section("cel", celKeys),
		section("check", checkKeys),
		section("feedback", feedbackKeys),
		section("feedback_loop", loopKeys),
		section("convergence", convergenceKeys),
		section("verifiers", verifiersKeys),
		section("verifier", verifierKeys),
		section("refine_loop", refineKeys),
		section("retry", retryKeys),
		section("rollback", rollbackKeys),
		section("approval", approvalKeys),
		section("on_reject", returnKeys),
		section("for_each", forEachKeys),
		section("escalation", escalationKeys),
		section("notify", notifyKeys),
		section("contract", contractKeys),
		section("schema", schemaTable(nil)),
		section("entry", schemaKeys),
		section("project", projectKeys),
		section("agent", agentKeys),
		section("command", commandKeys),
		section("plugin", pluginKeys),
	}
}

func section[T any](name string, keys []key[T]) Section {
	s := Section{Name: name, Keys: make([]Key, len(keys))}
	for i, k := range keys {
		s.Keys[i] = Key{k.name, k.value, k.fallback, k.doc}
	}
	return s
}
