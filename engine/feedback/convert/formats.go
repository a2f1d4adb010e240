package convert

import (
	"slices"

	"example.com/pipe/engine/feedback"
)

// The formats of reports. Items is read by feedback.ReadResult; Convert refuses it.
const (
	Items    = "items"
	GoTest   = "go-test"
	GoVet    = "go-vet"
	Lines    = "lines"
	GolangCI = "golangci"
	ESLint   = "eslint"
	JUnit    = "junit"
	SARIF    = "sarif"
	RDJSON   = "rdjson"
	// RDJSONL is RDJSON with a diagnostic a line.
	RDJSONL = "rdjsonl"
	// Markdown is the feedback file of a task, which package taskfile reads.
	Markdown = "markdown"
)

// format is what is known of a format.
type format struct {
	name  string
	doc   string // Doc
	codes []int  // Defaults
	words []Word // Mapping
	open  bool   // the tool may have other words
	file  bool   // NeedsFile
	// convert reads a report; nil for the documents of our own, which feedback.ReadResult reads.
	convert func(*findings) error
}

// Word is a word that a tool has for how severe a finding is, in lower case, and what it becomes. What has the
// unknown severity is no finding.
type Word struct {
	Word     string
	Severity feedback.Severity
}

// formats lists what is known, in the order in which people are told of it.
func formats() []format {
	worked := []int{0, 1}
	reviewdog := []Word{{"error", feedback.Blocking}, {"warning", feedback.Advisory}, {"info", feedback.Informational}}
	return []format{
		{name: Items, doc: "the document of items that a stage may write itself, in JSON, JSON lines or YAML",
			codes: []int{0}, words: []Word{{"blocking", feedback.Blocking}, {"advisory", feedback.Advisory}, {"informational", feedback.Informational}}},
		{name: GoTest, doc: "the output of `go test -json`: tests that failed, and what was not built",
			codes: worked, words: []Word{{"fail", feedback.Blocking}}, convert: goTest},
		{name: GoVet, doc: "the output of `go vet`",
			codes: worked, words: []Word{{"problem", feedback.Blocking}}, convert: goVet},
		{name: Lines, doc: "each line that `pattern` matches, with the groups `file`, `line`, `description` and `severity`",
			codes: worked, words: lineWords(), open: true, convert: patternLines},
		{name: GolangCI, doc: "golangci-lint's JSON: `--output.json.path stdout`, in version 1 `--out-format json`",
			codes: worked, words: []Word{{"error", feedback.Blocking}, {"warning", feedback.Advisory}}, open: true, convert: golangci},
		{name: ESLint, doc: "what ESLint writes with `--format json`, or `json-with-metadata`",
			codes: worked, words: []Word{{"error", feedback.Blocking}, {"warning", feedback.Advisory}}, convert: eslint},
		{name: JUnit, doc: "the XML that test runners of most languages write: tests and suites with a failure or an error",
			file: true, words: []Word{{"failure", feedback.Blocking}, {"error", feedback.Blocking}}, convert: junit},
		{name: SARIF, doc: "a log of static analysis, SARIF 2.1.0",
			codes: worked, file: true, words: []Word{{"error", feedback.Blocking}, {"warning", feedback.Advisory},
				{"note", feedback.Informational}, {"none", feedback.UnknownSeverity}}, convert: sarif},
		{name: RDJSON, doc: "reviewdog's diagnostics, as one object",
			codes: worked, file: true, words: reviewdog, convert: rdjson},
		{name: RDJSONL, doc: "reviewdog's diagnostics, one a line",
			codes: worked, file: true, words: reviewdog, convert: rdjsonl},
		{name: Markdown, doc: "the feedback file of a task: what is open under Critical, Warnings and Suggestions",
			codes: []int{0}, file: true, words: []Word{{"critical", feedback.Blocking}, {"warning", feedback.Advisory},
				{"suggestion", feedback.Informational}}, convert: markdown},
	}
}

// lookup finds a format; ok is false for one that is not known.
func lookup(name string) (f format, ok bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// Formats lists the formats.
func Formats() []string {
	var out []string
	for _, f := range formats() {
		out = append(out, f.name)
	}
	return out
}

// Doc says what a report of this format is, for a table in Markdown.
func Doc(format string) string {
	f, _ := lookup(format)
	return f.doc
}

// Defaults gives the exit statuses with which a tool of this format has done its work; ok is false for a
// format that is not known. Without codes any status will do, if the report is whole. The caller owns the list.
func Defaults(format string) (codes []int, ok bool) {
	f, ok := lookup(format)
	return slices.Clone(f.codes), ok
}

// NeedsFile reports whether a report of this format is a file that must be named; others are what the tool prints.
func NeedsFile(format string) bool {
	f, _ := lookup(format)
	return f.file
}

// Mapping lists the words for severity of a format, from the most severe, with what each becomes; they are the keys
// of Input.Severity. Nil for a format that is not known. With open, a tool may have others too: they may be keys as
// well, and without one they are what OtherWord says.
func Mapping(format string) (words []Word, open bool) {
	f, _ := lookup(format)
	return f.words, f.open
}

// OtherWord is the word that stands for those of a tool that the mapping does not list: "" if there are none.
func OtherWord(format string) string {
	switch format {
	case Lines:
		return "error"
	case GolangCI:
		return "warning"
	}
	return ""
}

// Override gives each item the severity that the table has for its word, which is that of the format Items.
func Override(items []feedback.Item, severities map[string]feedback.Severity) {
	for i := range items {
		if s := severities[items[i].Severity.String()]; s != feedback.UnknownSeverity {
			items[i].Severity = s
		}
	}
}

// severity gives what a word for it stands for in this report: what the input says of it, or else of the word that
// stands for those which the format does not list, or what the format has for it.
func (f *findings) severity(word string) feedback.Severity {
	if s := f.in.Severity[word]; s != feedback.UnknownSeverity {
		return s
	}
	for _, w := range f.format.words {
		if w.Word == word {
			return w.Severity
		}
	}
	if other := OtherWord(f.format.name); other != "" && other != word {
		return f.severity(other)
	}
	return feedback.Blocking
}
