package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// halves are what a process that was killed leaves in a store, its git's included.
var halves = [...]string{"reading-*", "commit-*", "*/.manifest-*", "objects/*/tmp_obj_*"}

// Sweep removes what processes that were killed left in the store. Nobody else may use it meanwhile.
func (w *Workspace) Sweep() error {
	store := os.DirFS(w.Store) // of the store's own name nothing is a pattern
	for _, pattern := range halves {
		names, err := fs.Glob(store, pattern)
		if err != nil {
			return fmt.Errorf("look through the store of trees: %w", err)
		}
		for _, name := range names {
			if err := os.RemoveAll(filepath.Join(w.Store, filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("clear the store of trees: %w", err)
			}
		}
	}
	return nil
}
