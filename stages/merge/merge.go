// Package merge has the kinds of stages that put branches together with git: "merge" (one branch into another,
// with a script that may resolve the conflicts) and "assemble" (several branches, with a program that says which
// of them must be worked on again).
//
// Words: a trial is a git worktree of our own, without a branch, in which everything is merged and committed. The
// branch that is merged into moves only at the end, from the commit that the trial began with to the one that it
// made, in one step that git carries out whole or not at all.
//
// Contract. The workspace and what is checked out there are not touched, except where the branch that is merged
// into is checked out there: then its files follow in that last step, and so changes that are not committed are
// refused before anything is done. A branch that is checked out elsewhere is refused too. However a stage ends,
// its trial is removed, and nothing is left of it but objects that no ref names; one whose program was killed is
// removed by the stage's next try. Each branch becomes one commit (git merge --squash).
//
// A conflict that nobody resolved is no failure of the stage: the outcome is a success with blocking items and a
// diagnosis. What kept a merge from taking place at all is a failure: review_unavailable for what git refuses
// (there is no such branch, the branch moved meanwhile), its own class for a script that could not do its work.
package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/repository"
	"example.com/pipe/stages/script"
)

// Name is the name of the kind that merges one branch.
const Name = "merge"

// The keys of the configs.
const (
	keyFrom     = "from"
	keyInto     = "into"
	keyResolve  = "resolve"
	keyMessage  = "message"
	keyBranches = "branches"
	keyFix      = "fix"
)

// outputCommit is the output of both kinds.
const outputCommit = "commit"

// verdictLimit is how much of the end of what a resolver says is told, in bytes.
const verdictLimit = 16 << 10

// outputs are those of both kinds.
func outputs() []stage.Field {
	return []stage.Field{{Name: outputCommit, Type: value.Of(value.String),
		Doc: "what the branch stands at; empty where it was not merged"}}
}

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := runner{starter, script.NewRunner(starter)}
	checker := script.NewChecker()
	return stage.Kind{
		Name: Name,
		Doc: "Merges a git branch into another as one commit, in a worktree of its own. A conflict that nobody resolves is a blocking " +
			"item; see [merges](feedback.md#envelopes).",
		Config: []stage.Field{
			{Name: keyFrom, Type: value.Of(value.String), Required: true, Doc: "the branch to merge", Example: "feature/cart"},
			{Name: keyInto, Type: value.Of(value.String), Required: true, Doc: "the branch that gets the commit", Example: "main"},
			{Name: keyResolve, Type: value.Of(value.String),
				Doc: "a script that may resolve conflicts, in the worktree of the merge; stdin and the file that PIPE_CONFLICTS names hold " +
					"the paths, each ended by a NUL character. Without it every conflict is a finding",
				Example: "./bin/resolve"},
			{Name: keyMessage, Type: value.Of(value.String), Doc: "of the commit; by default it names both branches", Example: "Add the cart"},
		},
		Outputs:   outputs(),
		Elsewhere: true,
		Check: func(p *stage.CheckPass) {
			checker.Config(p, keyResolve)
			checkOneBranch(p)
		},
		Run: r.merge,
	}
}

// CodeSameBranch is the code of a merge of a branch into itself.
const CodeSameBranch diag.Code = "merge-same-branch"

// checkOneBranch reports a merge of a branch into itself, as far as that is known before the run.
func checkOneBranch(p *stage.CheckPass) {
	from, _ := p.Config.Get(keyFrom)
	into, _ := p.Config.Get(keyInto)
	name, isText := from.(string)
	if !isText || from != into || name == "" || strings.Contains(name, "${{") {
		return
	}
	span := p.Span
	if at, ok := p.Scalars[keyFrom]; ok {
		span = at.Span
	}
	p.Report(diag.Diagnostic{Severity: diag.Error, Code: CodeSameBranch, Span: span,
		Message: fmt.Sprintf("the branch %q would be merged into itself", name),
		Help:    "name two branches: from the one with the work, into the one that gets it"})
}

type runner struct {
	starter *proc.Starter
	scripts *script.Runner
}

func (r runner) merge(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	repo := repository.Open(r.starter, call)
	t, err := newTrial(ctx, repo, call, script.Of(call, keyInto))
	if err != nil {
		return ended(err)
	}
	defer t.remove()
	from, err := t.branch(ctx, keyFrom, script.Of(call, keyFrom))
	if err != nil {
		return ended(err)
	}
	if err := t.begin(ctx); err != nil {
		return ended(err)
	}
	message := script.Of(call, keyMessage)
	c, err := t.squash(ctx, from)
	if err == nil && c != nil {
		var gaveUp *envelope.ResolverDiagnosis
		gaveUp, err = r.resolve(ctx, t, c, from.name)
		if gaveUp != nil {
			return t.finding(ctx, &envelope.Diagnosis{Resolver: gaveUp})
		}
	}
	if err == nil {
		err = t.commit(ctx, from, message)
	}
	if err == nil {
		err = t.land(ctx)
	}
	if err != nil {
		return ended(err)
	}
	return t.merged(), nil
}

// resolve has the script of the config resolve a conflict. It gives the diagnosis of one that is not resolved.
func (r runner) resolve(ctx context.Context, t *trial, c *conflict, from string) (*envelope.ResolverDiagnosis, error) {
	d := &envelope.ResolverDiagnosis{
		ConflictingPaths: texts(c.paths), MergedBranch: from, PlanBranch: t.into.name,
		AttemptNumber: max(t.call.Iteration, 1), ConflictSignature: c.signature,
	}
	text := script.Of(t.call, keyResolve)
	if text == "" {
		return d, nil
	}
	list, err := c.list(t.call)
	if err != nil {
		return nil, err
	}
	if err := t.note("resolving %d conflicting paths", len(c.paths)); err != nil {
		return nil, err
	}
	res, err := r.scripts.Run(ctx, t.call, script.Script{
		Text: text, Dir: t.dir, Stdin: list, Env: append(t.environment(), "PIPE_CONFLICTS="+list),
	})
	out, err := process.Outcome(&res, err)
	if err != nil {
		return nil, err
	}
	d.VerdictText = script.End(&res.Stdout, verdictLimit)
	switch {
	case out.Class == stage.Exit && out.ExitCode != cannotExecute && out.ExitCode != notFound:
		return d, nil
	case out.Class == stage.Exit:
		out.Class = stage.Unavailable
		fallthrough
	case out.Class != stage.OK:
		out.Message = "the resolver could not do its work: " + out.Message
		return nil, &refusal{out}
	}
	left, err := t.unresolved(ctx, c)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	d.ConflictingPaths = texts(left)
	return d, nil
}

// The statuses with which a shell says that a program could not be executed, or is not there.
const (
	cannotExecute = 126
	notFound      = 127
)

// texts gives paths as texts: git's need not be UTF-8.
func texts(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = strings.ToValidUTF8(p, "\uFFFD")
	}
	return out
}

// finding is the outcome of a merge that has a diagnosis.
func (t *trial) finding(ctx context.Context, d *envelope.Diagnosis) (stage.Outcome, error) {
	if ctx.Err() != nil {
		return stopped(ctx), nil
	}
	if d.Resolver != nil {
		d.Resolver.RepoSlug = t.repo.Slug(ctx)
	}
	out := t.merged()
	out.Outputs = value.NewObject(value.Field{Name: outputCommit, Value: ""})
	out.Result.Items, out.Diagnosis = d.Items(), d
	return out, nil
}

// merged is the outcome of a merge that took place.
func (t *trial) merged() stage.Outcome {
	return stage.Outcome{
		ExitCode: -1, Result: &feedback.Result{Items: []feedback.Item{}},
		Outputs: value.NewObject(value.Field{Name: outputCommit, Value: t.head}),
	}
}

// refusal is why a merge did not take place.
type refusal struct{ outcome stage.Outcome }

func (e *refusal) Error() string { return e.outcome.Message }

func refuse(format string, args ...any) error {
	return &refusal{stage.Outcome{Class: stage.ReviewUnavailable, ExitCode: -1, Message: diag.Escape(fmt.Sprintf(format, args...))}}
}

// ended gives the outcome of a merge that did not take place; an error is a failure of ours.
func ended(err error) (stage.Outcome, error) {
	var no *refusal
	var git *repository.Error
	switch {
	case errors.As(err, &no):
		return no.outcome, nil
	case errors.As(err, &git):
		out := git.Outcome
		if out.Class == stage.Exit {
			out.Class, out.ExitCode = stage.ReviewUnavailable, -1
		}
		out.Message = diag.Escape(err.Error())
		return out, nil
	}
	return stage.Outcome{}, err
}

// list writes the paths into a file of the stage's folder, each ended by a NUL character.
func (c *conflict) list(call *stage.Call) (string, error) {
	var b strings.Builder
	for _, p := range c.paths {
		b.WriteString(p + "\x00")
	}
	return writeFile(call, "conflicts", b.String())
}

// writeFile makes a file of the stage's folder anew.
func writeFile(call *stage.Call, name, text string) (string, error) {
	file := filepath.Join(call.StageDir, name)
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("stage %q: %w", call.Stage, err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("stage %q: %w", call.Stage, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("stage %q: %w", call.Stage, err)
	}
	return file, nil
}
