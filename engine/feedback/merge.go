package feedback

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Merge gives what the result of a review changes: items of this source that it confirmed or closed, and
// then items opened, whose numbers continue the source's highest; in order of ids. A nil result changes
// nothing.
//
// An item of the result that carries the id of an earlier item of this source is that item, in other words or
// elsewhere, also one that was closed. Any other is an earlier open or waived item of the source if both have the
// same fingerprint, or the same severity, file, line and description; exact repeats within one result are one
// item. A waived item stays waived unless its fingerprint, its evidence, changed. What the result does not
// hold is fixed if the result is the complete present list or says so for all; else its replies answer by
// id, and what they don't answer stays as it is. An item that the result holds is never closed by it.
func (l *Ledger) Merge(source string, round int, r *Result) []Change {
	if r == nil {
		return nil
	}
	m := merge{source: source, round: round, unseen: r.Prior == PriorUnseen, given: slices.Clone(r.Items)}
	named := l.named(&m)
	m.given = collapse(m.given)
	for _, pos := range l.bySource[source] {
		item := &l.items[pos]
		if slices.Contains(item.Sources, source) && (item.IsOpen() || item.Status == Waived || named[item.ID]) {
			m.earlier = append(m.earlier, *item)
		}
	}
	m.match()
	out := m.changes(r, l.answers(source, r.Replies))
	next := l.highest[source]
	for i := range m.given {
		if m.matched[i] >= 0 {
			continue
		}
		next++
		item := m.given[i]
		item.ID = itemID(source, next)
		item.Status, item.StatusRound, item.By, item.Reason = Open, round, source, ""
		item.Disputes, item.Unfixed, item.Dispute, item.Ratcheted, item.SameAs = 0, 0, "", false, ""
		item.FirstRound, item.LastRound, item.Sources = round, round, []string{source}
		out = append(out, Change{item})
	}
	return out
}

// merge is one Merge at work: earlier are the source's open and waived items, given those of the result.
type merge struct {
	source  string
	unseen  bool // nothing was looked at
	round   int
	given   []Item
	earlier []Item
	matched []int // by given: index into earlier, -1: new
	by      []int // by earlier: index into given, -1: not given again
}

// named makes the ids that given items carry those of entries of their source, drops those that name none, and
// gives them. Of several items with one id the first has it.
func (l *Ledger) named(m *merge) map[string]bool {
	out := make(map[string]bool) // only looked up
	for i := range m.given {
		id := m.given[i].ID
		if m.given[i].ID = ""; id == "" {
			continue
		}
		if entry, ok := l.entryOf(id, m.source); ok && !out[entry] {
			m.given[i].ID, out[entry] = entry, true
		}
	}
	return out
}

// entryOf gives the id of the entry by which a source gave an item: an open one, else a waived one, else the last.
func (l *Ledger) entryOf(id, source string) (string, bool) {
	out := ""
	isWaived := false
	for _, entry := range l.entries(id, source) {
		switch {
		case entry.IsOpen():
			return entry.ID, true
		case entry.Status == Waived:
			out, isWaived = entry.ID, true
		case !isWaived:
			out = entry.ID
		}
	}
	return out, out != ""
}

// match pairs given items with earlier ones, one to one and in order: first those that name them, then those equal
// in every way, then those with equal fingerprints, then those whose text and place are equal though their evidence
// is not. What was closed before is met by its name alone.
func (m *merge) match() {
	m.matched, m.by = negatives(len(m.given)), negatives(len(m.earlier))
	byID := make(map[string]int, len(m.earlier)) // only looked up
	for k := range m.earlier {
		byID[m.earlier[k].ID] = k
	}
	for i := range m.given {
		if k, ok := byID[m.given[i].ID]; ok {
			m.matched[i], m.by[k] = k, i
		}
	}
	m.pair(func(i *Item) string { return textKey(i) + "\x00" + i.Fingerprint })
	m.pair(func(i *Item) string { return i.Fingerprint })
	m.pair(textKey)
}

// pair matches what is not matched yet by a key; an empty key matches nothing.
func (m *merge) pair(key func(*Item) string) {
	queues := make(map[string][]int) // only looked up
	for i := range m.earlier {
		if m.by[i] < 0 {
			if k := key(&m.earlier[i]); k != "" {
				queues[k] = append(queues[k], i)
			}
		}
	}
	for i := range m.given {
		if m.matched[i] >= 0 {
			continue
		}
		queue := queues[key(&m.given[i])]
		if len(queue) == 0 {
			continue
		}
		m.matched[i], m.by[queue[0]] = queue[0], i
		queues[key(&m.given[i])] = queue[1:]
	}
}

// changes gives what becomes of the earlier items.
func (m *merge) changes(r *Result, answers map[string]Reply) []Change {
	var out []Change
	for i, old := range m.earlier {
		item := old
		reply, answered := answers[old.ID]
		switch {
		case m.by[i] >= 0:
			item = m.again(old, m.given[m.by[i]])
		case !old.IsOpen():
			continue // waived: neither a reply nor silence changes that
		case answered:
			item = m.answer(old, reply)
		case r.IsComplete(), r.Prior == PriorAllFixed:
			item = old.with(Fixed, m.round, m.source, "")
		case m.round != old.LastRound && !m.unseen:
			item.Unfixed = 0 // nobody said anything of it in this round
		}
		if !reflect.DeepEqual(old, item) {
			out = append(out, Change{item})
		}
	}
	return out
}

// again is an earlier item that the result holds again: it takes over the words of the new one.
func (m *merge) again(old, given Item) Item {
	item := old
	item.Severity, item.File, item.Line, item.Description = given.Severity, given.File, given.Line, given.Description
	item.SuggestedFix, item.Category, item.GateID = given.SuggestedFix, given.Category, given.GateID
	item.SourceAgent, item.Flags = given.SourceAgent, given.Flags
	item.LastRound, item.Ratcheted = m.round, old.Ratcheted && given.Severity == Blocking
	item.Unfixed = m.unfixed(&old)
	switch {
	case old.Status == Waived && !sameEvidence(&old, &given):
		item.Fingerprint = given.Fingerprint
		return item.with(Open, m.round, m.source, "was waived, but its evidence changed")
	case old.Status == Waived:
		// The waiver holds for the item as the person saw it, words and severity included.
		old.Fingerprint, old.LastRound = knownFingerprint(&old, &given), m.round
		return old
	case !old.IsOpen():
		item.Fingerprint, item.Unfixed = knownFingerprint(&given, &old), 0
		return item.with(NotFixed, m.round, m.source, "it was closed, and is back")
	case m.round != old.LastRound || old.Status != Open:
		item.Fingerprint = knownFingerprint(&given, &old)
		return item.with(NotFixed, m.round, m.source, "")
	}
	item.Fingerprint = knownFingerprint(&given, &old)
	return item
}

// answer is an item that the result answers by its id: fixed, withdrawn or not_fixed.
func (m *merge) answer(old Item, reply Reply) Item {
	if reply.Status == NotFixed {
		old.Unfixed, old.LastRound = m.unfixed(&old), m.round
	}
	return old.with(reply.Status, m.round, m.source, reply.Reason)
}

// unfixed gives in how many rounds in a row an item that is still there was not fixed: each round counts once,
// however often the source looked again in it.
func (m *merge) unfixed(old *Item) int {
	if m.unseen || m.round == old.LastRound || !old.IsOpen() {
		return old.Unfixed
	}
	return old.Unfixed + 1
}

// answers gives the answers of a reviewer by the ids of its entries. Of two for one id the first counts, unless the
// other keeps the item open.
func (l *Ledger) answers(source string, replies []Reply) map[string]Reply {
	out := make(map[string]Reply, len(replies))
	for _, r := range replies {
		id, ok := l.entryOf(r.ID, source)
		if !ok || r.Status != Fixed && r.Status != Withdrawn && r.Status != NotFixed {
			continue
		}
		if _, twice := out[id]; !twice || r.Status == NotFixed {
			out[id] = r
		}
	}
	return out
}

// sameEvidence reports whether a waiver still covers an item: unknown evidence is the same.
func sameEvidence(old, given *Item) bool {
	return old.Fingerprint == "" || given.Fingerprint == "" || old.Fingerprint == given.Fingerprint
}

func knownFingerprint(first, second *Item) string {
	if first.Fingerprint != "" {
		return first.Fingerprint
	}
	return second.Fingerprint
}

// collapse keeps the first of items that are equal in severity, file, line and description, unless each carries an
// id of its own.
func collapse(items []Item) []Item {
	seen := make(map[string]int, len(items))
	out := make([]Item, 0, len(items))
	for i := range items {
		k := textKey(&items[i])
		at, twice := seen[k]
		switch {
		case !twice || items[i].ID != "" && out[at].ID != "" && items[i].ID != out[at].ID:
			seen[k] = len(out)
			out = append(out, items[i])
		case out[at].ID == "":
			out[at].ID = items[i].ID
		}
	}
	return slices.Clip(out)
}

// textKey is the identity of an item without a fingerprint.
func textKey(i *Item) string {
	severity := i.Severity
	if i.Ratcheted {
		severity = Blocking // as its source says
	}
	return strings.Join([]string{severity.String(), i.File, strconv.Itoa(i.Line), i.Description}, "\x00")
}

func negatives(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
