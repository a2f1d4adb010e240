package driver

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs/data"
)

// maxOutput is the size that PIPE_OUTPUT may have.
const maxOutput = 1 << 20

// outputText is a value as PIPE_OUTPUT gives it: text that the declared type reads, or a JSON value.
type outputText struct {
	name string
	text string
	json value.Value
	read bool // json holds
	line int
}

// parseOutput reads PIPE_OUTPUT's two forms: an object of JSON, or lines "name=value" and
// "name<<MARK … MARK". An error names the line.
func parseOutput(b []byte) ([]outputText, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("it is not UTF-8: byte %d of the file (line %d) begins no character", firstInvalid(b), lineOf(b, firstInvalid(b)-1))
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.HasPrefix(b, []byte("{")) {
		return parseOutputObject(b)
	}
	return parseOutputLines(string(b))
}

func firstInvalid(b []byte) int {
	at := 0
	for at < len(b) {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at + 1
}

// lineOf is the line of a byte.
func lineOf(b []byte, offset int) int { return 1 + bytes.Count(b[:offset], []byte("\n")) }

func parseOutputObject(b []byte) ([]outputText, error) {
	v, err := data.ReadJSON(b)
	if err != nil {
		return nil, fmt.Errorf("it begins with %q, so it must be exactly one JSON object: %w", "{", err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, fmt.Errorf("want a JSON object, got %s", value.Describe(v))
	}
	out := make([]outputText, 0, o.Len())
	for name, v := range o.All() {
		out = append(out, outputText{name: name, json: v, read: true})
	}
	return out, nil
}

func parseOutputLines(s string) ([]outputText, error) {
	var out []outputText
	seen := map[string]int{}
	lines := strings.Split(s, "\n")
	for i := 0; i < len(lines); i++ {
		at := i + 1
		line := strings.TrimSuffix(lines[i], "\r")
		if line == "" {
			continue
		}
		o, mark, err := parseOutputLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
		if mark != "" {
			end := i + 1
			for end < len(lines) && strings.TrimSuffix(lines[end], "\r") != mark {
				end++
			}
			if end == len(lines) {
				return nil, fmt.Errorf("line %d: the value of %q has no end: want a line %q after it", at, o.name, mark)
			}
			o.text = strings.Join(lines[i+1:end], "\n")
			i = end
		}
		if before, twice := seen[o.name]; twice {
			return nil, fmt.Errorf("line %d: %q is given a second time, first in line %d", at, o.name, before)
		}
		seen[o.name] = at
		o.line = at
		out = append(out, o)
	}
	return out, nil
}

// parseOutputLine reads one line. Which of "=" and "<<" comes first says which form it has: a value may
// hold the other.
func parseOutputLine(line string) (o outputText, mark string, err error) {
	eq, here := strings.IndexByte(line, '='), strings.Index(line, "<<")
	switch {
	case here >= 0 && (eq < 0 || here < eq):
		o.name, mark = strings.TrimSpace(line[:here]), strings.TrimSpace(line[here+2:])
		if mark == "" {
			return o, "", fmt.Errorf("want a mark after %q, such as %q", "<<", o.name+"<<END")
		}
	case eq >= 0:
		o.name, o.text = strings.TrimSpace(line[:eq]), line[eq+1:]
	default:
		return o, "", fmt.Errorf("want name=value or name<<MARK, got %q; a value of several lines needs the form name<<MARK", clip(line))
	}
	if o.name == "" {
		return o, "", fmt.Errorf("want a name before the value, got %q", clip(line))
	}
	return o, mark, nil
}

// readOutputs puts together what the kind gave and what PIPE_OUTPUT holds, and reads it by the declared
// types. The error says in an author's words what is wrong with it.
func readOutputs(params []plan.Param, given *value.Object, file []outputText) (*value.Object, error) {
	found := make(map[string]value.Value, given.Len()+len(file)) // only looked up
	for name, v := range given.All() {
		p, err := declared(params, name, "")
		if err != nil {
			return nil, err
		}
		if isAbsent(p, v) {
			continue
		}
		if err := p.Type.CheckAt(name, v); err != nil {
			return nil, fmt.Errorf("output %w", err)
		}
		found[name] = v
	}
	for i := range file {
		o := &file[i]
		where := ""
		if o.line > 0 {
			where = fmt.Sprintf(" (line %d)", o.line)
		}
		p, err := declared(params, o.name, where)
		if err != nil {
			return nil, err
		}
		if _, twice := found[o.name]; twice {
			return nil, fmt.Errorf("output %q is given twice: in PIPE_OUTPUT%s and in the answer of the stage", o.name, where)
		}
		if o.read && isAbsent(p, o.json) {
			continue
		}
		v, err := o.value(p)
		if err != nil {
			return nil, fmt.Errorf("output %q%s: %w", o.name, where, err)
		}
		found[o.name] = v
	}
	return collect(params, found)
}

// isAbsent reports whether an output was given as null that may be missing and can't be null otherwise: it is null
// where it is missing, so that both say the same.
func isAbsent(p *plan.Param, v value.Value) bool {
	return v == nil && !p.Required && p.Type.Check(nil) != nil
}

// collect gives the outputs in the order in which they are declared.
func collect(params []plan.Param, found map[string]value.Value) (*value.Object, error) {
	out := value.NewObject()
	var missing []string
	for i := range params {
		p := &params[i]
		v, ok := found[p.Name]
		switch {
		case ok:
			out.Set(p.Name, v)
		case p.Default != nil:
			out.Set(p.Name, p.Default)
		case p.Required:
			missing = append(missing, fmt.Sprintf("%q", p.Name))
		}
	}
	if len(missing) > 0 {
		return nil, &missingOutputs{missing}
	}
	if out.Len() == 0 {
		return nil, nil
	}
	return out, nil
}

// missingOutputs are outputs that a stage declares and did not give.
type missingOutputs struct{ names []string }

func (e *missingOutputs) Error() string {
	return fmt.Sprintf("output %s is declared and was not given", strings.Join(e.names, ", "))
}

func (o *outputText) value(p *plan.Param) (value.Value, error) {
	if !o.read {
		return p.Type.ReadString(o.text)
	}
	return o.json, p.Type.Check(o.json)
}

func declared(params []plan.Param, name, where string) (*plan.Param, error) {
	names := make([]string, len(params))
	for i := range params {
		if params[i].Name == name {
			return &params[i], nil
		}
		names[i] = params[i].Name
	}
	msg := fmt.Sprintf("output %q%s is not declared", clip(name), where)
	if near := diag.Nearest(name, names); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	} else if len(names) == 0 {
		msg += "; the stage declares no outputs"
	}
	return nil, errors.New(msg)
}

// clip shortens what a stage wrote for a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
