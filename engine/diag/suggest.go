package diag

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxName is the longest name for which suggestions are looked for: no key or id that an author meant is
// longer, and the cost grows with the square of the length.
const maxName = 64

// Suggest returns `did you mean "x"?` for the candidate that name most likely stands for, or "". Of equally
// near candidates the first wins.
func Suggest(name string, candidates []string) string {
	if best := Nearest(name, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// Nearest returns the candidate that Suggest names, or "".
func Nearest(name string, candidates []string) string {
	if name == "" || len(name) > maxName {
		return ""
	}
	limit := max(1, (len(name)+1)/3)
	best, bestAt := "", limit+1
	plain := fold(name)
	for _, c := range candidates {
		if c == "" || c == name || len(c) > maxName {
			continue
		}
		if d := distance(name, plain, c, bestAt); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// distance counts edits. A name that differs only in case, dashes and underscores is at 0, a swap of two
// neighbours or a beginning of at least three letters at 1.
func distance(name, plain, candidate string, below int) int {
	switch {
	case fold(candidate) == plain:
		return 0
	case swapped(name, candidate), len(name) >= 3 && strings.HasPrefix(candidate, name):
		return 1
	case len(name)-len(candidate) >= below, len(candidate)-len(name) >= below:
		return below // it takes at least as many edits as the lengths differ
	}
	d := levenshtein.ComputeDistance(name, candidate)
	if d >= max(len(name), len(candidate)) {
		return below // nothing in common
	}
	return d
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// swapped reports whether one exchange of neighbours turns a into b.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
