package workspace

import "testing"

func TestReserved(t *testing.T) {
	for path, want := range map[string]string{
		"notes/f.md": "", "a.git/f.md": "", ".github/f.md": "", "docs/.pipe/f.md": "",
		".git/f.md": ".git", ".Git/config": ".Git", "vendor/x/.git/hooks/pre-commit": ".git", ".pipe/runs/r": ".pipe", ".PIPE/x": ".PIPE",
	} {
		if got := Reserved(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
