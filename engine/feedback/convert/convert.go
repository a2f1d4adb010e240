// Package convert turns the reports of tools into the results of reviews: the output of "go test -json",
// of "go vet", of golangci-lint and ESLint, reports of tests in JUnit's form, logs of static analysis (SARIF),
// reviewdog's diagnostics, and lines that match a pattern.
//
// A Format names a kind of report; an Input is one execution's report with what is needed to place it in
// the repository. Convert reads the report once, in bounded memory, and gives items whose files lie under
// the repository's root, each with a fingerprint that later rounds know it by. A review that did
// not take place is ErrNoReview and never a result without items: any exit status that the format does not
// allow, a report that ends in the middle or has nothing in it, one that says that its tool failed, and an exit
// status other than 0 that nothing in the report explains.
//
// The package opens no file and knows no process: the driver hands it readers. Checking and normalising
// what it gives is package feedback's work, and so is the format "items".
package convert

import (
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
)

// ErrNoReview says that the review did not take place; what it wraps or is wrapped in says why.
var ErrNoReview = errors.New("the review did not take place")

// Input is the report of one execution.
type Input struct {
	Stdout, Stderr io.Reader // a report in a file stands in for Stdout; either may be nil
	ExitCode       int
	OKExitCodes    []int // nil: the format's Defaults

	Root string // of the repository, absolute
	Dir  string // of the execution, relative to Root; what relative paths in the report are relative to

	// Module is the path of the Go module tested, ModuleDir the folder of its go.mod relative to Root. Folder,
	// if there, finds the folder of a package by its import path, relative to Root, and comes first.
	Module, ModuleDir string
	Folder            func(importPath string) (string, bool)

	Pattern *regexp.Regexp // of lines: groups named file, line, description, severity

	Severity map[string]feedback.Severity // by the tool's own word, in lower case, instead of what Mapping says

	// LineText gives the text of a line of a file, empty if there is none. May be nil.
	LineText func(file string, line int) string
}

// MaxItems is how many items a result holds at most; its summary counts those beyond.
const MaxItems = 1000

// Convert reads a report. The files of its items are absolute if Root is there, so that feedback.Normalise
// makes them relative to it whatever folder it takes relative ones from; else relative to the root. An error that is ErrNoReview says that the review did not take place; any other
// is a mistake in the input: an unknown format, or lines without a pattern.
func Convert(format string, in Input) (feedback.Result, error) {
	known, ok := lookup(format)
	if !ok || known.convert == nil {
		return feedback.Result{}, fmt.Errorf("convert report: format %q is not known, expected one of %s",
			format, strings.Join(Formats()[1:], ", "))
	}
	if format == Lines && in.Pattern == nil {
		return feedback.Result{}, fmt.Errorf("convert report: format %q needs a pattern", format)
	}
	codes := known.codes
	if in.OKExitCodes != nil {
		codes = in.OKExitCodes
	}
	if codes != nil && !slices.Contains(codes, in.ExitCode) {
		return feedback.Result{}, noReview("exit status %d, expected one of %s%s", in.ExitCode, join(codes), hint(in))
	}
	f := &findings{in: in, format: known, seen: make(map[string]bool)}
	if err := known.convert(f); err != nil {
		return feedback.Result{}, err
	}
	if in.ExitCode != 0 && len(f.items) == 0 && f.read == 0 {
		return feedback.Result{}, noReview("exit status %d, but the report holds no finding%s", in.ExitCode, f.said())
	}
	return f.result(), nil
}

func noReview(why string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoReview, fmt.Sprintf(why, args...))
}

func join(codes []int) string {
	out := make([]string, 0, len(codes))
	for _, c := range codes {
		out = append(out, fmt.Sprint(c))
	}
	return strings.Join(out, ", ")
}

// hint reads the first words of a report that is not read any further.
func hint(in Input) string {
	f := findings{in: in}
	for _, r := range []io.Reader{in.Stderr, in.Stdout} {
		_ = eachLine(r, func(line string) bool { // the exit status is the error; this only adds words to it
			f.hear(line)
			return len(f.heard) < heardLines
		})
	}
	return f.said()
}

// findings collects what a report holds.
type findings struct {
	in      Input
	format  format
	items   []feedback.Item
	seen    map[string]bool // repeats of one finding are one
	dropped int             // beyond MaxItems
	kept    [4]int          // items by severity
	read    int             // results of formats that also have such as are no findings
	summary string
	heard   []string // the first lines that are no finding: why there may be none
}

// heardLines is how many lines an error quotes.
const heardLines = 3

// hear keeps the first words of a tool that are no finding.
func (f *findings) hear(line string) {
	if len(f.heard) >= heardLines {
		return
	}
	if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
		f.heard = append(f.heard, strings.Clone(clip(line, 200)))
	}
}

func (f *findings) said() string {
	if len(f.heard) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it says %q)", strings.Join(f.heard, "; "))
}

// add keeps a finding. Its file is as the report has it; rule is what names it in its fingerprint, unless the
// tool gave it one. When there are too many the least severe go first: what blocks must not be lost.
func (f *findings) add(item feedback.Item, rule string) {
	key := fmt.Sprintf("%d\x00%s\x00%d\x00%s", item.Severity, item.File, item.Line, item.Description)
	if f.seen[key] {
		return
	}
	if len(f.items) >= MaxItems {
		f.dropped++
		if !f.makeRoom(item.Severity) {
			return
		}
	}
	if item.Fingerprint == "" { // of those that are kept alone: it may read a file for each
		item.Fingerprint = f.fingerprint(rule, item.File, item.Line)
	}
	f.seen[key] = true
	f.kept[item.Severity]++
	f.items = append(f.items, item)
}

// makeRoom drops the last of the least severe findings, if they are less severe than this one.
func (f *findings) makeRoom(severity feedback.Severity) bool {
	least := feedback.Informational
	for least > severity && f.kept[least] == 0 {
		least--
	}
	if least <= severity {
		return false
	}
	for i := len(f.items) - 1; i >= 0; i-- {
		if f.items[i].Severity == least {
			f.items = slices.Delete(f.items, i, i+1)
			f.kept[least]--
			return true
		}
	}
	return false
}

func (f *findings) fingerprint(rule, file string, line int) string {
	text := ""
	if f.in.LineText != nil && line > 0 && !isElsewhere(file) {
		text = strings.TrimSpace(f.in.LineText(file, line))
	}
	return feedback.Fingerprint(rule, file, text)
}

// sort puts findings in the order of the code: tools that work in parallel report in any.
func (f *findings) sort() {
	slices.SortStableFunc(f.items, func(a, b feedback.Item) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Description, b.Description)
	})
}

func (f *findings) result() feedback.Result {
	r := feedback.Result{Items: f.items, Summary: f.summary}
	if r.Items == nil {
		r.Items = []feedback.Item{}
	}
	for i := range r.Items {
		if file := r.Items[i].File; f.in.Root != "" && file != "" && !path.IsAbs(file) && !strings.Contains(file, "://") {
			r.Items[i].File = path.Join(f.in.Root, file)
		}
	}
	if r.Summary == "" {
		r.Summary = fmt.Sprintf("%d findings", len(f.items)+f.dropped)
	}
	if f.dropped > 0 {
		r.Summary += fmt.Sprintf("; only the first %d are kept", MaxItems)
	}
	return r
}

// place gives a path of the report relative to the root. One that lies elsewhere stays absolute: package
// feedback drops it from its item and says so.
func (f *findings) place(file string) string {
	file = strings.ReplaceAll(strings.TrimSpace(file), `\`, "/")
	if file == "" {
		return ""
	}
	if len(file) > 2 && isScheme(file[:1]) && file[1:3] == ":/" {
		file = "/" + file // a drive of another system is no folder of this one
	}
	if path.IsAbs(file) {
		if rel, ok := f.insideRoot(file); ok {
			return rel
		}
		return file
	}
	return path.Join(f.in.Dir, file)
}

func (f *findings) insideRoot(file string) (string, bool) {
	if f.in.Root == "" {
		return "", false
	}
	rel, ok := strings.CutPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(f.in.Root), "/")+"/")
	return rel, ok && rel != ""
}
