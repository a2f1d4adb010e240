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

// TestOrderOfSources lets reviews that run side by side end in two orders in each round, after which what they found
// alike becomes one: ids, items and the ledger's text are the same.
func TestOrderOfSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ledgers [2]feedback.Ledger
		var texts [2]string
		for round := range rapid.IntRange(1, 4).Draw(t, "rounds") {
			turns := rapid.Permutation(historySources).Draw(t, "turns")[:rapid.IntRange(1, len(historySources)).Draw(t, "how many")]
			results := make(map[string]*feedback.Result)
			for _, source := range turns {
				results[source] = drawResult(t)
			}
			for k, order := range [][]string{turns, rapid.Permutation(turns).Draw(t, "other order")} {
				for _, source := range order {
					apply(&ledgers[k], ledgers[k].Merge(source, round+1, results[source]))
				}
				apply(&ledgers[k], ledgers[k].Unify(historySources))
			}
		}
		for k := range ledgers {
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
// found as never change, an item is closed only by its own sources or a person, nothing that a complete
// list holds is closed, and the ledger's answers agree with a plain scan of its entries.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l feedback.Ledger
		for round := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			before, items := l.Entries(), l.Items()
			source := rapid.SampledFrom(historySources).Draw(t, "source")
			var changes []feedback.Change
			var given *feedback.Result
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				changes = l.Reply(source, "fix", round, drawReplies(t))
			case 1:
				changes = l.Waive(drawIDs(t), "why", "ann")
			case 2:
				changes = l.Escalate(source, drawIDs(t), round, feedback.ReasonIterationCap)
			case 3, 4:
				changes = l.Unify(historySources)
			default:
				given = drawResult(t)
				changes = l.Merge(source, round, given)
			}
			if d := cmp.Diff(before, l.Entries()); d != "" {
				t.Fatalf("asking changed the ledger: %s", d)
			}
			apply(&l, changes)
			checkMove(t, before, &l, changes, source, given)
			checkItems(t, items, &l)
			checkIndexes(t, &l)
		}
	})
}

// checkItems holds the items that entries of several sources make up: each keeps its id, or is one with an earlier
// item from now on; it is open exactly as long as it is open for one of its sources, and then in no list missing.
func checkItems(t *rapid.T, before []feedback.Item, l *feedback.Ledger) {
	for _, old := range before {
		now, ok := l.Get(old.ID)
		if !ok || now.ID != old.ID && now.ID != entryByID(l, old.ID).SameAs {
			t.Fatalf("%+v became %+v", old, now)
		}
	}
	open := make(map[string]bool)
	for _, e := range l.Entries() {
		if e.SameAs != "" && entryByID(l, e.SameAs).SameAs != "" {
			t.Fatalf("%s is one with %s, which is one with another", e.ID, e.SameAs)
		}
		if e.IsOpen() {
			head, _ := l.Get(e.ID)
			open[head.ID] = true
			if !slices.Contains(ids(l.Open(e.Sources[0])), head.ID) || !slices.Contains(head.Sources, e.Sources[0]) {
				t.Fatalf("%s is open for %s, and not among its open items", e.ID, e.Sources[0])
			}
		}
	}
	for _, item := range l.Items() {
		if item.IsOpen() != open[item.ID] {
			t.Fatalf("%+v, open for one of its sources: %v", item, open[item.ID])
		}
	}
}

func entryByID(l *feedback.Ledger, id string) feedback.Item {
	for _, e := range l.Entries() {
		if e.ID == id {
			return e
		}
	}
	return feedback.Item{}
}

// TestRewordedReview has a reviewer that rewords, reorders and moves what it found over many rounds, names it by its
// id, and leaves some of it out: each finding keeps its id, and what nobody answered stays open.
func TestRewordedReview(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l feedback.Ledger
		n := rapid.IntRange(1, 6).Draw(t, "findings")
		first := &feedback.Result{}
		for k := range n {
			first.Items = append(first.Items, feedback.Item{Severity: feedback.Blocking, File: "f", Line: k + 1, Description: fmt.Sprint("finding ", k)})
		}
		apply(&l, l.Merge("r", 1, first))
		open := make(map[string]bool)
		for _, id := range ids(l.Items()) {
			open[id] = true
		}
		for round := 2; round < 2+rapid.IntRange(1, 4).Draw(t, "rounds"); round++ {
			r := &feedback.Result{Replies: []feedback.Reply{{ID: "r.999", Status: feedback.NotFixed}}}
			for _, id := range rapid.Permutation(ids(l.Items())).Draw(t, "order") {
				switch rapid.IntRange(0, 3).Draw(t, "says") {
				case 0:
					r.Items = append(r.Items, feedback.Item{ID: id, Severity: feedback.Blocking, File: "g",
						Line: rapid.IntRange(1, 3).Draw(t, "line"), Description: fmt.Sprintf("%s in the words of round %d", id, round)})
					open[id] = true
				case 1:
					r.Replies = append(r.Replies, feedback.Reply{ID: id, Status: feedback.Fixed})
					open[id] = false
				case 2:
					r.Replies = append(r.Replies, feedback.Reply{ID: id, Status: feedback.NotFixed})
				}
			}
			apply(&l, l.Merge("r", round, r))
			if l.Len() != n {
				t.Fatalf("%d findings became %d items:\n%s", n, l.Len(), dump(&l))
			}
			for _, item := range l.Items() {
				if item.IsOpen() != open[item.ID] {
					t.Fatalf("round %d: %s open: %v, want %v", round, item.ID, item.IsOpen(), open[item.ID])
				}
			}
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
			ID:          rapid.SampledFrom([]string{"", "", "", "a.1", "a.2", "b.1"}).Draw(t, "id"),
		})
	}
	if rapid.Bool().Draw(t, "partial") {
		r.Replies = drawReplies(t)
		r.Prior = rapid.SampledFrom([]string{"", feedback.PriorAllFixed}).Draw(t, "prior")
	}
	return r
}

func checkMove(t *rapid.T, before []feedback.Item, l *feedback.Ledger, changes []feedback.Change, source string, given *feedback.Result) {
	count := make(map[string]int)
	for _, item := range l.Entries() {
		source := item.Sources[0]
		count[source]++
		if want := fmt.Sprintf("%s.%d", source, count[source]); item.ID != want {
			t.Fatalf("item %d of %s has id %s", count[source], source, item.ID)
		}
	}
	for _, old := range before {
		now := entryByID(l, old.ID)
		if now.ID == "" || old.SameAs != "" && now.SameAs != old.SameAs || old.FirstRound != now.FirstRound || !slices.Equal(old.Sources, now.Sources) {
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
			return i.IsOpen() && text(i) == text(g) || i.Status == feedback.Waived && (text(i) == text(g) ||
				i.Fingerprint == prints[text(g)] || g.ID != "" && (i.Fingerprint == "" || g.Fingerprint == "" || i.Fingerprint == g.Fingerprint))
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
	n := 0
	for _, s := range historySources {
		n += len(l.Of(s))
		var open, blocking []string
		for _, i := range l.Entries() {
			if i.IsOpen() && slices.Contains(i.Sources, s) {
				item, _ := l.Get(i.ID)
				open = append(open, item.ID)
				if i.Severity == feedback.Blocking {
					blocking = append(blocking, item.ID)
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
	if l.Len() != n || len(l.Entries()) != n {
		t.Fatalf("%d entries, %d of all sources", l.Len(), n)
	}
}
