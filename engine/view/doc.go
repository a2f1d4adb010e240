// Package view turns the records of a run into what people and programs look at: the JSON of
// `pipe show RUN --json`, a text for a terminal, one line for each event, and the reason why a stage has the
// status that it has.
//
// Words: a Run is the state of a run as a reader sees it; it is made of a plan and grows by Apply, one
// record after the other, each at no more than a constant cost. A Line is one record as a line of text. An
// Explanation is the answer to "why".
//
// The contract, in order: New with the run's frozen plan; Apply each record of the journal with the time of
// its step; then ask, as often as one likes, also between records. SetHeld tells what no record can: whether
// a process carries the run on.
//
// What a stage, a tool or a person wrote never reaches a screen raw: control characters, bytes that are no
// UTF-8 and marks that reorder text are spelt out. The package reads no file and no clock; finding a run,
// its journal and its logs is the caller's work, deciding is package machine's.
package view
