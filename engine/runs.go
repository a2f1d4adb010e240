package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/oklog/ulid/v2"

	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
)

// LastRun is the ref of the run that was started last.
const LastRun = "last"

// IDs gives the ids of all runs, oldest first.
func (p *Project) IDs() ([]string, error) {
	entries, err := os.ReadDir(p.runsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		if _, err := ulid.ParseStrict(e.Name()); err == nil && e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// Find gives the id of a run by a ref: an id, a beginning that only one run has, or "last". The error is a
// *NotFoundError or a *UsageError (several runs begin so).
func (p *Project) Find(ref string) (string, error) {
	ids, err := p.IDs()
	if err != nil {
		return "", err
	}
	if ref == LastRun {
		for _, id := range slices.Backward(ids) {
			// A run that died before its journal was there never began.
			if _, err := os.Stat(filepath.Join(p.RunDir(id), journal.FileName)); err == nil || p.Lost(id) != "" {
				return id, nil
			}
		}
		return "", &NotFoundError{What: "run", Ref: ref, Help: "nothing was run in this project yet"}
	}
	want := strings.ToUpper(ref)
	var found []string
	for _, id := range ids {
		if want != "" && strings.HasPrefix(id, want) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{What: "run", Ref: ref, Help: "see \"pipe ps\""}
	case 1:
		return found[0], nil
	}
	return "", usagef("%d runs begin with %q (%s, %s, …); give more of the id", len(found), ref, found[0], found[1])
}

// Summary is a run in a list.
type Summary struct {
	ID         string
	Pipeline   string
	TaskID     string
	Status     string // of the run, or "interrupted"
	Reason     string
	StartedAt  *step.Instant
	FinishedAt *step.Instant
	LastAt     *step.Instant // of an interrupted run: when something was last recorded
}

// Runs lists all runs, newest first. It reads a derived file of each, and the journal only where that file
// may lag behind: where a run seems to be going on that no process carries on.
func (p *Project) Runs() ([]Summary, error) {
	ids, err := p.IDs()
	if err != nil {
		return nil, err
	}
	out := make([]Summary, 0, len(ids))
	for _, id := range slices.Backward(ids) {
		s, err := p.summary(id)
		if lost := (*DamagedError)(nil); errors.As(err, &lost) {
			if s.Pipeline == "" {
				if start, err := p.startOf(id); err == nil { // the journal may be there still
					s.Pipeline, s.TaskID = start.Pipeline, start.TaskID
				}
			}
			out = append(out, Summary{ID: id, Pipeline: s.Pipeline, TaskID: s.TaskID, Status: "damaged", Reason: lost.Why})
			continue
		}
		if errors.Is(err, journal.ErrNoHeader) || errors.Is(err, fs.ErrNotExist) {
			continue // it never began, or is gone by now
		}
		if err != nil {
			s = Summary{ID: id, Status: "damaged", Reason: err.Error()}
		}
		out = append(out, s)
	}
	return out, nil
}

// settled are the statuses in which a derived file says all: whoever changes them writes it again.
var settled = [...]string{"succeeded", "failed", "cancelled", "paused", "waiting"}

func (p *Project) summary(id string) (Summary, error) {
	s, ok := p.readSummary(id)
	if lost := p.Lost(id); lost != "" {
		return s, &DamagedError{id, lost}
	}
	if ok && slices.Contains(settled[:], s.Status) {
		return s, nil
	}
	if ok {
		if _, held, err := p.Holder(id); err == nil && held {
			return s, nil
		}
	}
	var last step.Instant
	v, err := p.ViewFrom(id, func(l journal.Line, _ *view.Run) { last = max(last, l.At) })
	if ok && errors.Is(err, journal.ErrNoHeader) { // there is a status, so it had one
		return s, &DamagedError{id, headerGone}
	}
	if err != nil {
		return Summary{}, err
	}
	s = Summary{ID: id, Pipeline: v.Info().Pipeline, TaskID: v.Info().TaskID, Status: v.StatusWord(), Reason: v.Reason()}
	if at := v.Started(); at != 0 {
		s.StartedAt = &at
	}
	if at := v.Finished(); at != 0 {
		s.FinishedAt = &at
	}
	if s.Status == view.Interrupted && last != 0 {
		s.LastAt = &last
	}
	return s, nil
}

// readSummary reads the head of status.json.
func (p *Project) readSummary(id string) (Summary, bool) {
	// Without O_NONBLOCK a pipe in its place would wait for a writer.
	f, err := os.OpenFile(filepath.Join(p.RunDir(id), derived.StatusFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Summary{}, false
	}
	defer f.Close()
	var buf [2048]byte
	n, err := f.Read(buf[:])
	if err != nil {
		return Summary{}, false
	}
	head, _, ok := strings.Cut(string(buf[:n]), derived.StatusStages)
	if !ok {
		return Summary{}, false
	}
	var h derived.StatusHead
	if err := json.Unmarshal([]byte(head+"}"), &h); err != nil || h.Run != id {
		return Summary{}, false
	}
	return Summary{ID: id, Pipeline: h.Pipeline, TaskID: h.TaskID, Status: h.Status, Reason: h.Reason,
		StartedAt: h.StartedAt, FinishedAt: h.FinishedAt}, true
}

// Holder says which process carries a run on, if one does.
func (p *Project) Holder(id string) (journal.Holder, bool, error) {
	return journal.HeldBy(filepath.Join(p.RunDir(id), runLock))
}

// View gives a run as its journal tells it at this moment. It takes no lock.
func (p *Project) View(id string) (*view.Run, error) {
	return p.ViewFrom(id, nil)
}

// ViewFrom is View that also gives each step to see, in order; see may be nil.
func (p *Project) ViewFrom(id string, see func(journal.Line, *view.Run)) (*view.Run, error) {
	dir := p.RunDir(id)
	if lost := p.Lost(id); lost != "" {
		return nil, &DamagedError{id, lost}
	}
	frozen, _, err := thaw(dir)
	if err != nil {
		return nil, err
	}
	// Asked before the journal is read: a run that ends in between is not taken for an interrupted one.
	_, held, err := p.Holder(id)
	if err != nil {
		return nil, err
	}
	v := view.New(frozen)
	_, err = journal.Read(dir, func(l journal.Line) error {
		for _, r := range l.Records {
			v.Apply(l.At, r)
		}
		if see != nil {
			see(l, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.SetHeld(held)
	return v, nil
}

// errEnough ends the reading of a journal.
var errEnough = errors.New("enough was read")

// startOf reads how a run started.
func (p *Project) startOf(id string) (step.RunInfo, error) {
	var info step.RunInfo
	_, err := journal.Read(p.RunDir(id), func(l journal.Line) error {
		if s, ok := l.Event.(step.Start); ok {
			info = s.Run
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return info, err
}

// earlier gives what the latest ended run of a task and pipeline hands on. A task with a run that has not ended, whoever
// carries it on, is refused. A fresh run takes nothing over.
func (p *Project) earlier(info step.RunInfo, fresh bool) (handedOn, error) {
	ids, err := p.IDs()
	if err != nil {
		return handedOn{}, err
	}
	latest := ""
	for _, id := range slices.Backward(ids) {
		was, err := p.startOf(id)
		if err != nil || was.TaskID != info.TaskID {
			continue // a run that can't be read has no say
		}
		if holder, held, err := p.Holder(id); err != nil {
			return handedOn{}, err
		} else if held {
			return handedOn{}, &journal.HeldError{Path: p.RunDir(id), Holder: holder}
		}
		v, err := p.View(id)
		if err != nil {
			continue
		}
		if !v.Status().Ended() {
			return handedOn{}, usagef("the task %q has the run %s, which has not ended (%s); carry it on with \"pipe resume %s\" or end it with \"pipe cancel %s\"",
				info.TaskID, id, v.StatusWord(), id, id)
		}
		if latest == "" && was.Pipeline == info.Pipeline {
			latest = id
		}
	}
	if latest == "" || fresh {
		return handedOn{}, nil
	}
	return p.takeOver(latest)
}
