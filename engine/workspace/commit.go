package workspace

import (
	"context"
	"strings"
)

// commitTree makes the commit, with git's configured author if there is one. It runs no hook and signs
// nothing: nobody is there to be asked for a passphrase.
func (v *view) commitTree(ctx context.Context, tree string, parents []string, message string) (string, error) {
	env := v.env
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		_, err := v.git(ctx, nil, "-c", "user.useConfigOnly=true", "var", "GIT_"+who+"_IDENT")
		if refused(err) {
			env = append(env, "GIT_"+who+"_NAME=pipe", "GIT_"+who+"_EMAIL=pipe@localhost")
		} else if err != nil {
			return "", err
		}
	}
	out, err := v.run(ctx, v.root, env, strings.NewReader(message), append([]string{"commit-tree", tree}, parents...)...)
	return strings.TrimSpace(string(out)), err
}

// line gives the one line that a git command writes.
func (v *view) line(ctx context.Context, args ...string) (string, error) {
	out, err := v.git(ctx, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// Head gives the commit that is checked out, "" where there is none yet, and where there is no git.
func (w *Workspace) Head(ctx context.Context) (string, error) {
	if w.git == nil {
		return "", nil
	}
	out, err := w.git.run(ctx, w.Root, nil, nil, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if refused(err) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
