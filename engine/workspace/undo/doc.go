// Package undo goes back to what a workspace held before a stage: it puts files back as they were, and reverts
// commits.
//
// Words: a base is the tree of the workspace before a stage, kept by Keep until Release so that Restore can go back to
// it: in git by a ref, elsewhere by a copy of each file in the store. A recovery is what was there before something was
// undone, under a ref, or in a folder of copies; it comes with the command that brings it back.
//
// Contract. Nothing is touched before all that would be lost is saved, and before it is known that all that is to
// come back is there. Each function can be cut off anywhere, by a kill too, and be called again: it goes on, and what
// somebody changed in between is saved as well. Files that are ignored, or no part of the tree (package workspace says
// what that is), are left alone; no symbolic link is followed. Written to the user's repository are objects, refs below
// refs/pipe/, and by Revert one commit on what is checked out, with git's index; Restore leaves the index alone. No hook
// runs and nothing is signed.
//
// How a tree is read and compared is package workspace's affair, when something is undone that of engine/machine,
// and what is told of it that of engine/driver.
package undo

import "example.com/pipe/engine/workspace"

// Workspace is one in which things are undone.
type Workspace struct {
	*workspace.Workspace

	KeepLimit int64 // bytes that Keep copies at the most where there is no git; 0: 1 GiB
}

// In gives a workspace with the usual limit.
func In(w *workspace.Workspace) *Workspace { return &Workspace{Workspace: w} }
