// Package proc starts the processes of a run, streams what they write into log files, and ends them with
// everything they left behind.
//
// Words: a Spec says what to start; the main process is the one started for it, the leader of a process
// group of its own; a leftover is a process that belongs to the same effect (it is in the group, or carries
// the ids of run and effect in its environment) and outlives the main process. Ending a process is SIGTERM,
// a grace, SIGKILL.
//
// Contract, in order. A Run stays on one OS thread, which is its own until the main process is reaped and never
// the program's first, since on Linux a child's death signal follows the thread that started it: when we die,
// by whatever signal, the main processes die too. A log file is made at the first byte. When the context of a Run ends, the group is ended. When the main process has
// ended, for whatever reason, its leftovers are ended until there are none, those included that left group
// and session, and those whom a nested engine of another run left when it died. Then the pipes are read to
// their end, at most for a short while longer: a process that can't be found any more delays nothing. Run
// returns after all that. EndRun does the same for a whole run whose engine died.
//
// A process that clears its environment and leaves its session as well can't be found. A process that
// doesn't even die of SIGKILL (it hangs in the kernel) is given up with a LeftError.
//
// Nothing here waits for "any child": each wait names its process, so that other packages may start
// processes in their own ways, if they leave them in our own process group (see Subreaper) or start them in
// OffFirstThread. What an exit status means is the stage kind's to say.
package proc
