// Package gate has the kinds of stages that run a command to judge what others did, and know more of what is
// wrong than an exit status: "gate" (a command whose first failing line is the finding), "ci" (a command that
// waits for a CI workflow) and "verifiers" (the commands that a stage's own work must pass, a kind that only
// the compiler gives to a node).
//
// A rejection is a command that ran to its end with an exit status other than 0. It is no failure of the stage:
// the outcome is a success with one blocking item and, beside it, the diagnosis that the item was made of. A
// command that could not do its work is a failure with its class and no finding: one that could not be started,
// that was stopped, that a signal ended, and one that ends with the status by which shells say that they may
// not execute a program (126) or do not find it (127).
package gate

import (
	"context"
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

// Name is the name of the kind whose finding is the first failing line.
const Name = "gate"

// The keys of the configs.
const (
	keyRun      = "run"
	keyLines    = "context_lines"
	keyRepo     = "repo"
	keyWorkflow = "workflow"
	keyCommands = "commands"
	keyName     = "name"
)

// The number of lines around the first failing one.
const (
	defaultLines = 3
	maxLines     = 20
)

// New returns the kind. Its processes are started by starter.
func New(starter *proc.Starter) stage.Kind {
	r := runner{starter, script.NewRunner(starter)}
	checker := script.NewChecker()
	return stage.Kind{
		Name: Name,
		Doc: "Runs a shell script that judges the work. Where it exits with a status other than 0, the first line of its " +
			"output that says what failed is a blocking item; see [gates](feedback.md#envelopes).",
		Config: []stage.Field{
			{Name: keyRun, Type: value.Of(value.String), Required: true, Doc: "the script", Example: "make lint test"},
			{Name: keyLines, Type: value.Of(value.Int), Default: int64(defaultLines),
				Doc: "how many lines before and after that line are shown, at most 20", Example: "10"},
			{Name: keyRepo, Type: value.Of(value.String),
				Doc: "what is judged; by default the name of the git remote, or of the folder", Example: "shop/backend"},
		},
		Judges: true,
		Check: func(p *stage.CheckPass) {
			checker.Config(p, keyRun)
			checkLines(p)
		},
		Run: r.gate,
	}
}

type runner struct {
	starter *proc.Starter
	scripts *script.Runner
}

func (r runner) gate(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	log := filepath.Join(call.StageDir, script.StdoutLog)
	res, err := r.scripts.Run(ctx, call, script.Script{Text: script.Of(call, keyRun), Stdout: log, Stderr: log})
	out, rejected, err := judge(&res, err)
	if err != nil || !rejected {
		return out, err
	}
	around := int64(defaultLines)
	if v, _ := call.Config.Get(keyLines); v != nil {
		around, _ = v.(int64)
	}
	repo := script.Of(call, keyRepo)
	if repo == "" {
		repo = repository.Open(r.starter, call).Slug(ctx)
	}
	g := &envelope.GateOutput{Repo: repo, Summary: failure(ctx, log, &res.Stdout, int(min(max(around, 0), maxLines)))}
	if g.Summary == "" {
		g.Summary = fmt.Sprintf("exit status %d, and it said nothing", out.ExitCode)
	}
	if info, err := os.Lstat(log); err == nil && info.Mode().IsRegular() {
		g.ArtifactPath = artifact(call, log)
	}
	return reject(out, &envelope.Diagnosis{Gate: g}), nil
}

// judge gives the outcome of a command that judges, and whether it rejects. An outcome that is no rejection
// holds the clean result of a review, or why there was none.
func judge(res *proc.Result, err error) (out stage.Outcome, rejected bool, _ error) {
	out, err = process.Outcome(res, err)
	switch {
	case err != nil:
		return stage.Outcome{}, false, err
	case out.Class == stage.OK:
		out.Result = &feedback.Result{Items: []feedback.Item{}}
	case out.Class != stage.Exit:
	case out.ExitCode == cannotExecute:
		out.Class = stage.PermissionDenied
	case out.ExitCode == notFound:
		out.Class = stage.Unavailable
	default:
		rejected = true
	}
	return out, rejected, nil
}

// The statuses with which a shell says that a program could not be executed, or is not there.
const (
	cannotExecute = 126
	notFound      = 127
)

// reject makes the finding of a diagnosis of the outcome of a command that rejects.
func reject(out stage.Outcome, d *envelope.Diagnosis) stage.Outcome {
	out.Class, out.Message = stage.OK, ""
	out.Result = &feedback.Result{Items: d.Items()}
	out.Diagnosis = d
	return out
}

// artifact is a file of the stage as those who act on the finding may open it: relative to the workspace where
// it lies in there, else absolute.
func artifact(call *stage.Call, file string) string {
	rel, err := filepath.Rel(call.Workspace, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return filepath.ToSlash(rel)
}

// checkLines reports a number of lines that is none.
func checkLines(p *stage.CheckPass) {
	v, _ := p.Config.Get(keyLines)
	n, ok := v.(int64)
	if !ok || n >= 0 && n <= maxLines {
		return
	}
	span := p.Span
	if at, ok := p.Scalars[keyLines]; ok {
		span = at.Span
	}
	p.Report(diag.Diagnostic{Severity: diag.Error, Code: CodeLines, Span: span,
		Message: fmt.Sprintf("%q is %d, expected 0 to %d", keyLines, n, maxLines),
		Help:    "the whole output is kept in the log, and the finding says where"})
}

// CodeLines is the code of a number of lines that is out of bounds.
const CodeLines diag.Code = "gate-lines"
