// Package sweep kills the real command at every point that matters and sees that a resume makes up for it.
// It holds tests alone.
//
// Words: a point is a system call of the command, before or after it: a write to the journal, a sync, the
// start of a process, a step of an answer through the inbox. A history is a run that is killed at a point and
// then carried on until it is over. The reference is the same run without a kill.
//
// The command is traced (ptrace), so that it stands still at the point when SIGKILL comes from outside; the
// processes that it starts are not. Everything about a run is seen from outside: by commands, by the files of
// the run, by what stages wrote, by the process table. The second half fills the disk instead.
//
// What a single record or a single crash of the loop does is tested beside the packages that own it.
package sweep
