package specs

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

const codePattern diag.Code = "wrong-pattern"

// script reads the text of run. A bool or a number is taken as the text that stands there: "run: true" is
// the command "true".
func (r *reader) script(n *yaml.Node, what string) *source.Scalar {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 && !read.IsNull(n) && !read.IsString(n) {
		s := r.Doc.Scalar(n)
		return &s
	}
	return r.Filled(n, what)
}

func (r *reader) needs(n *yaml.Node) *Needs {
	out := &Needs{Span: r.Doc.Whole(n)}
	seen := map[string]source.Span{}
	ok := r.List(n, `"needs"`, "stage ids", func(n *yaml.Node) {
		id := r.Name(n, `an entry of "needs"`, read.StageID)
		if id == nil {
			return
		}
		if first, twice := seen[id.Value]; twice {
			d := r.Diags.Errorf(read.CodeDuplicateKey, id.Span, `the stage %q is given twice in "needs"`, id.Value)
			d.Related = []diag.Related{{Span: first, Message: "first given here"}}
			return
		}
		seen[id.Value] = id.Span
		out.IDs = append(out.IDs, *id)
	})
	if !ok {
		if read.IsString(n) && read.StageID.MatchString(n.Value) {
			r.Advise("write needs: [" + n.Value + "]")
		}
		return nil
	}
	return out
}

func (r *reader) checks(n *yaml.Node, what string) []*Check {
	var out []*Check
	r.List(n, what, "checks (description and validation)", func(n *yaml.Node) {
		c := &Check{Span: r.Doc.Whole(n)}
		fs, ok := readKeys(r, n, "an entry of "+what, checkKeys, c)
		if !ok {
			return
		}
		if !has(fs, "validation") {
			r.Missing(n, r.Doc.Span(n), "an entry of "+what, "validation", "give the condition that must hold: validation: EXPRESSION")
		}
		out = append(out, c)
	})
	return out
}

var checkKeys = []key[Check]{
	{"description", aText, "the expression", "what is checked, for people",
		func(r *reader, n *yaml.Node, c *Check) { c.Description = r.Str(n, `"description" of the check`) }},
	{"validation", anExpr, Required, "the condition",
		func(r *reader, n *yaml.Node, c *Check) { c.Validation = r.expr(n, "validation", `"validation"`) }},
}

func (r *reader) loop(n *yaml.Node) *Loop {
	l := &Loop{Span: r.Doc.Whole(n)}
	fs, ok := readKeys(r, n, `"feedback_loop"`, loopKeys, l)
	if !ok {
		return nil
	}
	if !has(fs, "target_stage") {
		r.Missing(n, l.Span, `"feedback_loop"`, "target_stage", "name the stage that acts on what this one finds")
	}
	return l
}

func (r *reader) feedback(n *yaml.Node) *Feedback {
	f := &Feedback{Span: r.Doc.Whole(n)}
	fs, ok := readKeys(r, n, `"feedback"`, feedbackKeys, f)
	if !ok {
		return nil
	}
	r.formatKeys(n, fs, f, `"feedback"`)
	return f
}

// formatKeys checks what goes with which format.
func (r *reader) formatKeys(n *yaml.Node, fs []field, f *Feedback, what string) {
	pattern := find(fs, "pattern")
	format := find(fs, "format")
	lines := f.Format != nil && f.Format.Value == "lines"
	if f.Format != nil && reportNames[f.Format.Value] != "" && !has(fs, "path") {
		r.Missing(n, f.Format.Span, what+` with the format "`+f.Format.Value+`"`, "path", "name the file that holds the report, such as path: "+
			reportNames[f.Format.Value]+"; an earlier one is removed before each try")
	}
	switch {
	case lines && pattern == nil:
		r.Missing(n, f.Format.Span, what+` with the format "lines"`, "pattern",
			`give a regular expression with named groups, such as '^(?P<file>[^:]+):(?P<line>\d+): (?P<description>.+)$'`)
	case pattern != nil && !lines && (f.Format != nil || format == nil):
		r.Diags.Errorf(read.CodeConflict, r.Doc.Span(pattern.Key), `"pattern" goes with the format "lines" only`)
		f.Pattern = nil
	}
}

var formatWords = []string{"items", "go-test", "go-vet", "lines", "junit", "sarif", "rdjson", "rdjsonl", "golangci", "eslint", "markdown"}

// reportNames are the formats of reports that are files of their own, with what such a file may be called.
var reportNames = map[string]string{"junit": "report.xml", "sarif": "report.sarif", "rdjson": "report.json", "rdjsonl": "report.jsonl",
	"markdown": "feedback.md"}

var feedbackKeys = []key[Feedback]{
	{"format", words(formatWords...), "items", "how the items are read: see [formats](#formats)",
		func(r *reader, n *yaml.Node, f *Feedback) { f.Format = r.Word(n, `"format"`) }},
	{"path", aText, "by format", "the file that holds them, in the workspace. It is removed before each try. One below `$PIPE_STAGE_DIR/` " +
		"lies in the folder of the try: no part of the tree, and never that of another try",
		func(r *reader, n *yaml.Node, f *Feedback) { f.Path = r.Str(n, `"path"`) }},
	{"pattern", Value{Form: "regular expression"}, "", "of `lines`, which needs it: at least one of the named groups `file`, `line` and " +
		"`description`; a group `severity` is read too. Without `file` the items name no file",
		func(r *reader, n *yaml.Node, f *Feedback) { f.Pattern = r.pattern(n) }},
	{"severity", Value{"names with words", []string{"blocking", "advisory", "informational"}, ""}, "[by format](#formats)", "what words of " +
		"the tool for how severe a finding is mean, such as `{warning: blocking}`",
		func(r *reader, n *yaml.Node, f *Feedback) { f.Severity = r.severities(n) }},
	{"ok_exit_codes", Value{Form: "list of numbers"}, "by format", "the exit statuses with which the review took place",
		func(r *reader, n *yaml.Node, f *Feedback) {
			ok := r.List(n, `"ok_exit_codes"`, "exit statuses", func(n *yaml.Node) {
				c := r.Integer(n, `an entry of "ok_exit_codes"`, 0, 255)
				if c != nil && !slices.ContainsFunc(f.OKExitCodes, func(l Leaf[int]) bool { return l.Value == c.Value }) {
					f.OKExitCodes = append(f.OKExitCodes, *c)
				}
			})
			if ok && len(n.Content) == 0 {
				r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"ok_exit_codes" is empty; no execution would count as a review`)
			}
		}},
}

// severities reads what words of a tool mean.
func (r *reader) severities(n *yaml.Node) []*Severity {
	fs, ok := r.Fields(n, `"severity" of "feedback"`)
	if !ok {
		if read.IsString(n) {
			r.Advise("say what a word of the tool means: severity: {warning: blocking}")
		}
		return nil
	}
	var out []*Severity
	for _, f := range fs {
		s := &Severity{Word: Leaf[string]{Value: strings.ToLower(f.Name), Span: r.Doc.Span(f.Key)}}
		for _, before := range out {
			if before.Word.Value == s.Word.Value {
				d := r.Diags.Errorf(read.CodeDuplicateKey, s.Word.Span, `the word %q is given twice in "severity"; words differ by more than their case`, read.Short(f.Name))
				d.Related = []diag.Related{{Span: before.Word.Span, Message: "first given here"}}
			}
		}
		if v, done := r.Follow(f.Value); v != nil {
			s.Meaning = r.Word(v, `"`+read.Short(f.Name)+`" of "severity"`)
			done()
		}
		out = append(out, s)
	}
	return out
}

// pattern reads the regular expression of the format lines. It needs at least one of the named groups that
// make an item; without a group "description" the whole line is the description.
func (r *reader) pattern(n *yaml.Node) *Leaf[string] {
	s := r.Filled(n, `"pattern"`)
	if s == nil {
		return nil
	}
	if _, why, help := Pattern(s.Text); why != "" {
		r.Diags.Errorf(codePattern, s.Span, `"pattern" %s`, why).Help = help
		return nil
	}
	return &Leaf[string]{Value: s.Text, Span: s.Span}
}

// Pattern compiles a pattern of lines, or says what is wrong with it, after its name, and what to do where there is more
// to say.
func Pattern(text string) (re *regexp.Regexp, why, help string) {
	re, err := regexp.Compile(text)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, "is no regular expression: " + strings.ReplaceAll(msg, "`", "\""), ""
	}
	for _, group := range []string{"file", "line", "description"} {
		if re.SubexpIndex(group) >= 0 {
			return re, "", ""
		}
	}
	return nil, "has none of the named groups file, line and description", "name a group like this: (?P<description>.+)"
}

// forEach reads for_each.
func (r *reader) forEach(n *yaml.Node) *ForEach {
	f := &ForEach{Span: r.Doc.Whole(n)}
	fs, ok := readKeys(r, n, `"for_each"`, forEachKeys, f)
	switch {
	case !ok && (read.IsString(n) || n.Kind == yaml.SequenceNode):
		r.Advise("write for_each: {items: …}, with an expression that gives a list, or a list")
		return nil
	case !ok:
		return nil
	case !has(fs, "items"):
		r.Missing(n, r.Doc.Span(n), `"for_each"`, "items", "give an expression that gives a list, or a list: items: inputs.files")
	}
	return f
}

var forEachKeys = []key[ForEach]{
	{"items", Value{Form: "expression, list", Keys: "cel"}, Required, "an expression that gives a list, or a list, whose elements may hold " +
		"`${{ }}`",
		func(r *reader, n *yaml.Node, f *ForEach) {
			if n.Kind == yaml.SequenceNode {
				f.List = r.data(n, `"items" of "for_each"`)
				return
			}
			f.Items = r.expr(n, "items", `"items" of "for_each"`)
		}},
	{"as", aName, "item", "what an item is called in expressions: `each.item`; its place in the list is `each.index`, from 0",
		func(r *reader, n *yaml.Node, f *ForEach) {
			f.As = r.Name(n, `"as" of "for_each"`, read.EnvName)
			if f.As != nil && f.As.Value == "index" {
				r.Diags.Errorf(read.CodeValue, f.As.Span, `"as" cannot be "index": each.index is the item's place in the list`)
				f.As = nil
			}
		}},
	{"max_parallel", aNumber, "as `--jobs`", "how many items may be under way at once",
		func(r *reader, n *yaml.Node, f *ForEach) {
			f.MaxParallel = r.Integer(n, `"max_parallel"`, 1, math.MaxInt32)
		}},
}

// globs reads allowed_paths.
func (r *reader) globs(n *yaml.Node) *Globs {
	g := &Globs{Span: r.Doc.Whole(n)}
	ok := r.List(n, `"allowed_paths"`, "patterns of paths", func(n *yaml.Node) {
		if s := r.Filled(n, `an entry of "allowed_paths"`); s != nil {
			g.List = append(g.List, s)
		}
	})
	switch {
	case !ok:
		if read.IsString(n) {
			r.Advise("write it as a list: allowed_paths: [" + document.Quote(read.Short(n.Value)) + "]")
		}
		return nil
	case len(n.Content) == 0:
		r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"allowed_paths" is empty; no change would be allowed`).
			Help = "of a stage that changes nothing say writes: false"
		return nil
	}
	return g
}

func (r *reader) isEnvName(l Leaf[string]) bool {
	if !r.GoodName(l, "the name of an environment variable", read.EnvName) {
		return false
	}
	if strings.HasPrefix(l.Value, "PIPE_") {
		r.Diags.Errorf(read.CodeValue, l.Span, "the variable %q cannot be set: names that start with PIPE_ are given by the engine", read.Short(l.Value))
		return false
	}
	return true
}
