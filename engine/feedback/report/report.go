// Package report writes the result of a review for others to read: as the document of items that a stage may give
// itself, as a log of static analysis (SARIF 2.1.0), as reviewdog's diagnostics, and as Markdown for people.
//
// A Form names how. Write takes a result that package feedback has normalised, and writes all of it or gives the
// error of the writer. What the forms of tools have no place for goes where their definition leaves room, so that
// package feedback/convert, which is the way back, finds each item as it was: how severe it is, where, what is
// wrong, how to fix it, and its fingerprint. Two things go: of an item without a file SARIF can't hold the line, and
// neither it nor rdjson holds items that are fixed or withdrawn, since those are no findings any more. Waived ones
// are suppressed in SARIF, and are not in rdjson.
//
// No text of an item becomes Markdown, HTML, or what a terminal obeys.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"example.com/pipe/engine/feedback"
)

// Form is how a result is written.
type Form string

// The forms.
const (
	Items    Form = "items"
	SARIF    Form = "sarif"
	Markdown Form = "markdown"
	RDJSON   Form = "rdjson"
)

// Forms lists the forms.
func Forms() []Form { return []Form{Items, SARIF, Markdown, RDJSON} }

// Write writes a result. A form that is not known is an error.
func Write(w io.Writer, form Form, r feedback.Result) error {
	switch form {
	case Items:
		if r.Items == nil {
			r.Items = []feedback.Item{}
		}
		return writeJSON(w, r)
	case SARIF:
		return writeJSON(w, sarifLog(r))
	case Markdown:
		return WriteMarkdown(w, "Findings", r)
	case RDJSON:
		return writeJSON(w, diagnostics(r))
	}
	return fmt.Errorf("write report: form %q is not known, expected one of %s", form, names())
}

func names() string {
	var out []string
	for _, f := range Forms() {
		out = append(out, string(f))
	}
	return strings.Join(out, ", ")
}

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := w.Write(safe(b.Bytes())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// safe spells out what encoding/json leaves as it is and a terminal would obey, or not show. Such characters stand
// only inside strings, so the document stays the same.
func safe(b []byte) []byte {
	if bytes.IndexFunc(b, isUnsafe) < 0 {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch high, low := utf16.EncodeRune(r); {
		case !isUnsafe(r):
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.Bytes()
}

func isUnsafe(r rune) bool { return r != '\n' && isHidden(r) }

// isGone reports whether an item is no finding any more.
func isGone(i *feedback.Item) bool {
	return i.Status == feedback.Fixed || i.Status == feedback.Withdrawn
}
