// Package workspace names the state of the files that a run works on, says which files differ between two
// states, and opens files of the workspace without being led out of it.
//
// Words: the root is the project's folder; it may lie below the top of a git work tree, and only what is
// below the root counts. The tree is all tracked files and those that are untracked and not ignored, with
// their names, contents, modes (executable or not) and the targets of symbolic links, which are never
// followed; without .pipe, .artifacts and .tot-docs at the root, without what the caller excludes (reports
// that stages write) and without the files that our own stdout and stderr go to. A tree's hash is equal for
// equal trees, whatever happened in between; so is that of its tracked part, which also depends on what is
// tracked. The store is the folder of a run that keeps its trees: private git objects, or manifests. A worktree
// is a git worktree of a run's own, in which the run works instead of in the project's folder.
//
// Contract. In a git work tree git itself reads the tree, through an index of our own that is made anew from
// the user's for each reading (so that the result depends on the files only, and costs what "git status"
// costs) and writes to an object folder of our own: the user's index, objects and refs are never written,
// hooks and file system monitors never run. Filters that the user configured (line ends, large files) do,
// as in every git command: contents are compared as git would commit them. A submodule counts by the commit
// that is checked out in it; the files of another repository inside the work tree count as untracked files.
// Files that the user marked as assumed unchanged or left out of a sparse checkout count as git says.
// Elsewhere the root is walked, nothing is ignored, and every file counts as tracked. A file that vanishes
// while it is read is not in the tree; one that can't be read is an error that names it (git passes over an
// untracked folder that can't be entered).
//
// An Index is for package undo, which goes back to what a workspace held: what is written with it is that package's
// affair.
//
// A Worktree writes to the repository what it is for and nothing else: the worktree, and a branch named after
// the run; each of its steps can be cut off by a kill and done again.
//
// Read and Changed may be called from several goroutines. What the lock of a workspace is: journal.Acquire
// on ".pipe/workspace.lock". When a tree is read, and what follows from a difference: engine/driver and
// engine/machine. Processes are started by os/exec and not by engine/proc: git's whole output is needed, of
// which a proc.Starter keeps head and tail.
package workspace
