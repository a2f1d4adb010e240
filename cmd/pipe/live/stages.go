package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// TailLines is how many lines of its output a running stage shows at most.
const TailLines = 8

// narrow is below how many columns a row says only what matters most.
const narrow = 60

// stages gives the stages in at most so many lines. Where not all have room, those that run and those in trouble
// come first, then those around them; how many are left out stands in the last line.
func (p *painter) stages(rows int) []string {
	if rows < 1 || len(p.Stages) == 0 {
		return nil
	}
	shown, left := p.choose(rows)
	room := rows - len(shown)
	if left != "" {
		room--
	}
	tails := p.tails(shown, room)
	t := p.table(shown)
	var out []string
	for i := range t.rows {
		out = append(out, p.row(t, i))
		for _, l := range tails[shown[i]] {
			out = append(out, t.rows[i].below+p.faint.Render(fit("    "+l, p.width-2)))
		}
	}
	if left != "" {
		out = append(out, p.faint.Render(fit("  "+p.dots+" "+left, p.width)))
	}
	return out
}

// choose gives the stages that are shown, by their place in the plan and in this order, and says how many are not.
func (p *painter) choose(rows int) ([]int, string) {
	var must, rest []int
	running := 0
	for i, s := range p.Stages {
		if s.Status == step.Running || isTrouble(s) {
			must = append(must, i)
		} else {
			rest = append(rest, i)
		}
		if isRunning(s) {
			running++
		}
	}
	if len(p.Stages) <= rows-min(running, rows/3) {
		shown := append(must, rest...)
		slices.Sort(shown)
		return shown, ""
	}
	room := rows - 1
	slices.SortStableFunc(must, func(a, b int) int { return cmp.Compare(p.rank(a), p.rank(b)) })
	shown := must[:min(len(must), room)]
	if room -= len(shown); room > 0 {
		around := p.around(must)
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(distance(a, around), distance(b, around)) })
		shown = append(shown, rest[:min(len(rest), room-min(2*running, room/2))]...)
	}
	slices.Sort(shown)
	var hidden tally
	for i, s := range p.Stages {
		if _, ok := slices.BinarySearch(shown, i); !ok {
			hidden.add(s)
		}
	}
	return shown, hidden.String()
}

// rank says which stages come first where not even those that must be seen have room.
func (p *painter) rank(i int) int {
	switch s := p.Stages[i]; {
	case s.Asked:
		return 0
	case isRunning(s):
		return 1
	case s.Status == step.Failed:
		return 2
	}
	return 3
}

// around is the stage near which a reader looks: the first that runs, else the first in trouble, else the first to
// come.
func (p *painter) around(must []int) int {
	if len(must) > 0 {
		return slices.MinFunc(must, func(a, b int) int {
			return cmp.Or(cmp.Compare(min(p.rank(a), 2), min(p.rank(b), 2)), cmp.Compare(a, b))
		})
	}
	i := slices.IndexFunc(p.Stages, func(s view.StageState) bool { return s.Status == step.Pending })
	if i < 0 {
		return len(p.Stages)
	}
	return i
}

func distance(a, b int) int { return max(a-b, b-a) }

// tails shares lines out among the running stages, one to each in turn, and gives the last ones that each printed.
func (p *painter) tails(shown []int, room int) map[int][]string {
	all := map[int][]string{}
	for _, i := range shown {
		for _, l := range p.Tails[p.Stages[i].Path] {
			if l = plain(l); l != "" {
				all[i] = append(all[i], l)
			}
		}
	}
	share := map[int]int{}
	most := min(TailLines, max(2, (room+len(shown))/4)) // one that prints much leaves room for the log above
	for n := 0; n < most && room > 0; n++ {
		for _, i := range shown {
			if room > 0 && share[i] < len(all[i]) {
				share[i]++
				room--
			}
		}
	}
	for i, lines := range all {
		all[i] = lines[len(lines)-share[i]:]
	}
	return all
}

// tableRow is one stage as text.
type tableRow struct {
	view.StageState
	beside, below             string // joins it to those that run beside it
	name, status, round, time string
	remark                    string
}

// table is the stages that are shown, with the width of each column.
type table struct {
	rows                      []tableRow
	name, status, round, time int
}

func (p *painter) table(shown []int) *table {
	t := &table{}
	paths := map[string]bool{}
	first, last := -1, -1
	for n, i := range shown {
		s := p.Stages[i]
		paths[s.Path] = true
		if isRunning(s) {
			if last = n; first < 0 {
				first = n
			}
		}
		r := tableRow{StageState: s, beside: "  ", below: "  ", name: nameOf(s.Path, paths[parentOf(s.Path)]),
			round: p.roundOf(s), time: p.timeOf(s), remark: remarkOf(s)}
		if p.width >= narrow {
			r.status = s.Word
		}
		t.rows = append(t.rows, r)
		t.name, t.status = max(t.name, cells(r.name)), max(t.status, len(r.status))
		t.round, t.time = max(t.round, len(r.round)), max(t.time, len(r.time))
	}
	for n := first; n <= last && first < last; n++ {
		r := &t.rows[n]
		r.beside, r.below = p.line+" ", p.line+" "
		switch {
		case n == first:
			r.beside = p.top + " "
		case n == last:
			r.beside, r.below = p.last+" ", "  "
		case isRunning(r.StageState):
			r.beside = p.tee + " "
		}
	}
	t.name = min(t.name, max(10, p.width*2/5))
	return t
}

func (p *painter) row(t *table, n int) string {
	r := &t.rows[n]
	style := p.style(r.StageState)
	head := p.glyph(r.StageState) + " " + padded(r.name, t.name)
	rest := ""
	for _, c := range []struct {
		text  string
		width int
	}{{r.status, t.status}, {r.round, t.round}, {r.time, t.time}} {
		if c.width > 0 {
			rest += "  " + padded(c.text, c.width)
		}
	}
	if r.remark != "" {
		rest += "  " + r.remark
	}
	rest = strings.TrimRight(fit(rest, max(0, p.width-2-cells(head))), " ")
	if r.Status != step.Running && !isTrouble(r.StageState) {
		rest = p.faint.Render(rest)
	}
	return r.beside + style.Render(head) + rest
}

// roundOf says in which round of its loop a stage is, or how often it came to its start.
func (p *painter) roundOf(s view.StageState) string {
	word := "iteration "
	if p.width < narrow {
		word = ""
	}
	l := s.Source
	if l == nil {
		l = s.Target
	}
	switch {
	case l != nil && l.Cap > 0:
		return fmt.Sprintf("%s%d/%d", word, l.Iteration, l.Cap)
	case s.Iteration > 1 && p.width >= narrow:
		return fmt.Sprintf("iteration %d", s.Iteration)
	}
	return ""
}

func (p *painter) timeOf(s view.StageState) string {
	switch {
	case s.Status == step.Running && s.Since != 0:
		return elapsed(p.Now.Since(s.Since))
	case s.Took >= 0:
		return view.Duration(s.Took)
	}
	return ""
}

func remarkOf(s view.StageState) string {
	var parts []string
	if s.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", s.Attempt))
	}
	switch {
	case s.OpenItems == 1:
		parts = append(parts, "1 item open")
	case s.OpenItems > 1:
		parts = append(parts, fmt.Sprintf("%d items open", s.OpenItems))
	}
	if s.Trouble != "" {
		parts = append(parts, s.Trouble)
	}
	return strings.Join(parts, "  ")
}

// parentOf is the path of what a stage stands in: of "a/b" it is "a", of "a[1]" as well; "" of a stage of the plan.
func parentOf(path string) string {
	if strings.HasSuffix(path, "]") {
		if i := strings.LastIndexByte(path, '['); i >= 0 {
			return path[:i]
		}
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// nameOf is how a stage is called in its row: below its parent by its last part, else by its path.
func nameOf(path string, belowParent bool) string {
	safe := view.OneLine(path)
	if !belowParent {
		return safe
	}
	depth := strings.Count(path, "/") + strings.Count(path, "[")
	return strings.Repeat("  ", depth) + safe[strings.LastIndexByte(safe, '/')+1:]
}
