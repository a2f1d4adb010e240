package feedback

import "testing"

// TestMarkdownName holds names to the bold text in which they stand.
func TestMarkdownName(t *testing.T) {
	for in, want := range map[string]string{
		"src/a.go":       "src/a.go",
		"a*b":            `a\*b`,
		`a\**`:           `a\\\*\*`,
		`a\`:             `a\\`,
		"a`b":            "a\\`b",
		"<img src=x>.go": `\<img src=x>.go`,
	} {
		if got := markdownName(in); got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
	}
}
