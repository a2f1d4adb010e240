package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/pipe/engine/source"
)

// List collects diagnostics in the order in which they are found. It takes Most of them, and one more that
// says that there were others: nobody reads more, and a document of a million mistakes must not cost gigabytes.
type List []Diagnostic

// Most is how many diagnostics a List takes.
const Most = 1000

// CodeTooMany is the code of the diagnostic that stands for all that a List did not take.
const CodeTooMany Code = "too-many"

// Add appends diagnostics.
func (l *List) Add(ds ...Diagnostic) {
	for i := range ds {
		l.add(ds[i])
	}
}

// add appends a diagnostic and returns it. One too many is as severe as the worst of those that it stands for,
// so that no error is lost.
func (l *List) add(d Diagnostic) *Diagnostic {
	switch n := len(*l); {
	case n < Most:
		*l = append(*l, d)
		return &(*l)[n]
	case n == Most:
		*l = append(*l, Diagnostic{Severity: d.Severity, Code: CodeTooMany, Span: d.Span,
			Message: fmt.Sprintf("more than %d things were found; this and what was found after it is left out", Most)})
	case d.Severity == Error:
		(*l)[Most].Severity = Error
	}
	return &d
}

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
	return l.add(Diagnostic{Severity: sev, Code: code, Span: span, Message: fmt.Sprintf(format, args...)})
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
