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
type Ledger struct {
	items    []Item           // in the order in which they were opened
	order    []int            // positions of all items, in order of ids
	position map[string]int   // by id
	bySource map[string][]int // positions of the items of a source, in order of ids
	highest  map[string]int   // by source: the highest number that an id of it has
}

// Change is the full new state of an item, by its id: one just opened, or one that changed.
type Change struct {
	Item Item `json:"item"`
}

// Apply makes a change part of the ledger: it replaces the item with this id, or adds it.
func (l *Ledger) Apply(c Change) {
	if l.position == nil {
		l.position, l.bySource, l.highest = make(map[string]int), make(map[string][]int), make(map[string]int)
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

// Len is the number of items.
func (l *Ledger) Len() int { return len(l.items) }

// Items gives all items, in order of ids.
func (l *Ledger) Items() []Item {
	var out []Item
	for _, pos := range l.order {
		out = append(out, l.items[pos])
	}
	return out
}

// Get gives the item with this id.
func (l *Ledger) Get(id string) (Item, bool) {
	pos, ok := l.position[id]
	if !ok {
		return Item{}, false
	}
	return l.items[pos], true
}

// Of gives all items of a source whatever their status, in order of ids.
func (l *Ledger) Of(source string) []Item {
	return l.pick(source, func(*Item) bool { return true })
}

// Open gives the open items of a source, in order of ids.
func (l *Ledger) Open(source string) []Item { return l.pick(source, (*Item).IsOpen) }

// OpenBlocking gives the open blocking items of a source, in order of ids.
func (l *Ledger) OpenBlocking(source string) []Item {
	return l.pick(source, func(i *Item) bool { return i.Severity == Blocking && i.IsOpen() })
}

func (l *Ledger) pick(source string, want func(*Item) bool) []Item {
	var out []Item
	for _, pos := range l.bySource[source] {
		if item := &l.items[pos]; slices.Contains(item.Sources, source) && want(item) {
			out = append(out, *item)
		}
	}
	return out
}

// Reply gives what the answers of a target change: it may dispute open items, with a reason. Any other
// answer is the reviewer's to give and changes nothing.
func (l *Ledger) Reply(target string, round int, replies []Reply) []Change {
	var out []Change
	answered := make(map[string]bool)
	for _, r := range replies {
		item, ok := l.Get(r.ID)
		if !ok || !item.IsOpen() || r.Status != Disputed || answered[r.ID] {
			continue
		}
		answered[r.ID] = true
		item.Disputes++
		out = append(out, Change{item.with(Disputed, round, target, r.Reason)})
	}
	return out
}

// Waive gives what a person's override changes: the open items named are waived, with who and why. Ids
// that are unknown or no longer open change nothing.
func (l *Ledger) Waive(ids []string, reason, by string) []Change {
	return l.settle(ids, func(item Item) Item { return item.with(Waived, item.StatusRound, by, reason) })
}

// Withdraw gives what taking items out of a ledger's open ones changes, where others stand for them now.
func (l *Ledger) Withdraw(ids []string, reason string) []Change {
	return l.settle(ids, func(item Item) Item { return item.with(Withdrawn, item.StatusRound, "", reason) })
}

// Escalate gives what handing open items to a person changes; the count of disputes starts anew.
func (l *Ledger) Escalate(ids []string, round int, reason string) []Change {
	return l.settle(ids, func(item Item) Item {
		item.Disputes = 0
		return item.with(Escalated, round, "", reason)
	})
}

func (l *Ledger) settle(ids []string, change func(Item) Item) []Change {
	var out []Change
	for _, id := range unique(ids) {
		if item, ok := l.Get(id); ok && item.IsOpen() {
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

// MarshalJSON gives the items as a list: the whole state of the ledger.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	if len(l.items) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(l.Items())
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
