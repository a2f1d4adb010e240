package plan

// BranchOf is the git branch of a run that works in a worktree of its own.
func BranchOf(run string) string { return "pipe/" + run }
