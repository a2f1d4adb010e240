package feedback

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Ledger holds every item of a run and keeps their identity over the rounds. Its lists are in order of ids
// (by source, then by number), so that they are the same in whatever order reviews end. Its only mutator is
// Apply: the other methods say what would change, so that a caller can record it first. Changes must be
// applied before the next ones are asked for. The zero Ledger is empty.
//
// What several sources found alike is one item for all who read it (see Unify), but each source keeps an entry
// of its own, so that what one says never depends on when another says something.
type Ledger struct {
	items    []Item           // the entries, in the order in which they were opened
	order    []int            // positions of all entries, in order of ids
	position map[string]int   // by id
	bySource map[string][]int // positions of the entries of a source, in order of ids
	highest  map[string]int   // by source: the highest number that an id of it has
	same     map[string][]int // by id of an item: positions of the entries that are one with it, in order of ids
}

// Change is the full new state of an item, by its id: one just opened, or one that changed.
type Change struct {
	Item Item `json:"item"`
}

// Apply makes a change part of the ledger: it replaces the item with this id, or adds it.
func (l *Ledger) Apply(c Change) {
	if l.position == nil {
		l.position, l.bySource, l.highest = make(map[string]int), make(map[string][]int), make(map[string]int)
		l.same = make(map[string][]int)
	}
	pos, known := l.position[c.Item.ID]
	if known {
		l.items[pos] = c.Item
	} else {
		pos = len(l.items)
		l.items = append(l.items, c.Item)
		l.order = l.insert(l.order, pos)
		l.position[c.Item.ID] = pos
		source, number := splitID(c.Item.ID)
		l.highest[source] = max(l.highest[source], number)
	}
	for _, source := range c.Item.Sources {
		l.bySource[source] = l.insert(l.bySource[source], pos)
	}
	if c.Item.SameAs != "" {
		l.same[c.Item.SameAs] = l.insert(l.same[c.Item.SameAs], pos)
	}
}

// insert adds the position of an item to a list of positions in order of ids, unless it is there.
func (l *Ledger) insert(in []int, pos int) []int {
	at, ok := slices.BinarySearchFunc(in, l.items[pos].ID, func(p int, id string) int {
		return compareIDs(l.items[p].ID, id)
	})
	if ok {
		return in
	}
	return slices.Insert(in, at, pos)
}

// Len is the number of entries.
func (l *Ledger) Len() int { return len(l.items) }

// Entries gives all entries, in order of ids: those that are one with others, too.
func (l *Ledger) Entries() []Item {
	var out []Item
	for _, pos := range l.order {
		out = append(out, l.items[pos])
	}
	return out
}

// Items gives all items, in order of ids.
func (l *Ledger) Items() []Item {
	var out []Item
	for _, pos := range l.order {
		if item := &l.items[pos]; item.SameAs == "" {
			out = append(out, l.whole(item.ID))
		}
	}
	return out
}

// Get gives the item with this id, or that the entry with this id is one with.
func (l *Ledger) Get(id string) (Item, bool) {
	if _, ok := l.position[id]; !ok {
		return Item{}, false
	}
	return l.whole(l.head(id)), true
}

// Has reports whether there is an entry with this id.
func (l *Ledger) Has(id string) bool {
	_, ok := l.position[id]
	return ok
}

// Said gives an item, named by any of its ids, as it stands for one of its sources and in its words.
func (l *Ledger) Said(source, id string) (Item, bool) {
	entry, ok := l.entryOf(id, source)
	if !ok {
		return Item{}, false
	}
	return l.shared(l.items[l.position[entry]]), true
}

// Of gives all items of a source whatever their status, in order of ids, each in the words of this source and as
// it stands for it.
func (l *Ledger) Of(source string) []Item {
	return l.pick(source, func(*Item) bool { return true })
}

// Open gives the items that are open for a source, in order of ids.
func (l *Ledger) Open(source string) []Item { return l.pick(source, (*Item).IsOpen) }

// OpenBlocking gives the blocking items that are open for a source, in order of ids.
func (l *Ledger) OpenBlocking(source string) []Item {
	return l.pick(source, func(i *Item) bool { return i.Severity == Blocking && i.IsOpen() })
}

func (l *Ledger) pick(source string, want func(*Item) bool) []Item {
	var out []Item
	for _, pos := range l.bySource[source] {
		if item := &l.items[pos]; slices.Contains(item.Sources, source) && want(item) {
			out = append(out, l.shared(*item))
		}
	}
	return out
}

// Reply gives what the answers of a target change of what a source found: it may dispute open items, with a
// reason, once in a round. Any other answer is the reviewer's to give and changes nothing.
func (l *Ledger) Reply(source, target string, round int, replies []Reply) []Change {
	var out []Change
	answered := make(map[string]bool)
	for _, r := range replies {
		if r.Status != Disputed {
			continue
		}
		for _, item := range l.openEntries(r.ID, source) {
			if answered[item.ID] {
				continue
			}
			answered[item.ID] = true
			if item.Status != Disputed || item.StatusRound != round { // not another try of the same round
				item.Disputes++
			}
			item.Dispute = r.Reason
			out = append(out, Change{item.with(Disputed, round, target, r.Reason)})
		}
	}
	return out
}

// Waive gives what a person's override changes: the open items named are waived for all their sources, with who
// and why. Ids that are unknown or no longer open change nothing.
func (l *Ledger) Waive(ids []string, reason, by string) []Change {
	return l.settle(ids, "", func(item Item) Item { return item.with(Waived, item.StatusRound, by, reason) })
}

// Unwaive gives what taking a waiver back changes: the entries that it waived are open again, and a person is
// asked once more.
func (l *Ledger) Unwaive(ids []string, reason string) []Change {
	var out []Change
	for _, id := range l.heads(ids) {
		for _, item := range l.entries(id, "") {
			if item.Status == Waived {
				out = append(out, Change{item.with(Escalated, item.StatusRound, "", reason)})
			}
		}
	}
	return out
}

// Withdraw gives what taking all that is open for a source out of the ledger changes, where others stand for it
// now or nobody looks at it any more.
func (l *Ledger) Withdraw(source, reason string) []Change {
	return l.settle(idsOf(l.Open(source)), source, func(item Item) Item {
		return item.with(Withdrawn, item.StatusRound, "", reason)
	})
}

// Escalate gives what handing open items of a source to a person changes; what is counted until a person is asked
// starts anew.
func (l *Ledger) Escalate(source string, ids []string, round int, reason string) []Change {
	return l.settle(ids, source, func(item Item) Item {
		item.Disputes, item.Unfixed = 0, 0
		return item.with(Escalated, round, "", reason)
	})
}

// settle changes the open entries of items, of one source or of all ("").
func (l *Ledger) settle(ids []string, source string, change func(Item) Item) []Change {
	var out []Change
	for _, id := range l.heads(ids) {
		for _, item := range l.openEntries(id, source) {
			out = append(out, Change{change(item)})
		}
	}
	return out
}

// with is the item with another status and who gave it, when and why.
func (i Item) with(status Status, round int, by, reason string) Item {
	i.Status, i.StatusRound, i.By, i.Reason = status, round, by, reason
	return i
}

// MarshalJSON gives the entries as a list: the whole state of the ledger.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	if len(l.items) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(l.Entries())
}

// UnmarshalJSON reads what MarshalJSON gave; what the ledger held before is gone.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var items []Item
	if err := json.Unmarshal(data, &items); err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	*l = Ledger{}
	for _, item := range items {
		l.Apply(Change{item})
	}
	return nil
}
