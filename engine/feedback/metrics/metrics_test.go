package metrics_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/metrics"
	"example.com/pipe/engine/step"
)

// story builds the records of a run.
type story struct {
	run metrics.Run
	now step.Instant
}

func begin(id string, loops ...feedback.Counter) *story {
	s := &story{now: 1_000_000}
	s.add(step.RunStarted{Run: step.RunInfo{Run: id, TaskID: "task-" + id, Pipeline: "p"}, Loops: loops})
	return s
}

// add adds the records of a step, a second after the one before.
func (s *story) add(recs ...step.Record) *story {
	s.now += 1000
	for _, r := range recs {
		s.run.Apply(s.now, r)
	}
	return s
}

// review is a review that took 400 ms and left n blocking items, numbered from 1, open.
func (s *story) review(source string, round, n int) *story {
	var recs []step.Record
	for i := range 5 {
		item := feedback.Item{ID: source + "." + string(rune('1'+i)), Severity: feedback.Blocking, Status: feedback.Open,
			Description: "d", Sources: []string{source}}
		if i >= n {
			item.Status = feedback.Fixed
		}
		recs = append(recs, step.ItemChanged{Item: item})
	}
	recs = append(recs, step.FeedbackReceived{Source: source, Target: "t", At: s.now, Round: round, Items: n, Blocking: n},
		step.StageSucceeded{Stage: source, Iteration: round, Attempt: 1, DurationMS: 400})
	return s.add(recs...)
}

func (s *story) routed(source string, a feedback.Action, iteration int) *story {
	return s.add(step.FeedbackRouted{Source: source, Target: "t", Action: a, Iteration: iteration, MaxIterations: 2})
}

func (s *story) escalated(source, reason string) *story {
	return s.add(step.EscalationRaised{Escalation: feedback.Escalation{ID: "x1", Sources: []string{source}, Target: "t", Reason: reason}})
}

func (s *story) decided(d step.EscalationDecided) *story {
	d.ID, d.Answer, d.Closed = "x1", "a", true
	return s.add(d)
}

func (s *story) end(status step.RunStatus) *story { return s.add(step.RunFinished{Status: status}) }

func TestLoops(t *testing.T) {
	const accept, again, escalate = feedback.Accept, feedback.ReImplement, feedback.Escalate
	tests := []struct {
		name string
		run  *story
		want metrics.Loop // without names; one loop
	}{
		{"accepted at once", begin("r").review("q", 1, 0).routed("q", accept, 1).end(step.RunSucceeded),
			metrics.Loop{Iterations: 1, Resolved: true, DurationMS: 1400}},
		{"resolved in the second round", begin("r").review("q", 1, 3).routed("q", again, 2).review("q", 2, 0).routed("q", accept, 2).
			add().add().end(step.RunSucceeded),
			metrics.Loop{Iterations: 2, Initial: 3, Resolved: true, DurationMS: 3400}},
		{"escalated and open", begin("r").review("q", 1, 3).routed("q", again, 2).review("q", 2, 1).routed("q", escalate, 2).escalated("q", "iteration_cap_reached"),
			metrics.Loop{Iterations: 2, Initial: 3, Final: 1, Escalated: true, DurationMS: 4400}},
		{"accepted after an escalation", begin("r").review("q", 1, 2).routed("q", escalate, 1).escalated("q", "same_item").
			decided(step.EscalationDecided{Decision: "refer-back", Rounds: 1}).review("q", 2, 0).routed("q", accept, 2).end(step.RunSucceeded),
			metrics.Loop{Iterations: 2, Initial: 2, Escalated: true, DurationMS: 5400}},
		{"aborted", begin("r").review("q", 1, 2).routed("q", escalate, 1).escalated("q", "no_change").
			decided(step.EscalationDecided{Decision: "abort"}).add().end(step.RunCancelled),
			metrics.Loop{Iterations: 1, Initial: 2, Final: 2, Escalated: true, DurationMS: 3400}},
		{"failed where on_exhausted is fail", begin("r").review("q", 1, 1).routed("q", escalate, 1).end(step.RunFailed),
			metrics.Loop{Iterations: 1, Initial: 1, Final: 1, Escalated: true, DurationMS: 1400}},
		{"a run that goes on", begin("r").review("q", 1, 1).routed("q", again, 2).add(),
			metrics.Loop{Iterations: 2, Initial: 1, Final: 1, Open: true, DurationMS: 1400}},
		{"a run that failed before the review came again", begin("r").review("q", 1, 1).routed("q", again, 2).add().end(step.RunFailed),
			metrics.Loop{Iterations: 2, Initial: 1, Final: 1, DurationMS: 3400}},
		{"a review that was never routed", begin("r").review("q", 1, 1).end(step.RunFailed),
			metrics.Loop{Iterations: 1, Initial: 1, Final: 1, DurationMS: 1400}},
		{"a loop that goes on where an earlier run left it", begin("r", feedback.Counter{Pair: feedback.Pair{Source: "q", Target: "t"}, Iteration: 3, Cap: 4}).
			review("q", 3, 1).routed("q", again, 4).review("q", 4, 0).routed("q", accept, 4).end(step.RunSucceeded),
			metrics.Loop{Iterations: 4, Initial: 1, Resolved: true, DurationMS: 3400}},
		{"a loop with itself that counts anew", begin("r").review("q", 1, 1).routed("q", again, 2).review("q", 2, 0).routed("q", accept, 2).
			add(step.StageStale{Stage: "q", Anew: true}).review("q", 1, 0).routed("q", accept, 1).end(step.RunSucceeded),
			metrics.Loop{Iterations: 3, Initial: 1, Resolved: true, DurationMS: 6400}},
		{"an interrupted stage is no loop that was escalated", begin("r").review("q", 1, 0).routed("q", accept, 1).escalated("q", "interrupted").
			decided(step.EscalationDecided{Decision: "retry"}).end(step.RunSucceeded),
			metrics.Loop{Iterations: 1, Resolved: true, DurationMS: 1400}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.run.run.Loops()
			if len(got) != 1 {
				t.Fatalf("%d loops, want one: %+v", len(got), got)
			}
			want := test.want
			want.TaskID, want.Run, want.Pipeline, want.Source, want.Target = "task-r", "r", "p", "q", "t"
			if a, b := encode(t, got[0]), encode(t, want); a != b {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNames holds the names to those of the protocol document, in its order.
func TestNames(t *testing.T) {
	loops := begin("r").review("q", 1, 2).routed("q", feedback.ReImplement, 2).review("q", 2, 0).routed("q", feedback.Accept, 2).
		end(step.RunSucceeded).run.Loops()
	const loop = `{"task_id":"task-r","source_stage":"q","target_stage":"t","iterations":2,"blocking_items_initial":2,` +
		`"blocking_items_final":0,"resolved_without_escalation":true,"escalated":false,"total_duration_ms":3400,` +
		`"run":"r","pipeline":"p","open":false}`
	if got := encode(t, loops[0]); got != loop {
		t.Errorf("a loop is\n%s, want\n%s", got, loop)
	}
	const all = `{"feedback_loop_success_rate":100,"avg_iterations_to_resolve":2,` +
		`"most_common_feedback_sources":[{"stage":"q","count":1}],"escalation_rate_by_stage":{"q":0}}`
	if got := encode(t, metrics.Aggregate(loops)); got != all {
		t.Errorf("all is\n%s, want\n%s", got, all)
	}
}

func TestAggregate(t *testing.T) {
	const accept, again, escalate = feedback.Accept, feedback.ReImplement, feedback.Escalate
	var loops []metrics.Loop
	for _, s := range []*story{
		begin("a").review("q", 1, 2).routed("q", again, 2).review("q", 2, 0).routed("q", accept, 2).end(step.RunSucceeded),
		begin("b").review("q", 1, 2).routed("q", again, 2).review("q", 2, 1).routed("q", escalate, 2).escalated("q", "iteration_cap_reached"),
		begin("c").review("a[0]/sec", 1, 1).routed("a[0]/sec", again, 2).review("a[10]/sec", 1, 1).review("a[0]/sec", 2, 0).
			routed("a[0]/sec", accept, 2).end(step.RunFailed),
		begin("d").review("late", 1, 1).routed("late", again, 2),
		begin("d2").review("q", 1, 1).routed("q", again, 2).review("q", 2, 0).routed("q", accept, 2),
		begin("e").review("b", 1, 3).routed("b", escalate, 1).end(step.RunFailed),
	} {
		loops = append(loops, s.run.Loops()...)
	}
	const want = `{"feedback_loop_success_rate":50,"avg_iterations_to_resolve":2,` +
		`"most_common_feedback_sources":[{"stage":"q","count":4},{"stage":"a/sec","count":2},{"stage":"b","count":1},{"stage":"late","count":1}],` +
		`"escalation_rate_by_stage":{"a/sec":0,"b":100,"late":null,"q":33.33}}`
	if got := encode(t, metrics.Aggregate(loops)); got != want {
		t.Errorf("all is\n%s, want\n%s", got, want)
	}
	const none = `{"feedback_loop_success_rate":null,"avg_iterations_to_resolve":null,"most_common_feedback_sources":[],"escalation_rate_by_stage":{}}`
	if got := encode(t, metrics.Aggregate(nil)); got != none {
		t.Errorf("of none it is\n%s, want\n%s", got, none)
	}
}

// TestTypes holds the types that a reader may leave out to what Apply looks at.
func TestTypes(t *testing.T) {
	for _, rec := range []step.Record{step.RunStarted{}, step.RunFinished{}, step.ItemOpened{}, step.ItemChanged{}, step.FeedbackReceived{},
		step.FeedbackRouted{}, step.EscalationRaised{}, step.EscalationDecided{}, step.StageStale{}} {
		any, _ := metrics.Types()
		if !slices.ContainsFunc(any, func(word string) bool { return strings.HasPrefix(rec.RecordType(), word) }) {
			t.Errorf("no type begins %q", rec.RecordType())
		}
	}
}
