package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
)

// changedLines tells of the files that the items of a review name which lines were changed or added since the tree
// of the review before. Where that tree is not known any more, all their lines count as changed.
func (t *try) changedLines(work context.Context, ended *step.StageEnded) error {
	if t.s.Since == "" || ended.Result == nil {
		return nil
	}
	var files []string
	for i := range ended.Result.Items {
		if name := ended.Result.Items[i].File; name != "" {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil
	}
	tree, err := t.d.readTree(work, "")
	if err != nil {
		return err
	}
	lines, err := t.d.opt.Workspace.ChangedLines(work, t.s.Since, tree.Hash, files)
	if errors.Is(err, workspace.ErrUnknownTree) {
		slices.Sort(files) // sorted: they reach the journal
		for _, name := range slices.Compact(files) {
			ended.Lines = append(ended.Lines, step.Lines{File: name, First: 1, Last: math.MaxInt32})
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("comparing the workspace with what was reviewed before: %w", err)
	}
	for _, l := range lines {
		ended.Lines = append(ended.Lines, step.Lines(l))
	}
	return nil
}
