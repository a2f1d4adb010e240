// Package metrics works out from the records of runs how their feedback loops went: each loop for itself, and
// all of them together, with the names and figures of the cross-stage-feedback document.
//
// Words: a Run is the fold over the records of one run; a Loop is what is known of one of its loops, a review
// and its target; Aggregated is what many loops give together. A loop exists from its first review on, whether
// that found something or not.
//
// The contract, in order: a zero Run; Apply each record with the time of its step; then Loops, as often as one
// likes; Aggregate over the loops of any number of runs. Types names the records that matter: who reads a journal
// may leave out steps without one of them.
//
// Times are those of the records: the package is pure and reads no clock. Finding and reading runs is the caller's
// work.
package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Loop is how one feedback loop of one run went. The names down to total_duration_ms are the document's.
type Loop struct {
	TaskID     string `json:"task_id"`
	Source     string `json:"source_stage"` // path of the review
	Target     string `json:"target_stage"`
	Iterations int    `json:"iterations"`
	Initial    int    `json:"blocking_items_initial"` // open after its first review
	Final      int    `json:"blocking_items_final"`   // open at the end
	Resolved   bool   `json:"resolved_without_escalation"`
	Escalated  bool   `json:"escalated"`         // also where nobody was asked, since on_exhausted is fail
	DurationMS int64  `json:"total_duration_ms"` // from the start of its first review until it was accepted, or a person decided, or the run ended

	Run      string `json:"run"`
	Pipeline string `json:"pipeline"`
	Open     bool   `json:"open"` // its run goes on, and its last review was neither accepted nor escalated: it is in no rate and no average

	accepted bool // the last review was
	sent     int  // reviews that left a blocking item open
}

// Aggregated is what loops give together. A figure of no loops is null. The rates are in percent.
type Aggregated struct {
	SuccessRate    *float64            `json:"feedback_loop_success_rate"` // of loops that were resolved without escalation
	Iterations     *float64            `json:"avg_iterations_to_resolve"`  // of loops whose last review was accepted, escalated before or not
	Sources        []Source            `json:"most_common_feedback_sources"`
	EscalationRate map[string]*float64 `json:"escalation_rate_by_stage"` // by the review's stage
}

// Source is how often a stage found something that blocks.
type Source struct {
	Stage string `json:"stage"` // path of the review; all instances of a for_each are one stage
	Count int    `json:"count"` // of reviews after which a blocking item was open
}

// Outcome says in a word how the loop went.
func (l *Loop) Outcome() string {
	switch {
	case l.Open:
		return "open"
	case l.Escalated:
		return "escalated"
	case l.Resolved:
		return "resolved"
	}
	return "unresolved"
}

// Aggregate gives what loops give together. Sources stand by their count, the highest first, then by name; those
// that found nothing are left out. Open loops count for the sources alone.
func Aggregate(loops []Loop) Aggregated {
	type tally struct{ all, escalated int }
	var all, resolved, accepted, iterations int
	found := map[string]int{}
	stages := map[string]tally{}
	for i := range loops {
		l := &loops[i]
		name := stageOf(l.Source)
		found[name] += l.sent
		t := stages[name]
		if !l.Open {
			all++
			t.all++
			if l.Resolved {
				resolved++
			}
			if l.Escalated {
				t.escalated++
			}
			if l.accepted {
				accepted++
				iterations += l.Iterations
			}
		}
		stages[name] = t
	}
	out := Aggregated{SuccessRate: ratio(100*resolved, all), Iterations: ratio(iterations, accepted),
		Sources: []Source{}, EscalationRate: make(map[string]*float64, len(stages))}
	for name, t := range stages {
		out.EscalationRate[name] = ratio(100*t.escalated, t.all)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name] > 0 {
			out.Sources = append(out.Sources, Source{name, found[name]})
		}
	}
	slices.SortStableFunc(out.Sources, func(a, b Source) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// ratio divides, rounded to two decimals; nil where there is nothing to divide by.
func ratio(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := math.Round(100*float64(part)/float64(whole)) / 100
	return &r
}

// stageOf is the path of a stage without the numbers of the items of a for_each.
func stageOf(path string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(path, '[')
		if open < 0 {
			break
		}
		end := strings.IndexByte(path[open:], ']')
		if end < 0 {
			break
		}
		b.WriteString(path[:open])
		path = path[open+end+1:]
	}
	b.WriteString(path)
	return b.String()
}
