// Package contracts holds the contracts that come with the program, as files: NAME.md, each with its keys as
// front matter and an explanation for people.
//
// A project's own contract of the same name comes first. Finding them is package engine's work, reading them
// package specs', and compiling them package compile's; this package only carries them.
package contracts

import "embed"

// Files holds the contracts by their path in this folder.
//
//go:embed *.md
var Files embed.FS
