// Command pipe runs pipelines: chains of shell scripts and coding agents, described in YAML, whose reviews
// send work back until it is right.
//
// Words: a command is one file here, with its options, its newXCmd and its run; the app is what commands get
// from outside: streams, environment, folder, clock. What a command found reaches the screen through a view,
// as text or, with --json, as a versioned document.
//
// The contract of the exit status: 0 success · 1 failed, cancelled, findings of check, or a refused answer · 2 usage, no such
// run · 3 a failure of our own · 4 paused or waiting for a person · 5 held by another process · 130 and 143
// stopped by a signal, can be resumed. Errors go to stderr, results to stdout.
//
// Nothing is decided here: package engine loads, runs and answers, engine/view turns records into what is
// shown. The commands that only read never lock a run and never wait for one.
package main

import "os"

func main() { os.Exit(runMain()) }
