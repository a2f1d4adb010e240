package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"example.com/pipe/engine/workspace"
)

// Heads notes what is checked out before and after each time that something of a run works in a workspace, so that
// Revert can tell the commits of the run from those that somebody else made in between. It is safe for concurrent use.
type Heads struct {
	w      *Workspace
	copies string // Options.Copies

	mu   sync.Mutex
	open int // how many work at the moment
}

// NewHeads notes what is checked out in a workspace in a folder: Options.Copies of the Revert to come.
func NewHeads(w *Workspace, copies string) *Heads { return &Heads{w: w, copies: copies} }

// headsFile is the note: no stage's name begins with a dot.
const headsFile = ".heads.jsonl"

// maxHeads is how large it may be, in bytes.
const maxHeads = 64 << 20

// headsNote is a line of it. Of one who works in a run the line before says what was checked out when it began; of
// several at a time it is the first that begins and the last that ends.
type headsNote struct {
	Ends   bool   `json:"ends,omitempty"`
	Branch string `json:"branch,omitempty"` // "": none is checked out
	Commit string `json:"commit,omitempty"` // "": there is none yet
}

// Around does something of the run that may move what is checked out, and notes that it was the run's: what several do at
// a time is noted from when the first begins until the last ends. A stop does not reach the notes. A nil Heads does it
// and notes nothing.
func (h *Heads) Around(ctx context.Context, do func() error) error {
	if h == nil {
		return do()
	}
	ctx = context.WithoutCancel(ctx)
	if err := h.count(ctx, 1); err != nil {
		return errors.Join(err, h.count(ctx, -1))
	}
	err := do()
	if ending := h.count(ctx, -1); err == nil {
		err = ending
	}
	return err
}

// count counts who works, and notes where the first begins and the last ends.
func (h *Heads) count(ctx context.Context, by int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open += by
	if first, last := by > 0 && h.open == 1, by < 0 && h.open == 0; first || last {
		return h.note(ctx, last)
	}
	return nil
}

func (h *Heads) note(ctx context.Context, ends bool) error {
	now, err := h.w.checkedOut(ctx)
	if err != nil {
		return fmt.Errorf("note what is checked out: %w", err)
	}
	now.Ends = ends
	line, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.copies, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(h.copies, headsFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	// The line end comes first too: it parts the line from one that was cut off.
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n'))
	return errors.Join(err, f.Close())
}

// checkedOut says what is.
func (w *Workspace) checkedOut(ctx context.Context) (headsNote, error) {
	var n headsNote
	var err error
	if n.Commit, err = w.Head(ctx); err != nil {
		return n, err
	}
	n.Branch, err = w.UserIndex("").Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if refused(err) {
		n.Branch, err = "", nil
	}
	return n, err
}

// headsNotes gives what was noted; none where nothing was. A line that was cut off is missing, so that what it would
// have said nobody knows.
func headsNotes(copies string) ([]headsNote, error) {
	b, err := workspace.ReadInside(copies, headsFile, maxHeads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var notes []headsNote
	for line := range bytes.Lines(b) {
		var n headsNote
		if json.Unmarshal(line, &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes, nil
}

// history is what was noted, and what is checked out now.
type history struct {
	notes []headsNote
	now   headsNote
}

// history gives that of a run; nothing where nothing was noted.
func (w *Workspace) history(ctx context.Context, copies string) (*history, error) {
	notes, err := headsNotes(copies)
	if err != nil || len(notes) == 0 {
		return &history{}, err
	}
	now, err := w.checkedOut(ctx)
	return &history{append(notes, now), now}, err
}

// sameBranch refuses to revert on another branch than the run made commits on: somebody checked it out meanwhile.
func (h *history) sameBranch(since string) error {
	made := false
	for i := 1; i < len(h.notes); i++ {
		from, to := h.notes[i-1], h.notes[i]
		switch {
		case isOwn(from, to):
			made = made || from.Commit != to.Commit
		case made && from.Branch != to.Branch && from.Branch != h.now.Branch:
			return fmt.Errorf("%w: %s is checked out, and the run worked on %s; check that out, then use git revert%s",
				ErrConflict, h.now.shown(), from.shown(), span(since))
		}
	}
	return nil
}

// isOwn reports whether what is between two notes was done while the run worked.
func isOwn(from, to headsNote) bool { return !from.Ends && to.Ends }

// ownCommits refuses where one of the commits that would go came while nothing of the run worked, or nobody knows how
// since the engine was killed.
func (h *history) ownCommits(ctx context.Context, x *workspace.Index, since, head string) error {
	for i := 1; i < len(h.notes); i++ {
		from, to := h.notes[i-1], h.notes[i]
		if isOwn(from, to) || to.Commit == "" || from.Commit == to.Commit {
			continue
		}
		foreign, err := cameBy(ctx, x, from.Commit, to.Commit, since, head)
		if err != nil {
			return err
		}
		if foreign != "" {
			return fmt.Errorf("%w: nothing of the run worked when %.12s was made, and it would be reverted too; revert with git revert%s what you want to be gone",
				ErrConflict, foreign, span(since))
		}
	}
	return nil
}

// cameBy gives the latest commit that came to what is checked out by a move from one commit to another, after a
// third, and is still there; "" for none.
func cameBy(ctx context.Context, x *workspace.Index, from, to, since, head string) (string, error) {
	args := []string{"rev-list", to}
	for _, old := range []string{from, since} {
		if old != "" {
			args = append(args, "^"+old)
		}
	}
	came, err := x.Line(ctx, args...)
	if refused(err) || err == nil && came == "" {
		return "", nil // refused where they are gone from the repository, and so from what is checked out
	}
	if err != nil {
		return "", err
	}
	for commit := range strings.Lines(came) {
		commit = strings.TrimSpace(commit)
		_, err := x.Git(ctx, nil, "merge-base", "--is-ancestor", commit, head)
		if err == nil {
			return commit, nil
		}
		if !refused(err) {
			return "", err
		}
	}
	return "", nil
}

func (n headsNote) shown() string {
	if n.Branch == "" {
		return fmt.Sprintf("%.12s without a branch", n.Commit)
	}
	return fmt.Sprintf("the branch %q", strings.TrimPrefix(n.Branch, "refs/heads/"))
}
