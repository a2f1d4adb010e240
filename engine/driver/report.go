package driver

import (
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
	const most = 8 << 20
	var name string
	var lines []string
	return func(file string, line int) string {
		if file != name || lines == nil {
			name, lines = file, []string{}
			if b, err := workspace.ReadInside(root, file, most); err == nil {
				lines = strings.Split(string(b), "\n")
			}
		}
		if line < 1 || line > len(lines) {
			return ""
		}
		return lines[line-1]
	}
}
