// Package specs is the language: it reads pipeline documents and pipe.yaml from YAML into syntax trees whose
// every leaf has a span, and reports all mistakes of shape in one go.
//
// It knows keys, kinds and enumerations, not meaning: names, types and the graph are engine/compile's.
package specs

import "time"

// Duration is a length of time as written ("30m", "5s").
type Duration = time.Duration
