package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/driver/derived"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/view"
)

// DamagedError says that a run lost files that decide in it.
type DamagedError struct {
	Run string
	Why string
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("run %s is damaged: %s", e.Run, e.Why) }

// What is said of a run that lost files.
const (
	planGone    = "its frozen plan is gone; it can't be resumed"
	journalGone = "its journal is gone; it can't be resumed"
	headerGone  = "its journal has no header; it can't be resumed"
)

// Lost says, in words, what of a run is gone that it can't be resumed without; "" if all is there, and of a
// run that never began: that one has neither a journal nor a status.
func (p *Project) Lost(id string) string {
	dir := p.RunDir(id)
	there := func(name ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{dir}, name...)...))
		return !errors.Is(err, fs.ErrNotExist)
	}
	kept := there(journal.FileName)
	if !kept && !there(derived.StatusFile) {
		return ""
	}
	var lost []string
	if !there(frozenDir, frozenIndex) || !there(frozenDir, frozenPlan) {
		lost = append(lost, planGone)
	}
	if !kept {
		lost = append(lost, journalGone)
	}
	return strings.Join(lost, "; ")
}

// Examination says whether the files of a run are whole, and what of its journal can be saved.
type Examination struct {
	Version int       `json:"version"`
	Run     string    `json:"run"`
	Whole   bool      `json:"whole"`
	Lost    string    `json:"lost,omitempty"` // what is gone, in words
	Steps   int64     `json:"steps"`          // that are whole from the start
	Bytes   int64     `json:"bytes"`          // that they take
	Size    int64     `json:"size"`
	Torn    int64     `json:"torn,omitempty"`
	Damage  *Damage   `json:"damage,omitempty"`
	Unknown string    `json:"unknown,omitempty"`
	Blobs   []string  `json:"missing_blobs,omitempty"`
	Later   []Stretch `json:"readable_after,omitempty"`

	dir string
}

// Damage is where a journal is not whole.
type Damage struct {
	Offset int64  `json:"offset"`
	Line   int64  `json:"line"`
	Why    string `json:"why"`
}

// Stretch is a part of a journal that is whole again, behind damage.
type Stretch struct {
	Offset int64 `json:"offset"`
	End    int64 `json:"end"`
	First  int64 `json:"first"`
	Last   int64 `json:"last"`
}

// Examine looks at the files of a run and changes nothing. The error is of reading them.
func (p *Project) Examine(id string) (Examination, error) {
	e := Examination{Version: 1, Run: id, Lost: p.Lost(id), dir: p.RunDir(id)}
	r, err := journal.Salvage(e.dir)
	if err != nil {
		if e.Lost != "" && errors.Is(err, fs.ErrNotExist) {
			return e, nil
		}
		return e, err
	}
	if r.Whole.Line == 0 && r.Damage == nil && r.Unknown == nil {
		e.Lost = strings.Join(append(nonEmpty(e.Lost), headerGone), "; ")
	}
	e.Whole = r.Damage == nil && r.Unknown == nil && len(r.Blobs) == 0 && e.Lost == ""
	e.Steps, e.Bytes, e.Size, e.Torn, e.Blobs = r.Whole.Seq, r.Whole.Offset, r.Size, r.Torn, r.Blobs
	if d := r.Damage; d != nil {
		e.Damage = &Damage{d.Offset, d.Line, d.Error()}
	}
	if r.Unknown != nil {
		e.Unknown = r.Unknown.Error()
	}
	for _, s := range r.Stretch {
		e.Later = append(e.Later, Stretch{s.Offset, s.End, s.First, s.Last})
	}
	return e, nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// Text is the examination for people, with what to do.
func (e *Examination) Text() string {
	var b strings.Builder
	steps := "steps"
	if e.Steps == 1 {
		steps = "step"
	}
	fmt.Fprintf(&b, "run %s: %d whole %s, %d of %d bytes\n", e.Run, e.Steps, steps, e.Bytes, e.Size)
	if e.Lost != "" {
		fmt.Fprintf(&b, "  damaged: %s\n", e.Lost)
	}
	if e.Torn > 0 && e.Bytes > 0 {
		fmt.Fprintf(&b, "  the last line is torn (%d bytes): its step was never carried out, and a resume drops it\n", e.Torn)
	}
	if d := e.Damage; d != nil {
		fmt.Fprintf(&b, "  damaged at byte %d, line %d: %s\n", d.Offset, d.Line, view.OneLine(d.Why))
		fmt.Fprintf(&b, "  all before it can be saved: copy the folder %s, then cut %s after byte %d; `pipe resume` goes on from there,\n"+
			"  and stages that ended later run again\n", e.dir, journal.FileName, e.Bytes)
	}
	for _, s := range e.Later {
		fmt.Fprintf(&b, "  readable after the damage, for people only: steps %d to %d, bytes %d to %d\n", s.First, s.Last, s.Offset, s.End)
	}
	if e.Unknown != "" {
		fmt.Fprintf(&b, "  written by another version: %s\n", view.OneLine(e.Unknown))
	}
	for _, blob := range e.Blobs {
		fmt.Fprintf(&b, "  blob %s is missing or not what it was\n", blob)
	}
	if e.Whole {
		b.WriteString("  nothing is wrong\n")
	}
	return b.String()
}
