package specs

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
)

const codePattern diag.Code = "wrong-pattern"

// script reads the text of run. A bool or a number is taken as the text that stands there: "run: true" is
// the command "true".
func (r *reader) script(n *yaml.Node) *source.Scalar {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 && !isNull(n) && !isString(n) {
		s := r.scalar(n)
		return &s
	}
	return r.filled(n, `"run"`)
}

func (r *reader) needs(n *yaml.Node) *Needs {
	out := &Needs{Span: r.wholeSpan(n)}
	seen := map[string]source.Span{}
	ok := r.list(n, `"needs"`, "stage ids", func(n *yaml.Node) {
		id := r.name(n, `an entry of "needs"`, stageID)
		if id == nil {
			return
		}
		if first, twice := seen[id.Value]; twice {
			d := r.diags.Errorf(codeDuplicateKey, id.Span, `the stage %q is given twice in "needs"`, id.Value)
			d.Related = []diag.Related{{Span: first, Message: "first given here"}}
			return
		}
		seen[id.Value] = id.Span
		out.IDs = append(out.IDs, *id)
	})
	if !ok {
		if isString(n) && stageID.MatchString(n.Value) {
			(*r.diags)[len(*r.diags)-1].Help = "write needs: [" + n.Value + "]"
		}
		return nil
	}
	return out
}

func (r *reader) checks(n *yaml.Node, what string) []*Check {
	var out []*Check
	r.list(n, what, "checks (description and validation)", func(n *yaml.Node) {
		c := &Check{Span: r.wholeSpan(n)}
		fs, ok := readKeys(r, n, "an entry of "+what, checkKeys, c)
		if !ok {
			return
		}
		if !has(fs, "validation") {
			r.missing(n, r.nodeSpan(n), "an entry of "+what, "validation", "give the condition that must hold: validation: EXPRESSION")
		}
		out = append(out, c)
	})
	return out
}

var checkKeys = []key[Check]{
	{"description", func(r *reader, n *yaml.Node, c *Check) { c.Description = r.str(n, `"description" of the check`) }},
	{"validation", func(r *reader, n *yaml.Node, c *Check) {
		c.Validation = r.expr(n, "validation", `"validation"`)
	}},
}

func (r *reader) loop(n *yaml.Node) *Loop {
	l := &Loop{Span: r.wholeSpan(n)}
	fs, ok := readKeys(r, n, `"feedback_loop"`, loopKeys, l)
	if !ok {
		return nil
	}
	if !has(fs, "target_stage") {
		r.missing(n, l.Span, `"feedback_loop"`, "target_stage", "name the stage that acts on what this one finds")
	}
	return l
}

func (r *reader) feedback(n *yaml.Node) *Feedback {
	f := &Feedback{Span: r.wholeSpan(n)}
	fs, ok := readKeys(r, n, `"feedback"`, feedbackKeys, f)
	if !ok {
		return nil
	}
	pattern := find(fs, "pattern")
	format := find(fs, "format")
	lines := f.Format != nil && f.Format.Value == "lines"
	switch {
	case lines && pattern == nil:
		r.missing(n, f.Format.Span, `"feedback" with the format "lines"`, "pattern",
			`give a regular expression with named groups, such as '^(?P<file>[^:]+):(?P<line>\d+): (?P<description>.+)$'`)
	case pattern != nil && !lines && (f.Format != nil || format == nil):
		r.diags.Errorf(codeConflict, r.nodeSpan(pattern.key), `"pattern" goes with the format "lines" only`)
		f.Pattern = nil
	}
	return f
}

var feedbackKeys = []key[Feedback]{
	{"format", func(r *reader, n *yaml.Node, f *Feedback) {
		f.Format = r.word(n, `"format"`, "items", "go-test", "go-vet", "lines")
	}},
	{"path", func(r *reader, n *yaml.Node, f *Feedback) { f.Path = r.str(n, `"path"`) }},
	{"pattern", func(r *reader, n *yaml.Node, f *Feedback) { f.Pattern = r.pattern(n) }},
	{"ok_exit_codes", func(r *reader, n *yaml.Node, f *Feedback) {
		ok := r.list(n, `"ok_exit_codes"`, "exit statuses", func(n *yaml.Node) {
			c := r.integer(n, `an entry of "ok_exit_codes"`, 0, 255)
			if c != nil && !slices.ContainsFunc(f.OKExitCodes, func(l Leaf[int]) bool { return l.Value == c.Value }) {
				f.OKExitCodes = append(f.OKExitCodes, *c)
			}
		})
		if ok && len(n.Content) == 0 {
			r.diags.Errorf(codeValue, r.nodeSpan(n), `"ok_exit_codes" is empty; no execution would count as a review`)
		}
	}},
}

// pattern reads the regular expression of the format lines. It needs at least one of the named groups that
// make an item; without a group "description" the whole line is the description.
func (r *reader) pattern(n *yaml.Node) *Leaf[string] {
	s := r.filled(n, `"pattern"`)
	if s == nil {
		return nil
	}
	re, err := regexp.Compile(s.Text)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		r.diags.Errorf(codePattern, s.Span, `"pattern" is no regular expression: %s`, strings.ReplaceAll(msg, "`", "\""))
		return nil
	}
	for _, group := range []string{"file", "line", "description"} {
		if re.SubexpIndex(group) >= 0 {
			return &Leaf[string]{s.Text, s.Span}
		}
	}
	r.diags.Errorf(codePattern, s.Span, `"pattern" has none of the named groups file, line and description`).
		Help = `name a group like this: (?P<description>.+)`
	return nil
}

// boolWords are bools to other readers of YAML, or when they are not quoted: nobody means them as a message.
var boolWords = [...]string{"true", "false", "yes", "no", "on", "off", "y", "n"}

// approval reads requires_approval: a bool, a message, or a mapping that holds the message.
func (r *reader) approval(n *yaml.Node) *Approval {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!bool":
		b := r.boolean(n, `"requires_approval"`)
		if b == nil {
			return nil
		}
		return &Approval{Required: b.Value, Span: b.Span}
	case n.Kind == yaml.MappingNode:
		a := &Approval{Required: true, Span: r.wholeSpan(n)}
		if _, ok := readKeys(r, n, `"requires_approval"`, approvalKeys, a); !ok {
			return nil
		}
		return a
	case n.Kind == yaml.ScalarNode && isString(n) && slices.Contains(boolWords[:], strings.ToLower(strings.TrimSpace(n.Value))):
		r.diags.Errorf(codeValue, r.nodeSpan(n), `"requires_approval" must be true, false or a message, and %q is none of them`, short(n.Value)).
			Help = "write true or false, without quotes; a message says what the person is asked: requires_approval: \"publish the release?\""
		return nil
	case n.Kind == yaml.ScalarNode && isString(n):
		if m := r.filled(n, `"requires_approval"`); m != nil {
			return &Approval{Required: true, Message: m, Span: m.Span}
		}
		return nil
	}
	r.wrongKind(n, `"requires_approval"`, "true, false or a message")
	return nil
}

var approvalKeys = []key[Approval]{
	{"message", func(r *reader, n *yaml.Node, a *Approval) { a.Message = r.filled(n, `"message"`) }},
}

func (r *reader) isEnvName(l Leaf[string]) bool {
	if !r.goodName(l, "the name of an environment variable", envName) {
		return false
	}
	if strings.HasPrefix(l.Value, "PIPE_") {
		r.diags.Errorf(codeValue, l.Span, "the variable %q cannot be set: names that start with PIPE_ are given by the engine", short(l.Value))
		return false
	}
	return true
}
