package feedback

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Ledger holds every item of a run, in order of ids, and keeps their identity over the rounds. Its only
// mutator is Apply: the other methods say what would change, so that a caller can record it first. Changes
// must be applied before the next ones are asked for. The zero Ledger is empty.
type Ledger struct {
	items    []Item
	position map[string]int   // by id
	bySource map[string][]int // positions of the items of a source, ascending
	blocking []int            // positions of the open blocking items, ascending
}

// Change is the full new state of an item, by its id: one just opened, or one that changed.
type Change struct {
	Item Item `json:"item"`
}

// Apply makes a change part of the ledger: it replaces the item with this id, or adds it.
func (l *Ledger) Apply(c Change) {
	if pos, ok := l.position[c.Item.ID]; ok {
		l.items[pos] = c.Item
		l.index(pos)
		return
	}
	number := idNumber(c.Item.ID)
	pos := len(l.items)
	for pos > 0 && idNumber(l.items[pos-1].ID) > number {
		pos--
	}
	l.items = slices.Insert(l.items, pos, c.Item)
	if pos == len(l.items)-1 {
		l.index(pos)
		return
	}
	// An id out of order, which only a journal of another hand holds: all later positions moved.
	l.position, l.bySource, l.blocking = nil, nil, nil
	for i := range l.items {
		l.index(i)
	}
}

// index brings the indexes in line with the item at pos.
func (l *Ledger) index(pos int) {
	if l.position == nil {
		l.position, l.bySource = make(map[string]int), make(map[string][]int)
	}
	item := &l.items[pos]
	l.position[item.ID] = pos
	for _, source := range item.Sources {
		l.bySource[source] = insertSorted(l.bySource[source], pos)
	}
	if item.Severity == Blocking && item.IsOpen() {
		l.blocking = insertSorted(l.blocking, pos)
	} else if at, ok := slices.BinarySearch(l.blocking, pos); ok {
		l.blocking = slices.Delete(l.blocking, at, at+1)
	}
}

func insertSorted(in []int, n int) []int {
	at, ok := slices.BinarySearch(in, n)
	if ok {
		return in
	}
	return slices.Insert(in, at, n)
}

// idNumber is the N of "iN"; 0 for any other id.
func idNumber(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "i"))
	if err != nil || !strings.HasPrefix(id, "i") {
		return 0
	}
	return n
}

// nextID is the number of the next item.
func (l *Ledger) nextID() int {
	if len(l.items) == 0 {
		return 1
	}
	return idNumber(l.items[len(l.items)-1].ID) + 1
}

// Len is the number of items.
func (l *Ledger) Len() int { return len(l.items) }

// Items gives all items, in order of ids.
func (l *Ledger) Items() []Item { return slices.Clone(l.items) }

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

// AllOpenBlocking gives the open blocking items of all sources, in order of ids.
func (l *Ledger) AllOpenBlocking() []Item {
	out := make([]Item, 0, len(l.blocking))
	for _, pos := range l.blocking {
		out = append(out, l.items[pos])
	}
	return out
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
	return json.Marshal(l.items)
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
