package workspace

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Lines is a range of lines of a file, from 1, both ends in it.
type Lines struct {
	File        string
	First, Last int
}

// wholeFile is the range of all lines that a file can have.
func wholeFile(name string) Lines { return Lines{name, 1, math.MaxInt32} }

// ChangedLines gives the lines of files that were changed or added between two trees, by file and line. A file that
// was renamed counts as a new one; one of which nothing is known by the line (it is binary, or there is no git)
// counts as changed in all its lines if it differs at all. Lines that are gone are in no range.
func (w *Workspace) ChangedLines(ctx context.Context, from, to string, files []string) ([]Lines, error) {
	changed, err := w.Changed(ctx, from, to)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		_, found := slices.BinarySearch(changed, name)
		return !found
	})
	slices.Sort(files) // sorted: they reach the journal
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, nil
	}
	if w.git == nil || !strings.HasPrefix(from, gitPrefix) || !strings.HasPrefix(to, gitPrefix) {
		out := make([]Lines, 0, len(files))
		for _, name := range files {
			out = append(out, wholeFile(name))
		}
		return out, nil
	}
	v, done, err := w.view()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []Lines
	for _, name := range files {
		some, err := v.changedLines(ctx, strings.TrimPrefix(from, gitPrefix), strings.TrimPrefix(to, gitPrefix), name)
		if err != nil {
			return nil, fmt.Errorf("compare the lines of %q: %w", name, err)
		}
		out = append(out, some...)
	}
	return out, nil
}

// changedLines asks git about one file: what is between the headers of its patch is not taken apart, since each
// line of it begins with a sign.
func (v *view) changedLines(ctx context.Context, from, to, name string) ([]Lines, error) {
	// Called at the top, where it takes the name as it is: the trees begin at the root.
	top := filepath.Join(v.root, strings.Repeat("../", strings.Count(v.prefix, "/")))
	patch, err := v.run(ctx, top, v.env, nil, "diff-tree", "-r", "-p", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", from, to, "--", name)
	if err != nil {
		return nil, err
	}
	var out []Lines
	for line := range strings.Lines(string(patch)) {
		switch {
		case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "Submodule "):
			return []Lines{wholeFile(name)}, nil
		case strings.HasPrefix(line, "@@ "):
			first, count, err := newLines(line)
			if err != nil {
				return nil, err
			}
			if count > 0 {
				out = append(out, Lines{name, first, first + count - 1})
			}
		}
	}
	return out, nil
}

// newLines reads where the lines of a hunk are after the change: "@@ -10,2 +11 @@ func x()".
func newLines(header string) (first, count int, err error) {
	for _, word := range strings.Fields(header) {
		span, ok := strings.CutPrefix(word, "+")
		if !ok {
			continue
		}
		at, n, several := strings.Cut(span, ",")
		if first, err = strconv.Atoi(at); err != nil {
			break
		}
		if count = 1; several {
			count, err = strconv.Atoi(n)
		}
		if err == nil {
			return first, count, nil
		}
		break
	}
	return 0, 0, fmt.Errorf("git diff-tree gave %q, expected the header of a hunk", strings.TrimSpace(header))
}
