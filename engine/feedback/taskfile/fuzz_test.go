package taskfile_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback/taskfile"
)

// FuzzRead reads anything, and holds that it can be shown, written and read again, and that no pass comes out of a
// file without the word for one.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, warnings := taskfile.Read(data)
		if utf8.Valid(data) && !strings.HasPrefix(string(data), "\xff\xfe") && !strings.HasPrefix(string(data), "\xfe\xff") &&
			got.Verdict() == taskfile.Pass && !strings.Contains(strings.ToUpper(string(data)), "PASS") && !strings.Contains(strings.ToUpper(string(data)), "APPROVED") {
			t.Errorf("a pass out of nothing: %+v", got)
		}
		if got.Verdict() == taskfile.Unknown && len(warnings) == 0 {
			t.Error("unknown, and nothing says why")
		}
		for _, w := range warnings {
			if !utf8.ValidString(w.Text) || len(w.Text) > 1000 {
				t.Errorf("warning %q", w.Text)
			}
		}
		for _, i := range append(append(got.Critical, got.Warnings...), got.Suggestions...) {
			if i.Description == "" || !utf8.ValidString(i.Description) {
				t.Errorf("issue %+v", i)
			}
		}
		want := got.Clean()
		again, _ := taskfile.Read(taskfile.Write(got))
		if diff := cmp.Diff(want, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-written +read\n%s", diff)
		}
	})
}

// TestReadIsLinear reads large hostile files in a time that grows with their size and not with its square.
func TestReadIsLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"comments": "a <!-- b ", "comment lines": "a <!-- b\n", "closed": "<!--->", "backticks": "`` ` ```", "boxes": "- [ ] x - a.go:1\n",
		"fences": "```\n", "dashes": " - ", "headings": "# Critical\n", "braces": "{", "stars": "*", "backslashes": "\\", "setext": "a\n-\n",
		"fields": "Status: ", "tildes": "~~", "brackets": "### Critical (", "deep": "  - [ ] x\n      y\n", "quotes": "> ",
	} {
		data := []byte("**Status:** FAIL\n### Critical\n- [ ] " + strings.Repeat(piece, (1<<18)/len(piece)))
		began := time.Now()
		taskfile.Read(data)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: %s for a quarter of a megabyte", name, took)
		}
	}
	runs := new(strings.Builder)
	for n := range 800 { // each run of backticks has another length: none ends another
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	began := time.Now()
	taskfile.Read([]byte("- [ ] " + runs.String() + "<!--"))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("runs of backticks: %s", took)
	}
}
