package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.com/pipe/cmd/pipe/live"
	"example.com/pipe/engine"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// hook is what is done before this process ends at once. It may be set and done by different goroutines.
type hook struct {
	mu sync.Mutex
	do func() // nil: nothing
}

func (h *hook) set(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.do = do
}

func (h *hook) run() {
	h.mu.Lock()
	do := h.do
	h.mu.Unlock()
	if do != nil {
		do()
	}
}

// terminal gives the terminal on which a run can be shown as it goes on; nil where there is none, or where whoever
// reads it wants plain lines.
func (a *app) terminal() *os.File {
	if term := a.getenv("TERM"); !a.outTerminal || term == "" || term == "dumb" {
		return nil
	}
	if ci := a.getenv("CI"); ci != "" && ci != "false" && ci != "0" {
		return nil
	}
	f, _ := a.out.w.(*os.File)
	return f
}

// raise shows the run on the terminal, if there is one.
func (f *follower) raise(run string) {
	out := f.terminal()
	if out == nil || !f.live || f.json || f.view == nil || f.screen != nil {
		return
	}
	tails := &tailer{p: f.p, run: run}
	f.screen = live.Start(live.Options{
		Out: out, Env: f.env, Colour: f.getenv("NO_COLOR") == "",
		Frame: func() live.Frame {
			f.mu.Lock()
			defer f.mu.Unlock()
			defer tails.forget()
			return live.FrameOf(f.view, step.At(f.now()), tails.of)
		},
	})
	f.atKill.set(f.screen.Leave)
	back := []func(){f.out.through(f.screen.Writer)}
	if f.errTerminal {
		back = append(back, f.err.through(f.screen.Writer))
	}
	f.lower = func() {
		f.screen.Close()
		for _, undo := range back {
			undo()
		}
		f.atKill.set(nil)
	}
}

// leave takes the run off the terminal, and writes below its lines where it stands. It may be called more than
// once.
func (f *follower) leave() {
	if f.lower == nil {
		return
	}
	f.lower()
	f.lower = nil
	f.view.SetHeld(false)
	if f.unsaid {
		fmt.Fprint(f.out, f.view.Asks())
		f.unsaid = false
	}
	for _, line := range f.summary() {
		fmt.Fprintln(f.out, view.Wrap(line, f.width()))
	}
}

// summary says in a line what became of a run, and in one for each of its loops.
func (f *follower) summary() []string {
	v := f.view
	end := v.Finished()
	if end == 0 {
		end = step.At(f.now())
	}
	text := view.OneLine(v.Info().Pipeline) + " " + v.StatusWord()
	if v.Started() != 0 {
		text += " after " + view.Duration(end.Since(v.Started()))
	}
	counts := map[step.StageStatus]int{}
	for _, s := range v.Stages() {
		counts[s.Status]++
	}
	sep := ": "
	for s := step.Pending; s <= step.Stale; s++ { // in the order in which stages come through them
		word := s.String()
		if s == step.Running {
			word = view.Interrupted // nobody carries the run on any more
		}
		if counts[s] > 0 {
			text += fmt.Sprintf("%s%d %s", sep, counts[s], word)
			sep = ", "
		}
	}
	out := []string{text}
	for _, l := range v.Loops() {
		if l.Last != "" {
			out = append(out, fmt.Sprintf("  %s -> %s: round %d of %d, %s",
				view.OneLine(l.Source), view.OneLine(l.Target), l.Iteration, l.Cap, l.Last))
		}
	}
	return out
}

// tailer gives the last lines that stages printed, and reads a log only when it has changed.
type tailer struct {
	p    *engine.Project
	run  string
	seen map[string]tail // by file
	next map[string]tail // those that were asked for since forget was called
}

// tail is the end of a log as it was when it was read.
type tail struct {
	size  int64
	at    time.Time
	lines []string
}

// forget drops what nobody asked for any more: the stages have ended.
func (t *tailer) forget() { t.seen, t.next = t.next, nil }

// of gives the last lines of the stream on which a stage printed last.
func (t *tailer) of(s view.StageState) []string {
	if s.Effect == "" {
		return nil
	}
	dir := folderOf(t.p, t.run, view.Try{Stage: s.Path, Iteration: s.Iteration, Attempt: s.Attempt})
	var newest os.FileInfo
	path := ""
	for _, name := range []string{driver.StdoutName, driver.StderrName} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.Size() > 0 && (newest == nil || info.ModTime().After(newest.ModTime())) {
			newest, path = info, filepath.Join(dir, name)
		}
	}
	if newest == nil {
		return nil
	}
	end, ok := t.seen[path]
	if !ok || end.size != newest.Size() || !end.at.Equal(newest.ModTime()) {
		lines, err := tailLines(path, 2*live.TailLines) // some may be blank
		if err != nil {
			return nil // `pipe logs` says why
		}
		end = tail{newest.Size(), newest.ModTime(), lines}
	}
	if t.next == nil {
		t.next = map[string]tail{}
	}
	t.next[path] = end
	return end.lines
}
