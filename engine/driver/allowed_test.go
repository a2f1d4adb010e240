package driver

import (
	"fmt"
	"strings"
	"testing"

	"example.com/pipe/engine/step"
)

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		globs string
		yes   string
		no    string
	}{
		{"src/**", "src/a src/b/c src/.hidden", "src2/a a lib/src/a"},
		{"src/*.go", "src/a.go src/.go", "src/b/a.go src/a.gox"},
		{"docs", "docs docs/a docs/b/c", "docs2 x/docs"},
		{"docs/", "docs docs/a", "docs2"},
		{"./docs/*.md", "docs/a.md", "docs/b/a.md"},
		{"*", "a .b", "a/b"},
		{"**", "a a/b/c", ""},
		{".", "a a/b", ""},
		{"a b [x],{c,d}/*", "c/e d/e", "e a"},
		{`src/\[id\]`, "src/[id] src/[id]/page", "src/i"},
		{"build/*/", "build/x/y build/x", "build"},
	} {
		globs := strings.Split(c.globs, ",{")
		if len(globs) > 1 {
			globs[1] = "{" + globs[1]
		}
		if why := badGlob(globs); why != "" {
			t.Errorf("%q: %s", globs, why)
		}
		for _, name := range strings.Fields(c.yes) {
			if !allowed(globs, name) {
				t.Errorf("%q refuses %q", globs, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if allowed(globs, name) {
				t.Errorf("%q allows %q", globs, name)
			}
		}
	}
}

func TestBadGlob(t *testing.T) {
	for glob, want := range map[string]string{
		"":          "is empty",
		"  ":        "is empty",
		"[a":        "is no pattern",
		"{a,b":      "is no pattern",
		`a\`:        "is no pattern",
		"/etc/**":   "leads out of the workspace",
		"..":        "leads out of the workspace",
		"../x/*":    "leads out of the workspace",
		"a/../../b": "leads out of the workspace",
	} {
		if why := badGlob([]string{"ok/**", glob}); !strings.Contains(why, want) {
			t.Errorf("%q: %q, want %q", glob, why, want)
		}
	}
}

func TestKeepInside(t *testing.T) {
	odd := []string{"a b", "quo\"te", "new\nline", "tab\t", "\xff\xfe", "esc\x1b[2J"}
	many := append([]string{}, odd...)
	for i := range 14 {
		many = append(many, fmt.Sprintf("f%02d", i))
	}
	try := &try{s: &step.StageStarted{AllowedPaths: []string{"src/**"}}}
	ended := step.StageEnded{Tree: &step.Tree{Changed: append(many, "src/fine")}}
	try.keepInside(&ended)
	want := `the stage changed outside of allowed_paths ("src/**"): "a b", "quo\"te", "new\nline", "tab\t", "\xff\xfe", "esc\x1b[2J", "f00", "f01", "f02", "f03" and 10 more`
	if ended.Class != "check" || ended.Message != want {
		t.Errorf("%s: %s\nwant %s", ended.Class, ended.Message, want)
	}
	ended = step.StageEnded{Class: "exit", Message: "it ended with status 1", Tree: &step.Tree{Changed: []string{"x"}}}
	try.keepInside(&ended)
	if ended.Class != "exit" || ended.Message != `it ended with status 1; it also changed outside of allowed_paths ("src/**"): "x"` {
		t.Errorf("%s: %s", ended.Class, ended.Message)
	}
	for _, ended := range []step.StageEnded{
		{Class: "cancelled", Tree: &step.Tree{Changed: []string{"x"}}},
		{Tree: &step.Tree{Changed: []string{"src/x"}}},
		{Tree: &step.Tree{}},
	} {
		before := ended
		try.keepInside(&ended)
		if ended.Class != before.Class || ended.Message != "" {
			t.Errorf("%+v became %+v", before, ended)
		}
	}
}
