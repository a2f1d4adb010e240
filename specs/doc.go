// Package specs is the language: it reads pipelines, contracts and pipe.yaml from YAML into syntax trees whose
// every leaf has a span, and reports all mistakes of shape in one go.
//
// It knows keys, kinds and enumerations, not meaning: names, types and the graph are engine/compile's. A
// leaf that was reported as wrong is nil in the tree, so that nobody reports it again; what stands beside it
// is kept. A Pipeline that is Incomplete lacks what a syntax error hid.
//
// A document goes through these steps, in this order: its size and characters are checked (load, text.go);
// YAML parses it, and where YAML gives up, the mistake is reported and taken out, value by value where YAML
// took an expression for something else (eaten.go), else by cutting the text (load.go); the nodes are read
// by tables of keys (pipeline.go, stage.go, contract.go, project.go) with the readers of leaf.go and tree.go. What YAML
// decoded is traced back to the text (trace.go, block.go), so that a place inside an expression is exact in
// every style of scalar.
//
// Anchors, aliases and "<<" are allowed within a budget. An alias may stand for an expression; an anchor
// that holds itself, a tag, a second document and a byte that is no text are errors. A key of "<<" counts
// unless the mapping has it, and the first of several wins.
//
// The pattern of the feedback format lines must be a regular expression with at least one of the named
// groups file, line and description.
package specs

import "time"

// Duration is a length of time as written ("30m", "5s").
type Duration = time.Duration
