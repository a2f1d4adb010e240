package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/driver"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/feedback/report"
	"example.com/pipe/specs"
	"example.com/pipe/specs/data"
)

// convertOptions are the options of `pipe feedback convert`.
type convertOptions struct {
	*app
	from, to string
	pattern  string
	severity []string
	exitCode int
	file     string // empty: stdin
}

func newFeedbackConvertCmd(a *app) *cobra.Command {
	o := &convertOptions{app: a}
	var forms []string
	for _, f := range report.Forms() {
		forms = append(forms, string(f))
	}
	cmd := &cobra.Command{
		Use:   "convert --from FORMAT [FILE]",
		Short: "Make items of a tool's report, or write them in another form",
		Long: "Reads the report of a tool from FILE, or from stdin, as a stage with this feedback.format would, and writes what\n" +
			"it says. Relative files of the report are taken from the current folder, and become relative to the project.\n" +
			"A report of a review that did not take place is exit status 1 and prints nothing but why. The Markdown is a report\n" +
			"for people; the feedback file of a task, which the format markdown reads, is made of items by `pipe feedback write`.\n\n" +
			"Formats: " + strings.Join(convert.Formats(), ", ") + ".",
		Example: "  go test -json ./... | pipe feedback convert --from go-test\n" +
			"  pipe feedback convert --from eslint --to sarif eslint.json\n" +
			"  pipe feedback convert --from lines --pattern '(?P<file>[^:]+):(?P<line>\\d+): (?P<description>.*)' --severity error=advisory out.txt",
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "-" {
				o.file = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "the `FORMAT` of the report")
	cmd.Flags().StringVar(&o.to, "to", string(report.Items), "the `FORM` to write: "+strings.Join(forms, ", "))
	cmd.Flags().StringVar(&o.pattern, "pattern", "", "of lines: a regular expression with groups named file, line, description, severity")
	cmd.Flags().StringArrayVar(&o.severity, "severity", nil, "what a word of the tool becomes, such as `warning=blocking`; may be repeated")
	cmd.Flags().IntVar(&o.exitCode, "exit-code", 0, "the exit status `N` with which the tool ended")
	for flag, words := range map[string][]string{"from": convert.Formats(), "to": forms} { // each by itself: order does not matter
		if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, noFiles)); err != nil {
			panic(err) // the flag was just made
		}
	}
	return cmd
}

func (o *convertOptions) run(context.Context) error {
	if err := o.checkWords(); err != nil {
		return err
	}
	p, err := o.project(nil)
	if err != nil {
		return err
	}
	in, err := o.input(p)
	if err != nil {
		return err
	}
	from, err := o.open()
	if err != nil {
		return err
	}
	defer from.Close()
	r, err := o.read(in, from)
	switch {
	case errors.Is(err, convert.ErrNoReview):
		return &statusError{exitFailed, err}
	case err != nil:
		return err
	}
	agent := ""
	if o.from == convert.GoTest || o.from == convert.GoVet { // other reports say it, or nobody knows
		agent = o.from
	}
	r, err = feedback.Normalise(r, feedback.Context{Root: in.Root, Dir: in.Dir, Agent: agent, LineText: in.LineText})
	if err != nil {
		return &statusError{exitFailed, fmt.Errorf("%w: %w", convert.ErrNoReview, err)}
	}
	return report.Write(o.out, report.Form(o.to), r)
}

// checkWords looks at the names of the format and of the form.
func (o *convertOptions) checkWords() error {
	formats := convert.Formats()
	switch {
	case o.from == "":
		return usagef("--from FORMAT is missing, expected one of %s", strings.Join(formats, ", "))
	case !slices.Contains(formats, o.from):
		return usagef("--from %q is no format%s", o.from, orOneOf(o.from, formats))
	}
	var forms []string
	for _, f := range report.Forms() {
		forms = append(forms, string(f))
	}
	if !slices.Contains(forms, o.to) {
		return usagef("--to %q is no form%s", o.to, orOneOf(o.to, forms))
	}
	switch {
	case o.from == convert.Lines && o.pattern == "":
		return usagef("--from lines needs --pattern, a regular expression with groups named file, line, description, severity")
	case o.from != convert.Lines && o.pattern != "":
		return usagef("--pattern does not go with --from %s, it goes with --from lines", o.from)
	case o.exitCode < 0 || o.exitCode > 255:
		return usagef("--exit-code %d: expected a number from 0 to 255", o.exitCode)
	}
	return nil
}

// orOneOf is the end of a message about a word that is not known.
func orOneOf(word string, known []string) string {
	if hint := diag.Suggest(word, known); hint != "" {
		return ", " + hint
	}
	return ", expected one of " + strings.Join(known, ", ")
}

// input is what the report is read with, the report aside.
func (o *convertOptions) input(p *engine.Project) (convert.Input, error) {
	dir, err := filepath.EvalSymlinks(o.dir)
	if err != nil {
		return convert.Input{}, fmt.Errorf("look where the current folder is: %w", err)
	}
	rel, err := filepath.Rel(p.Root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return convert.Input{}, fmt.Errorf("the current folder %q is not in the project %q", dir, p.Root)
	}
	if rel == "." {
		rel = ""
	}
	in := driver.ReportInput(p.Root, filepath.ToSlash(rel))
	in.ExitCode = o.exitCode
	if in.Severity, err = o.severities(); err != nil {
		return convert.Input{}, err
	}
	if o.pattern != "" {
		if in.Pattern, err = compilePattern(o.pattern); err != nil {
			return convert.Input{}, err
		}
	}
	return in, nil
}

// compilePattern takes what a pipeline does, and no group that nobody would read.
func compilePattern(text string) (*regexp.Regexp, error) {
	groups := []string{"file", "line", "description", "severity"}
	if re, err := regexp.Compile(text); err == nil {
		for _, name := range re.SubexpNames() {
			if name != "" && !slices.Contains(groups, name) {
				return nil, usagef("--pattern has a group named %q%s", name, orOneOf(name, groups))
			}
		}
	}
	re, why, help := specs.Pattern(text)
	switch {
	case help != "":
		return nil, usagef("--pattern %s; %s", why, help)
	case why != "":
		return nil, usagef("--pattern %s", why)
	}
	return re, nil
}

// severities reads --severity.
func (o *convertOptions) severities() (map[string]feedback.Severity, error) {
	mapping, open := convert.Mapping(o.from)
	var words []string
	for _, w := range mapping {
		words = append(words, w.Word)
	}
	known := []string{feedback.Blocking.String(), feedback.Advisory.String(), feedback.Informational.String()}
	out := make(map[string]feedback.Severity)
	for _, text := range o.severity {
		word, becomes, ok := strings.Cut(text, "=")
		word, becomes = strings.ToLower(strings.TrimSpace(word)), strings.ToLower(strings.TrimSpace(becomes))
		var s feedback.Severity
		switch {
		case !ok || word == "" || becomes == "":
			return nil, usagef("--severity %q: expected WORD=SEVERITY, such as warning=blocking", text)
		case !open && !slices.Contains(words, word):
			return nil, usagef("--severity %q: %s has no word %q for it%s", text, o.from, word, orOneOf(word, words))
		case !slices.Contains(known, becomes) || s.UnmarshalText([]byte(becomes)) != nil:
			return nil, usagef("--severity %q: %q is no severity%s", text, becomes, orOneOf(becomes, known))
		}
		if was, twice := out[word]; twice && was != s {
			return nil, usagef("--severity is given twice for %q, as %s and as %s", word, was, s)
		}
		out[word] = s
	}
	return out, nil
}

// open opens the report.
func (o *convertOptions) open() (io.ReadCloser, error) {
	if o.file == "" {
		if o.inTerminal {
			return nil, usagef("there is no report: stdin is a terminal; name its FILE, or put the tool before it: TOOL | pipe feedback convert --from %s", o.from)
		}
		return io.NopCloser(o.in), nil
	}
	path := o.inDir(o.file)
	if isFolder(path) {
		return nil, usagef("%q is a folder, expected the file of a report", o.file)
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("there is no file %q", o.file)
	case err != nil:
		return nil, usagef("the report can't be read: %w", err)
	}
	return f, nil
}

// read reads the report: documents of items as a stage writes them, all others by their converter.
func (o *convertOptions) read(in convert.Input, from io.Reader) (feedback.Result, error) {
	if o.from != convert.Items {
		in.Stdout = from
		return convert.Convert(o.from, in)
	}
	noReview := func(err error) (feedback.Result, error) {
		return feedback.Result{}, fmt.Errorf("%w: %w", convert.ErrNoReview, err)
	}
	if o.exitCode != 0 {
		return noReview(fmt.Errorf("exit status %d, expected 0", o.exitCode))
	}
	b, err := io.ReadAll(io.LimitReader(from, data.MaxJSON+1))
	switch {
	case err != nil:
		return noReview(fmt.Errorf("read report: %w", err))
	case len(b) > data.MaxJSON:
		return noReview(fmt.Errorf("the document is over %d bytes, which is the most that is read", data.MaxJSON))
	}
	v, err := driver.DecodeItems(b)
	if err != nil {
		return noReview(err)
	}
	r, err := feedback.ReadResult(v, "")
	if err != nil {
		return noReview(err)
	}
	convert.Override(r.Items, in.Severity)
	return r, nil
}
