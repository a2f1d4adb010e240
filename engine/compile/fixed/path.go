package fixed

import (
	"path"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

// InWorkspace reports a path that leads out of the workspace.
func InWorkspace(diags *diag.List, p string, at source.Span, key string) {
	clean := path.Clean(p)
	if path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsRune(p, 0) {
		d := diags.Errorf(CodePath, at, "%s %q leads out of the workspace", key, p)
		d.Help = "write a path relative to the workspace, without .. in front"
	}
}
