package feedback

import "slices"

// Unify gives what makes one item of what several reviews of the same target found alike: equal in fingerprint, or
// in severity, file, line and description. The item keeps the id that was given first in the order of the sources,
// or that it has already; the entries of the others name it from then on. Such an item is fixed only when each
// source that gave it says so; for a source it is open as long as this source has not said so.
func (l *Ledger) Unify(sources []string) []Change {
	var out []Change
	heads := make(map[string]string) // of entries that become one with others here; only looked up
	alike := l.alike(sources)
	for n, source := range sources {
		m := merge{source: source}
		for _, pos := range alike[n] {
			if item := &l.items[pos]; !l.isShared(item) {
				m.given = append(m.given, *item)
			}
		}
		if len(m.given) == 0 {
			continue
		}
		for k := range sources {
			for _, pos := range alike[k] {
				item := &l.items[pos]
				if k != n && (k < n || l.isShared(item)) && len(l.openEntries(item.ID, source)) == 0 {
					m.earlier = append(m.earlier, *item)
				}
			}
		}
		m.match()
		taken := make(map[string]bool)
		for i, by := range m.matched {
			if by < 0 {
				continue
			}
			head, ok := heads[m.earlier[by].ID]
			if !ok {
				head = l.head(m.earlier[by].ID)
			}
			if item := m.given[i]; !taken[head] {
				taken[head], item.SameAs, heads[item.ID] = true, head, head
				out = append(out, Change{item})
			}
		}
	}
	return out
}

// alike gives for each of the sources the positions of its open entries that are like one of another source, in order
// of ids.
func (l *Ledger) alike(sources []string) [][]int {
	seen := make(map[string]int) // by what makes them alike: the source, from 1; -1: several
	each := func(visit func(n, pos int, key string)) {
		for n, source := range sources {
			for _, pos := range l.bySource[source] {
				item := &l.items[pos]
				if !item.IsOpen() {
					continue
				}
				visit(n, pos, "t"+textKey(item))
				if item.Fingerprint != "" {
					visit(n, pos, "f"+item.Fingerprint)
				}
			}
		}
	}
	each(func(n, _ int, key string) {
		if first := seen[key]; first == 0 {
			seen[key] = n + 1
		} else if first != n+1 {
			seen[key] = -1
		}
	})
	out := make([][]int, len(sources))
	each(func(n, pos int, key string) {
		if last := len(out[n]) - 1; seen[key] < 0 && (last < 0 || out[n][last] != pos) {
			out[n] = append(out[n], pos)
		}
	})
	return out
}

// isShared reports whether an entry is one with others.
func (l *Ledger) isShared(item *Item) bool { return item.SameAs != "" || len(l.same[item.ID]) > 0 }

// head gives the id of the item that an entry belongs to.
func (l *Ledger) head(id string) string {
	if pos, ok := l.position[id]; ok && l.items[pos].SameAs != "" {
		return l.items[pos].SameAs
	}
	return id
}

// heads gives the ids of the items that are named, each once.
func (l *Ledger) heads(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = l.head(id)
	}
	return unique(out)
}

// entries gives the entries of an item, named by any of their ids, of one source or of all (""); its own comes
// first.
func (l *Ledger) entries(id, source string) []Item {
	head := l.head(id)
	var out []Item
	add := func(pos int) {
		if item := &l.items[pos]; source == "" || slices.Contains(item.Sources, source) {
			out = append(out, *item)
		}
	}
	if pos, ok := l.position[head]; ok {
		add(pos)
	}
	for _, pos := range l.same[head] {
		add(pos)
	}
	return out
}

func (l *Ledger) openEntries(id, source string) []Item {
	return slices.DeleteFunc(l.entries(id, source), func(i Item) bool { return !i.IsOpen() })
}

// shared gives an entry under the id of its item, with all that gave the item.
func (l *Ledger) shared(item Item) Item {
	head := l.head(item.ID)
	if len(l.same[head]) == 0 {
		return item
	}
	item.ID, item.SameAs, item.Sources = head, "", nil
	for k, entry := range l.entries(head, "") {
		if k == 0 {
			item.FirstRound = entry.FirstRound
		}
		for _, source := range entry.Sources {
			if !slices.Contains(item.Sources, source) {
				item.Sources = append(item.Sources, source)
			}
		}
	}
	return item
}

// whole gives an item as it stands for all its sources: as the first of the gravest entries that are open says, or,
// where all have closed it, as its own.
func (l *Ledger) whole(head string) Item {
	item, last := l.items[l.position[head]], 0
	for _, entry := range l.entries(head, "") {
		last = max(last, entry.LastRound)
		if entry.IsOpen() && (!item.IsOpen() || entry.Severity < item.Severity) {
			item = entry
		}
	}
	item = l.shared(item)
	item.LastRound = last
	return item
}

func idsOf(items []Item) []string {
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].ID
	}
	return out
}
