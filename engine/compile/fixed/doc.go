// Package fixed compiles what is known before a run and holds no expressions: declarations of inputs and outputs,
// plain values, how often a stage is tried and for how long, how its report is read, which rules end its loop.
//
// Of several places that may say something the last that does holds: Pick takes the language's default, then what the
// document's defaults say, then what the stage says.
//
// What names other stages is package compile's, what holds expressions package scope's, and what the words of a
// report's tool mean of themselves package convert's.
package fixed

import "example.com/pipe/engine/diag"

// The codes of this package's diagnostics.
const (
	CodeType    diag.Code = "type"
	CodeDefault diag.Code = "default"
	CodeRetry   diag.Code = "retry"
	CodePath    diag.Code = "path"
	CodeFormat  diag.Code = "format"
)
