package undo

import (
	"context"
	"fmt"
	"strings"

	"example.com/pipe/engine/workspace"
)

// differencesGit compares two trees that git read.
func (w *Workspace) differencesGit(ctx context.Context, base, now workspace.Tree) ([]difference, error) {
	x, done, err := w.PrivateIndex("")
	if err != nil {
		return nil, err
	}
	defer done()
	var ids [2]string
	for i, tree := range []workspace.Tree{base, now} {
		id, ok := tree.Object()
		if !ok {
			return nil, fmt.Errorf("%w: %q is no name of a tree", workspace.ErrUnknownTree, tree.Hash)
		}
		ids[i] = id
	}
	list, err := x.Git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", ids[0], ids[1], "--")
	if refused(err) {
		return nil, fmt.Errorf("%w: %w", workspace.ErrUnknownTree, err)
	}
	if err != nil {
		return nil, err
	}
	words := splitNames(list)
	out := make([]difference, 0, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 { // ":100644 100755 SUM SUM M", then the name
		fields := strings.Fields(strings.TrimPrefix(words[i], ":"))
		if len(fields) != 5 {
			return nil, fmt.Errorf("git diff-tree gave %q, expected two modes, two sums and a letter", words[i])
		}
		out = append(out, difference{name: words[i+1], was: someMode(fields[0]), is: someMode(fields[1]), sum: fields[2]})
	}
	return out, nil
}

// someMode is "" for the mode of what is not there.
func someMode(mode string) string {
	if mode == "000000" {
		return ""
	}
	return mode
}

// held makes sure that all that is to be put back is there, before anything is touched.
func (t *restoring) held(ctx context.Context, diffs []difference) error {
	var sums strings.Builder
	for _, d := range diffs {
		switch {
		case d.was == "" || d.was == modeModule:
		case t.w.Git():
			sums.WriteString(d.sum + "\n")
		case !t.w.hasKept(d.sum):
			return fmt.Errorf("%w: what %q held is not in %q any more", workspace.ErrUnknownTree, d.name, t.w.Store)
		}
	}
	if sums.Len() == 0 {
		return nil
	}
	x, done, err := t.w.PrivateIndex(t.run)
	if err != nil {
		return err
	}
	defer done()
	list, err := x.Git(ctx, strings.NewReader(sums.String()), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return err
	}
	if n := strings.Count(string(list), " missing\n"); n > 0 {
		return fmt.Errorf("%w: what %d files held is not in the repository any more; a ref below %s kept it", workspace.ErrUnknownTree, n, baseRefs)
	}
	return nil
}

// checkOut has git write the files, as a checkout would: with the filters that are configured.
func (t *restoring) checkOut(ctx context.Context, diffs []difference) error {
	x, done, err := t.w.PrivateIndex(t.run)
	if err != nil {
		return err
	}
	defer done()
	id, _ := t.base.Object()
	read := []string{"read-tree"}
	if x.Prefix() != "" {
		read = append(read, "--prefix="+x.Prefix())
	}
	if _, err := x.Git(ctx, nil, append(read, id)...); err != nil {
		return err
	}
	var names strings.Builder
	for i := range diffs {
		names.WriteString(diffs[i].name + "\x00")
	}
	_, err = x.Git(ctx, strings.NewReader(names.String()), "checkout-index", "-f", "-z", "--stdin")
	return err
}

func splitNames(list []byte) []string {
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
}
