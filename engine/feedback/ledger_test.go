package feedback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback"
)

func apply(l *feedback.Ledger, changes []feedback.Change) {
	for _, c := range changes {
		l.Apply(c)
	}
}

// dump shows a ledger's items, one a line.
func dump(l *feedback.Ledger) string {
	var b strings.Builder
	for _, i := range l.Items() {
		fmt.Fprintf(&b, "%s %s %s %d-%d", i.ID, i.Description, i.Status, i.FirstRound, i.LastRound)
		if i.Reason != "" {
			fmt.Fprintf(&b, " (%s)", i.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func finding(description string) feedback.Item {
	return feedback.Item{Severity: feedback.Blocking, File: "a.go", Line: 1, Description: description}
}

func list(descriptions ...string) *feedback.Result {
	r := &feedback.Result{}
	for _, d := range descriptions {
		r.Items = append(r.Items, finding(d))
	}
	return r
}

func TestMerge(t *testing.T) {
	type moment struct {
		round int
		given *feedback.Result
	}
	with := func(r *feedback.Result, prior string, replies ...feedback.Reply) *feedback.Result {
		r.Prior, r.Replies = prior, replies
		return r
	}
	printed := func(print string, line int, description string) *feedback.Result {
		i := finding(description)
		i.Fingerprint, i.Line = print, line
		return &feedback.Result{Items: []feedback.Item{i}}
	}
	tests := []struct {
		name    string
		history []moment
		want    string
	}{
		{"no result", []moment{{1, nil}}, ""},
		{"complete lists", []moment{{1, list("a", "b")}, {2, list("b", "c")}, {3, list()}},
			"i1 a fixed 1-1\ni2 b fixed 1-2\ni3 c fixed 2-2\n"},
		{"still there", []moment{{1, list("a")}, {2, list("a")}}, "i1 a not_fixed 1-2\n"},
		{"the same round again", []moment{{1, list("a")}, {1, list("a")}}, "i1 a open 1-1\n"},
		{"exact repeats", []moment{{1, list("a", "a")}}, "i1 a open 1-1\n"},
		{"back after it was fixed", []moment{{1, list("a")}, {2, list()}, {3, list("a")}}, "i1 a fixed 1-1\ni2 a open 3-3\n"},
		{"replies", []moment{{1, list("a", "b", "c", "d")}, {2, with(list("e"), "",
			feedback.Reply{ID: "i1", Status: feedback.Fixed}, feedback.Reply{ID: "i2", Status: feedback.NotFixed, Reason: "see above"},
			feedback.Reply{ID: "i3", Status: feedback.Withdrawn, Reason: "my mistake"}, feedback.Reply{ID: "i99", Status: feedback.Fixed})}},
			"i1 a fixed 1-1\ni2 b not_fixed 1-2 (see above)\ni3 c withdrawn 1-1 (my mistake)\ni4 d open 1-1\ni5 e open 2-2\n"},
		{"an answer to a closed item", []moment{{1, list("a")}, {2, list()},
			{3, with(list(), "", feedback.Reply{ID: "i1", Status: feedback.NotFixed})}}, "i1 a fixed 1-1\n"},
		{"two answers, one keeps it open", []moment{{1, list("a")}, {2, with(list(), "",
			feedback.Reply{ID: "i1", Status: feedback.Fixed}, feedback.Reply{ID: "i1", Status: feedback.NotFixed})}}, "i1 a not_fixed 1-2\n"},
		{"a reviewer disputes nothing", []moment{{1, list("a")}, {2, with(list(), "",
			feedback.Reply{ID: "i1", Status: feedback.Disputed, Reason: "no"})}}, "i1 a open 1-1\n"},
		{"all fixed", []moment{{1, list("a", "b")}, {2, with(list("c"), feedback.PriorAllFixed)}},
			"i1 a fixed 1-1\ni2 b fixed 1-1\ni3 c open 2-2\n"},
		{"all fixed, but given again", []moment{{1, list("a", "b")}, {2, with(list("b"), feedback.PriorAllFixed)}},
			"i1 a fixed 1-1\ni2 b not_fixed 1-2\n"},
		{"answered fixed, but given again", []moment{{1, list("a")}, {2, with(list("a"), "", feedback.Reply{ID: "i1", Status: feedback.Fixed})}},
			"i1 a not_fixed 1-2\n"},
		{"a fingerprint knows it by other words", []moment{{1, printed("f", 3, "a 0.1s")}, {2, printed("f", 9, "a 0.2s")}},
			"i1 a 0.2s not_fixed 1-2\n"},
		{"another fingerprint in the same place and words", []moment{{1, printed("f", 3, "a")}, {2, printed("g", 3, "a")}},
			"i1 a not_fixed 1-2\n"},
		{"another fingerprint", []moment{{1, printed("f", 3, "a")}, {2, printed("g", 4, "a")}}, "i1 a fixed 1-1\ni2 a open 2-2\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l feedback.Ledger
			for _, m := range test.history {
				apply(&l, l.Merge("review", m.round, m.given))
			}
			if got := dump(&l); got != test.want {
				t.Errorf("ledger:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

func TestMergeOfOneFingerprintTwice(t *testing.T) {
	at := func(line int) feedback.Item {
		i := finding("same")
		i.Line, i.Fingerprint = line, "f"
		return i
	}
	var l feedback.Ledger
	apply(&l, l.Merge("s", 1, &feedback.Result{Items: []feedback.Item{at(3), at(7)}}))
	apply(&l, l.Merge("s", 2, &feedback.Result{Items: []feedback.Item{at(7)}}))
	if got, want := dump(&l), "i1 same fixed 1-1\ni2 same not_fixed 1-2\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
}

func TestSourcesDoNotMix(t *testing.T) {
	var l feedback.Ledger
	apply(&l, l.Merge("a", 1, list("x")))
	apply(&l, l.Merge("b", 1, list("x", "y")))
	apply(&l, l.Merge("a", 2, &feedback.Result{Replies: []feedback.Reply{{ID: "i2", Status: feedback.Fixed}}}))
	apply(&l, l.Merge("a", 3, list()))
	if got, want := dump(&l), "i1 x fixed 1-1\ni2 x open 1-1\ni3 y open 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if n := len(l.Open("a")); n != 0 {
		t.Errorf("%d open items of a, want 0", n)
	}
	if n := len(l.OpenBlocking("b")); n != 2 || len(l.AllOpenBlocking()) != 2 || len(l.Of("a")) != 1 {
		t.Errorf("%d open blocking items of b, want 2", n)
	}
}

func TestWaivers(t *testing.T) {
	printed := func(print string, line int) *feedback.Result {
		i := finding("x")
		i.Fingerprint, i.Line = print, line
		return &feedback.Result{Items: []feedback.Item{i}}
	}
	const waived = "i1 x waived 1-2 (known)\n"
	tests := []struct {
		name          string
		first, second *feedback.Result
		want          string
	}{
		{"given again", list("x"), list("x"), waived},
		{"moved", printed("f", 1), printed("f", 8), waived},
		{"evidence not known", printed("f", 1), printed("", 1), waived},
		{"evidence changed", printed("f", 1), printed("g", 1), "i1 x open 1-2 (was waived, but its evidence changed)\n"},
		{"no longer given", list("x"), list(), "i1 x waived 1-1 (known)\n"},
		{"answered", list("x"), &feedback.Result{Replies: []feedback.Reply{{ID: "i1", Status: feedback.NotFixed}}}, "i1 x waived 1-1 (known)\n"},
		{"all fixed", list("x"), &feedback.Result{Prior: feedback.PriorAllFixed}, "i1 x waived 1-1 (known)\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l feedback.Ledger
			apply(&l, l.Merge("s", 1, test.first))
			apply(&l, l.Waive([]string{"i1", "i1", "i9"}, "known", "ann"))
			if i, _ := l.Get("i1"); i.By != "ann" || i.IsOpen() || len(l.AllOpenBlocking()) != 0 {
				t.Errorf("after the waiver: %+v", i)
			}
			if c := l.Waive([]string{"i1"}, "again", "bob"); len(c) != 0 {
				t.Errorf("a closed item was waived: %+v", c)
			}
			apply(&l, l.Merge("s", 2, test.second))
			if got := dump(&l); got != test.want {
				t.Errorf("ledger:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

func TestDisputes(t *testing.T) {
	var l feedback.Ledger
	apply(&l, l.Merge("s", 1, list("x", "y")))
	reply := feedback.Reply{ID: "i1", Status: feedback.Disputed, Reason: "by design"}
	apply(&l, l.Reply("fix", 2, []feedback.Reply{reply, reply, {ID: "i2", Status: feedback.Fixed}, {ID: "i9", Status: feedback.Disputed}}))
	if got, want := dump(&l), "i1 x disputed 1-1 (by design)\ni2 y open 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if i, _ := l.Get("i1"); i.Disputes != 1 || i.By != "fix" || !i.IsOpen() {
		t.Errorf("after one dispute: %+v", i)
	}
	apply(&l, l.Merge("s", 2, list("x")))
	apply(&l, l.Reply("fix", 3, []feedback.Reply{reply}))
	if i, _ := l.Get("i1"); i.Disputes != 2 {
		t.Errorf("%d disputes, want 2", i.Disputes)
	}
	apply(&l, l.Escalate([]string{"i1", "i2"}, 3, feedback.ReasonDisputed))
	if got, want := dump(&l), "i1 x escalated 1-2 (disputed)\ni2 y fixed 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if i, _ := l.Get("i1"); i.Disputes != 0 || !i.IsOpen() {
		t.Errorf("after the escalation: %+v", i)
	}
	// After a retry by hand the source reviews again in the same round.
	apply(&l, l.Merge("s", 2, list("x")))
	if i, _ := l.Get("i1"); i.Status != feedback.NotFixed {
		t.Errorf("reviewed again after an escalation it is %s, want not_fixed", i.Status)
	}
}

func TestLedgerOutOfOrderAndJSON(t *testing.T) {
	var l feedback.Ledger
	for _, id := range []string{"i10", "i2", "i1"} {
		i := finding(id)
		i.ID, i.Status, i.Sources = id, feedback.Open, []string{"s"}
		l.Apply(feedback.Change{Item: i})
	}
	if got, want := dump(&l), "i1 i1 open 0-0\ni2 i2 open 0-0\ni10 i10 open 0-0\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if c := l.Merge("t", 1, list("x")); len(c) != 1 || c[0].Item.ID != "i11" {
		t.Errorf("the next item is %+v, want i11", c)
	}
	data, err := json.Marshal(&l)
	if err != nil {
		t.Fatal(err)
	}
	var back feedback.Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l.Items(), back.Items()); d != "" {
		t.Error(d)
	}
	if len(back.OpenBlocking("s")) != 3 || len(back.AllOpenBlocking()) != 3 || back.Len() != 3 {
		t.Error("the indexes of a ledger that was read back are not whole")
	}
	if err := json.Unmarshal([]byte(`{}`), &back); err == nil {
		t.Error("an object was read as a ledger")
	}
	if data, err := json.Marshal(&feedback.Ledger{}); err != nil || string(data) != "[]" {
		t.Errorf("an empty ledger is %s, %v", data, err)
	}
}

// TestHistories runs random histories against what must hold whatever happens: ids and what they were
// found as never change, an item is closed only by its own source or a person, nothing that a complete
// list holds is closed, and the ledger's answers agree with a plain scan of its items.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l feedback.Ledger
		sources := []string{"a", "b", "p/c[0]"}
		for round := range rapid.IntRange(1, 12).Draw(t, "rounds") {
			before := l.Items()
			source := rapid.SampledFrom(sources).Draw(t, "source")
			var changes []feedback.Change
			var given *feedback.Result
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				changes = l.Reply("fix", round, drawReplies(t, l.Len()))
			case 1:
				changes = l.Waive(drawIDs(t, l.Len()), "why", "ann")
			case 2:
				changes = l.Escalate(drawIDs(t, l.Len()), round, feedback.ReasonIterationCap)
			default:
				given = drawResult(t, l.Len())
				changes = l.Merge(source, round, given)
			}
			if d := cmp.Diff(before, l.Items()); d != "" {
				t.Fatalf("asking changed the ledger: %s", d)
			}
			apply(&l, changes)
			checkMove(t, before, &l, changes, source, given)
			checkIndexes(t, &l, sources)
		}
	})
}

func drawIDs(t *rapid.T, n int) []string {
	var out []string
	for range rapid.IntRange(0, 3).Draw(t, "ids") {
		out = append(out, fmt.Sprintf("i%d", rapid.IntRange(0, n+1).Draw(t, "id")))
	}
	return out
}

func drawReplies(t *rapid.T, n int) []feedback.Reply {
	var out []feedback.Reply
	for _, id := range drawIDs(t, n) {
		out = append(out, feedback.Reply{ID: id, Status: feedback.Status(rapid.IntRange(0, 7).Draw(t, "status")), Reason: "r"})
	}
	return out
}

func drawResult(t *rapid.T, n int) *feedback.Result {
	r := &feedback.Result{}
	for range rapid.IntRange(0, 5).Draw(t, "items") {
		r.Items = append(r.Items, feedback.Item{
			Severity: feedback.Severity(rapid.IntRange(1, 2).Draw(t, "severity")), File: "f", Line: rapid.IntRange(0, 1).Draw(t, "line"),
			Description: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "description"),
			Fingerprint: rapid.SampledFrom([]string{"", "f", "g"}).Draw(t, "print"),
		})
	}
	if rapid.Bool().Draw(t, "partial") {
		r.Replies = drawReplies(t, n)
		r.Prior = rapid.SampledFrom([]string{"", feedback.PriorAllFixed}).Draw(t, "prior")
	}
	return r
}

func checkMove(t *rapid.T, before []feedback.Item, l *feedback.Ledger, changes []feedback.Change, source string, given *feedback.Result) {
	after := l.Items()
	if len(after) < len(before) {
		t.Fatalf("%d items, %d before", len(after), len(before))
	}
	for i := range after {
		if want := fmt.Sprintf("i%d", i+1); after[i].ID != want {
			t.Fatalf("item %d has id %s", i+1, after[i].ID)
		}
		if i >= len(before) {
			continue
		}
		old, now := before[i], after[i]
		if old.FirstRound != now.FirstRound || !slices.Equal(old.Sources, now.Sources) {
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

func checkIndexes(t *rapid.T, l *feedback.Ledger, sources []string) {
	var all []string
	for _, i := range l.Items() {
		if i.Severity == feedback.Blocking && i.IsOpen() {
			all = append(all, i.ID)
		}
	}
	if got := ids(l.AllOpenBlocking()); !slices.Equal(got, all) {
		t.Fatalf("open blocking items %v, want %v", got, all)
	}
	for _, s := range sources {
		var open []string
		for _, i := range l.Items() {
			if i.IsOpen() && slices.Contains(i.Sources, s) {
				open = append(open, i.ID)
			}
		}
		if got := ids(l.Open(s)); !slices.Equal(got, open) {
			t.Fatalf("open items of %s %v, want %v", s, got, open)
		}
	}
}

func ids(items []feedback.Item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.ID)
	}
	return out
}

func BenchmarkLedgerStep(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var l feedback.Ledger
			for s := range n {
				apply(&l, l.Merge(fmt.Sprintf("s%d", s), 1, list("x", "y")))
			}
			for b.Loop() {
				apply(&l, l.Merge("s7", 1, list("x", "y")))
				_ = l.OpenBlocking("s7")
			}
		})
	}
}
