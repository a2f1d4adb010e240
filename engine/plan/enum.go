package plan

import "time"

// Duration is a length of time whose text form is Go's ("30m0s").
type Duration time.Duration

// OnExhausted says what happens when a loop may not go on.
type OnExhausted uint8

// What happens when a loop may not go on: a person is asked, or the run fails.
const (
	UnknownOnExhausted OnExhausted = iota
	Escalate
	FailRun
)

// Rerun says what runs again when a loop sends work back.
type Rerun uint8

// What runs again: all that needs the target, or only what lies between target and source.
const (
	UnknownRerun Rerun = iota
	Downstream
	Path
)

// Backoff says how the delay between tries grows.
type Backoff uint8

// How the delay between tries grows.
const (
	UnknownBackoff Backoff = iota
	Exponential
	Linear
	Fixed
)

// OnInterrupt says what happens to a try that our own death ended.
type OnInterrupt uint8

// What happens to a try that our own death ended: it runs again, a person is asked, or it has failed.
const (
	UnknownOnInterrupt OnInterrupt = iota
	RunAgain
	Ask
	FailStage
)
