package convert

import (
	"fmt"
	"io"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/taskfile"
)

// saidWarnings is how many warnings about a feedback file its summary repeats.
const saidWarnings = 3

// markdown reads the feedback file of a task. One that fails blocks, also without a word; one that passes has
// nothing that blocks unless the input says so of its warnings; one that does neither is no review.
func markdown(f *findings) error {
	if f.in.Stdout == nil {
		return noReview("there is no report")
	}
	data, err := io.ReadAll(io.LimitReader(f.in.Stdout, taskfile.MaxSize+1))
	if err != nil {
		return f.notRead(fmt.Errorf("read report: %w", err))
	}
	file, warnings := taskfile.Read(data)
	if file.Verdict() == taskfile.Unknown {
		return noReview("the feedback file says neither PASS nor FAIL%s", warned(warnings))
	}
	failed := file.Verdict() == taskfile.Fail
	bySummary := failed && taskfile.Open(file.Critical) == 0 // its one blocking item stands for the word FAIL
	for _, item := range file.Items() {
		item.File = f.placeFile(item.File)
		item.Description = clip(item.Description, maxText)
		switch {
		case item.Severity == feedback.Blocking && !bySummary:
			item.Severity = f.severity("critical")
		case item.Severity == feedback.Advisory && len(item.Flags) == 0:
			item.Severity = f.severity("warning")
		case item.Severity == feedback.Informational:
			item.Severity = f.severity("suggestion")
		}
		f.add(item, cmpRule("markdown", "", item.Description))
	}
	if f.summary = clip(file.Summary, maxText); f.summary == "" {
		f.summary = fmt.Sprintf("%s, %d findings", file.Verdict(), len(f.items)+f.dropped)
	}
	f.summary += warned(warnings)
	return nil
}

// warned repeats the first warnings about a file.
func warned(warnings []taskfile.Warning) string {
	var out []string
	for _, w := range warnings[:min(len(warnings), saidWarnings)] {
		out = append(out, w.String())
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
