package explain

import (
	"maps"
	"slices"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
	"example.com/pipe/engine/plan"
)

// Task is what a run works on, as the document has it.
type Task struct {
	Key      string   `json:"key"`
	Body     string   `json:"body,omitempty"`
	BodyFile string   `json:"body_file,omitempty"`
	Repos    []string `json:"repos,omitempty"`
}

// Refine is what the attempts of a refine loop are called, and where their findings are kept.
type Refine struct {
	Name string `json:"name"`
	File string `json:"feedback_file,omitempty"`
}

// Rollback is how what a stage did is undone.
type Rollback struct {
	Strategy    string `json:"strategy"`
	Description string `json:"description,omitempty"`
	Run         string `json:"run,omitempty"`
}

// Report is how the report of a review is read.
type Report struct {
	Format string `json:"format"`
	Path   string `json:"path,omitempty"`
	Words  []Word `json:"severity"`
	Other  string `json:"other_words,omitempty"` // the word that others of the tool are taken for
}

// Word is a word of a tool for how severe a finding is, and what it becomes.
type Word struct {
	Word     string `json:"word"`
	Severity string `json:"severity"`          // "none": it is no finding
	Default  string `json:"default,omitempty"` // what it would be, had the document not said something else
}

// report says how a report is read; nil: there is none.
func report(f *plan.Feedback) *Report {
	if f == nil {
		return nil
	}
	words, _ := convert.Mapping(f.Format)
	out := &Report{Format: f.Format, Path: f.Path, Other: convert.OtherWord(f.Format), Words: make([]Word, 0, len(words))}
	for _, w := range words {
		word := Word{Word: w.Word, Severity: severity(w.Severity)}
		if said, ok := f.Severity[w.Word]; ok && said != word.Severity {
			word.Severity, word.Default = said, word.Severity
		}
		out.Words = append(out.Words, word)
	}
	for _, w := range slices.Sorted(maps.Keys(f.Severity)) { // words that only the document knows
		if !slices.ContainsFunc(words, func(k convert.Word) bool { return k.Word == w }) {
			out.Words = append(out.Words, Word{Word: w, Severity: f.Severity[w], Default: out.meaning(out.Other)})
		}
	}
	return out
}

// meaning gives what a word becomes.
func (r *Report) meaning(word string) string {
	for _, w := range r.Words {
		if w.Word == word {
			return w.Severity
		}
	}
	return ""
}

func severity(s feedback.Severity) string {
	if s == feedback.UnknownSeverity {
		return "none"
	}
	return s.String()
}

func task(t *plan.Task) *Task {
	out := &Task{Key: templateText(&t.Key)}
	if t.Body != nil {
		out.Body = templateText(t.Body)
	}
	if t.BodyFile != nil {
		out.BodyFile = templateText(t.BodyFile)
	}
	for i := range t.Repos {
		out.Repos = append(out.Repos, templateText(&t.Repos[i]))
	}
	return out
}

// templateText gives a text as a document has it.
func templateText(t *plan.Template) string {
	if s, ok := t.Value.(string); ok {
		return s
	}
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Expr != nil {
			b.WriteString("${{ " + p.Expr.Source + " }}")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
