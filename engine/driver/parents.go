package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
)

// lookAhead is how many folders of stages are made at once: one sync makes all of them durable, where each
// stage would need one of its own.
const lookAhead = 64

// parents makes the folders in which the folders of tries lie, durably. It is used by all workers.
type parents struct {
	run   string
	ahead []string       // folders of the plan's stages, relative to the run's, in the order of the plan
	index map[string]int // of them

	mu      sync.Mutex
	durable map[string]bool // relative to the run's folder
}

func newParents(run string, g *plan.Graph) *parents {
	p := &parents{run: run, index: make(map[string]int, len(g.Nodes)), durable: map[string]bool{".": true}}
	for i := range g.Nodes {
		rel := filepath.Join(StagesDir, g.Nodes[i].ID)
		p.index[rel] = i
		p.ahead = append(p.ahead, rel)
	}
	return p
}

// ensure makes a folder, and those that it lies in, unless they are there and durable.
func (p *parents) ensure(rel string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.make(rel)
}

func (p *parents) make(rel string) error {
	if p.durable[rel] {
		return nil
	}
	parent := filepath.Dir(rel)
	if err := p.make(parent); err != nil {
		return err
	}
	batch := []string{rel}
	if i, ok := p.index[rel]; ok {
		batch = p.ahead[i:min(i+lookAhead, len(p.ahead))]
	}
	for _, dir := range batch {
		if err := makeDir(filepath.Join(p.run, dir)); err != nil {
			return err
		}
	}
	// Also what was there before: the process that made it may have died before its sync.
	if err := journal.SyncDir(filepath.Join(p.run, parent)); err != nil {
		return err
	}
	for _, dir := range batch {
		p.durable[dir] = true
	}
	return nil
}

// makeDir makes a folder where there is none. Something else in its place is an error.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is not a folder; something replaced it while the run was going on", dir)
	}
	return err
}
