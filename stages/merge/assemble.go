package merge

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/repository"
	"example.com/pipe/stages/script"
)

// AssembleName is the name of the kind that merges several branches.
const AssembleName = "assemble"

// NewAssemble returns the kind. Its processes are started by starter.
func NewAssemble(starter *proc.Starter) stage.Kind {
	r := runner{starter, script.NewRunner(starter)}
	checker := script.NewChecker()
	return stage.Kind{
		Name: AssembleName,
		Doc: "Merges git branches into another, one after another, each as one commit, in a worktree of its own; the branch moves only when all of " +
			"them are merged. Where one conflicts, blocking items say what must be done in which branch; see [merges](feedback.md#envelopes).",
		Config: []stage.Field{
			{Name: keyBranches, Type: value.ListOf(value.Of(value.String)), Required: true,
				Doc: "the branches, in the order in which they are merged", Example: "[feature/cart, feature/till]"},
			{Name: keyInto, Type: value.Of(value.String), Required: true, Doc: "the branch that gets the commits", Example: "main"},
			{Name: keyFix, Type: value.Of(value.String),
				Doc: "a script that says what to do about a conflict: it finds it on stdin and in the file that PIPE_CONFLICT names, as JSON, and writes " +
					"{actions: [{kind: refer_back_child, child, concerns: [{file, line, comment}]}]} to stdout. Without it the branch that " +
					"conflicts is the one to work on",
				Example: "./bin/my-agent"},
		},
		Outputs:   outputs(),
		Elsewhere: true,
		Check: func(p *stage.CheckPass) {
			checker.Config(p, keyFix)
			checkBranches(p)
		},
		Run: r.assemble,
	}
}

// CodeBranches is the code of a list of branches that can't be assembled.
const CodeBranches diag.Code = "assemble-branches"

// checkBranches reports a list without branches, and a branch that is merged twice.
func checkBranches(p *stage.CheckPass) {
	v, ok := p.Config.Get(keyBranches)
	list, isList := v.(value.List)
	if !ok || !isList {
		return
	}
	span := p.Span
	if at, ok := p.Scalars[keyBranches]; ok {
		span = at.Span
	}
	if why := wrongBranches(namesOf(list)); why != "" {
		p.Report(diag.Diagnostic{Severity: diag.Error, Code: CodeBranches, Span: span, Message: why})
	}
}

// wrongBranches says what is wrong with a list of branches; "" for nothing.
func wrongBranches(names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%q is empty, expected at least one branch", keyBranches)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Sprintf("%q names %q twice", keyBranches, diag.Escape(name))
		}
		seen[name] = true
	}
	return ""
}

func namesOf(list value.List) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		name, _ := v.(string)
		out = append(out, name)
	}
	return out
}

func (r runner) assemble(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	v, _ := call.Config.Get(keyBranches)
	list, _ := v.(value.List)
	names := namesOf(list)
	if why := wrongBranches(names); why != "" {
		return ended(refuse("%s", why))
	}
	t, err := newTrial(ctx, repository.Open(r.starter, call), call, script.Of(call, keyInto))
	if err != nil {
		return ended(err)
	}
	defer t.remove()
	children := make([]branch, len(names))
	for i, name := range names {
		if children[i], err = t.branch(ctx, keyBranches, name); err != nil {
			return ended(err)
		}
	}
	if err := t.begin(ctx); err != nil {
		return ended(err)
	}
	for i, child := range children {
		c, err := t.squash(ctx, child)
		if err == nil && c != nil {
			concerns, err := r.fix(ctx, t, c, names, i)
			if err != nil {
				return ended(err)
			}
			return t.referBack(ctx, concerns)
		}
		if err == nil {
			err = t.commit(ctx, child, "")
		}
		if err != nil {
			return ended(err)
		}
	}
	if err := t.land(ctx); err != nil {
		return ended(err)
	}
	return t.merged(), nil
}

// concern is what must be done in a branch.
type concern struct {
	child string
	envelope.AssemblyFixerConcern
}

// referBack is the outcome of an assembly that must wait for work in branches. An envelope's concerns name no branch
// in a field of its own, so that their text does; the items name it as their gate too.
func (t *trial) referBack(ctx context.Context, concerns []concern) (stage.Outcome, error) {
	d := &envelope.Diagnosis{}
	for _, c := range concerns {
		c.Comment = fmt.Sprintf("branch %q: %s", c.child, c.Comment)
		d.Assembly = append(d.Assembly, c.AssemblyFixerConcern)
	}
	out, err := t.finding(ctx, d)
	if out.Result != nil {
		for i := range out.Result.Items {
			out.Result.Items[i].GateID = concerns[i].child
		}
	}
	return out, err
}

// described is a conflict as the fixer is told of it.
type described struct {
	Branch            string   `json:"branch"`
	Into              string   `json:"into"`
	Branches          []string `json:"branches"`
	Merged            []string `json:"merged"`
	ConflictingPaths  []string `json:"conflicting_paths"`
	ConflictSignature string   `json:"conflict_signature"`
	RepoSlug          string   `json:"repo_slug"`
	AttemptNumber     int      `json:"attempt_number"`
}

// fix asks the script of the config what to do about the conflict of the i-th branch. It runs in the worktree in
// which git has left the conflict.
func (r runner) fix(ctx context.Context, t *trial, c *conflict, names []string, i int) ([]concern, error) {
	text := script.Of(t.call, keyFix)
	if text == "" {
		return ownConcerns(c, t.into.name, names[i]), nil
	}
	data, err := json.Marshal(described{
		Branch: names[i], Into: t.into.name, Branches: names, Merged: append([]string{}, names[:i]...),
		ConflictingPaths: texts(c.paths), ConflictSignature: c.signature, RepoSlug: t.repo.Slug(ctx), AttemptNumber: max(t.call.Iteration, 1),
	})
	if err != nil {
		return nil, err
	}
	file, err := writeFile(t.call, "conflict.json", string(data)+"\n")
	if err != nil {
		return nil, err
	}
	// The answer has a log of its own, behind which nothing else stands.
	log := filepath.Join(t.call.StageDir, "answer.log")
	res, err := r.scripts.Run(ctx, t.call, script.Script{
		Text: text, Dir: t.dir, Stdin: file, Env: append(t.environment(), "PIPE_CONFLICT="+file), Stdout: log,
	})
	out, err := process.Outcome(&res, err)
	if err != nil {
		return nil, err
	}
	if out.Class != stage.OK {
		if out.Class == stage.Exit {
			out.Class = stage.ReviewUnavailable
		}
		out.Message = "the fixer could not do its work: " + out.Message
		return nil, &refusal{out}
	}
	said, refused, err := process.Stdout{Output: &res.Stdout, Log: log, Who: "the fixer", Stage: t.call.Stage}.Object()
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refuse("%s", refused.Message)
	}
	concerns, why := answer{names, t.dir}.actions(said)
	if why != "" {
		return nil, refuse("the fixer's answer can't be used: %s", why)
	}
	return concerns, nil
}

// filesShown is how many files a conflict names that no fixer looked at.
const filesShown = 20

// ownConcerns is what to do about a conflict where there is no fixer: the branch that came last must fit.
func ownConcerns(c *conflict, into, child string) []concern {
	var out []concern
	for k, path := range texts(c.paths) {
		if k == filesShown {
			more := fmt.Sprintf("it conflicts with %s in %d more files", into, len(c.paths)-k)
			return append(out, concern{child, envelope.AssemblyFixerConcern{Comment: more}})
		}
		out = append(out, concern{child, envelope.AssemblyFixerConcern{
			File: path, Comment: fmt.Sprintf("it conflicts with %s, which other branches changed too", into),
		}})
	}
	return out
}
