package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/view"
	"example.com/pipe/engine/workspace"
)

// worktreesDir holds the git worktrees of runs, each named by its run.
const worktreesDir = "worktrees"

// openSpace finds the workspace of the run. A worktree is not looked at yet: it may be gone, as is that of a run
// that is over.
func (s *session) openSpace() (*workspace.Workspace, error) {
	main, err := workspace.Open(s.p.Root)
	if err != nil {
		return nil, err
	}
	space := main
	if s.plan.Workspace == plan.Worktree {
		state, err := filepath.EvalSymlinks(s.p.State)
		if err != nil {
			return nil, fmt.Errorf("looking for the run's worktree: %w", err)
		}
		s.tree = main.Worktree(s.id, filepath.Join(state, worktreesDir, s.id), plan.BranchOf(s.id))
		space = s.tree.Workspace()
	}
	space.Store = filepath.Join(s.dir, "trees")
	return space, nil
}

// usable refuses a run whose worktree can't be made, before anything is made for it.
func (s *session) usable(ctx context.Context) error {
	if s.plan.Workspace != plan.Worktree {
		return nil
	}
	if _, err := s.openSpace(); err != nil {
		return err
	}
	err := s.tree.Usable(ctx)
	var none *workspace.NoWorktreeError
	if errors.As(err, &none) {
		return usagef("the pipeline has \"workspace: worktree\": %s", none.Why)
	}
	return err
}

// makeTree makes the worktree of a run that has not begun. What it lacks of the main tree is said.
func (s *session) makeTree(ctx context.Context) error {
	if s.tree == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.tree.Path), 0o700); err != nil {
		return fmt.Errorf("making the folder of worktrees: %w", err)
	}
	missing, err := s.tree.Uncommitted(ctx)
	if err == nil {
		err = s.tree.Make(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return &Stopped{Cause: context.Cause(ctx)}
		}
		return err
	}
	if len(missing) > 0 {
		s.warn("the run works in a git worktree, which does not have what is not committed: %s", someOf(missing))
	}
	if s.tree.HasSubmodules() {
		s.warn("the submodules are not checked out in the run's worktree; a stage that needs them runs \"git submodule update --init\"")
	}
	return nil
}

// undoTree removes the worktree of a run that did not begin.
func (s *session) undoTree() error {
	if s.tree == nil {
		return nil
	}
	return s.tree.Discard(context.Background())
}

// findTree finds the worktree of a run that goes on. Where it is gone, a run that only ends gets it made anew,
// so that it can end.
func (s *session) findTree(ctx context.Context, ends bool) error {
	if s.tree == nil {
		return nil
	}
	if s.machine.Status() == step.UnknownRunStatus {
		return s.makeTree(ctx)
	}
	err := s.seeTree(ctx)
	if gone := (*workspace.NoWorktreeError)(nil); errors.As(err, &gone) && ends && !s.tree.Exists() {
		s.warn("the worktree %q is gone; it is made again from its branch, so that the run can end", s.tree.Path)
		s.lost = true
		return s.tree.Restore(ctx)
	}
	return err
}

// seeTree looks at the worktree of a run that has begun and is not over. An answer is compared with it.
func (s *session) seeTree(ctx context.Context) error {
	if s.tree == nil || s.machine.Status() == step.UnknownRunStatus || s.machine.Status().Ended() {
		return nil
	}
	err := s.tree.Check(ctx)
	if gone := (*workspace.NoWorktreeError)(nil); errors.As(err, &gone) {
		return fmt.Errorf("run %s can't go on: %w; or end the run with \"pipe cancel %s\"", s.id, err, s.id)
	}
	return err
}

// leaveTree commits what a run that is over left in its worktree, and removes the worktree.
func (s *session) leaveTree() error {
	if s.tree == nil || s.machine == nil || !s.machine.Status().Ended() {
		return nil
	}
	info, err := s.info()
	if err != nil {
		return err
	}
	message := fmt.Sprintf("pipe: %s, run %s %s\n\nTask: %s\n", info.Pipeline, info.Run, s.machine.Status(), info.TaskID)
	was := s.tree.Exists()
	// Nobody may stop it: an end that is half done is done again by the next resume, which nobody would call.
	why, err := s.tree.Close(context.Background(), message, s.driver.Excluded())
	if err != nil {
		return fmt.Errorf("the run is over, and its worktree %q stays: %w; `pipe resume %s` tries again", s.tree.Path, err, s.id)
	}
	switch {
	case why != "":
		s.warn("the worktree %q stays, since it holds what the branch %s does not: %s", s.tree.Path, s.tree.Branch, why)
	case s.lost && was:
		s.warn("what the run had changed is lost with the worktree that was removed; the git branch %s has only what was committed there", s.tree.Branch)
	case was:
		s.warn("what the run changed is on the git branch %s", s.tree.Branch)
	}
	return nil
}

// environ is our environment for the processes of the run. In a worktree git must find the worktree, whatever
// repository we were started for, as by a hook.
func (s *session) environ() []string {
	if s.tree == nil {
		return s.p.opt.Environ
	}
	return workspace.WithoutRepository(s.p.opt.Environ)
}

func (s *session) warn(format string, args ...any) {
	if s.follow.Warn != nil {
		s.follow.Warn(fmt.Sprintf(format, args...))
	}
}

// someOf names the first of many files.
func someOf(names []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, view.OneLine(name))
	}
	text := strings.Join(shown, ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
