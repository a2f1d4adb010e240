package engine

import (
	"bytes"
	"fmt"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
)

// Difference is a step that this program would decide otherwise than it was decided.
type Difference struct {
	Seq      int64
	At       step.Instant
	Event    string // its type
	Recorded string // the first record that differs, as JSON; "": there is none at its place
	Decided  string // what would be recorded now; "": nothing
}

// ReplayReport compares a journal with what this program would decide. A difference is no mistake: a run
// goes on from its records, whatever would be decided now.
type ReplayReport struct {
	Steps       int
	Differences []Difference // at most 100
}

// maxDifferences bounds a report: after each, the machine is made anew from the records.
const maxDifferences = 100

// Replay decides every event of a run's journal again, each in the state that the records before it led to,
// and compares the records.
func (p *Project) Replay(id string) (ReplayReport, error) {
	dir := p.RunDir(id)
	frozen, _, err := thaw(dir)
	if err != nil {
		return ReplayReport{}, err
	}
	r := &replay{p: p, plan: frozen, dir: dir}
	r.m = r.fresh()
	_, err = journal.Read(dir, r.step)
	if err == errEnough { //nolint:errorlint // its own value, never wrapped
		err = nil
	}
	return r.report, err
}

type replay struct {
	p      *Project
	plan   *plan.Plan
	dir    string
	m      *machine.Machine
	report ReplayReport
}

func (r *replay) fresh() *machine.Machine {
	return machine.New(r.plan, compile.NewEvaluator(), r.p.tokens)
}

func (r *replay) step(l journal.Line) error {
	r.report.Steps++
	diff, err := compare(l, r.m.Step(l.Event).Records)
	if err != nil || diff == nil {
		return err
	}
	r.report.Differences = append(r.report.Differences, *diff)
	if len(r.report.Differences) == maxDifferences {
		return errEnough
	}
	return r.foldUpTo(l.Seq)
}

// foldUpTo brings a new machine to where the records up to a step lead.
func (r *replay) foldUpTo(seq int64) error {
	r.m = r.fresh()
	_, err := journal.Read(r.dir, func(l journal.Line) error {
		if l.Seq > seq {
			return errEnough
		}
		for _, rec := range l.Records {
			r.m.Apply(rec)
		}
		return nil
	})
	if err == errEnough { //nolint:errorlint // its own value, never wrapped
		return nil
	}
	return err
}

// compare gives the first difference between the records of a step and those decided now.
func compare(l journal.Line, now []step.Record) (*Difference, error) {
	for i := range max(len(l.Records), len(now)) {
		was, err := recordText(l.Records, i)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", l.Seq, err)
		}
		is, err := recordText(now, i)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", l.Seq, err)
		}
		if !bytes.Equal(was, is) {
			return &Difference{Seq: l.Seq, At: l.At, Event: l.Event.EventType(), Recorded: string(was), Decided: string(is)}, nil
		}
	}
	return nil, nil
}

func recordText(recs []step.Record, i int) ([]byte, error) {
	if i >= len(recs) {
		return nil, nil
	}
	return step.MarshalRecord(recs[i])
}
