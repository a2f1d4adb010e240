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
// An item of the result is an earlier open or waived item of the same source if both have the same
// fingerprint, or the same severity, file, line and description; exact repeats within one result are one
// item. A waived item stays waived unless its fingerprint, its evidence, changed. What the result does not
// hold is fixed if the result is the complete present list or says so for all; else its replies answer by
// id, and what they don't answer stays as it is. An item that the result holds is never closed by it.
func (l *Ledger) Merge(source string, round int, r *Result) []Change {
	if r == nil {
		return nil
	}
	m := merge{source: source, round: round, given: collapse(r.Items)}
	for _, item := range l.Of(source) {
		if item.IsOpen() || item.Status == Waived {
			m.earlier = append(m.earlier, item)
		}
	}
	m.match()
	out := m.changes(r, replyStatuses(r.Replies))
	next := l.highest[source]
	for i := range m.given {
		if m.matched[i] >= 0 {
			continue
		}
		next++
		item := m.given[i]
		item.ID = itemID(source, next)
		item.Status, item.StatusRound, item.By, item.Reason, item.Disputes = Open, round, source, "", 0
		item.FirstRound, item.LastRound, item.Sources = round, round, []string{source}
		out = append(out, Change{item})
	}
	return out
}

// merge is one Merge at work: earlier are the source's open and waived items, given those of the result.
type merge struct {
	source  string
	round   int
	given   []Item
	earlier []Item
	matched []int // by given: index into earlier, -1: new
	by      []int // by earlier: index into given, -1: not given again
}

// match pairs given items with earlier ones, one to one and in order: first those equal in every way, then
// those with equal fingerprints, then those whose text and place are equal though their evidence is not.
func (m *merge) match() {
	m.matched, m.by = negatives(len(m.given)), negatives(len(m.earlier))
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
	item.LastRound = m.round
	switch {
	case old.Status == Waived && !sameEvidence(&old, &given):
		item.Fingerprint = given.Fingerprint
		return item.with(Open, m.round, m.source, "was waived, but its evidence changed")
	case old.Status == Waived:
		// The waiver holds for the item as the person saw it, words and severity included.
		old.Fingerprint, old.LastRound = knownFingerprint(&old, &given), m.round
		return old
	case m.round > old.LastRound || old.Status != Open:
		item.Fingerprint = knownFingerprint(&given, &old)
		return item.with(NotFixed, m.round, m.source, "")
	}
	item.Fingerprint = knownFingerprint(&given, &old)
	return item
}

// answer is an item that the result answers by its id: fixed, withdrawn or not_fixed.
func (m *merge) answer(old Item, reply Reply) Item {
	if reply.Status == NotFixed {
		old.LastRound = m.round
	}
	return old.with(reply.Status, m.round, m.source, reply.Reason)
}

// replyStatuses gives the answers of a reviewer by id. Of two for one id the first counts, unless the other
// keeps the item open.
func replyStatuses(replies []Reply) map[string]Reply {
	out := make(map[string]Reply, len(replies))
	for _, r := range replies {
		if r.Status != Fixed && r.Status != Withdrawn && r.Status != NotFixed {
			continue
		}
		if _, ok := out[r.ID]; !ok || r.Status == NotFixed {
			out[r.ID] = r
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

// collapse keeps the first of items that are equal in severity, file, line and description.
func collapse(items []Item) []Item {
	seen := make(map[string]bool, len(items))
	out := make([]Item, 0, len(items))
	for i := range items {
		if k := textKey(&items[i]); !seen[k] {
			seen[k] = true
			out = append(out, items[i])
		}
	}
	return slices.Clip(out)
}

// textKey is the identity of an item without a fingerprint.
func textKey(i *Item) string {
	return strings.Join([]string{i.Severity.String(), i.File, strconv.Itoa(i.Line), i.Description}, "\x00")
}

func negatives(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
