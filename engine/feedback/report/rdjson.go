package report

import (
	"encoding/json"
	"strings"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

type rdReport struct {
	Source      rdSource       `json:"source"`
	Diagnostics []rdDiagnostic `json:"diagnostics"`
}

type rdSource struct {
	Name string `json:"name"`
}

type rdDiagnostic struct {
	Message  string      `json:"message"`
	Location *rdLocation `json:"location,omitempty"`
	Severity string      `json:"severity"`
	Source   *rdSource   `json:"source,omitempty"`
	// Original is the item that the diagnostic was made from, as an object: the form has no place for
	// a fix in words, which stands in the message as well, nor for a fingerprint.
	Original string `json:"original_output"`
}

type rdLocation struct {
	Path  string   `json:"path,omitempty"`
	Range *rdRange `json:"range,omitempty"`
}

type rdRange struct {
	Start struct {
		Line int `json:"line"`
	} `json:"start"`
}

func diagnostics(r feedback.Result) rdReport {
	out := rdReport{Source: rdSource{ourName}, Diagnostics: []rdDiagnostic{}}
	for i := range r.Items {
		item := &r.Items[i]
		if isGone(item) || item.Status == feedback.Waived {
			continue
		}
		d := rdDiagnostic{Message: item.Description, Severity: rdSeverity(item.Severity), Original: original(item)}
		if item.SuggestedFix != "" {
			d.Message += "\nFix: " + item.SuggestedFix
		}
		if item.SourceAgent != "" {
			d.Source = &rdSource{item.SourceAgent}
		}
		if item.File != "" || item.Line > 0 {
			d.Location = &rdLocation{Path: item.File}
			if item.Line > 0 {
				d.Location.Range = &rdRange{}
				d.Location.Range.Start.Line = item.Line
			}
		}
		out.Diagnostics = append(out.Diagnostics, d)
	}
	return out
}

// original is an item as text. It is an object of texts and numbers, which always can be written.
func original(i *feedback.Item) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]*feedback.Item{convert.OriginalItem: i}); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func rdSeverity(s feedback.Severity) string {
	switch s {
	case feedback.Blocking:
		return "ERROR"
	case feedback.Advisory:
		return "WARNING"
	case feedback.Informational:
		return "INFO"
	}
	return "UNKNOWN_SEVERITY"
}
