package view

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"", 20, ""},
		{"a line that fits", 16, "a line that fits"},
		{"a line that doesn't fit here", 20, "a line that doesn't\n    fit here"},
		{"as long as it is", 0, "as long as it is"},
		{"a longwordthatnolinewouldtake b", 12, "a\n    longwordthatnolinewouldtake\n    b"},
		{"two  blanks and more of them", 14, "two  blanks\n    and more\n    of them"},
		{"ümläüte zählen einfach", 15, "ümläüte zählen\n    einfach"},
	} {
		if got := Wrap(c.line, c.width); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

// TestWrapLosesNothing joins what was broken, and measures it.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-zé=]{0,12}`)).Draw(t, "words"), " ")
		width := rapid.IntRange(9, 40).Draw(t, "width")
		got := Wrap(line, width)
		if back := strings.ReplaceAll(got, "\n"+wrapIndent, " "); back != line {
			t.Fatalf("%q became %q", line, got)
		}
		for l := range strings.SplitSeq(got, "\n") {
			if columns(l) > width && strings.Contains(strings.TrimPrefix(l, wrapIndent), " ") {
				t.Fatalf("%q is longer than %d", l, width)
			}
		}
	})
}
