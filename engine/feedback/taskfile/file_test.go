package taskfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/value"
)

// TestJSON holds the form for programs to the document's, to the letter.
func TestJSON(t *testing.T) {
	for _, c := range []struct {
		f    taskfile.File
		want string
	}{
		{taskfile.File{Status: taskfile.Pass, SignedOff: true, Attempt: 2, MaxAttempts: 5}, `{
  "status": "PASS",
  "signedOff": true,
  "attempt": 2,
  "maxAttempts": 5,
  "issues": {
    "critical": 0,
    "warnings": 0
  },
  "shouldContinue": false
}
`},
		{taskfile.File{}, `{
  "status": "UNKNOWN",
  "signedOff": false,
  "attempt": null,
  "maxAttempts": null,
  "issues": {
    "critical": 0,
    "warnings": 0
  },
  "shouldContinue": true
}
`},
	} {
		got, err := c.f.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		status        taskfile.Status
		signed        bool
		attempt, most int
		want          string
	}{
		{taskfile.Pass, false, 1, 5, "true PASS"},
		{taskfile.Fail, true, 1, 5, "true PASS"},
		{taskfile.Pass, false, 5, 5, "true PASS"},
		{taskfile.Fail, false, 4, 5, "false CONTINUE"},
		{taskfile.Fail, false, 5, 5, "true MAX_ATTEMPTS"},
		{taskfile.Fail, false, 6, 5, "true MAX_ATTEMPTS"},
		{taskfile.Unknown, false, 5, 5, "true MAX_ATTEMPTS"},
		{taskfile.Fail, false, 5, 0, "false CONTINUE"},
		{taskfile.Fail, false, 0, 5, "false CONTINUE"},
		{taskfile.Fail, false, 0, 0, "false CONTINUE"},
		{taskfile.Unknown, false, 0, 0, "false CONTINUE"},
	} {
		f := taskfile.File{Status: c.status, SignedOff: c.signed, Attempt: c.attempt, MaxAttempts: c.most}
		ends, why := f.Exit()
		if got := fmt.Sprint(ends, " ", why); got != c.want {
			t.Errorf("%v signed=%t %d/%d: %s, want %s", c.status, c.signed, c.attempt, c.most, got, c.want)
		}
	}
}

// TestItems gives what is open, and a fail never without something that blocks.
func TestItems(t *testing.T) {
	open := []taskfile.Issue{{Description: "a", File: "a.go", Line: 3}, {Description: "done", Done: true}}
	for name, c := range map[string]struct {
		f    taskfile.File
		want []string
	}{
		"all three": {
			taskfile.File{Status: taskfile.Fail, Critical: open, Warnings: []taskfile.Issue{{Description: "b"}}, Suggestions: []taskfile.Issue{{Description: "c"}}},
			[]string{"blocking a.go:3 a []", "advisory :0 b []", "informational :0 c []"},
		},
		"fail by the summary": {taskfile.File{Status: taskfile.Fail, Summary: "it is slow", Critical: open[1:]}, []string{"blocking :0 it is slow []"}},
		"fail without a word": {taskfile.File{Status: taskfile.Fail}, []string{"blocking :0 the feedback file says FAIL and does not say why []"}},
		"pass":                {taskfile.File{Status: taskfile.Pass, Summary: "fine"}, nil},
		"pass with critical": {taskfile.File{Status: taskfile.Pass, Critical: open},
			[]string{"advisory a.go:3 a [critical, but the feedback file says that the work passes]"}},
		"fail signed off": {taskfile.File{Status: taskfile.Fail, SignedOff: true, Critical: open},
			[]string{"advisory a.go:3 a [critical, but the feedback file says that the work passes]"}},
	} {
		var got []string
		for _, i := range c.f.Items() {
			got = append(got, fmt.Sprint(i.Severity, " ", i.File, ":", i.Line, " ", i.Description, " ", i.Flags))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ prd, name, task, want string }{
		{"001", "user-auth", "1.1", ".tot-docs/001-user-auth/task-1.1-feedback.md"},
		{"001", "user-auth", "task-1.1", ".tot-docs/001-user-auth/task-1.1-feedback.md"},
		{"001", "user-auth", "task-task-1", ".tot-docs/001-user-auth/task-task-1-feedback.md"},
		{"7", "größe", "a b", ".tot-docs/7-größe/task-a b-feedback.md"},
		{"../x", "n", "1", `the PRD "../x" holds a "/"`},
		{"001", `a\b`, "1", `the name "a\\b" holds a "/" or "\"`},
		{"001", "n", "../../etc", `the task "../../etc" holds`},
		{"..", "n", "1", `holds ".."`},
		{"", "n", "1", "the PRD is empty"},
		{"001", " ", "1", "the name is empty"},
		{"001", "n", "1\n2", "can't be seen"},
		{"001", "n", "\xff", "is not UTF-8"},
		{"001", "n", " 1", "begins or ends with a space"},
		{"001", "n", "task-", "has no id behind it"},
		{"001", "n", strings.Repeat("x", 101), "longer than 100 bytes"},
	} {
		got, err := taskfile.Path(c.prd, c.name, c.task)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && got != c.want {
			t.Errorf("%q %q %q: %s, want %s", c.prd, c.name, c.task, got, c.want)
		}
	}
}

func TestFindFolder(t *testing.T) {
	names := []string{"0012-other", "001-user-auth", "002-b", "002-a", "tasks", "003-", "-x"}
	for prd, want := range map[string]string{
		"001": "001-user-auth", "0012": "0012-other", "00": "there is no folder", "003": "there is no folder",
		"002": `PRD "002" has several folders in .tot-docs: 002-a, 002-b`, "*": "there is no folder", "": "the PRD is empty",
	} {
		got, err := taskfile.FindFolder(prd, names)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || errors.Is(err, taskfile.ErrNoFolder) != strings.HasPrefix(want, "there is no") {
			t.Errorf("%q: %s, want %s", prd, got, want)
		}
	}
}

func TestFromAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		`{"status": "FAIL", "summary": "s", "critical": ["no check - a.go:3", {"description": "d", "file": "b c", "line": 4, "severity": "high"}], "warnings": "w", "suggestions": null, "notes": 1}`: `FAIL "s" [{no check a.go 3 false} {d b c 4 false}] [{w  0 false}] []`,
		`{"status": "pass", "attempt": 2, "maxAttempts": 5, "signedOff": true, "critical": [], "timestamp": "2025-01-02T03:04:05Z"}`:                                                                  `PASS "" [] [] []`,
		`[]`:                                     "expected an object with status",
		`{}`:                                     "status: missing",
		`{"status": "FAILED"}`:                   `status: "FAILED" is not known, expected "PASS" or "FAIL"`,
		`{"status": 1}`:                          "status: expected text, found integer 1",
		`{"status": "FAIL", "criticals": ["x"]}`: `criticals: not known, did you mean "critical"?`,
		`{"status": "FAIL", "critical": [7]}`:    "critical[0]: expected a text, or an object",
		`{"status": "FAIL", "critical": ["a", " "]}`:                          "critical[1]: no description",
		`{"status": "FAIL", "critical": {"x": 1}}`:                            "critical: expected a list",
		`{"status": "FAIL", "warnings": [{"descripton": "x"}]}`:               "warnings[0]: no description",
		`{"status": "FAIL", "warnings": [{"description": "x", "line": "3"}]}`: "warnings[0].line: expected a line number",
		`{"status": "FAIL", "attempt": 0}`:                                    "attempt: expected a whole number from 1",
		`{"status": "FAIL", "signedOff": "yes"}`:                              "signedOff: expected true or false",
		`{"status": "FAIL", "timestamp": "now"}`:                              "timestamp: \"now\" can't be read",
	} {
		v, err := value.DecodeJSON([]byte(answer))
		if err != nil {
			t.Fatal(err)
		}
		f, err := taskfile.FromAnswer(v)
		got := fmt.Sprintf("%v %q %v %v %v", f.Status, f.Summary, f.Critical, f.Warnings, f.Suggestions)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

func TestFromItems(t *testing.T) {
	f := taskfile.FromItems(feedback.Result{Summary: "s", Items: []feedback.Item{
		{Severity: feedback.Informational, Description: "i"},
		{Severity: feedback.Blocking, Description: "b", File: "a.go", Line: 2, SuggestedFix: "do it"},
		{Severity: feedback.Advisory, Description: "a"},
	}})
	got := fmt.Sprintf("%v %q %v %v %v", f.Status, f.Summary, f.Critical, f.Warnings, f.Suggestions)
	if want := `FAIL "s" [{b Fix: do it a.go 2 false}] [{a  0 false}] [{i  0 false}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if f := taskfile.FromItems(feedback.Result{}); f.Status != taskfile.Pass || f.Check() != nil {
		t.Errorf("no items: %+v", f)
	}
}

func TestCheck(t *testing.T) {
	one := []taskfile.Issue{{Description: "x"}}
	for want, f := range map[string]taskfile.File{
		"there is no status":                 {Summary: "s"},
		"only what passes is signed off":     {Status: taskfile.Fail, Summary: "s", SignedOff: true},
		"nothing says why":                   {Status: taskfile.Fail, Critical: []taskfile.Issue{{Description: "none"}}, Suggestions: one},
		"the status is PASS with 1 critical": {Status: taskfile.Pass, Critical: one},
		"beyond the last":                    {Status: taskfile.Pass, Attempt: 6, MaxAttempts: 5},
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", f, err, want)
		}
	}
	for _, f := range []taskfile.File{
		{Status: taskfile.Fail, Summary: "s"}, {Status: taskfile.Fail, Warnings: one}, {Status: taskfile.Fail, Critical: one},
		{Status: taskfile.Pass}, {SignedOff: true}, {Status: taskfile.Pass, Critical: []taskfile.Issue{{Description: "x", Done: true}}},
	} {
		if err := f.Check(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// TestWrite holds the form that is written to the document's.
func TestWrite(t *testing.T) {
	got := string(taskfile.Write(taskfile.File{
		Task: "1.1", Status: taskfile.Fail, Attempt: 2, MaxAttempts: 5, Summary: "# two\nthings",
		Critical:    []taskfile.Issue{{Description: "no `check` of C:\\_x", File: "src/auth.go", Line: 42}, {Description: "see - b.go:1"}},
		Warnings:    []taskfile.Issue{{Description: "slow", File: "my notes.md"}, {Description: "fixed", Done: true}},
		Suggestions: []taskfile.Issue{{Description: "- measure"}},
	}))
	want := `# Task Feedback: 1.1

**Status:** FAIL
**Attempt:** 2/5

## Summary

\# two things

## Issues

### Critical

- [ ] no \` + "`check\\`" + ` of C:\\_x - src/auth.go:42
- [ ] see \- b.go\:1

### Warnings

- [ ] slow - ` + "`./my notes.md`" + `
- [x] fixed

## Suggestions

- \- measure
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	got = string(taskfile.Write(taskfile.File{Task: "1.1", Status: taskfile.Pass, SignedOff: true}))
	want = "# Task Feedback: 1.1\n\n**Status:** PASS\n\n## Sign-Off\n\n✅ APPROVED - Task 1.1 implementation verified\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWriteIsBounded writes a file that is never too large to be read.
func TestWriteIsBounded(t *testing.T) {
	long := strings.Repeat("`\\", 1500)
	f := taskfile.File{Status: taskfile.Fail, Task: long, Summary: long}
	for range 600 {
		f.Warnings = append(f.Warnings, taskfile.Issue{Description: long, File: strings.Repeat("漢", 2500), Line: 1})
		f.Critical = append(f.Critical, taskfile.Issue{Description: strings.Repeat("漢", 2500), File: long, Line: 1})
	}
	b := taskfile.Write(f)
	got, warnings := taskfile.Read(b)
	if len(b) > taskfile.MaxSize || len(got.Critical) != 600 || len(got.Warnings) != 400 || len(warnings) > 0 ||
		!strings.HasSuffix(got.Summary, " (200 more findings are left out)") {
		t.Errorf("%d bytes, %d critical, %d warnings, %v", len(b), len(got.Critical), len(got.Warnings), warnings)
	}
}
