package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
)

// InboxDir is the folder of a run in which answers wait to be journalled, each in a file "<ULID>.json".
const InboxDir = "inbox"

// maxAnswer is the size that an answer may have.
const maxAnswer = 1 << 20

// PutAnswer puts an answer into the inbox of a run, durably. Its id, a ULID, is the file's name.
func PutAnswer(dir string, a step.Answer) error {
	if _, err := ulid.ParseStrict(a.ID); err != nil {
		return fmt.Errorf("the id of an answer must be a ULID, got %q", a.ID)
	}
	b, err := step.MarshalEvent(a)
	if err != nil {
		return err
	}
	inbox := filepath.Join(dir, InboxDir)
	if err := os.Mkdir(inbox, 0o700); err == nil {
		if err := journal.SyncDir(dir); err != nil {
			return err
		}
	} else if !os.IsExist(err) {
		return storage("create", inbox, err)
	}
	return journal.WriteFile(answerFile(dir, a.ID), append(b, '\n'), true)
}

// halfAnswer is the age at which an answer that never got its name counts as left by a command that was
// killed: to write one takes milliseconds.
const halfAnswer = time.Hour

// clearInbox removes what killed commands left of answers that they never gave.
func (d *Driver) clearInbox() error {
	dir := filepath.Join(d.opt.Dir, InboxDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !isMissing(err) {
		return fmt.Errorf("looking into the inbox: %w", err)
	}
	for _, e := range entries {
		name := e.Name() // as journal.WriteFile names it before it is whole
		if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		info, err := e.Info()
		if err == nil && d.opt.Now().Sub(info.ModTime()) > halfAnswer {
			err = os.Remove(filepath.Join(dir, name))
		}
		if err != nil && !isMissing(err) {
			return storage("remove", filepath.Join(dir, name), err)
		}
	}
	return nil
}

func answerFile(dir, id string) string { return filepath.Join(dir, InboxDir, id+".json") }

// waiting gives the ids of the answers in the inbox, in order.
func (d *Driver) waiting() ([]string, error) {
	// Without O_NONBLOCK a pipe in its place would wait for a writer.
	f, err := os.OpenFile(filepath.Join(d.opt.Dir, InboxDir), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking into the inbox: %w", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("looking into the inbox: %w", err)
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok && !strings.HasPrefix(name, ".") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// nextAnswer reads the first answer of the inbox. One that the journal holds already is removed, one that
// is none is moved aside and said.
func (d *Driver) nextAnswer() (step.Answer, bool, error) {
	ids, err := d.waiting()
	if err != nil {
		return step.Answer{}, false, err
	}
	for _, id := range ids {
		if d.taken[id] {
			if err := d.removeAnswer(id); err != nil {
				return step.Answer{}, false, err
			}
			continue
		}
		a, err := readAnswer(d.opt.Dir, id)
		if err == nil {
			return a, true, nil
		}
		if isMissing(err) {
			continue
		}
		d.warn("answer %q is moved aside, to %q: %v", id+".json", id+".bad", err)
		name := answerFile(d.opt.Dir, id)
		if err := os.Rename(name, strings.TrimSuffix(name, ".json")+".bad"); err != nil && !isMissing(err) {
			return step.Answer{}, false, storage("move aside", name, err)
		}
	}
	return step.Answer{}, false, nil
}

func readAnswer(dir, id string) (step.Answer, error) {
	if _, err := ulid.ParseStrict(id); err != nil {
		return step.Answer{}, fmt.Errorf("its name is not a ULID")
	}
	b, err := workspace.ReadInside(dir, InboxDir+"/"+id+".json", maxAnswer)
	if err != nil {
		return step.Answer{}, explain(err, maxAnswer)
	}
	ev, err := step.UnmarshalEvent(b)
	if err != nil {
		return step.Answer{}, err
	}
	a, ok := ev.(step.Answer)
	switch {
	case !ok:
		return step.Answer{}, fmt.Errorf("want an answer, got %q", ev.EventType())
	case a.ID != id:
		return step.Answer{}, fmt.Errorf("it holds the id %q, which is not its name", a.ID)
	}
	return a, nil
}

// removeAnswer removes an answer that is in the journal, durably.
func (d *Driver) removeAnswer(id string) error {
	name := answerFile(d.opt.Dir, id)
	if err := os.Remove(name); err != nil && !isMissing(err) {
		return storage("remove", name, err)
	}
	return journal.SyncDir(filepath.Dir(name))
}

// lookAtInbox starts to take the first answer, if there is one and none is being taken. The workspace is
// read by a worker, since that may take a while.
func (d *Driver) lookAtInbox(work context.Context) error {
	if d.asking {
		return nil
	}
	a, ok, err := d.nextAnswer()
	if err != nil || !ok {
		return err
	}
	d.asking = true
	shown := d.opt.Machine.Shown(a)
	d.start(work, "answer "+a.ID, "it read the workspace for an answer", func(ctx context.Context) outcome {
		a, err := d.withTree(ctx, a, shown)
		if err != nil {
			return outcome{answer: true, err: err}
		}
		a.Live = true
		return outcome{answer: true,
			event: func(at step.Instant) step.Event { a.At = at; return a },
			after: func() error { return d.answered(a.ID) }}
	})
	return nil
}

// withTree adds the state of the workspace at this moment, and what differs from the tree that was shown. Who only
// stops the run need not wait for it, nor fail where it can't be read.
func (d *Driver) withTree(ctx context.Context, a step.Answer, shown string) (step.Answer, error) {
	if a.Kind == step.Cancel {
		return a, nil
	}
	tree, err := d.readCompared(ctx, shown)
	if errors.Is(err, workspace.ErrUnknownTree) { // then what differs can't be named
		tree, err = d.readTree(ctx, "")
	}
	if err != nil && a.Kind != step.DecideAbort && a.Kind != step.Reject {
		return a, err
	}
	a.Tree = tree
	return a, nil
}

// answered is called when an answer is durable.
func (d *Driver) answered(id string) error {
	d.taken[id] = true
	return d.removeAnswer(id)
}

// TakeAnswers journals the answers that are in the inbox, in order, without carrying the run on: nothing
// starts before a Run with Resumed.
func (d *Driver) TakeAnswers(ctx context.Context) error {
	if err := d.clearInbox(); err != nil {
		return err
	}
	return ifFull(d.opt.Dir, d.takeAnswers(ctx))
}

func (d *Driver) takeAnswers(ctx context.Context) error {
	if err := d.derived.Rebuild(); err != nil {
		return err
	}
	for {
		a, ok, err := d.nextAnswer()
		if err != nil || !ok {
			if err == nil {
				err = d.derived.Flush()
			}
			return err
		}
		if !d.opt.Machine.Status().Ended() { // else it may have no workspace any more
			if a, err = d.withTree(ctx, a, d.opt.Machine.Shown(a)); err != nil {
				return err
			}
		}
		a.At, a.Live = d.now(), false
		if err := d.record(a); err != nil {
			return err
		}
		if err := d.answered(a.ID); err != nil {
			return err
		}
	}
}
