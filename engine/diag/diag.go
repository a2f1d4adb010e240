// Package diag holds what is wrong with the documents that authors write: a list of diagnostics, each
// with a severity, a stable code, a tight span, a message, related places and help.
//
// Parsing, compiling and checking go on after a mistake and add to one List, so that all mistakes of a
// file come in one go; List orders them and drops repeats. Messages are lower case without a full stop,
// name the thing in quotes, say what was expected and what to do. An unknown name is answered with
// Suggest's "did you mean" from the real candidates.
//
// It neither finds mistakes nor reads files: the packages that find them own the codes.
package diag

import "example.com/pipe/engine/source"

// Severity says how much a diagnostic matters.
type Severity uint8

// The severities. Only Error stops a run from starting.
const (
	UnknownSeverity Severity = iota
	Error
	Warning
	Note
)

// Code is the stable name of a kind of mistake, such as "unknown-key". Codes are lower case with dashes.
type Code string

// Related is a second place that a diagnostic speaks of.
type Related struct {
	Span    source.Span `json:"span"`
	Message string      `json:"message"`
}

// Diagnostic is one finding about a document.
type Diagnostic struct {
	Severity Severity    `json:"severity"`
	Code     Code        `json:"code"`
	Span     source.Span `json:"span"`
	Message  string      `json:"message"`
	Related  []Related   `json:"related,omitempty"` // at most two
	Help     string      `json:"help,omitempty"`    // what to do, where the message does not say it; may hold several lines (a rewrite)
}
