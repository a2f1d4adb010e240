package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/workspace"
)

// readTree reads the state of the workspace, and what differs from the tree named, if one is.
func (d *Driver) readTree(ctx context.Context, since string) (step.Tree, error) {
	ws := d.opt.Workspace
	tree, err := ws.Read(ctx, workspace.ReadOptions{Exclude: d.Excluded()})
	if err != nil {
		return step.Tree{}, fmt.Errorf("reading the state of the workspace: %w", err)
	}
	out := step.Tree{Hash: tree.Hash, Tracked: tree.Tracked}
	if since != "" {
		if out.Changed, err = ws.Changed(ctx, since, tree.Hash); err != nil {
			return step.Tree{}, fmt.Errorf("comparing the workspace with what it was: %w", err)
		}
		// What did not count when the other tree was read may not have been known to be none of it.
		out.Changed = slices.DeleteFunc(out.Changed, func(name string) bool { return slices.Contains(d.Excluded(), name) })
	}
	return out, nil
}

// readCompared reads the state of the workspace for an answer, and which of the files that differ from what was shown
// are not tracked.
func (d *Driver) readCompared(ctx context.Context, since string) (step.Tree, error) {
	out, err := d.readTree(ctx, since)
	if err != nil || len(out.Changed) == 0 || out.Tracked == out.Hash {
		return out, err
	}
	loose, err := d.opt.Workspace.Changed(ctx, out.Tracked, out.Hash)
	if err != nil {
		return step.Tree{}, fmt.Errorf("looking for files that are not tracked: %w", err)
	}
	for _, name := range out.Changed {
		if _, ok := slices.BinarySearch(loose, name); ok {
			out.Untracked = append(out.Untracked, name)
		}
	}
	return out, nil
}

// reportPaths gives where the stages of a graph leave their reports, and refine loops their findings, as far as it is
// known before the run: they are no part of the tree.
func reportPaths(g *plan.Graph) []string {
	var out []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if p := inWorkspace(n.Feedback); p != "" {
			out = append(out, p)
		}
		if n.Refine != nil && n.Refine.FeedbackFile != nil && n.Refine.FeedbackFile.IsLiteral() {
			if name, ok := n.Refine.FeedbackFile.Value.(string); ok {
				out = append(out, path.Clean(name))
			}
		}
		if n.Body != nil {
			out = append(out, reportPaths(n.Body)...)
		}
	}
	if g.Finally != nil {
		out = append(out, reportPaths(g.Finally)...)
	}
	return out
}

// inWorkspace is the path of a report, relative to the workspace; "" where there is none, and where it lies in
// the folder of the try.
func inWorkspace(f *plan.Feedback) string {
	if f == nil {
		return ""
	}
	if _, scratch := f.InStageDir(); scratch {
		return ""
	}
	return f.Path
}

// explain says in an author's words why a file that a stage left is not read.
func explain(err error, limit int64) error {
	switch {
	case errors.Is(err, workspace.ErrOutside):
		return errors.New("it is, or is reached through, a symbolic link, or leaves its folder; neither is followed")
	case errors.Is(err, workspace.ErrNotRegular):
		return errors.New("it is not a regular file")
	case errors.Is(err, workspace.ErrTooLarge):
		return fmt.Errorf("it is larger than the %d bytes that it may have", limit)
	}
	return err
}

// removeInside removes the file or link of this name, which has slashes, below root, if there is one. What
// is reached through a link that leads out of root, and a folder in its place, are left alone: reading them
// is refused.
func removeInside(root, name string) error {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	name = filepath.FromSlash(name)
	info, err := r.Lstat(name)
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // there is nothing that could be taken for a report
	}
	if err := r.Remove(name); err != nil && !isMissing(err) {
		return err
	}
	return nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
