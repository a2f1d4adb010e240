package taskfile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/value"
)

// answerFields are what an answer may hold.
var answerFields = []string{"status", "summary", "critical", "warnings", "suggestions", "attempt", "maxAttempts", "task", "timestamp", "signedOff"}

// FromAnswer reads what a validator answers instead of writing a file:
//
//	{"status": "FAIL", "summary": "…", "critical": ["text - src/auth.go:42", {"description": "…", "file": "…", "line": 7}],
//	 "warnings": [], "suggestions": []}
//
// Only the status is required; attempt, maxAttempts, task, timestamp and signedOff may be there too. Texts are no
// Markdown. What can't be read is an error that names the field, and so is a name that is nearly a known one: no
// finding is lost by a slip. Other fields are left alone. Check says whether what was read can be taken.
func FromAnswer(v value.Value) (File, error) {
	o, ok := v.(*value.Object)
	if !ok {
		return File{}, fmt.Errorf("expected an object with status, summary, critical, warnings and suggestions, found %s", value.Describe(v))
	}
	var f File
	for name, v := range o.All() {
		if err := f.set(name, v); err != nil {
			return File{}, err
		}
	}
	if f.Status == Unknown {
		return File{}, errors.New(`status: missing, expected "PASS" or "FAIL"`)
	}
	return f, nil
}

func (f *File) set(name string, v value.Value) (err error) {
	switch name {
	case "status":
		f.Status, err = readStatus(v)
	case "summary":
		f.Summary, err = readText(name, v)
	case "task":
		f.Task, err = readText(name, v)
	case "critical":
		f.Critical, err = readIssues(name, v)
	case "warnings":
		f.Warnings, err = readIssues(name, v)
	case "suggestions":
		f.Suggestions, err = readIssues(name, v)
	case "attempt":
		f.Attempt, err = readNumber(name, v)
	case "maxAttempts":
		f.MaxAttempts, err = readNumber(name, v)
	case "signedOff":
		f.SignedOff, err = readBool(name, v)
	case "timestamp":
		var text string
		if text, err = readText(name, v); err == nil && text != "" {
			if f.Timestamp, err = time.Parse(time.RFC3339, text); err != nil {
				err = fmt.Errorf("timestamp: %q can't be read, expected one as in 2006-01-02T15:04:05Z", clip(text, 40))
			}
		}
	default:
		if hint := diag.Suggest(name, answerFields); hint != "" {
			err = fmt.Errorf("%s: not known, %s", clip(oneLine(name), 60), hint)
		}
	}
	return err
}

func readStatus(v value.Value) (Status, error) {
	text, err := readText("status", v)
	if err != nil {
		return Unknown, err
	}
	return ParseStatus(text)
}

// ParseStatus reads a status in any case.
func ParseStatus(text string) (Status, error) {
	switch strings.ToUpper(strings.TrimSpace(text)) {
	case "PASS":
		return Pass, nil
	case "FAIL":
		return Fail, nil
	}
	return Unknown, fmt.Errorf(`status: %q is not known, expected "PASS" or "FAIL"`, clip(text, 40))
}

// readText reads a text that may be null.
func readText(name string, v value.Value) (string, error) {
	switch s := v.(type) {
	case nil:
		return "", nil
	case string:
		return s, nil
	}
	return "", fmt.Errorf("%s: expected text, found %s", name, value.Describe(v))
}

// readNumber reads a number that may be null.
func readNumber(name string, v value.Value) (int, error) {
	switch n := v.(type) {
	case nil:
		return 0, nil
	case int64:
		if n >= 1 && n <= maxAttempts {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("%s: expected a whole number from 1 to %d, found %s", name, maxAttempts, value.Describe(v))
}

func readBool(name string, v value.Value) (bool, error) {
	switch b := v.(type) {
	case nil:
		return false, nil
	case bool:
		return b, nil
	}
	return false, fmt.Errorf("%s: expected true or false, found %s", name, value.Describe(v))
}

// readIssues reads a list of texts and objects, or a single text.
func readIssues(name string, v value.Value) ([]Issue, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		return []Issue{NewIssue(v)}, nil
	case value.List:
		var out []Issue
		for n, entry := range v {
			i, err := readIssue(fmt.Sprintf("%s[%d]", name, n), entry)
			if err != nil {
				return nil, err
			}
			out = append(out, i)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s: expected a list of findings, found %s", name, value.Describe(v))
}

func readIssue(at string, v value.Value) (i Issue, err error) {
	switch v := v.(type) {
	case string:
		i = NewIssue(v)
	case *value.Object:
		for name, v := range v.All() {
			switch name {
			case "description":
				i.Description, err = readText(at+".description", v)
			case "file":
				i.File, err = readText(at+".file", v)
			case "line":
				if n, ok := v.(int64); ok && n >= 1 && n <= 999_999_999 {
					i.Line = int(n)
				} else if v != nil {
					err = fmt.Errorf("%s.line: expected a line number or null, found %s", at, value.Describe(v))
				}
			}
			if err != nil {
				return i, err
			}
		}
	default:
		return i, fmt.Errorf("%s: expected a text, or an object with description, file and line, found %s", at, value.Describe(v))
	}
	if strings.TrimSpace(i.Description) == "" {
		return i, fmt.Errorf("%s: no description, expected what is wrong", at)
	}
	return i, nil
}

// NewIssue makes an issue of a text that may end with its place: "the password is not checked - src/auth.go:42".
func NewIssue(text string) Issue {
	description, file, line := splitPlain(strings.TrimSpace(text))
	return Issue{Description: description, File: file, Line: line}
}

// FromItems makes a file of the items of a review: blocking ones are Critical, and one of them makes it fail.
func FromItems(r feedback.Result) File {
	f := File{Status: Pass, Summary: r.Summary}
	for i := range r.Items {
		item := &r.Items[i]
		issue := Issue{Description: item.Description, File: item.File, Line: item.Line}
		if item.SuggestedFix != "" {
			issue.Description += " Fix: " + item.SuggestedFix
		}
		switch item.Severity {
		case feedback.Advisory:
			f.Warnings = append(f.Warnings, issue)
		case feedback.Informational:
			f.Suggestions = append(f.Suggestions, issue)
		case feedback.Blocking, feedback.UnknownSeverity:
			f.Critical, f.Status = append(f.Critical, issue), Fail
		}
	}
	return f
}

// Check says why a file must not be written: one that fails has to say why, and one that passes has nothing open
// under Critical. It looks at what Write would write.
func (f *File) Check() error {
	c := f.Clean()
	open := Open(c.Critical)
	switch {
	case c.Status == Unknown:
		return errors.New(`there is no status, expected "PASS" or "FAIL"`)
	case c.Status == Fail && c.SignedOff:
		return errors.New("the status is FAIL, and only what passes is signed off")
	case c.Status == Fail && open == 0 && Open(c.Warnings) == 0 && c.Summary == "":
		return errors.New("the status is FAIL and nothing says why, expected a finding or a summary")
	case c.Status == Pass && open > 0:
		return fmt.Errorf("the status is PASS with %d critical, expected FAIL, or no critical findings", open)
	case f.MaxAttempts > 0 && f.Attempt > f.MaxAttempts:
		return fmt.Errorf("the attempt %d is beyond the last, %d", f.Attempt, f.MaxAttempts)
	}
	return nil
}
