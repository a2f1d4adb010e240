package taskfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/pipe/engine/feedback/taskfile"
)

var update = flag.Bool("update", false, "write what is read into testdata")

// dump is a file in full, with the decision and the warnings.
func dump(t *testing.T, f taskfile.File, warnings []taskfile.Warning) string {
	t.Helper()
	var b strings.Builder
	j, err := f.JSON()
	if err != nil {
		t.Fatal(err)
	}
	ends, why := f.Exit()
	fmt.Fprintf(&b, "%sends=%t %s\ntask=%q summary=%q", j, ends, why, f.Task, f.Summary)
	if !f.Timestamp.IsZero() {
		fmt.Fprintf(&b, " timestamp=%s", f.Timestamp.Format("2006-01-02T15:04:05Z07:00"))
	}
	b.WriteString("\n")
	for _, list := range []struct {
		name   string
		issues []taskfile.Issue
	}{{"critical", f.Critical}, {"warning", f.Warnings}, {"suggestion", f.Suggestions}} {
		for _, i := range list.issues {
			mark := " "
			if i.Done {
				mark = "x"
			}
			fmt.Fprintf(&b, "%s [%s] %q %s:%d\n", list.name, mark, i.Description, i.File, i.Line)
		}
	}
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// TestFiles reads files as people write them.
func TestFiles(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) == 1 {
				a.Files = append(a.Files, txtar.File{Name: "want"})
			}
			f, warnings := taskfile.Read(a.Files[0].Data)
			got := dump(t, f, warnings)
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, c := range []struct{ name, from, to string }{{"CRLF", "\n", "\r\n"}, {"CR", "\n", "\r"}, {"trailing spaces", "\n", " \t\n"}} {
				changed, warned := taskfile.Read([]byte(strings.ReplaceAll(string(a.Files[0].Data), c.from, c.to)))
				if diff := cmp.Diff(got, dump(t, changed, warned)); diff != "" {
					t.Errorf("with %s it reads otherwise\n%s", c.name, diff)
				}
			}
		})
	}
}

// TestEncodings reads a file in each encoding that editors and shells write.
func TestEncodings(t *testing.T) {
	text := "# Task Feedback: é\n\n**Status:** FAIL\n\n### Critical\n- [ ] größer - a.go:1\n"
	want, _ := taskfile.Read([]byte(text))
	utf16s := func(mark string, low, high int) string {
		b := []byte(mark)
		for _, u := range utf16.Encode([]rune(text)) {
			pair := [2]byte{byte(u), byte(u >> 8)}
			b = append(b, pair[low], pair[high])
		}
		return string(b)
	}
	for name, data := range map[string]string{
		"BOM": "\ufeff" + text, "UTF-16LE": utf16s("\xff\xfe", 0, 1), "UTF-16BE": utf16s("\xfe\xff", 1, 0),
	} {
		got, warnings := taskfile.Read([]byte(data))
		if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
			t.Errorf("%s: %v\n%s", name, warnings, diff)
		}
	}
	got, warnings := taskfile.Read([]byte("**Status:** FAIL\n\n## Summary\nPr\xfcfung\n"))
	if got.Status != taskfile.Fail || got.Summary != "Pr\uFFFDfung" || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "UTF-8") {
		t.Errorf("Latin-1: %+v, %v", got, warnings)
	}
}

// TestMalformed gives UNKNOWN, with the reason, and goes on.
func TestMalformed(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"empty":    {"", "the file is empty"},
		"blank":    {" \r\n\t\n", "the file is empty"},
		"only BOM": {"\ufeff", "the file is empty"},
		"binary":   {"\x7fELF\x00\x00**Status:** PASS\n", "not text"},
		"large":    {strings.Repeat("x", taskfile.MaxSize+1), "larger than"},
		"lines":    {"**Status:** PASS\n" + strings.Repeat("\r", 100_001), "more than 100000 lines"},
		"prose":    {"All is well.\n", "neither a line"},
		"comment":  {"<!--\n**Status:** PASS\n", "no end"},
		"fence":    {"```\n**Status:** PASS\n", "no end"},
		"json":     {`{"status": "PASS"}`, "neither a line"},
	} {
		f, warnings := taskfile.Read([]byte(c.data))
		if ends, why := f.Exit(); f.Status != taskfile.Unknown || ends || why != taskfile.Continue {
			t.Errorf("%s: %+v", name, f)
		}
		if !strings.Contains(fmt.Sprint(warnings), c.want) {
			t.Errorf("%s: warnings %v, want %q", name, warnings, c.want)
		}
	}
}

// TestManyWarnings holds a hostile file to a bounded number of them.
func TestManyWarnings(t *testing.T) {
	_, warnings := taskfile.Read([]byte("**Status:** FAIL\n### Critical\n" + strings.Repeat("- no box\n", 5000)))
	if len(warnings) != 21 || !strings.HasSuffix(warnings[20].Text, "more warnings are not shown") {
		t.Errorf("%d warnings, the last %v", len(warnings), warnings[len(warnings)-1])
	}
}
