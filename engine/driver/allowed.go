package driver

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
)

// maxListed is how many files a message lists.
const maxListed = 10

// badGlob says what is wrong with the globs of allowed_paths; "" if nothing is.
func badGlob(globs []string) string {
	for _, g := range globs {
		switch clean := path.Clean(g); {
		case strings.TrimSpace(g) == "":
			return "a pattern of allowed_paths is empty, expected one such as \"src/**\""
		case !doublestar.ValidatePattern(g):
			return fmt.Sprintf("allowed_paths %q is no pattern: a bracket is not closed, or a backslash stands at its end", g)
		case path.IsAbs(g) || clean == ".." || strings.HasPrefix(clean, "../"):
			return fmt.Sprintf("allowed_paths %q leads out of the workspace, expected a pattern relative to it, without ..", g)
		}
	}
	return ""
}

// keepInside refuses what a try changed outside of allowed_paths. Nothing is put back: a person, or a later
// stage, sees what was done. The failure of a try that failed anyway stays what it is.
func (t *try) keepInside(ended *step.StageEnded) {
	if len(t.s.AllowedPaths) == 0 || ended.Tree == nil || ended.Class == string(stage.Cancelled) {
		return
	}
	var outside []string
	for _, name := range ended.Tree.Changed {
		if !allowed(t.s.AllowedPaths, name) {
			outside = append(outside, name)
		}
	}
	if len(outside) == 0 {
		return
	}
	why := fmt.Sprintf("changed outside of allowed_paths (%s): %s", quotedList(t.s.AllowedPaths), quotedList(outside))
	if ended.Class != string(stage.OK) {
		ended.Message += "; it also " + why
		return
	}
	ended.Class, ended.Message = string(stage.FailedCheck), "the stage "+why
	ended.Outputs, ended.Result = nil, nil
}

// allowed reports whether a file matches one of the globs. One without wildcards stands for a file, or for a
// folder with all that is in it; so does any with a slash at its end for folders.
func allowed(globs []string, name string) bool {
	for _, g := range globs {
		for strings.HasPrefix(g, "./") {
			g = g[2:]
		}
		if strings.HasSuffix(g, "/") || isLiteral(g) {
			g = strings.TrimRight(g, "/") + "/**"
		}
		if g == "/**" || g == "./**" { // the root itself
			return true
		}
		if ok, err := doublestar.Match(g, name); err == nil && ok {
			return true
		}
	}
	return false
}

// isLiteral reports whether a glob has no wildcards but such as are escaped.
func isLiteral(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return false
		}
	}
	return true
}

// quotedList shows the first names of a list; what would not be seen of them, or is no text, is spelt out.
func quotedList(names []string) string {
	var b strings.Builder
	for i, name := range names[:min(len(names), maxListed)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	if n := len(names) - maxListed; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}
