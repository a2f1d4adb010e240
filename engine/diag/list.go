package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/pipe/engine/source"
)

// List collects diagnostics in the order in which they are found.
type List []Diagnostic

// Add appends diagnostics.
func (l *List) Add(ds ...Diagnostic) { *l = append(*l, ds...) }

// Errorf appends an error and returns it, so that help and related places can be set. The pointer is good
// until the next diagnostic is added.
func (l *List) Errorf(code Code, span source.Span, format string, args ...any) *Diagnostic {
	return l.addf(Error, code, span, format, args...)
}

// Warnf is Errorf with a warning.
func (l *List) Warnf(code Code, span source.Span, format string, args ...any) *Diagnostic {
	return l.addf(Warning, code, span, format, args...)
}

// Notef is Errorf with a note.
func (l *List) Notef(code Code, span source.Span, format string, args ...any) *Diagnostic {
	return l.addf(Note, code, span, format, args...)
}

func (l *List) addf(sev Severity, code Code, span source.Span, format string, args ...any) *Diagnostic {
	*l = append(*l, Diagnostic{Severity: sev, Code: code, Span: span, Message: fmt.Sprintf(format, args...)})
	return &(*l)[len(*l)-1]
}

// Len returns the number of diagnostics.
func (l List) Len() int { return len(l) }

// Count returns the number of diagnostics of one severity.
func (l List) Count(s Severity) int {
	n := 0
	for i := range l {
		if l[i].Severity == s {
			n++
		}
	}
	return n
}

// HasErrors reports whether a run of this document must not start.
func (l List) HasErrors() bool { return l.Count(Error) > 0 }

// Sorted returns a copy in order of file, place and code, without repeats. Two diagnostics are the same if
// severity, code, start and message are.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Span.File, b.Span.File),
		cmp.Compare(a.Span.Start.Line, b.Span.Start.Line),
		cmp.Compare(a.Span.Start.Col, b.Span.Start.Col),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Message, b.Message),
	)
}

// JSONVersion is the version of the form that JSON writes; fields are only added within it.
const JSONVersion = 1

// JSON returns the sorted list as {"version": 1, "errors": n, "warnings": n, "diagnostics": […]}.
func (l List) JSON() ([]byte, error) {
	ds := l.Sorted()
	doc := struct {
		Version     int  `json:"version"`
		Errors      int  `json:"errors"`
		Warnings    int  `json:"warnings"`
		Diagnostics List `json:"diagnostics"`
	}{JSONVersion, ds.Count(Error), ds.Count(Warning), ds}
	if doc.Diagnostics == nil {
		doc.Diagnostics = List{}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode diagnostics: %w", err)
	}
	return b, nil
}
