package feedback

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// BriefTokens is the most a brief may hold, in tokens of o200k_base.
const BriefTokens = 500

// The most blocking items that a brief shows, and that it shows when those are over the cap.
const (
	briefItems    = 5
	briefItemsCut = 3
)

// BriefSource is a stage whose items a brief hands over, with the agents behind it.
type BriefSource struct {
	Stage  string   `json:"stage"`
	Agents []string `json:"agents,omitempty"`
}

// BriefInput is what a brief is made of. Items other than open blocking ones are not in it.
type BriefInput struct {
	Iteration int
	Sources   []BriefSource // in stage order
	Target    string
	Items     []Item
	Note      string // of a person who referred the work back
	TaskID    string
}

// Brief is the Markdown that the target gets: at most BriefTokens whatever the items hold, counted by
// count. It is empty if there is neither an open blocking item nor a note. Security issues come first, then
// the order of sources, then the numbers of items. Up to five items are shown and the others counted; over the cap
// the first three and where to find the rest, and then fixes, descriptions, paths and agents are shortened,
// in this order, until the cap holds.
//
// A nil count takes each byte for a token, which no tokenizer exceeds.
func Brief(in BriefInput, count func(string) int) string {
	if count == nil {
		count = func(s string) int { return len(s) }
	}
	d := newDraft(in)
	if len(d.items) == 0 && d.note == "" {
		return ""
	}
	fits := func() bool { return count(d.render()) <= BriefTokens }
	if fits() {
		return d.render()
	}
	d.shown, d.pointer = min(d.shown, briefItemsCut), true
	if fits() {
		return d.render()
	}
	for _, step := range d.steps() {
		if d.shorten(step, fits) {
			break
		}
	}
	return d.render()
}

// draft is a brief in the making: texts made safe, and how much of each is shown.
type draft struct {
	in      BriefInput
	items   []briefItem
	note    string
	sources string
	agents  string
	shown   int // how many items
	pointer bool

	limits limits
}

// limits are the most characters of each kind of text.
type limits struct{ note, fix, description, path, agents, names, task int }

type briefItem struct {
	file, description, fix string
	line                   int
}

// roomy is about what 500 tokens of prose can say: text is cut to it first, so that counting stays cheap.
const roomy = 2000

func newDraft(in BriefInput) *draft {
	d := &draft{in: in, note: clip(markdownText(in.Note), roomy)}
	var stages, agents []string
	for _, s := range in.Sources {
		stages = append(stages, markdownName(s.Stage))
		for _, a := range s.Agents {
			agents = append(agents, oneLine(a))
		}
	}
	items := briefOrder(in)
	if len(agents) == 0 {
		for i := range items {
			agents = append(agents, oneLine(items[i].SourceAgent))
		}
	}
	d.sources, d.agents = strings.Join(unique(stages), ", "), strings.Join(unique(agents), ", ")
	for i := range items {
		d.items = append(d.items, briefItem{
			file: clip(markdownName(items[i].File), roomy), line: items[i].Line,
			description: clip(markdownText(items[i].Description), roomy),
			fix:         clip(markdownText(items[i].SuggestedFix), roomy),
		})
	}
	d.shown = min(len(d.items), briefItems)
	d.limits = limits{roomy, roomy, roomy, roomy, roomy, roomy, roomy}
	return d
}

// briefOrder gives the open blocking items in the order of the brief, what two sources both say once.
func briefOrder(in BriefInput) []Item {
	rank := make(map[string]int, len(in.Sources)) // only looked up
	for i, s := range in.Sources {
		rank[s.Stage] = i
	}
	position := func(item *Item) int {
		best := len(in.Sources)
		for _, s := range item.Sources {
			if at, ok := rank[s]; ok {
				best = min(best, at)
			}
		}
		return best
	}
	var out []Item
	for i := range in.Items {
		if item := &in.Items[i]; item.Severity == Blocking && item.IsOpen() {
			out = append(out, *item)
		}
	}
	slices.SortStableFunc(out, func(a, b Item) int {
		if sa, sb := a.isSecurity(), b.isSecurity(); sa != sb {
			if sa {
				return -1
			}
			return 1
		}
		if pa, pb := position(&a), position(&b); pa != pb {
			return pa - pb
		}
		return compareIDs(a.ID, b.ID)
	})
	for i := range out {
		out[i].ID = "" // what it is called does not tell two findings apart
	}
	return collapse(out)
}

// isSecurity reports whether the item stands first: it says so itself, or those who gave it stand for it.
func (i *Item) isSecurity() bool {
	if strings.EqualFold(i.Category, "security") || i.SourceAgent == "ciso" {
		return true
	}
	return slices.ContainsFunc(i.Sources, func(s string) bool { return baseID(s) == "security_verify" })
}

// render writes the brief as it stands.
func (d *draft) render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Feedback Loop: Iteration %d\n\n", d.in.Iteration)
	fmt.Fprintf(&b, "**Source:** %s", clip(d.sources, d.limits.names))
	if agents := clip(d.agents, d.limits.agents); agents != "" {
		fmt.Fprintf(&b, " (%s)", agents)
	}
	fmt.Fprintf(&b, "\n**Target:** %s\n", clip(markdownName(d.in.Target), d.limits.names))
	if d.note != "" {
		fmt.Fprintf(&b, "\n### Note\n\n%s\n", clip(d.note, d.limits.note))
	}
	if len(d.items) == 0 {
		return b.String()
	}
	b.WriteString("\n### Issues to Address\n\n")
	for n, item := range d.items[:d.shown] {
		file := clipPath(item.file, d.limits.path)
		fmt.Fprintf(&b, "%d. **%s** - %s\n", n+1, place(file, item.line), clip(item.description, d.limits.description))
		if fix := clip(item.fix, d.limits.fix); fix != "" {
			fmt.Fprintf(&b, "   Fix: %s\n", fix)
		}
	}
	d.renderRest(&b)
	b.WriteString("\n### Priority\nAddress issues in order listed. Security issues first.\n")
	return b.String()
}

// renderRest says how many items are not shown, and where the whole feedback is.
func (d *draft) renderRest(b *strings.Builder) {
	rest, where := len(d.items)-d.shown, "session memory"
	if d.pointer {
		where = fmt.Sprintf("session.current/feedback-%s-*.md", clip(fileNamePart(d.in.TaskID), d.limits.task))
	}
	switch {
	case rest > 0:
		fmt.Fprintf(b, "\n... and %d more issues. See full feedback in %s.\n", rest, where)
	case d.pointer:
		fmt.Fprintf(b, "\nSee full feedback in %s\n", where)
	}
}

// step is one thing to shorten, and what it is shortened to before the next one's turn.
type step struct {
	limit *int
	floor int
}

// steps lists what is shortened, in order. A first round leaves of each text enough to be of use; what
// holds even so when each character is several tokens comes after it.
func (d *draft) steps() []step {
	l := &d.limits
	note := step{&l.note, roomy}
	if len(d.items) > 0 {
		note.floor = 400 // a person's words come first, but leave room for the items
	}
	return []step{
		note, {&l.fix, 60}, {&l.description, 100}, {&l.path, 60}, {&l.agents, 60}, {&l.names, 80},
		{&l.fix, 0}, {&l.description, 40}, {&l.path, 24}, {&l.agents, 0},
		{&l.note, 80}, {&l.names, 30}, {&l.description, 12}, {&l.path, 12}, {&l.task, 60},
		{&d.shown, 0}, {&l.note, 20}, {&l.task, 20},
	}
}

// shorten brings one thing down to the largest size that fits, or to its floor; it reports whether the
// brief then fits.
func (d *draft) shorten(s step, fits func() bool) bool {
	high := min(*s.limit, d.longest(s.limit))
	if high <= s.floor {
		return false
	}
	*s.limit = s.floor
	if !fits() {
		return false
	}
	// What is known to fit doubles from below, so that what is counted stays near the cap; then halves.
	low, probe := s.floor, max(16, s.floor/2)
	for high-low > 1 {
		mid := min(low+probe, low+(high-low)/2)
		if *s.limit = mid; fits() {
			low, probe = mid, probe*2
		} else {
			high = mid
		}
	}
	*s.limit = low
	return true
}

// longest is the length of the longest text under a limit, so that the search starts where it matters.
func (d *draft) longest(limit *int) int {
	texts := []string{d.in.TaskID, d.note, d.agents, d.sources, d.in.Target}
	for _, item := range d.items[:d.shown] {
		texts = append(texts, item.file, item.description, item.fix)
	}
	if limit == &d.shown {
		return d.shown
	}
	longest := 0
	for _, t := range texts {
		longest = max(longest, utf8.RuneCountInString(t))
	}
	return longest + 1
}

// clipPath cuts a path from its front, where it tells least.
func clipPath(path string, limit int) string {
	n := utf8.RuneCountInString(path)
	if n <= limit {
		return path
	}
	if limit < 2 {
		return "…"
	}
	skip := n - limit + 1
	for i := range path {
		if skip == 0 {
			return "…" + path[i:]
		}
		skip--
	}
	return "…"
}
