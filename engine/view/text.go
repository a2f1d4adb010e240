package view

import (
	"fmt"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/step"
)

// Text gives the run for people: what it is, its stages, loops and open items, and for each thing that
// waits for a person what is asked and the commands that answer it. Lines of tables are cut to width
// columns; 0 cuts none. Commands and messages are never cut.
func (r *Run) Text(width int) string {
	t := &page{width: width}
	t.head(r)
	t.stages(r)
	t.loops(r)
	t.items(r)
	t.rollbacks(r)
	for _, s := range r.asked {
		t.blank()
		t.approval(r, s)
	}
	for _, e := range r.open {
		t.blank()
		t.escalation(r, e)
	}
	if r.goesOnByResume() {
		t.blank()
		t.resume(r)
	}
	return t.b.String()
}

// page collects lines.
type page struct {
	b     strings.Builder
	width int
}

// line adds a line, cut to the width.
func (t *page) line(s string) { t.whole(clip(strings.TrimRight(s, " "), t.width)) }

func (t *page) whole(s string) {
	t.b.WriteString(s)
	t.b.WriteByte('\n')
}

func (t *page) blank() { t.b.WriteByte('\n') }

// Table lays rows out in columns, each line cut to width columns; 0 cuts none. Its cells are texts of one
// line (OneLine).
func Table(rows [][]string, width int) string {
	t := &page{width: width}
	t.table(rows)
	return t.b.String()
}

// table adds rows with their columns in line; the last column is as long as it is. It gives the widths.
func (t *page) table(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			if i == len(row)-1 {
				b.WriteString(c)
				break
			}
			b.WriteString(pad(c, widths[i]+2))
		}
		t.line("  " + b.String())
	}
	return widths
}

// resume says that nothing but a resume is wanted.
func (t *page) resume(r *Run) {
	if by, ok := r.Answered(); ok {
		t.whole("it was answered" + byWhom(by) + "; go on with")
	} else {
		t.whole("no process carries this run on; go on with")
	}
	t.whole("  " + command("resume", r.info.Run))
}

func (t *page) head(r *Run) {
	pipeline := r.info.Pipeline
	if pipeline == "" {
		pipeline = r.plan.Name
	}
	t.whole("run       " + r.info.Run)
	t.whole("pipeline  " + oneLine(pipeline, maxText))
	t.whole("task      " + oneLine(r.info.TaskID, maxText))
	if branch := r.Branch(); branch != "" {
		t.whole("branch    " + oneLine(branch, maxText))
	}
	t.whole("status    " + r.StatusText())
	if r.started == 0 {
		return
	}
	when := r.started.String()
	if r.finished != 0 {
		when += ", took " + Duration(r.finished.Since(r.started))
	}
	t.whole("started   " + when)
}

func (t *page) stages(r *Run) {
	t.blank()
	rows := [][]string{{"STAGE", "STATUS", "ITERATION", "ATTEMPTS", "TIME", ""}}
	for _, s := range r.tree.ordered() {
		row := []string{s.indent() + oneLine(s.path, maxText), r.statusText(s), dash(s.iteration), dash(s.attempts), "-", ""}
		if s.ended && (s.attempts > 0 || s.duration > 0) && s.status != step.Running {
			row[4] = Duration(s.duration)
		}
		row[5] = s.remark()
		if waits := r.waitsFor(s); waits != "" {
			row[5] = strings.TrimSuffix(waits+"; "+row[5], "; ")
		}
		rows = append(rows, row)
	}
	widths := t.table(rows)
	t.cutMessages(r, widths)
}

// cutMessages says where messages of failed stages stand whole of which the table shows the beginning.
func (t *page) cutMessages(r *Run, widths []int) {
	const most = 5
	before := 2 // of the message, in columns
	for _, w := range widths[:len(widths)-1] {
		before += w + 2
	}
	n := 0
	for _, s := range r.tree.ordered() {
		if s.approval != nil || s.failure == nil || s.status == step.Running {
			continue
		}
		isWhole := s.failure.textOf(longText) == s.failure.text()
		if isWhole && (t.width <= 0 || before+columns(s.failure.text()) <= t.width) {
			continue
		}
		if n++; n <= most {
			t.whole("  the whole message: " + command("why", r.info.Run, s.path))
		}
	}
	if n > most {
		t.whole(fmt.Sprintf("  and %s more have a longer one", count(n-most, "stage")))
	}
}

// remark is what the table says about a stage beside its figures.
func (s *stage) remark() string {
	return strings.TrimPrefix(s.trouble()+s.undone.remark(), "; ")
}

// trouble is what is wrong with a stage, or keeps it.
func (s *stage) trouble() string {
	switch {
	case s.approval != nil:
		return "waits for an approval"
	case s.status == step.Rejected:
		return "a person rejected it"
	case s.cached && s.status == step.Succeeded:
		return "cached"
	case s.failure != nil && s.status != step.Running:
		return s.failure.text()
	}
	return ""
}

// text names the class, unless the message begins with it, and what happened: the message, else the exit
// status.
func (f *failure) text() string { return f.textOf(maxText) }

// longText is how many characters of a message an explanation shows.
const longText = 4000

func (f *failure) textOf(limit int) string {
	var parts []string
	if f.class != "" && !strings.HasPrefix(f.message, f.class) {
		parts = append(parts, f.class)
	}
	if f.reason != "" {
		parts = append(parts, oneLine(f.reason, limit))
	}
	switch {
	case f.message != "":
		parts = append(parts, oneLine(f.message, limit))
	case f.exitCode != nil && *f.exitCode >= 0:
		parts = append(parts, fmt.Sprintf("exit status %d", *f.exitCode))
	}
	return strings.Join(parts, ": ")
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (t *page) loops(r *Run) {
	if len(r.tree.loops) == 0 {
		return
	}
	t.blank()
	rows := [][]string{{"LOOP", "ITERATION", "LAST ACTION", "OPEN ITEMS"}}
	for _, l := range r.tree.loops {
		last := l.last
		if last == "" {
			last = "-"
		}
		rows = append(rows, []string{l.Source + " -> " + l.Target, fmt.Sprintf("%d/%d", l.Iteration, l.Cap), last,
			fmt.Sprint(len(r.ledger.Open(l.Source)))})
	}
	t.table(rows)
}

// maxItems is how many open items the text shows; the JSON holds all.
const maxItems = 50

func (t *page) items(r *Run) {
	items := r.openItems()
	if len(items) == 0 {
		return
	}
	t.blank()
	t.whole("open items")
	var rows [][]string
	for i := range items[:min(len(items), maxItems)] {
		item := &items[i]
		where := oneLine(place(item), maxText)
		if where == "" {
			where = "(no file)"
		}
		rows = append(rows, []string{item.ID, item.Severity.String(), item.Status.String(), where,
			oneLine(item.Description, maxText)})
	}
	t.table(rows)
	if n := len(items) - maxItems; n > 0 {
		t.line(fmt.Sprintf("  … and %d more", n))
	}
}

func (r *Run) openItems() []feedback.Item {
	var out []feedback.Item
	for _, item := range r.ledger.Items() {
		if item.IsOpen() {
			out = append(out, item)
		}
	}
	return out
}

func (t *page) approval(r *Run, s *stage) {
	t.whole(fmt.Sprintf("stage %q waits for an approval", s.path))
	t.question(s.approval)
	for _, c := range s.commands(r.info.Run) {
		t.whole("  " + c)
	}
}

func (t *page) escalation(r *Run, e *escalation) {
	t.b.WriteString(e.Message(r.info.Run, feedback.Offer{Outputs: r.wantedOutputs(e), Rollback: len(r.Undoable()) > 0}))
	if text := e.deadline.text(); text != "" {
		t.whole(text)
	}
}

func (t *page) question(a *approval) {
	if a.again != "" {
		t.whole("  asked once more: " + oneLine(a.again, maxText))
	}
	for _, l := range strings.Split(strings.TrimSpace(Escape(a.message)), "\n") {
		if l != "" {
			t.whole("  | " + l) // nobody takes a line of it for one of ours
		}
	}
	if len(a.approvers) > 0 {
		t.whole("  who may answer: " + oneLine(strings.Join(a.approvers, ", "), maxText))
	}
	if text := a.deadline.text(); text != "" {
		t.whole("  " + text)
	}
	if a.rounds > 0 {
		t.whole(fmt.Sprintf("  it also holds for up to %s of feedback", count(a.rounds, "round")))
	}
}

// Asks gives what a person is asked, for a run that waits or is paused, with the commands that answer it;
// "" when nothing is asked.
func (r *Run) Asks() string {
	t := &page{}
	for i, s := range r.asked {
		if i > 0 {
			t.blank()
		}
		t.approval(r, s)
	}
	for i, e := range r.open {
		if i > 0 || len(r.asked) > 0 {
			t.blank()
		}
		t.escalation(r, e)
	}
	if _, ok := r.Answered(); ok {
		t.resume(r)
	}
	return t.b.String()
}
