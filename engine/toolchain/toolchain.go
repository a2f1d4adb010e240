// Package toolchain finds the commands of a project by what stands in its folder: how its tests are run, how it
// is built and looked over, for Go, Node, Python and Rust.
//
// A kind is known by a file of its own (go.mod, package.json, …) and has commands by their roles (test, lint,
// build, bench). Find looks for one role in one folder and gives the one kind that has it: nothing is guessed
// between two. Only files are looked at, and none is executed, so that the same tree gives the same command
// wherever it is compiled; whether the tools are installed shows when the command runs.
//
// A command comes with the form of its report wherever there is one: a test that fails must become an item, and
// an exit status alone does not tell a failed test from a runner that could not start. Reports go into the
// scratch folder of a stage's try.
//
// Commands that a project names itself, in pipe.yaml, come before these: that is package compile's work.
package toolchain

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Command is a command of a project.
type Command struct {
	Role   string
	Kind   string // of the project: "Go"
	Mark   string // the file by which the kind is known
	Script string

	// The form of the report, as feedback has it. Without a Format what the script says can't be read.
	Format, Path, Pattern string
	OKExitCodes           []int  // nil: those of the format
	Why                   string // there is no Format, in words
}

// NotFoundError says that no kind of the folder has a command for the role.
type NotFoundError struct {
	Role  string
	Dir   string   // relative to the project; "." is the project
	Kinds []string // what the folder is, with the files that say so: "Go (go.mod)"
	Roles []string // for which there are commands, sorted
	Why   string   // in words, where more is known
}

// Error implements error.
func (e *NotFoundError) Error() string {
	is := place(e.Dir) + " is " + strings.Join(e.Kinds, " and ")
	switch {
	case len(e.Kinds) == 0:
		return place(e.Dir) + " is of no kind whose commands are known (by go.mod, package.json, Cargo.toml, or Python's files)"
	case e.Why != "":
		return is + ": " + e.Why
	case len(e.Roles) == 0:
		return is + ", which has none"
	}
	return is + ", which has " + strings.Join(e.Roles, ", ")
}

// AmbiguousError says that more than one kind of the folder has a command for the role.
type AmbiguousError struct {
	Role     string
	Dir      string
	Commands []Command // in the order of the kinds
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Commands))
	for i := range e.Commands {
		names[i] = fmt.Sprintf("%s (%s)", e.Commands[i].Kind, e.Commands[i].Mark)
	}
	return fmt.Sprintf("%s has several commands %q: that of %s", place(e.Dir), e.Role, strings.Join(names, " and that of "))
}

func place(dir string) string {
	if dir == "." {
		return "the project"
	}
	return fmt.Sprintf("%q", dir)
}

// tools are what one kind offers in a folder.
type tools struct {
	kind, mark string
	commands   []Command
	why        map[string]string // a role that could be meant is not offered; only looked up
}

// Find gives the command for a role in a folder of the project, "." for the project itself. Errors are
// *NotFoundError, *AmbiguousError, and those of files that can't be read or say nothing sensible.
func Find(project fs.FS, dir, role string) (Command, error) {
	dir = path.Clean(dir)
	if info, err := fs.Stat(project, dir); err != nil || !info.IsDir() {
		return Command{}, fmt.Errorf("%q is no folder of the project", dir)
	}
	f := folder{project, dir}
	notFound := &NotFoundError{Role: role, Dir: dir}
	var found []Command
	for _, look := range []func(folder) (*tools, error){goTools, nodeTools, pythonTools, rustTools} {
		t, err := look(f)
		if err != nil {
			return Command{}, err
		}
		if t == nil {
			continue
		}
		notFound.Kinds = append(notFound.Kinds, fmt.Sprintf("%s (%s)", t.kind, t.mark))
		if notFound.Why == "" {
			notFound.Why = t.why[role]
		}
		for _, c := range t.commands {
			c.Kind, c.Mark = t.kind, t.mark
			notFound.Roles = append(notFound.Roles, c.Role)
			if c.Role == role {
				found = append(found, c)
			}
		}
	}
	switch len(found) {
	case 0:
		slices.Sort(notFound.Roles)
		notFound.Roles = slices.Compact(notFound.Roles)
		return Command{}, notFound
	case 1:
		return found[0], nil
	}
	return Command{}, &AmbiguousError{Role: role, Dir: dir, Commands: found}
}

// folder is a folder of a project.
type folder struct {
	project fs.FS
	dir     string
}

// has reports whether there is a regular file of this name.
func (f folder) has(name string) bool {
	info, err := fs.Stat(f.project, path.Join(f.dir, name))
	return err == nil && info.Mode().IsRegular()
}

// first gives the first of the files that is there, "" if none is.
func (f folder) first(names ...string) string {
	for _, name := range names {
		if f.has(name) {
			return name
		}
	}
	return ""
}

// above finds the nearest of the files in this folder or above it, up to the project's own: workspaces of
// several packages keep some of them once.
func (f folder) above(names ...string) []string {
	for at := f; ; at.dir = path.Dir(at.dir) {
		var out []string
		for _, name := range names {
			if at.has(name) {
				out = append(out, name)
			}
		}
		if len(out) > 0 || at.dir == "." {
			return out
		}
	}
}

// maxFile is how much of a file is looked at, in bytes: a project's own files are far smaller.
const maxFile = 1 << 20

// read gives the text of a file; "" where there is none.
func (f folder) read(name string) (string, error) {
	file := path.Join(f.dir, name)
	info, err := fs.Stat(f.project, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("finding the project's commands: %w", err)
	case !info.Mode().IsRegular():
		return "", nil
	case info.Size() > maxFile:
		return "", fmt.Errorf("finding the project's commands: %q has %d bytes, expected at most %d", file, info.Size(), maxFile)
	}
	b, err := fs.ReadFile(f.project, file)
	if err != nil {
		return "", fmt.Errorf("finding the project's commands: %w", err)
	}
	return string(b), nil
}

// glob gives the regular files of the folder that match a pattern, sorted.
func (f folder) glob(pattern string) []string {
	names, err := fs.Glob(f.project, path.Join(escape(f.dir), pattern))
	if err != nil {
		return nil
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		if name = strings.TrimPrefix(name, f.dir+"/"); f.has(name) {
			out = append(out, name)
		}
	}
	return out
}

// escape makes a folder's name match only itself.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// reportPath is where a runner that writes a file puts its report.
const reportPath = "$PIPE_STAGE_DIR/junit.xml"
