// Package pipelines holds the pipelines that come with the program, as files: NAME.yaml, and the prompts they
// name in prompts/.
//
// A project's own pipeline of the same name comes first. What a shipped pipeline runs is checked like any
// other: `pipe check` of this folder is part of the gate. Finding and loading them is package engine's work;
// this package only carries them.
package pipelines

import "embed"

// Files holds the pipelines and their prompts, by their path in this folder.
//
//go:embed *.yaml prompts
var Files embed.FS
