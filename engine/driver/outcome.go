package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
	"example.com/pipe/specs/data"
)

// maxFeedback is the size that a document of items may have.
const maxFeedback = data.MaxJSON

// read makes an event of what a try left: exit status, then outputs, then items.
func (t *try) read(out *stage.Outcome) step.StageEnded {
	ended := step.StageEnded{Class: string(out.Class), Message: out.Message}
	if out.ExitCode >= 0 {
		code := out.ExitCode
		ended.ExitCode = &code
	}
	if !t.endedWell(out) {
		if out.Class == stage.Exit && t.isReport() {
			// The converter says why no review took place, with the first words of the report.
			_, why := t.report(out)
			ended.Class, ended.Message = string(stage.ReviewUnavailable), diag.Escape(why)
		} else if out.Class == stage.Exit && t.leftItems() {
			ended.Message += "; PIPE_FEEDBACK was written but not read; see feedback.ok_exit_codes"
		}
		return ended
	}
	ended.Class, ended.Message = "", ""
	fail := func(class stage.Class, why string) step.StageEnded {
		ended.Class, ended.Message = string(class), diag.Escape(why)
		return ended
	}
	outputs, err := t.outputs(out)
	if err != nil {
		return fail(stage.InvalidOutput, err.Error())
	}
	result, class, why := t.result(out)
	if class != stage.OK {
		return fail(class, why)
	}
	ended.Outputs, ended.Result, ended.Diagnosis = outputs, result, out.Diagnosis
	return ended
}

// endedWell reports whether the exit status is one with which the stage has done its work.
func (t *try) endedWell(out *stage.Outcome) bool {
	if fb := t.node.Feedback; out.Class == stage.Exit && fb != nil {
		return fb.OKExitCodes == nil || slices.Contains(fb.OKExitCodes, out.ExitCode)
	}
	return out.Class == stage.OK
}

// leftItems reports whether a review has written to PIPE_FEEDBACK.
func (t *try) leftItems() bool {
	if !t.isReview() {
		return false
	}
	b, err := workspace.ReadIn(t.f.root, feedbackName, maxFeedback)
	return errors.Is(err, workspace.ErrTooLarge) || err == nil && len(bytes.TrimSpace(b)) > 0
}

// isReview reports whether the stage must leave items.
func (t *try) isReview() bool { return t.node.Role == plan.Review || t.node.Feedback != nil }

// isReport reports whether the items come from the report of a tool.
func (t *try) isReport() bool {
	return t.node.Feedback != nil && t.node.Feedback.Format != convert.Items
}

// outputs reads PIPE_OUTPUT and puts it together with what the kind gave.
func (t *try) outputs(out *stage.Outcome) (*value.Object, error) {
	b, err := workspace.ReadIn(t.f.root, outputName, maxOutput)
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		return nil, fmt.Errorf("PIPE_OUTPUT: %w; a large result belongs into a file of the workspace that an output names", explain(err, maxOutput))
	case err != nil && !isMissing(err):
		return nil, fmt.Errorf("PIPE_OUTPUT can't be read: %w", explain(err, maxOutput))
	}
	texts, err := parseOutput(b)
	if err != nil {
		return nil, fmt.Errorf("PIPE_OUTPUT: %w", err)
	}
	outputs, err := readOutputs(t.node.Outputs, out.Outputs, texts)
	if missing := (*missingOutputs)(nil); errors.As(err, &missing) {
		return nil, fmt.Errorf("%w; %s", err, t.channel())
	}
	return outputs, err
}

// channel says how the stage gives its outputs.
func (t *try) channel() string {
	for _, key := range []string{"output", "result"} { // of agents and of plugins
		switch form, _ := t.node.Config.Get(key); {
		case form == "json" && t.node.Kind == "agent", form == "stdout" && t.node.Kind == "plugin":
			return `give it in "outputs" of the JSON object on stdout, or write name=value to the file that $PIPE_OUTPUT names`
		}
	}
	return "write name=value to the file that $PIPE_OUTPUT names"
}

// result reads the items and replies that the try left, normalised. A review that leaves no complete
// document did not take place; any other stage need not leave one.
func (t *try) result(out *stage.Outcome) (*feedback.Result, stage.Class, string) {
	review := t.isReview()
	bad := stage.InvalidOutput
	if review {
		bad = stage.ReviewUnavailable
	}
	given, err := t.document()
	switch {
	case err != nil:
		return nil, bad, err.Error()
	case given != nil && (out.Result != nil || t.isReport()):
		other := "in the answer of the stage"
		if out.Result == nil {
			other = fmt.Sprintf("as a report (format %s)", t.node.Feedback.Format)
		}
		return nil, stage.InvalidOutput, "items are given twice: in PIPE_FEEDBACK and " + other
	case given == nil && out.Result != nil:
		given = out.Result
	case t.isReport():
		var why string
		if given, why = t.report(out); given == nil {
			return nil, bad, why
		}
	}
	if t.isValidation() {
		if given, err = t.orOwnFile(given); err != nil {
			return nil, bad, err.Error()
		}
	}
	if given == nil {
		if review {
			return nil, bad, t.noAnswer()
		}
		return nil, stage.OK, ""
	}
	if fb := t.node.Feedback; fb != nil && !t.isReport() {
		convert.Override(given.Items, severities(fb.Severity))
	}
	normal, err := feedback.Normalise(*given, feedback.Context{
		Root: t.root(), Dir: t.dir, Agent: t.agent(), LineText: workspace.LineText(t.root()),
		Placed: out.Diagnosis != nil,
	})
	if err != nil {
		return nil, bad, fmt.Sprintf("items in %s: %v", t.where(), err)
	}
	return &normal, stage.OK, ""
}

// where names the place at which the items are expected.
func (t *try) where() string {
	if fb := t.node.Feedback; fb != nil && fb.Path != "" {
		return fmt.Sprintf("%q", fb.Path)
	}
	return "the file that $PIPE_FEEDBACK names"
}

// document reads the items of PIPE_FEEDBACK, or of the path where the format is items; nil if there is
// none.
func (t *try) document() (*feedback.Result, error) {
	var b []byte
	var err error
	switch p := t.reportPath(); {
	case t.isReport():
		b, err = workspace.ReadIn(t.f.root, feedbackName, maxFeedback)
	case t.scratchReport() != "":
		b, err = workspace.ReadIn(t.f.root, t.scratchReport(), maxFeedback)
	case p != "":
		b, err = workspace.ReadInside(t.root(), p, maxFeedback)
	default:
		b, err = workspace.ReadIn(t.f.root, feedbackName, maxFeedback)
	}
	switch {
	case isMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s can't be read: %w", t.where(), explain(err, maxFeedback))
	}
	v, err := DecodeItems(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.where(), err)
	}
	r, err := t.readDocument(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.where(), err)
	}
	return &r, nil
}

// severities reads what a stage says of the words of its tool; the compiler has seen to it that they are severities.
func severities(words map[string]string) map[string]feedback.Severity {
	out := make(map[string]feedback.Severity, len(words))
	for word, text := range words { // into a map: order does not matter
		var s feedback.Severity
		if s.UnmarshalText([]byte(text)) == nil && s != feedback.UnknownSeverity {
			out[word] = s
		}
	}
	return out
}

// report converts the report of a tool; a nil result comes with why the review did not take place.
func (t *try) report(out *stage.Outcome) (*feedback.Result, string) {
	fb := t.node.Feedback
	in := ReportInput(t.root(), t.dir)
	in.ExitCode, in.OKExitCodes, in.Severity = max(out.ExitCode, 0), fb.OKExitCodes, severities(fb.Severity)
	if fb.Pattern != "" {
		re, err := regexp.Compile(fb.Pattern)
		if err != nil {
			return nil, fmt.Sprintf("the pattern of the format is no regular expression: %v", err)
		}
		in.Pattern = re
	}
	stdout, why := t.openReport(StdoutName)
	if why != "" {
		if out.Message != "" { // how it ended is why there is none
			why += "; " + out.Message
		}
		return nil, why
	}
	defer stdout.Close() // a nil file takes it
	in.Stdout = reader(stdout)
	if fb.Path == "" && fb.Format != convert.GoTest {
		stderr, why := t.openReport(StderrName)
		if why != "" {
			return nil, why
		}
		defer stderr.Close()
		in.Stderr = reader(stderr)
	}
	r, err := convert.Convert(fb.Format, in)
	if err != nil {
		return nil, err.Error()
	}
	return &r, ""
}

// openReport opens the file of the report, or the log that stands for it; a log may be missing, and is nil
// then. The text says why there is no report.
func (t *try) openReport(log string) (*os.File, string) {
	name := t.node.Feedback.Path
	if name == "" {
		f, err := workspace.OpenIn(t.f.root, log)
		if err != nil && !isMissing(err) {
			return nil, fmt.Sprintf("the report can't be read from %s: %v", log, explain(err, 0))
		}
		return f, ""
	}
	var f *os.File
	var err error
	if p := t.scratchReport(); p != "" {
		f, err = workspace.OpenIn(t.f.root, p)
	} else {
		f, err = workspace.OpenInside(t.root(), name)
	}
	switch {
	case isMissing(err):
		return nil, fmt.Sprintf("the report %q is not there: the stage must write it anew in each try", name)
	case err != nil:
		return nil, fmt.Sprintf("the report %q can't be read: %v", name, explain(err, 0))
	}
	return f, ""
}

// scratchReport is where the stage leaves its report, relative to the folder of the try; "" where it has none
// there.
func (t *try) scratchReport() string {
	if t.node.Feedback == nil {
		return ""
	}
	name, ok := t.node.Feedback.InStageDir()
	if !ok {
		return ""
	}
	return path.Join(scratchName, name)
}

// reader is f, or nothing at all for a nil file.
func reader(f *os.File) io.Reader {
	if f == nil {
		return nil
	}
	return f
}

// root is the workspace.
func (t *try) root() string { return t.d.opt.Workspace.Root }

// agent is whom an item is from that names nobody: the stage's agent, its tool, or its id.
func (t *try) agent() string {
	if name, _ := t.node.Config.Get("name"); t.node.Kind == "agent" || t.node.Kind == "plugin" {
		if s, ok := name.(string); ok && s != "" {
			return s
		}
	}
	if fb := t.node.Feedback; fb != nil {
		switch fb.Format {
		case convert.GoTest, convert.GoVet:
			return fb.Format
		}
	}
	return t.node.ID
}
