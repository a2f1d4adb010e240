package feedback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			"review.1 a fixed 1-1\nreview.2 b fixed 1-2\nreview.3 c fixed 2-2\n"},
		{"still there", []moment{{1, list("a")}, {2, list("a")}}, "review.1 a not_fixed 1-2\n"},
		{"the same round again", []moment{{1, list("a")}, {1, list("a")}}, "review.1 a open 1-1\n"},
		{"exact repeats", []moment{{1, list("a", "a")}}, "review.1 a open 1-1\n"},
		{"back after it was fixed", []moment{{1, list("a")}, {2, list()}, {3, list("a")}}, "review.1 a fixed 1-1\nreview.2 a open 3-3\n"},
		{"replies", []moment{{1, list("a", "b", "c", "d")}, {2, with(list("e"), "",
			feedback.Reply{ID: "review.1", Status: feedback.Fixed}, feedback.Reply{ID: "review.2", Status: feedback.NotFixed, Reason: "see above"},
			feedback.Reply{ID: "review.3", Status: feedback.Withdrawn, Reason: "my mistake"}, feedback.Reply{ID: "review.99", Status: feedback.Fixed})}},
			"review.1 a fixed 1-1\nreview.2 b not_fixed 1-2 (see above)\nreview.3 c withdrawn 1-1 (my mistake)\nreview.4 d open 1-1\nreview.5 e open 2-2\n"},
		{"an answer to a closed item", []moment{{1, list("a")}, {2, list()},
			{3, with(list(), "", feedback.Reply{ID: "review.1", Status: feedback.NotFixed})}}, "review.1 a fixed 1-1\n"},
		{"two answers, one keeps it open", []moment{{1, list("a")}, {2, with(list(), "",
			feedback.Reply{ID: "review.1", Status: feedback.Fixed}, feedback.Reply{ID: "review.1", Status: feedback.NotFixed})}}, "review.1 a not_fixed 1-2\n"},
		{"a reviewer disputes nothing", []moment{{1, list("a")}, {2, with(list(), "",
			feedback.Reply{ID: "review.1", Status: feedback.Disputed, Reason: "no"})}}, "review.1 a open 1-1\n"},
		{"all fixed", []moment{{1, list("a", "b")}, {2, with(list("c"), feedback.PriorAllFixed)}},
			"review.1 a fixed 1-1\nreview.2 b fixed 1-1\nreview.3 c open 2-2\n"},
		{"all fixed, but given again", []moment{{1, list("a", "b")}, {2, with(list("b"), feedback.PriorAllFixed)}},
			"review.1 a fixed 1-1\nreview.2 b not_fixed 1-2\n"},
		{"answered fixed, but given again", []moment{{1, list("a")}, {2, with(list("a"), "", feedback.Reply{ID: "review.1", Status: feedback.Fixed})}},
			"review.1 a not_fixed 1-2\n"},
		{"a fingerprint knows it by other words", []moment{{1, printed("f", 3, "a 0.1s")}, {2, printed("f", 9, "a 0.2s")}},
			"review.1 a 0.2s not_fixed 1-2\n"},
		{"another fingerprint in the same place and words", []moment{{1, printed("f", 3, "a")}, {2, printed("g", 3, "a")}},
			"review.1 a not_fixed 1-2\n"},
		{"another fingerprint", []moment{{1, printed("f", 3, "a")}, {2, printed("g", 4, "a")}}, "review.1 a fixed 1-1\nreview.2 a open 2-2\n"},
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
	if got, want := dump(&l), "s.1 same fixed 1-1\ns.2 same not_fixed 1-2\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
}

func TestSourcesDoNotMix(t *testing.T) {
	var l feedback.Ledger
	apply(&l, l.Merge("a", 1, list("x")))
	apply(&l, l.Merge("b", 1, list("x", "y")))
	apply(&l, l.Merge("a", 2, &feedback.Result{Replies: []feedback.Reply{{ID: "b.1", Status: feedback.Fixed}}}))
	apply(&l, l.Merge("a", 3, list()))
	if got, want := dump(&l), "a.1 x fixed 1-1\nb.1 x open 1-1\nb.2 y open 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if n := len(l.Open("a")); n != 0 {
		t.Errorf("%d open items of a, want 0", n)
	}
	if n := len(l.OpenBlocking("b")); n != 2 || len(l.Of("a")) != 1 {
		t.Errorf("%d open blocking items of b, want 2", n)
	}
}

func TestWaivers(t *testing.T) {
	printed := func(print string, line int) *feedback.Result {
		i := finding("x")
		i.Fingerprint, i.Line = print, line
		return &feedback.Result{Items: []feedback.Item{i}}
	}
	const waived = "s.1 x waived 1-2 (known)\n"
	tests := []struct {
		name          string
		first, second *feedback.Result
		want          string
	}{
		{"given again", list("x"), list("x"), waived},
		{"moved", printed("f", 1), printed("f", 8), waived},
		{"evidence not known", printed("f", 1), printed("", 1), waived},
		{"evidence changed", printed("f", 1), printed("g", 1), "s.1 x open 1-2 (was waived, but its evidence changed)\n"},
		{"no longer given", list("x"), list(), "s.1 x waived 1-1 (known)\n"},
		{"answered", list("x"), &feedback.Result{Replies: []feedback.Reply{{ID: "s.1", Status: feedback.NotFixed}}}, "s.1 x waived 1-1 (known)\n"},
		{"all fixed", list("x"), &feedback.Result{Prior: feedback.PriorAllFixed}, "s.1 x waived 1-1 (known)\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l feedback.Ledger
			apply(&l, l.Merge("s", 1, test.first))
			apply(&l, l.Waive([]string{"s.1", "s.1", "s.9"}, "known", "ann"))
			if i, _ := l.Get("s.1"); i.By != "ann" || i.IsOpen() || len(l.OpenBlocking("s")) != 0 {
				t.Errorf("after the waiver: %+v", i)
			}
			if c := l.Waive([]string{"s.1"}, "again", "bob"); len(c) != 0 {
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
	reply := feedback.Reply{ID: "s.1", Status: feedback.Disputed, Reason: "by design"}
	apply(&l, l.Reply("s", "fix", 2, []feedback.Reply{reply, reply, {ID: "s.2", Status: feedback.Fixed}, {ID: "s.9", Status: feedback.Disputed}}))
	if got, want := dump(&l), "s.1 x disputed 1-1 (by design)\ns.2 y open 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if i, _ := l.Get("s.1"); i.Disputes != 1 || i.By != "fix" || !i.IsOpen() {
		t.Errorf("after one dispute: %+v", i)
	}
	apply(&l, l.Merge("s", 2, list("x")))
	apply(&l, l.Reply("s", "fix", 3, []feedback.Reply{reply}))
	if i, _ := l.Get("s.1"); i.Disputes != 2 {
		t.Errorf("%d disputes, want 2", i.Disputes)
	}
	apply(&l, l.Escalate("s", []string{"s.1", "s.2"}, 3, feedback.ReasonDisputed))
	if got, want := dump(&l), "s.1 x escalated 1-2 (disputed)\ns.2 y fixed 1-1\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
	if i, _ := l.Get("s.1"); i.Disputes != 0 || !i.IsOpen() {
		t.Errorf("after the escalation: %+v", i)
	}
	// After a retry by hand the source reviews again in the same round.
	apply(&l, l.Merge("s", 2, list("x")))
	if i, _ := l.Get("s.1"); i.Status != feedback.NotFixed {
		t.Errorf("reviewed again after an escalation it is %s, want not_fixed", i.Status)
	}
}

// TestLedgerOutOfOrderAndJSON applies items in no order, some under ids that Merge gives to none.
func TestLedgerOutOfOrderAndJSON(t *testing.T) {
	var l feedback.Ledger
	for _, id := range []string{"s.10", "r[0].1", "x", "s.2", "s.01", "s.", "s.+3", "s.1"} {
		i := finding("d")
		i.ID, i.Status, i.Sources = id, feedback.Open, []string{"s"}
		l.Apply(feedback.Change{Item: i})
	}
	want := []string{"r[0].1", "s.1", "s.2", "s.10", "s.", "s.+3", "s.01", "x"}
	if got := ids(l.Items()); !slices.Equal(got, want) || !slices.Equal(ids(l.Of("s")), want) {
		t.Errorf("items %q, of their source %q, want %q", got, ids(l.Of("s")), want)
	}
	for source, want := range map[string]string{"s": "s.11", "r[0]": "r[0].2", "x": "x.1", "t": "t.1"} {
		if got := nextID(&l, source); got != want {
			t.Errorf("the next item of %s is %s, want %s", source, got, want)
		}
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
	if len(back.OpenBlocking("s")) != 8 || back.Len() != 8 || nextID(&back, "s") != "s.11" {
		t.Error("the indexes of a ledger that was read back are not whole")
	}
	if err := json.Unmarshal([]byte(`{}`), &back); err == nil {
		t.Error("an object was read as a ledger")
	}
	if data, err := json.Marshal(&feedback.Ledger{}); err != nil || string(data) != "[]" {
		t.Errorf("an empty ledger is %s, %v", data, err)
	}
}

// nextID is the id that an item of source would get now.
func nextID(l *feedback.Ledger, source string) string {
	changes := l.Merge(source, 1, list("new"))
	return changes[len(changes)-1].Item.ID
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
