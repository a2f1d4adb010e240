package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/taskfile"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

// The greatest lengths of stdout where it means something, in bytes.
const (
	answerLimit = 16 << 20
	textLimit   = 1 << 20
)

// quoteLimit is how much of what a program said is shown in a message, in bytes.
const quoteLimit = 160

// The fields of the object that is an answer. An unknown one is refused: a finding under a misspelt name must
// not be lost in silence.
const fieldOutputs = "outputs"

var fields = [...]string{fieldOutputs, "summary", "feedback_items", "replies", "prior"}

// Stdout is what a program wrote where that is its answer.
type Stdout struct {
	Output *proc.Output
	Log    string // the file that holds all of it
	Who    string // wrote it, for messages: "the agent"
	Stage  string // whose answer it is

	Validates bool // it may say PASS or FAIL, with findings under critical, warnings and suggestions
}

// Answer reads the one JSON object of outputs, summary, feedback_items, replies and prior, or, of what validates, of
// outputs, status, summary, critical, warnings and suggestions. What it says about
// items is told apart from the rest: a review that can't be read did not take place. The error is a failure
// of ours.
func (s Stdout) Answer() (stage.Outcome, error) {
	doc, refused, err := s.Object()
	if err != nil {
		return stage.Outcome{}, err
	}
	if refused != nil {
		return *refused, nil
	}
	var ok bool
	said := stage.Outcome{}
	rest := value.NewObject()
	for name, v := range doc.All() {
		switch {
		case !slices.Contains(fields[:], name) && !(s.Validates && taskfile.IsAnswerField(name)):
			return s.refuse(stage.Protocol, "'s JSON object has an unknown field %q, expected %s",
				name, s.expected()), nil
		case name != fieldOutputs:
			if v != nil {
				rest.Set(name, v)
			}
		case v != nil:
			if said.Outputs, ok = v.(*value.Object); !ok {
				return s.refuse(stage.Protocol, "'s outputs are %s, expected an object", value.Describe(v)), nil
			}
		}
	}
	if !saysAnything(rest) {
		return said, nil
	}
	read := feedback.ReadResult
	if s.Validates {
		read = taskfile.ReadResult
	}
	result, err := read(rest, s.Stage)
	if err != nil {
		return s.refuse(stage.ReviewUnavailable, "'s items can't be read: %v", err), nil
	}
	said.Result = &result
	return said, nil
}

// expected names the fields of an answer.
func (s Stdout) expected() string {
	names := strings.Join(fields[:], ", ")
	if s.Validates {
		names += ", or status, summary, critical, warnings, suggestions"
	}
	return names
}

// Object reads the one JSON object that stdout must be, or gives the outcome of a program that wrote something
// else. The error is a failure of ours.
func (s Stdout) Object() (doc *value.Object, refused *stage.Outcome, err error) {
	no := func(class stage.Class, format string, args ...any) (*value.Object, *stage.Outcome, error) {
		out := s.refuse(class, format, args...)
		return nil, &out, nil
	}
	if s.Output.Size > answerLimit {
		return no(stage.Protocol, " wrote %d bytes to stdout, expected one JSON object of at most %d", s.Output.Size, answerLimit)
	}
	data, err := s.whole()
	if err != nil {
		out, err := s.unread(err)
		return nil, &out, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return no(stage.Protocol, " wrote nothing to stdout, expected one JSON object")
	}
	if !utf8.Valid(data) { // a decoder would put something else in its place
		return no(stage.Protocol, "'s stdout is not UTF-8: %s", quote(data))
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		return no(stage.Protocol, "'s stdout is not one JSON object (%v): %s", err, quote(data))
	}
	doc, ok := v.(*value.Object)
	if !ok {
		return no(stage.Protocol, "'s stdout is %s, expected one JSON object: %s", value.Describe(v), quote(data))
	}
	return doc, nil, nil
}

// saysAnything reports whether a document speaks about items. A summary alone does not: it is no review. Nor
// does an empty list of replies, which is how a program that was sent nothing back answers to it.
func saysAnything(doc *value.Object) bool {
	for name, v := range doc.All() {
		list, isList := v.(value.List)
		switch {
		case name == "summary":
		case name == "replies" && isList && len(list) == 0:
		default:
			return true
		}
	}
	return false
}

// Text makes stdout, without the newlines at its end, the output "text". The error is a failure of ours.
func (s Stdout) Text() (stage.Outcome, error) {
	if s.Output.Size > textLimit {
		return s.refuse(stage.InvalidOutput, " wrote %d bytes to stdout, expected a text of at most %d", s.Output.Size, textLimit), nil
	}
	data, err := s.whole()
	if err != nil {
		return s.unread(err)
	}
	if !utf8.Valid(data) {
		return s.refuse(stage.InvalidOutput, "'s stdout is not UTF-8: %s", quote(data)), nil
	}
	text := strings.TrimRight(string(data), "\r\n")
	return stage.Outcome{Outputs: value.NewObject(value.Field{Name: "text", Value: text})}, nil
}

// errTouched says that the log is not what was written to it.
var errTouched = errors.New("the log of its stdout was changed while it ran")

// whole returns all that was written: from memory where that is all, else from the log, whose end it is.
func (s Stdout) whole() ([]byte, error) {
	out := s.Output
	if out.Size == int64(len(out.Head)+len(out.Tail)) {
		return slices.Concat(out.Head, out.Tail), nil
	}
	// What was put in its place may lead elsewhere, or be a pipe for which nobody has a word.
	f, err := os.OpenFile(s.Log, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errTouched
	}
	if err != nil {
		return nil, fmt.Errorf("reading what %s said: %w", s.Who, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading what %s said: %w", s.Who, err)
	}
	if !info.Mode().IsRegular() || info.Size() < out.Size {
		return nil, errTouched
	}
	data := make([]byte, out.Size)
	if _, err := f.ReadAt(data, info.Size()-out.Size); err != nil {
		return nil, fmt.Errorf("reading what %s said: %w", s.Who, err)
	}
	if !bytes.HasPrefix(data, out.Head) || !bytes.HasSuffix(data, out.Tail) {
		return nil, errTouched
	}
	return data, nil
}

// unread tells a program that spoilt its own log from a log that we can't read.
func (s Stdout) unread(err error) (stage.Outcome, error) {
	if errors.Is(err, errTouched) || errors.Is(err, fs.ErrNotExist) {
		return refuse(stage.Protocol, "what %s said is lost: %v", s.Who, err), nil
	}
	return stage.Outcome{}, err
}

// refuse is the outcome of a program that did not keep to the form of its answer: the message goes on after who
// it is.
func (s Stdout) refuse(class stage.Class, format string, args ...any) stage.Outcome {
	return refuse(class, "%s"+format, append([]any{s.Who}, args...)...)
}

// refuse escapes all of a message, since what a program said is in it and it is shown.
func refuse(class stage.Class, format string, args ...any) stage.Outcome {
	return stage.Outcome{Class: class, ExitCode: -1, Message: diag.Escape(fmt.Sprintf(format, args...))}
}

// quote shows the beginning of what a program said, escaped and on one line.
func quote(data []byte) string {
	text := strings.ToValidUTF8(string(data[:min(len(data), 4*quoteLimit)]), "\uFFFD")
	text = diag.Escape(strings.Join(strings.Fields(text), " "))
	if len(text) <= quoteLimit {
		return text
	}
	cut := quoteLimit
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// With puts what a program said beside how it ended. What it said well is kept where it failed: its exit status
// may be one that a format takes for success.
func With(ended, said stage.Outcome) stage.Outcome {
	switch {
	case ended.Class == stage.OK:
		said.ExitCode = ended.ExitCode
		return said
	case said.Class == stage.OK:
		ended.Outputs, ended.Result = said.Outputs, said.Result
	}
	return ended
}
