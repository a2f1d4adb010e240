package wordcount

import (
	"slices"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{" \n", 0},
		{"one two\n", 2},
		{"  spaced\tout \n\n words ", 3},
		{"no line end", 3},
	} {
		if got := Count(c.text); got != c.want {
			t.Errorf("Count(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

func TestTop(t *testing.T) {
	text := "the cat and The dog and the bird"
	for _, c := range []struct {
		n    int
		want []string
	}{
		{1, []string{"the"}},
		{3, []string{"the", "and", "bird"}},
		{9, []string{"the", "and", "bird", "cat", "dog"}},
	} {
		if got := Top(text, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Top(text, %d) = %q, want %q", c.n, got, c.want)
		}
	}
}
