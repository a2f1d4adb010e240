package driver

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
)

// The names of feedback files in the folder of a validation: the one that lay in the workspace before, which the
// validation finds in its scratch folder, and a copy of the one that it wrote itself.
const (
	previousFileName = "previous-feedback.md"
	ownFileName      = "own-feedback.md"
)

// isValidation reports whether the stage validates what a refine loop made.
func (t *try) isValidation() bool { return t.node.Refine != nil }

// readDocument reads what the stage left on its result channel.
func (t *try) readDocument(v value.Value) (feedback.Result, error) {
	if t.isValidation() {
		return taskfile.ReadResult(v, t.s.Stage)
	}
	return feedback.ReadResult(v, t.s.Stage)
}

// clearFeedbackFile sees to it that the feedback file of a refine loop lies where one may, and moves the one of an
// earlier attempt out of the way of what validates: what is there afterwards is its own.
func (t *try) clearFeedbackFile() (*step.StageEnded, error) {
	name := t.s.FeedbackFile
	if name == "" {
		return nil, nil
	}
	if why := whyNoFeedbackFile(name); why != "" {
		return refuse(stage.PermissionDenied, "feedback_file %q %s", name, why), nil
	}
	if !t.isValidation() {
		return nil, nil
	}
	old, err := workspace.ReadInside(t.root(), path.Clean(name), taskfile.MaxSize)
	switch {
	case err == nil:
		if err := writeNew(filepath.Join(t.f.path(scratchName), previousFileName), old); err != nil {
			return nil, storage("put aside the feedback file in", t.f.path(""), err)
		}
	case isMissing(err):
		return nil, nil
	}
	err = removeInside(t.root(), path.Clean(name))
	if err == nil { // what is no file, and what a link leads out to, is still there
		if _, err = workspace.ReadInside(t.root(), path.Clean(name), taskfile.MaxSize); isMissing(err) {
			return nil, nil
		}
		err = explain(err, taskfile.MaxSize)
	}
	return refuse(stage.PermissionDenied, "what lies at feedback_file %q can't be put aside: %v", name, err), nil
}

// whyNoFeedbackFile says why no feedback file may have this name; "" if one may.
func whyNoFeedbackFile(name string) string {
	clean := path.Clean(name)
	reserved := workspace.Reserved(clean)
	switch {
	case strings.ContainsRune(name, 0):
		return "holds a zero byte, which no file's name does"
	case !filepath.IsLocal(filepath.FromSlash(clean)) || strings.HasPrefix(name, "/"):
		return "must lie in the workspace"
	case clean == "." || strings.HasSuffix(name, "/"):
		return "must name a file"
	case reserved != "":
		return fmt.Sprintf("must not lie in %s", reserved)
	}
	return ""
}

// orOwnFile gives what a validation said on its result channel, or else in the feedback file that it wrote itself. Where
// it did both, its file is removed: the engine's takes its place.
func (t *try) orOwnFile(given *feedback.Result) (*feedback.Result, error) {
	if given == nil {
		return t.ownFile()
	}
	if t.s.FeedbackFile != "" {
		// What can't be removed is in the way of the engine's file, which is warned of.
		_ = removeInside(t.root(), path.Clean(t.s.FeedbackFile))
	}
	return given, nil
}

// ownFile reads the feedback file that a validation wrote itself, instead of an answer; nil: there is none. A copy in
// its folder says that it is its own, and is not written over.
func (t *try) ownFile() (*feedback.Result, error) {
	if t.s.FeedbackFile == "" {
		return nil, nil
	}
	b, err := workspace.ReadInside(t.root(), path.Clean(t.s.FeedbackFile), taskfile.MaxSize)
	switch {
	case isMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the feedback file %q can't be read: %w", t.s.FeedbackFile, explain(err, taskfile.MaxSize))
	}
	file, warnings := taskfile.Read(b)
	if file.Verdict() == taskfile.Unknown {
		why := make([]string, 0, len(warnings))
		for _, w := range warnings {
			why = append(why, w.String())
		}
		return nil, fmt.Errorf("the feedback file %q says neither PASS nor FAIL: %s", t.s.FeedbackFile, strings.Join(why, "; "))
	}
	if err := writeNew(t.f.path(ownFileName), b); err != nil {
		return nil, fmt.Errorf("the feedback file %q can't be kept: %w", t.s.FeedbackFile, err)
	}
	return &feedback.Result{Summary: file.Summary, Items: file.Items()}, nil
}

// noAnswer says how a review gives its items.
func (t *try) noAnswer() string {
	if !t.isValidation() {
		return fmt.Sprintf("the review left no items: it must write them to %s; a clean review writes []", t.where())
	}
	how := fmt.Sprintf(`{"status": "PASS"}, or FAIL with summary and critical, to %s`, t.where())
	if t.s.FeedbackFile != "" {
		how += ", or the feedback file to $PIPE_FEEDBACK_FILE"
	}
	return "the validation left no answer: it must write " + how
}
