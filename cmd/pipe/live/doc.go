// Package live shows a run on a terminal while it goes on: the lines that a run prints scroll by as they do
// without it, and below them stands a region that is drawn anew in its place: the stages with what runs beside
// what, their rounds and times, the last lines that running stages printed, and what a person is asked.
//
// Words: a Frame is all that the region shows at one moment, as data. The region is a Frame as lines of a given
// width, never more of them than the terminal has room for. A Screen is the terminal while a run is shown on it.
//
// The contract, in order: Start; Writer for each stream that leads to the terminal, whose lines come above the
// region in the order in which they were written; Changed when there is something new to show; Close, after which
// the region is gone, all that was written stands there, and the terminal is as it was. Close may be called at any
// time, from any goroutine, more than once. Leave is a Close that comes back soon even from a terminal that takes
// nothing.
//
// The region never takes a key from the terminal: Ctrl-C, Ctrl-Z and Ctrl-\ stay what they are, and what is typed is
// there for the next command. It is only drawn while the process is in the foreground. Nothing is drawn on the
// alternate screen.
//
// What stages wrote is made safe before it gets here or, the lines of logs, here. Which terminals get a live view,
// and all that is read from a run, is the caller's business; what a run is, package view's.
package live
