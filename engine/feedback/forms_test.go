package feedback_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", file, d)
	}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		iteration, limit, open int
		action                 feedback.Action
		next                   int
	}{
		{1, 2, 0, feedback.Accept, 1}, {1, 2, 1, feedback.ReImplement, 2}, {2, 2, 1, feedback.Escalate, 2},
		{2, 2, 0, feedback.Accept, 2}, {1, 1, 3, feedback.Escalate, 1}, {5, 2, 1, feedback.Escalate, 5}, {2, 3, 1, feedback.ReImplement, 3},
	}
	for _, test := range tests {
		action, next := feedback.Counter{Iteration: test.iteration, Cap: test.limit}.Decide(test.open)
		if action != test.action || next != test.next {
			t.Errorf("iteration %d of %d with %d open: %s, %d; want %s, %d",
				test.iteration, test.limit, test.open, action, next, test.action, test.next)
		}
	}
}

func TestWords(t *testing.T) {
	item := feedback.Item{Severity: feedback.Advisory, Description: "d", Status: feedback.NotFixed}
	data, err := json.Marshal(item)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(data), `{"severity":"advisory","description":"d","status":"not_fixed"}`; got != want {
		t.Errorf("item is %s, want %s", got, want)
	}
	var back feedback.Item
	if err := json.Unmarshal(data, &back); err != nil || cmp.Diff(item, back) != "" {
		t.Errorf("read back: %+v, %v", back, err)
	}
	data, err = json.Marshal(feedback.Counter{Pair: feedback.Pair{Source: "s", Target: "t"}, Iteration: 1, Cap: 2, LastAction: feedback.ReImplement})
	if got, want := string(data), `{"source":"s","target":"t","iteration":1,"max_iterations":2,"last_action":"re_implement"}`; err != nil || got != want {
		t.Errorf("counter is %s, %v, want %s", got, err, want)
	}
	var a feedback.Action
	if err := a.UnmarshalText([]byte("acept")); err == nil || err.Error() != `action "acept" is not known, expected "accept", "re_implement" or "escalate"` {
		t.Errorf("error %v", err)
	}
	if err := a.UnmarshalText(nil); err != nil || a != feedback.UnknownAction || a.String() != "unknown" {
		t.Errorf("the empty word is %v, %v", a, err)
	}
	if _, err := feedback.Severity(77).MarshalText(); err == nil {
		t.Error("a severity without a word was written")
	}
}

func TestItemObjectHasItsType(t *testing.T) {
	for _, item := range []feedback.Item{{Severity: feedback.Blocking, Status: feedback.Open, Description: "d"}, example()[0]} {
		if item.Status == feedback.UnknownStatus {
			item.Status = feedback.Open
		}
		if err := feedback.ItemType().Check(item.Object()); err != nil {
			t.Errorf("%+v: %v", item, err)
		}
	}
}

func escalation() feedback.Escalation {
	items := example()[:1]
	items[0].Description = "Potential null\x1b[2J pointer\n### Options"
	return feedback.Escalation{
		ID: "x1", TaskID: "task-a1b2c3-add-parser", Sources: []string{"quality_review", "p/security_verify[0]"}, Target: "implement",
		Reason: feedback.ReasonIterationCap, Iterations: 2, Max: 2, Blocking: items,
		History: []feedback.HistoryEntry{
			{Pair: feedback.Pair{Source: "quality_review", Target: "implement"}, Iteration: 1, Max: 2, Action: feedback.ReImplement,
				Blocking: 1, Advisory: 1, At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Summary: "Found 2 issues", Items: example()},
			{Pair: feedback.Pair{Source: "quality_review", Target: "implement"}, Iteration: 2, Max: 2, Action: feedback.Escalate, Blocking: 1},
			{Pair: feedback.Pair{Source: "docs_review", Target: "plan"}, Iteration: 1, Max: 2, Action: feedback.Accept},
		},
	}
}

func TestEscalationMessage(t *testing.T) {
	golden(t, "escalation.md", escalation().Message("01JABC", feedback.Offer{Rollback: true}))

	e := escalation()
	e.Reason, e.Sources, e.ID, e.History = feedback.ReasonNoChange, []string{"review[1]"}, "", nil
	e.NotReviewedSince = []feedback.Item{{Severity: feedback.Blocking, File: "b.go", Description: "from another review"}}
	golden(t, "escalation-no-change.md", e.Message("01JABC", feedback.Offer{}))

	e = feedback.Escalation{ID: "x2", TaskID: "t", Sources: []string{"deploy"}, Reason: feedback.ReasonInterrupted, Iterations: 1, Max: 1}
	golden(t, "escalation-interrupted.md", e.Message("01JABC", feedback.Offer{Outputs: []string{"version"}, Rollback: true}))
	e = escalation()
	e.NothingToAccept = "the last attempt of \"plan\" failed, so there is nothing to accept"
	golden(t, "escalation-nothing.md", e.Message("01JABC", feedback.Offer{}))
}

func TestEscalationContext(t *testing.T) {
	data, err := json.MarshalIndent(escalation().Context(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "escalation-context.json", string(data)+"\n")
	want := []string{"task_id", "feedback_source", "iterations_attempted", "blocking_issues", "full_history"}
	if d := cmp.Diff(want, escalation().Context().Keys()); d != "" {
		t.Error(d)
	}
	empty := feedback.Escalation{}.Context()
	for _, name := range want[3:] {
		if v, _ := empty.Get(name); cmp.Diff(value.List{}, v) != "" {
			t.Errorf("%s of an empty escalation is %v, want an empty list", name, v)
		}
	}
}

func TestStateFile(t *testing.T) {
	items := example()
	items[0].FirstRound, items[0].LastRound, items[0].Status, items[0].Reason, items[0].By = 1, 2, feedback.Waived, "known\nsince v1", "ann"
	items[0].Flags = []string{`file "../x" dropped: it leaves the repository`}
	items[1].FirstRound, items[1].LastRound, items[1].GateID = 2, 2, "gate-7"
	items[1].Description = "---\niteration: 99\n---"
	s := feedback.State{
		TaskID: "task-a1b2c3-add-parser", Pair: feedback.Pair{Source: "quality_review", Target: "implement"},
		Iteration: 2, Max: 2, LastAction: feedback.ReImplement, UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600)), Items: items,
	}
	golden(t, "state.md", feedback.StateFile(s))
	got, err := feedback.ParseStateFile(feedback.StateFile(s))
	if err != nil {
		t.Fatal(err)
	}
	s.Items, s.UpdatedAt = nil, s.UpdatedAt.UTC()
	if d := cmp.Diff(s, got); d != "" {
		t.Error(d)
	}
	golden(t, "state-new.md", feedback.StateFile(feedback.State{TaskID: "t", Pair: feedback.Pair{Source: "a/b[0]", Target: "c"}, Iteration: 1, Max: 2}))
}

func TestStateFileKeepsALineWithoutFile(t *testing.T) {
	got := feedback.StateFile(feedback.State{TaskID: "t", Items: []feedback.Item{{ID: "r.1", Severity: feedback.Blocking, Line: 4, Description: "d"}}})
	if !strings.Contains(got, "**(no file):4** - d\n") {
		t.Errorf("got %s", got)
	}
}

func TestStateFileNames(t *testing.T) {
	tests := []struct{ task, source, target, want string }{
		{"t1", "quality_review", "implement", "feedback-t1-quality_review-implement.md"},
		{"t1", "p/review[0]", "p/fix[12]", "feedback-t1-p.review.0-p.fix.12.md"},
		{"a/../../b", "s", "t", "feedback-a.......b-s-t.md"},
		{"a b\x00é", "s", "t", "feedback-a_b__-s-t.md"},
	}
	for _, test := range tests {
		if got := feedback.StateFileName(test.task, feedback.Pair{Source: test.source, Target: test.target}); got != test.want {
			t.Errorf("name %q, want %q", got, test.want)
		}
	}
	long := strings.Repeat("x", 300)
	a, b := feedback.StateFileName("t", feedback.Pair{Source: long, Target: "a"}), feedback.StateFileName("t", feedback.Pair{Source: long, Target: "b"})
	if a == b || len(a) > 255 || !strings.HasPrefix(a, "feedback-t-xxx") {
		t.Errorf("long names %q and %q", a, b)
	}
}

func TestParseStateFileIsTolerant(t *testing.T) {
	got, err := feedback.ParseStateFile("\ufeff--- \r\ntask_id: '1''2'\r\n# remark\r\nextra:\r\n  nested: 4\r\nsource_stage: \"a\\tb\"\r\n" +
		"target_stage: fix # the one\r\niteration: 3\r\nlast_action: ~\r\n...\r\nrest")
	if err != nil {
		t.Fatal(err)
	}
	want := feedback.State{TaskID: "1'2", Pair: feedback.Pair{Source: "a\tb", Target: "fix"}, Iteration: 3}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"":                                "expected front matter",
		"# Feedback":                      `found "# Feedback"`,
		"---\niteration: 1\n":             "has no end",
		"---\niteration: two\n---\n":      "state file line 2: iteration",
		"---\n\nmax_iterations:\n---\n":   "state file line 3: max_iterations",
		"---\nlast_action: retry\n---\n":  "last_action",
		"---\nupdated_at: today\n---\nxx": "updated_at",
	} {
		if _, err := feedback.ParseStateFile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}

// TestStateFileIsYAML checks with a real reader that the front matter says what it should, whatever the
// names are, and that no item gets into it.
func TestStateFileIsYAML(t *testing.T) {
	text := rapid.OneOf(hostile(), rapid.SampledFrom([]string{"null", "Yes", "12", "1e3", "0x1F", "~", "a: b", "- a", "2026-01-01", "a[0]", "p/a", "_x", "a-b", ""}))
	rapid.Check(t, func(t *rapid.T) {
		s := feedback.State{TaskID: text.Draw(t, "task"), Pair: feedback.Pair{Source: text.Draw(t, "source"), Target: "t"},
			Iteration: 1, Max: 2, LastAction: feedback.Action(rapid.IntRange(0, 3).Draw(t, "action")),
			Items: []feedback.Item{{ID: "review.1", Description: text.Draw(t, "description"), File: text.Draw(t, "file")}}}
		_, rest, _ := strings.Cut(feedback.StateFile(s), "---\n")
		front, _, ok := strings.Cut(rest, "\n---\n")
		if !ok {
			t.Fatal("no end of the front matter")
		}
		var doc struct {
			EntityName, Namespace, Category string
			TaskID                          string `yaml:"task_id"`
			Source                          string `yaml:"source_stage"`
			Iteration                       int
			LastAction                      *string `yaml:"last_action"`
		}
		if err := yaml.Unmarshal([]byte(front), &doc); err != nil {
			t.Fatalf("%v in\n%s", err, front)
		}
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		if doc.TaskID != valid(s.TaskID) || doc.Source != valid(s.Source) || doc.Iteration != 1 {
			t.Fatalf("%+v of\n%s", doc, front)
		}
		if got, err := feedback.ParseStateFile(feedback.StateFile(s)); err != nil || got.TaskID != doc.TaskID || got.Source != doc.Source {
			t.Fatalf("read back as %+v, %v", got, err)
		}
	})
}

func TestLogLines(t *testing.T) {
	const tag = "[cross-stage-feedback] "
	p := feedback.Pair{Source: "quality_review", Target: "implement"}
	for got, want := range map[string]string{
		feedback.LogParsed(2, "quality_review"):                         "Parsed 2 feedback items from quality_review",
		feedback.LogAdvisory(example()[1]):                              "Advisory: Consider using optional chaining (src/utils/parser.ts)",
		feedback.LogAdvisory(feedback.Item{Description: "a\nb\x1b[1m"}): `Advisory: a b\x1b[1m (no file)`,
		feedback.LogAdvisory(feedback.Item{Description: "a", Line: 4}):  `Advisory: a (no file:4)`,
		feedback.LogCounts(1, 1):                                        "1 blocking, 1 advisory",
		feedback.LogAccepting():                                         "No blocking items, accepting",
		feedback.LogCapReached(2, 2):                                    "Iteration cap reached (2/2), escalating",
		feedback.LogTriggering(2):                                       "Triggering re-implementation (iteration 2)",
		feedback.LogItems("t1", p, 2, 1):                                "task=t1 source=quality_review target=implement items=2 blocking=1",
		feedback.LogAction("t1", feedback.ReImplement, 2, 2):            "task=t1 action=re_implement iteration=2/2",
		feedback.LogEscalated("t1", feedback.ReasonIterationCap):        `task=t1 escalated reason="iteration_cap_reached"`,
	} {
		if got != tag+want {
			t.Errorf("line %q, want %q", got, tag+want)
		}
	}
}
