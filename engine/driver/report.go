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
	in := convert.Input{Root: root, Dir: dir, LineText: workspace.LineText(root)}
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
