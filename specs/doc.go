// Package specs is the language: it reads pipelines, contracts and pipe.yaml from YAML into syntax trees whose
// every leaf has a span, and reports all mistakes of shape in one go.
//
// It knows keys, kinds and enumerations, not meaning: names, types and the graph are engine/compile's. A
// leaf that was reported as wrong is nil in the tree, so that nobody reports it again; what stands beside it
// is kept. A Pipeline that is Incomplete lacks what a syntax error hid.
//
// Package document reads the file into nodes of YAML; those are read here by tables of keys (pipeline.go,
// stage.go, contract.go, project.go) with the readers of leaf.go and tree.go. A table says beside each key what
// it means: Reference gives that to documents and other readers.
//
// Anchors, aliases and "<<" are allowed within a budget. An alias may stand for an expression; an anchor
// that holds itself, a tag, a second document and a byte that is no text are errors. A key of "<<" counts
// unless the mapping has it, and the first of several wins.
//
// The pattern of the feedback format lines must be a regular expression with at least one of the named
// groups file, line and description.
package specs

import (
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
)

// Duration is a length of time as written ("30m", "5s").
type Duration = time.Duration

// MaxSize is how many bytes a document may have.
const MaxSize = document.MaxSize

// CheckText looks at a file that holds any text, such as a prompt: it must be UTF-8 without NUL bytes.
func CheckText(f *source.File) diag.List { return document.CheckText(f) }
