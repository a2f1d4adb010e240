// Package driver makes effects real: it owns the machine and the journal of one run, takes events one by one,
// appends what the machine decides, and only then carries the effects out.
//
// Words: a worker is a goroutine that carries out one effect; its outcome comes back as an event. A stage
// folder is stages/<path>/<iteration>.<attempt>/ of the run's folder: what a process gets and gives. Derived
// files follow from the records (package derived). The
// cache is a folder, shared by all runs of a project, of what tries gave that may be taken again.
//
// The contract, in order. One goroutine, the caller of Run, steps the machine; nobody else touches machine,
// journal, view or derived files. A step's records are appended durably before any of its effects starts,
// derived files that a process may read are written before it starts, and the folder of a stage is durable
// before its process is. Due timers come before outcomes, outcomes before answers. Whatever ends Run (the
// run is over, waits for a person, was stopped, or something of ours failed), all workers have returned by
// then and no process of them is left. After a failed append nothing more is carried out.
//
// What a process left (exit status, PIPE_OUTPUT, PIPE_FEEDBACK, reports) is read here and nowhere else, in
// that order; nothing is read through a symbolic link, from outside the run's folder or the workspace, or
// from anything but a regular file. What it means is the machine's to decide; but a change outside of
// allowed_paths makes a failure of an outcome here, where file names are still bytes.
//
// Locks, frozen files and the way from a pipeline's name to a plan are the façade's (package engine); how a
// process is started and ended is package proc's.
package driver
