// Package journal keeps the truth about a run: the append-only log of what its machine decided, the lock
// that says who may write it, and the durable ways to write the files beside it.
//
// Words: a line is one step of the machine, with its event and its records; it stands or falls as a whole.
// A line's sum is the CRC-32C of the line without its last member, "sum". A torn tail is what follows the
// last line feed: a write that did not come to its end. A blob is a step too long for a line, in a file of
// its own named by its SHA-256.
//
// Contract, in order. The caller holds the run's lock (Acquire) before Create or Open. Append returns after
// the line, and the blob that it may name, are on the disk; only then are the step's effects carried out.
// After the first error a Writer does nothing more: what a failed write or fsync left behind can't be known
// within this process. Open cuts a torn tail, since no effect of that step was carried out. All else that
// is wrong (a sum, a gap in the numbers, a version that is not known) is a DamageError with its offset and
// is never repaired unasked; Salvage says what could be saved.
//
// Readers take no lock and never wait: Read gives the lines that are whole at this moment, a Tail those that
// came since. None holds more than a line in memory.
//
// The package decides nothing and reads no clock, except to wait a moment for a lock's holder to write its
// name. Folding records is engine/machine's, when to append is engine/driver's.
package journal
