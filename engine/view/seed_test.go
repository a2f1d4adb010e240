package view_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// TestSeed002Example plays the usage example of the cross-stage-feedback document on the real machine, from a
// pipeline to what the target is handed: the counts, the action, the iteration, the items and the brief.
func TestSeed002Example(t *testing.T) {
	s := newStory(t, `name: parser
version: 1
stages:
  - {id: implement, role: implementation, run: ./implement}
  - id: quality_review
    needs: [implement]
    run: ./review
    feedback_loop: {target_stage: implement, max_iterations: 2}
`, `quality_review 1.1 items [{"severity":"blocking","file":"src/utils/parser.ts","line":23,"description":"Potential null pointer dereference","suggested_fix":"Add null check before accessing data.items","source_agent":"staff-engineer"},{"severity":"advisory","file":"src/utils/parser.ts","line":45,"description":"Consider using optional chaining","suggested_fix":"Replace data && data.items with data?.items","source_agent":"staff-engineer"}]`)
	s.play()
	var received []step.FeedbackReceived
	var routed []step.FeedbackRouted
	var handed step.StageStarted
	for _, rec := range s.records {
		switch rec := rec.(type) {
		case step.FeedbackReceived:
			received = append(received, rec)
		case step.FeedbackRouted:
			routed = append(routed, rec)
		case step.StageStarted:
			if rec.Stage == "implement" && rec.Iteration == 2 {
				handed = rec
			}
		}
	}
	if len(received) != 2 || received[0].Items != 2 || received[0].Blocking != 1 ||
		!slices.Equal(received[0].Advisory, []string{"[cross-stage-feedback] Advisory: Consider using optional chaining (src/utils/parser.ts)"}) {
		t.Errorf("what was parsed and filtered: %+v", received)
	}
	if len(routed) != 2 || routed[0].Action != feedback.ReImplement || routed[0].Iteration != 2 || routed[0].MaxIterations != 2 ||
		!slices.Equal(routed[0].Items, []string{"quality_review.1"}) || routed[1].Action != feedback.Accept || routed[1].Iteration != 2 {
		t.Errorf("what was routed: %+v", routed)
	}
	if !slices.Equal(handed.BriefIDs, []string{"quality_review.1"}) {
		t.Errorf("the target was handed the items %q", handed.BriefIDs)
	}
	const brief = `## Feedback Loop: Iteration 2

**Source:** quality_review (staff-engineer)
**Target:** implement

### Issues to Address

1. **src/utils/parser.ts:23** - Potential null pointer dereference
   Fix: Add null check before accessing data.items

### Priority
Address issues in order listed. Security issues first.
`
	if diff := cmp.Diff(brief, handed.Brief); diff != "" {
		t.Errorf("the brief differs (- want, + got):\n%s", diff)
	}
}
