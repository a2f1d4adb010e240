package merge

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/pipe/engine/workspace"
	"example.com/pipe/stages/repository"
)

// listLimit is the most bytes of git's list of conflicting files that are read.
const listLimit = 64 << 20

// pathsLimit is the most files of a conflict: all of them are told.
const pathsLimit = 10_000

// conflict is what git could not merge by itself.
type conflict struct {
	paths     []string // relative to the top of the repository, sorted
	marked    map[string]bool
	signature string // the same for the same paths and the same conflicting lines
}

// conflict looks for what is not merged; nil for nothing.
func (t *trial) conflict(ctx context.Context) (*conflict, error) {
	stages, err := t.unmerged(ctx)
	if err != nil || len(stages) == 0 {
		return nil, err
	}
	if len(stages) > pathsLimit {
		return nil, refuse("%d files are in conflict, more than %d: these branches have too little in common to merge them", len(stages), pathsLimit)
	}
	c := &conflict{marked: map[string]bool{}}
	for path := range stages {
		c.paths = append(c.paths, path)
	}
	slices.Sort(c.paths)
	sum := sha256.New()
	for _, path := range c.paths {
		fmt.Fprintf(sum, "%d:%s\n", len(path), path)
		hunks, err := t.hunks(path, sum)
		if err != nil {
			return nil, err
		}
		c.marked[path] = hunks > 0
		if hunks == 0 { // both sides as a whole: one of them is gone, or they are no text
			fmt.Fprintf(sum, "%s\n", stages[path])
		}
	}
	c.signature = hex.EncodeToString(sum.Sum(nil))
	return c, nil
}

// unmerged gives what the index holds of each path that is not merged: mode, object and side, a line for each.
func (t *trial) unmerged(ctx context.Context) (map[string]string, error) {
	file, err := writeFile(t.call, "unmerged", "")
	if err != nil {
		return nil, err
	}
	if _, err := t.run(ctx, repository.Command{Args: []string{"ls-files", "--unmerged", "-z", "--full-name"}, Stdout: file}); err != nil {
		return nil, err
	}
	data, err := workspace.ReadRegular(file, listLimit)
	if err != nil {
		return nil, fmt.Errorf("reading git's list of conflicts: %w", err)
	}
	out := map[string]string{}
	for entry := range strings.SplitSeq(string(data), "\x00") {
		if side, path, ok := strings.Cut(entry, "\t"); ok {
			out[path] += side + "\n"
		}
	}
	return out, nil
}

// hunks counts the conflicts that git marked in a file, and adds their lines to a hash: both sides, without the
// names of branches and commits.
func (t *trial) hunks(path string, sum hash.Hash) (int, error) {
	f, err := openIn(t.dir, path)
	if err != nil || f == nil {
		return 0, err
	}
	defer f.Close()
	const open, middle, end = "<<<<<<<", "=======", ">>>>>>>"
	n, inside, begins := 0, false, true // begins: what is read begins a line
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		part, err := r.ReadSlice('\n')
		mark := ""
		if begins && len(part) >= len(open) && (len(part) == len(open) || strings.IndexByte(" \r\n", part[len(open)]) >= 0) {
			mark = string(part[:len(open)])
		}
		switch {
		case mark == open && !inside:
			inside = true
		case mark == end && inside:
			inside = false
			n++
			fmt.Fprintln(sum, end)
		case inside && mark == middle:
			fmt.Fprintln(sum, middle)
		case inside:
			_, _ = sum.Write(part)
		}
		begins = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return n, nil
			}
			return 0, fmt.Errorf("reading %q: %w", path, err)
		}
	}
}

// openIn opens a file of the worktree; nil for what is no regular file. A link, of the branches or of the resolver,
// does not lead out of it.
func openIn(dir, path string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the worktree of the merge: %w", err)
	}
	defer root.Close()
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil
	}
	return f, nil
}

// unresolved gives the paths of a conflict that are still in conflict after the resolver ran, and takes what it
// changed into the index where there are none. A path is resolved that the resolver has added or removed with
// git, or whose marks of a conflict are gone; none is whose marks are still there, and none of them is where the
// resolver left nothing of the branch at all.
func (t *trial) unresolved(ctx context.Context, c *conflict) ([]string, error) {
	head, err := t.in(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(head) != t.head {
		return nil, refuse("the resolver made a commit, or checked out another; it must leave that to the stage")
	}
	stages, err := t.unmerged(ctx)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, path := range c.paths {
		n, err := t.hunks(path, sha256.New())
		if err != nil {
			return nil, err
		}
		gone := !exists(filepath.Join(t.dir, filepath.FromSlash(path)))
		if _, unmerged := stages[path]; n > 0 || unmerged && (!c.marked[path] || gone) {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		return left, nil
	}
	if _, err := t.in(ctx, "add", "--update", "--", "."); err != nil {
		return nil, err
	}
	_, err = t.in(ctx, "diff", "--cached", "--quiet", "--no-ext-diff")
	switch {
	case err == nil:
		return c.paths, nil
	case repository.Status(err) == 1:
		return nil, nil
	}
	return nil, err
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
