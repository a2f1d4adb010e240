// Package step is the vocabulary of a run: what goes into a step of the machine and what comes out of it, as the
// journal keeps it and readers see it.
//
// Words: an Event is something that happened, a Record a decision that follows from it, an Effect something to be
// done. An Instant is a moment; whoever makes an event gives it one, since nothing here asks a clock.
//
// The JSON form of events and records is that of the journal. Fields and names are only added, never renamed or
// re-meant; enumerations may grow, and a word that a reader does not know is the unknown one; a type that it does
// not know is an error, since a state folded without it would be wrong.
//
// What is decided is package machine's affair, how the lines of a journal look package journal's, how they are
// shown package view's.
package step
