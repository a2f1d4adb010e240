package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
)

// The greatest lengths of stdout where it means something, in bytes.
const (
	jsonLimit = 16 << 20
	textLimit = 1 << 20
)

// quoteLimit is how much of what an agent said is shown in a message, in bytes.
const quoteLimit = 160

// The fields of the object that a json agent gives. An unknown one is refused: a finding under a misspelt
// name must not be lost in silence.
const fieldOutputs = "outputs"

var fields = [...]string{fieldOutputs, "summary", "feedback_items", "replies", "prior"}

// readJSON reads stdout as the one object of a json agent. What it says about items is told apart from
// the rest: a review that can't be read did not take place.
func readJSON(out *proc.Output, log, stageID string) (stage.Outcome, error) {
	if out.Size > jsonLimit {
		return refuse(stage.Protocol, "the agent wrote %d bytes to stdout, expected one JSON object of at most %d", out.Size, jsonLimit), nil
	}
	data, err := whole(out, log)
	if err != nil {
		return unread(err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return refuse(stage.Protocol, "the agent wrote nothing to stdout, expected one JSON object"), nil
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		return refuse(stage.Protocol, "the agent's stdout is not one JSON object (%v): %s", err, quote(data)), nil
	}
	doc, ok := v.(*value.Object)
	if !ok {
		return refuse(stage.Protocol, "the agent's stdout is %s, expected one JSON object: %s", value.Describe(v), quote(data)), nil
	}
	said := stage.Outcome{}
	rest := value.NewObject()
	for name, v := range doc.All() {
		switch {
		case !slices.Contains(fields[:], name):
			return refuse(stage.Protocol, "the agent's JSON object has an unknown field %q, expected %s",
				name, strings.Join(fields[:], ", ")), nil
		case name != fieldOutputs:
			if v != nil {
				rest.Set(name, v)
			}
		case v != nil:
			if said.Outputs, ok = v.(*value.Object); !ok {
				return refuse(stage.Protocol, "the agent's outputs are %s, expected an object", value.Describe(v)), nil
			}
		}
	}
	if !saysAnything(rest) {
		return said, nil
	}
	result, err := feedback.ReadResult(rest, stageID)
	if err != nil {
		return refuse(stage.ReviewUnavailable, "the agent's items can't be read: %v", err), nil
	}
	said.Result = &result
	return said, nil
}

// saysAnything reports whether a document speaks about items. A summary alone does not: it is no review. Nor
// does an empty list of replies, which is how an agent that was sent nothing back answers to it.
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

// readText makes stdout, without the newlines at its end, the output "text".
func readText(out *proc.Output, log string) (stage.Outcome, error) {
	if out.Size > textLimit {
		return refuse(stage.InvalidOutput, "the agent wrote %d bytes to stdout, expected a text of at most %d", out.Size, textLimit), nil
	}
	data, err := whole(out, log)
	if err != nil {
		return unread(err)
	}
	if !utf8.Valid(data) {
		return refuse(stage.InvalidOutput, "the agent's stdout is not UTF-8: %s", quote(data)), nil
	}
	text := strings.TrimRight(string(data), "\r\n")
	return stage.Outcome{Outputs: value.NewObject(value.Field{Name: "text", Value: text})}, nil
}

// errTouched says that the log is not what was written to it.
var errTouched = errors.New("the log of its stdout was changed while it ran")

// whole returns all that was written: from memory where that is all, else from the log, whose end it is.
func whole(out *proc.Output, log string) ([]byte, error) {
	if out.Size == int64(len(out.Head)+len(out.Tail)) {
		return slices.Concat(out.Head, out.Tail), nil
	}
	f, err := os.Open(log)
	if err != nil {
		return nil, fmt.Errorf("reading what the agent said: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading what the agent said: %w", err)
	}
	if info.Size() < out.Size {
		return nil, errTouched
	}
	data := make([]byte, out.Size)
	if _, err := f.ReadAt(data, info.Size()-out.Size); err != nil {
		return nil, fmt.Errorf("reading what the agent said: %w", err)
	}
	if !bytes.HasPrefix(data, out.Head) || !bytes.HasSuffix(data, out.Tail) {
		return nil, errTouched
	}
	return data, nil
}

// unread tells an agent that spoilt its own log from a log that we can't read.
func unread(err error) (stage.Outcome, error) {
	if errors.Is(err, errTouched) || errors.Is(err, fs.ErrNotExist) {
		return refuse(stage.Protocol, "what the agent said is lost: %v", err), nil
	}
	return stage.Outcome{}, err
}

// refuse is the outcome of an agent that did not keep to its output. All that came from the agent is
// escaped, since the message is shown.
func refuse(class stage.Class, format string, args ...any) stage.Outcome {
	return stage.Outcome{Class: class, ExitCode: -1, Message: diag.Escape(fmt.Sprintf(format, args...))}
}

// quote shows the beginning of what an agent said, escaped and on one line.
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
