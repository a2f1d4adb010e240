package sentence

import (
	"strings"
	"testing"

	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// scope is what the sentences of the tests speak of.
var scope = value.ObjectOf(
	value.FieldType{Name: "source_stage", Type: value.Of(value.String)},
	value.FieldType{Name: "action", Type: value.OneOf("re_implement", "accept", "escalate")},
	value.FieldType{Name: "feedback_items", Type: value.ListOf(value.Of(value.ObjectKind))},
	value.FieldType{Name: "tags", Type: value.ListOf(value.Of(value.String))},
	value.FieldType{Name: "iteration", Type: value.Of(value.Int)},
	value.FieldType{Name: "max_iterations", Type: value.Of(value.Int)},
	value.FieldType{Name: "ratio", Type: value.Of(value.Number)},
	value.FieldType{Name: "done", Type: value.Of(value.Bool)},
	value.FieldType{Name: "brief", Type: value.Of(value.String).OrNull()},
	value.FieldType{Name: "notes", Type: value.ListOf(value.Of(value.String)).OrNull()},
	value.FieldType{Name: "limit", Type: value.Of(value.Int).OrNull()},
	value.FieldType{Name: "anything", Type: value.Of(value.Any)},
)

// Each sentence has the meaning that stands behind it, which compiles; "always: " begins one that types see to.
func TestRewrite(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"source_stage is not empty", `len(source_stage) > 0`},
		{"The source stage must not be empty.", `len(source_stage) > 0`},
		{"`source_stage` is non-empty", `len(source_stage) > 0`},
		{"tags are empty", `len(tags) == 0`},
		{"brief is not empty", `len(brief ?? "") > 0`},
		{"notes is a non-empty list", `len(notes ?? []) > 0`},
		{"brief is provided", `brief != nil`},
		{"brief must be set", `brief != nil`},
		{"brief is missing", `brief == nil`},
		{"brief is not null", `brief != nil`},
		{"source_stage is present", `source_stage != ""`},
		{"source_stage exists", `source_stage != ""`},
		{"anything is given", `anything != nil`},
		{"feedback_items is provided", "always: the schema sees to it that feedback_items is there"},
		{"feedback_items is array", "always: the schema declares feedback_items as object[], so that is always so"},
		{"iteration is an integer", "always: the schema declares iteration as integer, so that is always so"},
		{"iteration is a number", "always: the schema declares iteration as integer, so that is always so"},
		{"action is one of re_implement, accept, escalate", `action in ["re_implement", "accept", "escalate"]`},
		{"action is one of re_implement, accept or escalate", `action in ["re_implement", "accept", "escalate"]`},
		{"action in [re_implement, accept, escalate]", `action in ["re_implement", "accept", "escalate"]`},
		{"action must be either accept or escalate", `action in ["accept", "escalate"]`},
		{"action is accept or escalate", `action in ["accept", "escalate"]`},
		{`action is not one of "accept"`, `action not in ["accept"]`},
		{"action is accept", `action == "accept"`},
		{"action is not accept", `action != "accept"`},
		{"brief is final", `(brief != nil and brief == "final")`},
		{"iteration equals max_iterations", `iteration == max_iterations`},
		{"iteration is in 1, 2 or 3", `iteration in [1, 2, 3]`},
		{"iteration is a positive integer", `iteration > 0`},
		{"iteration is non-negative", `iteration >= 0`},
		{"iteration is not negative", `iteration >= 0`},
		{"iteration is at most 5", `iteration <= 5`},
		{"iteration is at most max_iterations", `iteration <= max_iterations`},
		{"iteration must not exceed max_iterations", `iteration <= max_iterations`},
		{"iteration is greater than or equal to one", `iteration >= 1`},
		{"iteration is not more than 3", `iteration <= 3`},
		{"iteration is >= 1", `iteration >= 1`},
		{"iteration >= one", `iteration >= 1`},
		{"iteration is not greater than 3", `iteration <= 3`},
		{"ratio is between 0 and 1", `ratio >= 0 and ratio <= 1`},
		{"limit is at least 1", `(limit != nil and limit >= 1)`},
		{"tags has at least 2 entries", `len(tags) >= 2`},
		{"tags contains no more than 3 items", `len(tags) <= 3`},
		{"source_stage has at most 80 characters", `len(source_stage) <= 80`},
		{"source_stage is shorter than 80 characters", `len(source_stage) < 80`},
		{"done is true", `done`},
		{"done is not enabled", `not done`},
		{"done must be false", `not done`},
		{"source_stage ends with \"_review\"", `source_stage endsWith "_review"`},
		{"source_stage does not start with tmp", `not (source_stage startsWith "tmp")`},
		{"source_stage ends with \"_review\" or \"_verify\" or is in [quality_review, security_verify]",
			`source_stage endsWith "_review" or source_stage endsWith "_verify" or source_stage in ["quality_review", "security_verify"]`},
		{"brief contains a or b", `(brief != nil and (brief contains "a" or brief contains "b"))`},
		{"tags includes security", `"security" in tags`},
		{"source_stage matches '^[a-z]+$'", `source_stage matches "^[a-z]+$"`},
		{"each item of feedback_items has severity", `all(feedback_items, .severity != nil)`},
		{"every feedback item has a severity and a description", `all(feedback_items, .severity != nil and .description != nil)`},
		{"all items in the tags are not empty", `all(tags, len(#) > 0)`},
		{"each entry of notes is one of a, b", `all(notes ?? [], # in ["a", "b"])`},
		{"source_stage is not empty and iteration is at least 1", `len(source_stage) > 0 and iteration >= 1`},
		{"iteration is positive, and is at most 9", `iteration > 0 and iteration <= 9`},
		{"Ensure that iteration is positive", `iteration > 0`},
	} {
		m, ok := Rewrite(c.text, scope)
		got := m.Expr
		if m.Always != "" {
			got = "always: " + m.Always
		}
		if !ok || got != c.want {
			t.Errorf("%s:\n got %s (%t)\nwant %s", c.text, got, ok, c.want)
			continue
		}
		if strings.HasPrefix(got, "always: ") {
			continue
		}
		if p, ds := expr.Compile(source.NewScalar(got, source.Span{}, nil), scope, value.Of(value.Bool)); p == nil || len(ds) > 0 {
			t.Errorf("%s: %s does not compile: %v", c.text, got, ds)
		}
	}
}

// What it does not understand it does not guess at.
func TestRewriteNothing(t *testing.T) {
	for _, text := range []string{
		"", " ", "all tests pass", "the code is good", "nosuch is not empty", "source_stage", "source_stage is", "is not empty",
		"iteration is roughly 5 or so", "each item of iteration has x", "each item of nosuch has x", "tags has", "iteration is between 1",
		"source_stage and", "or", "each", "done is at most", "each item of tags has [", "iteration is empty",
		"source_stage is the name of a stage that a person has approved before", "[", "\"", "feedback_items is a string",
		strings.Repeat("source_stage is not empty and ", 200) + "done is true",
	} {
		if m, ok := Rewrite(text, scope); ok {
			t.Errorf("%q became %+v", text, m)
		}
	}
}

// FuzzRewrite throws words at it: it ends, and gives either an expression or a reason.
func FuzzRewrite(f *testing.F) {
	f.Add("each item of tags is one of a, b or c")
	f.Add("iteration isn't [\"")
	f.Add("iteration is between 1 and")
	f.Fuzz(func(t *testing.T, text string) {
		if m, ok := Rewrite(text, scope); ok && (m.Expr == "") == (m.Always == "") {
			t.Errorf("%q became %+v", text, m)
		}
	})
}
