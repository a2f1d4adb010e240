package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs"
)

// The names of what lies in a run's folder of frozen files. The files themselves are named by their sums.
const (
	frozenDir   = "frozen"
	frozenIndex = "index.json"
	frozenPlan  = "plan.json"
)

// frozenFile is a file that decided in a run, as it was when the run started.
type frozenFile struct {
	Kind     string `json:"kind"`               // "pipeline", "prompt", "contract", "config"
	Name     string `json:"name"`               // as diagnostics name it
	Original string `json:"original,omitempty"` // where it lies in the project; "": it is shipped
	SHA256   string `json:"sha256"`
	Shipped  bool   `json:"shipped,omitempty"`

	data []byte
}

// index is frozen/index.json.
type index struct {
	Version  int             `json:"version"`
	Plan     string          `json:"plan"` // the digest of plan.json
	Files    []frozenFile    `json:"files"`
	CleanEnv bool            `json:"clean_environment,omitempty"`
	Start    json.RawMessage `json:"start"` // the event with which the run begins
}

func newFrozenFile(kind, name, original string, data []byte, shipped bool) frozenFile {
	sum := sha256.Sum256(data)
	return frozenFile{Kind: kind, Name: name, Original: original, SHA256: hex.EncodeToString(sum[:]), Shipped: shipped, data: data}
}

// freeze writes all that decides in a run into its folder, durably.
func freeze(dir string, l *Loaded, cleanEnv bool, start step.Start) error {
	folder := filepath.Join(dir, frozenDir)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("freezing the pipeline: %w", err)
	}
	ev, err := step.MarshalEvent(start)
	if err != nil {
		return err
	}
	ix := index{Version: 1, Plan: l.Plan.Digest(), Files: l.frozen, CleanEnv: cleanEnv, Start: ev}
	b, err := l.Plan.Encode()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(ix, "", "  ")
	if err != nil {
		return fmt.Errorf("freezing the pipeline: %w", err)
	}
	files := []struct {
		name string
		data []byte
	}{{frozenPlan, b}, {frozenIndex, append(text, '\n')}}
	for _, f := range l.frozen {
		files = append(files, struct {
			name string
			data []byte
		}{f.SHA256, f.data})
	}
	for _, f := range files {
		if err := journal.WriteFile(filepath.Join(folder, f.name), f.data, true); err != nil {
			return err
		}
	}
	return nil
}

// thaw reads what a run froze. A plan that is not the one of the journal's header is refused.
func thaw(dir string) (*plan.Plan, *index, error) {
	folder := filepath.Join(dir, frozenDir)
	b, err := os.ReadFile(filepath.Join(folder, frozenIndex))
	if err != nil {
		return nil, nil, fmt.Errorf("reading what the run froze: %w", err)
	}
	ix := new(index)
	if err := json.Unmarshal(b, ix); err != nil {
		return nil, nil, fmt.Errorf("reading %s of the run: %w", filepath.Join(frozenDir, frozenIndex), err)
	}
	if b, err = os.ReadFile(filepath.Join(folder, frozenPlan)); err != nil {
		return nil, nil, fmt.Errorf("reading what the run froze: %w", err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != ix.Plan {
		return nil, nil, fmt.Errorf("the frozen plan %q was changed: its sum is %s, and was %s when the run started",
			filepath.Join(folder, frozenPlan), got, ix.Plan)
	}
	p, err := plan.Decode(b)
	if err != nil {
		return nil, nil, err
	}
	return p, ix, nil
}

// start is the event with which the run begins.
func (ix *index) start() (step.Start, error) {
	ev, err := step.UnmarshalEvent(ix.Start)
	if err != nil {
		return step.Start{}, fmt.Errorf("reading how the run starts: %w", err)
	}
	s, ok := ev.(step.Start)
	if !ok {
		return step.Start{}, fmt.Errorf("reading how the run starts: want a start, got %q", ev.EventType())
	}
	return s, nil
}

// Change is a file of the project that is no longer what a run froze. The run does not notice.
type Change struct {
	File string
	How  string // "changed" or "removed"
}

// changes says which files of the project changed since the run started.
func (p *Project) changes(ix *index) []Change {
	var out []Change
	for _, f := range ix.Files {
		if f.Original == "" {
			continue
		}
		name := filepath.FromSlash(f.Original)
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Root, name)
		}
		b, err := workspace.ReadRegular(name, specs.MaxSize)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, Change{f.Original, "removed"})
		case err != nil || newFrozenFile("", "", "", b, false).SHA256 != f.SHA256:
			out = append(out, Change{f.Original, "changed"})
		}
	}
	return out
}
