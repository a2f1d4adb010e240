// Package engine is the façade for those who embed the engine, the command pipe among them: it finds a
// project, loads and checks its pipelines and contracts, starts, resumes, cancels and answers runs, and looks at
// them.
//
// Words: a Project is a folder with pipe.yaml or .pipe, and the state in which its runs lie; a Loaded is a
// pipeline that was found, parsed, compiled and checked; a Ref names a run: its id, a beginning that only
// one run has, or "last". What decides in a run is frozen in its folder when it starts: a resume reads
// nothing else, and says what has changed since.
//
// The contract of a run's folder, in order. Who writes anything there holds its lock. The workspace's lock
// is taken before the folder is made and held as long as stages may run; a run inside a stage shares the
// lock of the run around it, and one in a worktree of its own takes none. The folder's files are durable before
// the journal's header, the header before the first step. Answers go into the inbox, whoever holds the lock
// journals them; who finds the lock free takes it and journals them itself. Looking at runs takes no lock and
// never waits.
//
// Deciding is package machine's, carrying out package driver's, showing package view's; the command line is
// cmd/pipe's. Observers get steps only when they are durable.
package engine
