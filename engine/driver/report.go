package driver

import (
	"errors"
	"path"
	"strings"

	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/workspace"
)

// ReportInput is what a report is read with, of a tool that ran in a folder of a workspace, which is relative to its
// root; the report itself and how the tool ended are yet to be filled in.
func ReportInput(root, dir string) convert.Input {
	in := convert.Input{Root: root, Dir: dir, LineText: linesOf(root)}
	in.Module, in.ModuleDir = moduleOf(root, dir)
	return in
}

// moduleOf finds the Go module of a folder: the nearest go.mod there or above, in the workspace.
func moduleOf(root, from string) (modulePath, dir string) {
	for dir = from; ; dir = strings.TrimSuffix(path.Dir(dir), ".") {
		b, err := workspace.ReadInside(root, path.Join(dir, "go.mod"), 1<<20)
		if err == nil {
			for line := range strings.Lines(string(b)) {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
					rest, _, _ = strings.Cut(rest, "//")
					return strings.Trim(strings.TrimSpace(rest), "\"`"), dir
				}
			}
		}
		if dir == "" {
			return "", ""
		}
	}
}

// linesOf gives lines of files of a workspace: the evidence of items. The last file is kept, since items
// of one file follow each other.
func linesOf(root string) func(string, int) string {
	return (&evidence{root: root, left: maxEvidence}).line
}

// How much is read of files for the evidence of a result: of each, and of all, since items that jump from one large file
// to another have them read each time. What is not read is no evidence.
const (
	maxEvidenceFile = 8 << 20
	maxEvidence     = 1 << 30
)

// evidence reads lines of files.
type evidence struct {
	root  string
	left  int      // bytes that may still be read
	name  string   // of the last file
	lines []string // of the last file; nil: there is none yet
}

func (e *evidence) line(file string, line int) string {
	if file != e.name || e.lines == nil {
		e.name, e.lines = file, []string{}
		if e.left > 0 {
			if b, err := workspace.ReadInside(e.root, file, maxEvidenceFile); err == nil {
				e.lines = strings.Split(string(b), "\n")
				e.left -= len(b)
			} else if errors.Is(err, workspace.ErrTooLarge) {
				e.left -= maxEvidenceFile
			}
		}
	}
	if line < 1 || line > len(e.lines) {
		return ""
	}
	return e.lines[line-1]
}
