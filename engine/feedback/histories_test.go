package feedback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
)

// TestOrderOfSources merges the same results in two orders: whatever the order in which sources take turns,
// ids, items and the ledger's text are the same.
func TestOrderOfSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.SliceOfN(rapid.SampledFrom(historySources), 1, 12).Draw(t, "turns")
		results := make(map[string][]*feedback.Result)
		for _, source := range turns {
			results[source] = append(results[source], drawResult(t))
		}
		var ledgers [2]feedback.Ledger
		var texts [2]string
		for k, order := range [][]string{turns, rapid.Permutation(turns).Draw(t, "other order")} {
			rounds := make(map[string]int)
			for _, source := range order {
				apply(&ledgers[k], ledgers[k].Merge(source, rounds[source]+1, results[source][rounds[source]]))
				rounds[source]++
			}
			text, err := json.Marshal(&ledgers[k])
			if err != nil {
				t.Fatal(err)
			}
			texts[k] = string(text)
		}
		if d := cmp.Diff(ledgers[0].Items(), ledgers[1].Items()); d != "" || texts[0] != texts[1] {
			t.Fatalf("two orders differ: %s\n%s\n%s", d, texts[0], texts[1])
		}
	})
}

// historySources are in order of their ids; one is named as if it were an item of another.
var historySources = []string{"a", "a.1", "b", "p/c[0]"}

// TestHistories runs random histories against what must hold whatever happens: ids and what they were
// found as never change, an item is closed only by its own source or a person, nothing that a complete
// list holds is closed, and the ledger's answers agree with a plain scan of its items.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l feedback.Ledger
		for round := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			before := l.Items()
			source := rapid.SampledFrom(historySources).Draw(t, "source")
			var changes []feedback.Change
			var given *feedback.Result
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				changes = l.Reply("fix", round, drawReplies(t))
			case 1:
				changes = l.Waive(drawIDs(t), "why", "ann")
			case 2:
				changes = l.Escalate(drawIDs(t), round, feedback.ReasonIterationCap)
			default:
				given = drawResult(t)
				changes = l.Merge(source, round, given)
			}
			if d := cmp.Diff(before, l.Items()); d != "" {
				t.Fatalf("asking changed the ledger: %s", d)
			}
			apply(&l, changes)
			checkMove(t, before, &l, changes, source, given)
			checkIndexes(t, &l)
		}
	})
}

func drawIDs(t *rapid.T) []string {
	var out []string
	for range rapid.IntRange(0, 3).Draw(t, "ids") {
		out = append(out, fmt.Sprintf("%s.%d", rapid.SampledFrom(historySources).Draw(t, "of"), rapid.IntRange(0, 4).Draw(t, "number")))
	}
	return out
}

func drawReplies(t *rapid.T) []feedback.Reply {
	var out []feedback.Reply
	for _, id := range drawIDs(t) {
		out = append(out, feedback.Reply{ID: id, Status: feedback.Status(rapid.IntRange(0, 7).Draw(t, "status")), Reason: "r"})
	}
	return out
}

func drawResult(t *rapid.T) *feedback.Result {
	r := &feedback.Result{}
	for range rapid.IntRange(0, 5).Draw(t, "items") {
		r.Items = append(r.Items, feedback.Item{
			Severity: feedback.Severity(rapid.IntRange(1, 2).Draw(t, "severity")), File: "f", Line: rapid.IntRange(0, 1).Draw(t, "line"),
			Description: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "description"),
			Fingerprint: rapid.SampledFrom([]string{"", "f", "g"}).Draw(t, "print"),
		})
	}
	if rapid.Bool().Draw(t, "partial") {
		r.Replies = drawReplies(t)
		r.Prior = rapid.SampledFrom([]string{"", feedback.PriorAllFixed}).Draw(t, "prior")
	}
	return r
}

func checkMove(t *rapid.T, before []feedback.Item, l *feedback.Ledger, changes []feedback.Change, source string, given *feedback.Result) {
	for _, source := range historySources {
		for i, item := range l.Of(source) {
			if want := fmt.Sprintf("%s.%d", source, i+1); item.ID != want {
				t.Fatalf("item %d of %s has id %s", i+1, source, item.ID)
			}
		}
	}
	for _, old := range before {
		now, ok := l.Get(old.ID)
		if !ok || old.FirstRound != now.FirstRound || !slices.Equal(old.Sources, now.Sources) {
			t.Fatalf("%+v became %+v", old, now)
		}
		if given != nil && cmp.Diff(old, now) != "" && !slices.Contains(now.Sources, source) {
			t.Fatalf("%s changed an item of another source: %+v", source, now)
		}
		if old.IsOpen() && !now.IsOpen() && now.By != source && now.By != "ann" {
			t.Fatalf("closed by %q: %+v", now.By, now)
		}
	}
	for i, c := range changes {
		if i > 0 && slices.ContainsFunc(changes[:i], func(o feedback.Change) bool { return o.Item.ID == c.Item.ID }) {
			t.Fatalf("two changes of %s", c.Item.ID)
		}
	}
	if given == nil {
		return
	}
	prints := make(map[string]string) // of the first of equal findings, which stands for the others
	text := func(i feedback.Item) string { return fmt.Sprint(i.Severity, i.File, i.Line, i.Description) }
	for _, g := range given.Items {
		if _, ok := prints[text(g)]; !ok {
			prints[text(g)] = g.Fingerprint
		}
		if !slices.ContainsFunc(l.Of(source), func(i feedback.Item) bool {
			return i.IsOpen() && text(i) == text(g) ||
				i.Status == feedback.Waived && (text(i) == text(g) || i.Fingerprint == prints[text(g)])
		}) {
			t.Fatalf("a finding is lost: %+v in\n%s", g, dump(l))
		}
	}
	if given.IsComplete() {
		if open := len(l.Open(source)); open > len(given.Items) {
			t.Fatalf("%d open items after a complete list of %d", open, len(given.Items))
		}
	}
}

// checkIndexes compares what the ledger gives of each source with a scan of all items, which are those of
// one source after the other.
func checkIndexes(t *rapid.T, l *feedback.Ledger) {
	var all []string
	for _, s := range historySources {
		all = append(all, ids(l.Of(s))...)
		var open, blocking []string
		for _, i := range l.Items() {
			if i.IsOpen() && slices.Contains(i.Sources, s) {
				open = append(open, i.ID)
				if i.Severity == feedback.Blocking {
					blocking = append(blocking, i.ID)
				}
			}
		}
		if got := ids(l.Open(s)); !slices.Equal(got, open) {
			t.Fatalf("open items of %s %v, want %v", s, got, open)
		}
		if got := ids(l.OpenBlocking(s)); !slices.Equal(got, blocking) {
			t.Fatalf("open blocking items of %s %v, want %v", s, got, blocking)
		}
	}
	if got := ids(l.Items()); !slices.Equal(got, all) || l.Len() != len(all) {
		t.Fatalf("%d items %v, want %v", l.Len(), got, all)
	}
}
