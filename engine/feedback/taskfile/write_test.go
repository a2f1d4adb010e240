package taskfile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.com/pipe/engine/feedback/taskfile"
)

// hostile are pieces of text that mean something in such a file.
var hostile = []string{
	"\n", "\n\n", "\r\n", "\r", "\t", "    ", " ", "\u00a0", "\u2028", "\x00", "\x1b[31m", "\xff", "\ufeff", "\u202e",
	"#", "# Task Feedback: other", "## Summary", "### Critical", "## Sign-Off", "✅ APPROVED", "✅ APPROVED - Task 1 implementation verified",
	"**Status:** PASS", "**Status:** FAIL", "Status: PASS", "**Attempt:** 5/5", "**Timestamp:** 2020-01-01", "**Critical**", "__Warnings__",
	"- [ ] ", "- [x] ", "* [ ] ", "+ ", "1. ", "2) [ ] ", "[ ]", "[x] ", "[~] ", "> ", "---", "===", "- - -", "***", "|", "~~~", "~~",
	"```", "```go", "`", "``", "` ` `", "`a`", "\\", "\\\\", "\\`", "\\-", "<!--", "-->", "<!-->", "<!-- x -->", "--", "<", ">",
	" - ", " – ", " — ", " - src/a.go:3", " - `my file.go`", " - src/a.go", " - 10:30", ":3", ":3-7", ":", "a.go:7", "./", "/", "C:\\x",
	"{", "}", "{description}", "{description} - {file:line}", "None", "none.", "n/a", "_", "*", "**", "=", "_x_", "implementation verified",
	"漢字かな", "한국어", "é", "e\u0301", "👩‍👩‍👧", "✅\ufe0f", "x", "word", "PASS", "FAIL", " | ", "1", "42", ".", ")", "(", "!", "&lt;", "http://x:80",
}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		out := ""
		for range rapid.IntRange(0, 8).Draw(t, "pieces") {
			if rapid.IntRange(0, 5).Draw(t, "any") == 0 {
				out += rapid.String().Draw(t, "string")
			} else {
				out += rapid.SampledFrom(hostile).Draw(t, "piece")
			}
		}
		return out
	})
}

func issues() *rapid.Generator[[]taskfile.Issue] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) taskfile.Issue {
		i := taskfile.Issue{Description: text().Draw(t, "description"), Done: rapid.Bool().Draw(t, "done")}
		if rapid.Bool().Draw(t, "place") {
			i.File = rapid.OneOf(text(), rapid.SampledFrom([]string{"src/auth.go", "a b.go", "Makefile", "x", ".env", "a`b", "7"})).Draw(t, "file")
			i.Line = rapid.IntRange(-1, 2000).Draw(t, "line")
		}
		return i
	}), 0, 4)
}

func files() *rapid.Generator[taskfile.File] {
	return rapid.Custom(func(t *rapid.T) taskfile.File {
		return taskfile.File{
			Task:        rapid.OneOf(text(), rapid.Just("1.1")).Draw(t, "task"),
			Status:      rapid.SampledFrom([]taskfile.Status{taskfile.Unknown, taskfile.Pass, taskfile.Fail}).Draw(t, "status"),
			Attempt:     rapid.IntRange(-1, 6).Draw(t, "attempt"),
			MaxAttempts: rapid.IntRange(-1, 6).Draw(t, "max"),
			Timestamp:   time.UnixMilli(rapid.Int64Range(-99_999_999_999_999, 399_999_999_999_999).Draw(t, "time")),
			Summary:     text().Draw(t, "summary"),
			Critical:    issues().Draw(t, "critical"), Warnings: issues().Draw(t, "warnings"), Suggestions: issues().Draw(t, "suggestions"),
			SignedOff: rapid.Bool().Draw(t, "signed"),
		}
	})
}

// TestReadsWhatIsWritten holds that no text forges structure: what is read back is the value, cleaned.
func TestReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := files().Draw(t, "file")
		b := taskfile.Write(f)
		got, _ := taskfile.Read(b)
		if diff := cmp.Diff(f.Clean(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-written +read\n%s\n%s", diff, b)
		}
		if again := taskfile.Write(got); string(again) != string(b) {
			t.Fatalf("written again it differs:\n%s\n%s", b, again)
		}
	})
}
