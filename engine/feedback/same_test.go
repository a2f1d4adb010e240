package feedback_test

import (
	"encoding/json"
	"slices"
	"testing"

	"example.com/pipe/engine/feedback"
)

// TestOneItemOfTwoSources follows what two reviews found alike: it is one item, in the brief once, and fixed only when
// both say so, in whatever order and words they speak.
func TestOneItemOfTwoSources(t *testing.T) {
	var l feedback.Ledger
	apply(&l, l.Merge("b", 1, list("same", "other")))
	apply(&l, l.Merge("a", 1, list("mine", "same")))
	apply(&l, l.Unify([]string{"a", "b"}))
	wantIDs := func(what string, got []feedback.Item, want ...string) {
		t.Helper()
		if !slices.Equal(ids(got), want) {
			t.Errorf("%s: %v, want %v", what, ids(got), want)
		}
	}
	wantIDs("all", l.Items(), "a.1", "a.2", "b.2")
	wantIDs("of b", l.OpenBlocking("b"), "a.2", "b.2")
	if item, _ := l.Get("b.1"); item.ID != "a.2" || !slices.Equal(item.Sources, []string{"a", "b"}) {
		t.Errorf("the item behind b.1 is %+v", item)
	}
	// b names the item as it was shown to it, and rewords it; a says that it is fixed.
	reworded := finding("the same in other words")
	reworded.ID = "a.2"
	apply(&l, l.Merge("b", 2, &feedback.Result{Items: []feedback.Item{reworded}, Replies: []feedback.Reply{{ID: "b.2", Status: feedback.Fixed}}}))
	apply(&l, l.Merge("a", 2, list("mine")))
	apply(&l, l.Unify([]string{"a", "b"}))
	wantIDs("open for a", l.Open("a"), "a.1")
	wantIDs("open for b", l.Open("b"), "a.2")
	if item, _ := l.Get("a.2"); !item.IsOpen() || item.Description != "the same in other words" || item.LastRound != 2 {
		t.Errorf("what only b holds open is %+v", item)
	}
	// a finds it again while b does not look: the same item.
	apply(&l, l.Merge("a", 3, list("mine", "the same in other words")))
	apply(&l, l.Unify([]string{"a", "b"}))
	wantIDs("open for a again", l.Open("a"), "a.1", "a.2")
	apply(&l, l.Reply("b", "fix", 3, []feedback.Reply{{ID: "a.2", Status: feedback.Disputed, Reason: "no"}}))
	if of := l.Open("b")[0]; of.Status != feedback.Disputed || l.Open("a")[1].Status == feedback.Disputed {
		t.Errorf("disputed for b: %+v", of)
	}
	data, err := json.Marshal(&l)
	if err != nil {
		t.Fatal(err)
	}
	var back feedback.Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	wantIDs("read back", back.Open("b"), "a.2")
	apply(&l, l.Waive([]string{"a.2"}, "fine", "ann"))
	wantIDs("open after the waiver", slices.Concat(l.Open("a"), l.Open("b")), "a.1")
	apply(&l, l.Unwaive([]string{"a.2"}, "void"))
	wantIDs("open without it", slices.Concat(l.Open("a"), l.Open("b")), "a.1", "a.2", "a.2")
	apply(&l, l.Withdraw("b", "gone"))
	wantIDs("open for a alone", slices.Concat(l.Open("a"), l.Open("b")), "a.1", "a.2")
}

// TestCountsOfAnItem counts rounds in a row in which an item was not fixed, and disputes, each once in a round.
func TestCountsOfAnItem(t *testing.T) {
	var l feedback.Ledger
	want := func(what string, unfixed, disputes int) {
		t.Helper()
		if i, _ := l.Get("s.1"); i.Unfixed != unfixed || i.Disputes != disputes {
			t.Errorf("%s: not fixed in %d rounds, disputed %d times; want %d, %d", what, i.Unfixed, i.Disputes, unfixed, disputes)
		}
	}
	disputed := []feedback.Reply{{ID: "s.1", Status: feedback.Disputed, Reason: "no"}}
	silent := &feedback.Result{Replies: []feedback.Reply{{ID: "s.9", Status: feedback.Fixed}}}
	apply(&l, l.Merge("s", 1, list("x")))
	want("found", 0, 0)
	apply(&l, l.Merge("s", 1, list("x")))
	want("looked again in the same round", 0, 0)
	apply(&l, l.Reply("s", "fix", 2, disputed))
	apply(&l, l.Reply("s", "fix", 2, disputed))
	want("two tries of the target in one round", 0, 1)
	apply(&l, l.Merge("s", 2, list("x")))
	apply(&l, l.Merge("s", 2, list("x")))
	want("in a complete list", 1, 1)
	apply(&l, l.Merge("s", 3, &feedback.Result{Replies: []feedback.Reply{{ID: "s.1", Status: feedback.NotFixed}}}))
	want("answered", 2, 1)
	apply(&l, l.Merge("s", 4, silent))
	want("not answered", 0, 1)
	apply(&l, l.Merge("s", 5, list("x")))
	apply(&l, l.Escalate("s", []string{"s.1"}, 5, feedback.ReasonSameItem))
	want("a person is asked", 0, 0)
	apply(&l, l.Merge("s", 1, list("x")))
	want("a counter that began anew", 1, 0)
	// Only what it names reopens what was fixed.
	apply(&l, l.Merge("s", 2, list()))
	back := finding("x, again")
	back.ID = "s.1"
	apply(&l, l.Merge("s", 3, &feedback.Result{Items: []feedback.Item{back}}))
	if got, want := dump(&l), "s.1 x, again not_fixed 1-3 (it was closed, and is back)\n"; got != want {
		t.Errorf("ledger:\n%swant:\n%s", got, want)
	}
}
