package specs

import (
	"math"
	"slices"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// RefineLoop is refine_loop: attempts at something until it validates.
type RefineLoop struct {
	Name         *Leaf[string]
	MaxAttempts  *Leaf[int]
	Validate     *Stage // only what it runs, and its Feedback; nil where it is missing or was reported as wrong
	FeedbackFile *source.Scalar
	OnExhausted  *Leaf[string]
	Convergence  *Convergence
	Span         source.Span

	create *Stage
}

// refineLoop reads refine_loop.
func (r *reader) refineLoop(n *yaml.Node) *RefineLoop {
	l := &RefineLoop{Span: r.Doc.Whole(n)}
	const what = `"refine_loop"`
	fs, ok := readKeys(r, n, what, refineKeys, l)
	if !ok {
		return l
	}
	if f := find(fs, "create"); f != nil {
		l.create = r.step(f, stepKeys)
	} else {
		r.Missing(n, r.Doc.Span(n), what, "create", `say what makes an attempt: create: {agent: …, prompt: …}, or {run: …}`)
	}
	if f := find(fs, "validate"); f != nil {
		l.Validate = r.step(f, validateKeys)
	} else {
		r.Missing(n, r.Doc.Span(n), what, "validate", `say what looks at an attempt: validate: {agent: …, prompt: …}, {command: test}, or {run: …}`)
	}
	return l
}

// step reads what create or validate runs.
func (r *reader) step(f *field, keys []key[Stage]) *Stage {
	n, done := r.Follow(f.Value)
	if n == nil {
		return nil
	}
	defer done()
	what := `"` + f.Name + `" of "refine_loop"`
	s := &Stage{Span: r.Doc.Span(f.Key)}
	fs, ok := readKeys(r, n, what, keys, s)
	switch {
	case !ok && read.IsString(n):
		r.Advise("write what runs as in a stage: " + f.Name + ": {run: …}, or {agent: …, prompt: …}")
		return nil
	case !ok:
		return nil
	}
	r.executor(n, s, fs, what, stepExecutors)
	if s.Gate != nil {
		r.Diags.Errorf(read.CodeConflict, s.Uses.Span, `"uses: approval" cannot stand in %s`, what).
			Help = "to ask a person before the stage starts write requires_approval in the stage; to have one judge it let a stage behind it be the approval"
		s.Gate, s.Uses = nil, nil
	}
	return s
}

// refine makes a stage one that runs a refine loop: itself it runs what create says.
func (s *Stage) refine(l *RefineLoop) {
	s.Refine = l
	c := l.create
	if c == nil {
		return
	}
	s.Run, s.Shell, s.Agent, s.Prompt, s.PromptFile = c.Run, c.Shell, c.Agent, c.Prompt, c.PromptFile
	s.Command, s.Uses, s.With = c.Command, c.Uses, c.With
}

// validateKeys are those of create, and where the findings come from.
var validateKeys = slices.Concat(stepKeys, []key[Stage]{
	{"feedback", keysOf("feedback"), "", "",
		func(r *reader, n *yaml.Node, s *Stage) { s.Feedback = r.feedback(n) }},
})

var refineKeys = []key[RefineLoop]{
	{"name", aName, "the stage's id", "what the attempts are called: `plan` keeps their list as `planRefinement` in status.json. The id " +
		"`generate-plan` makes it `generatePlan`",
		func(r *reader, n *yaml.Node, l *RefineLoop) {
			l.Name = r.Name(n, `"name" of "refine_loop"`, read.BareName)
		}},
	{"max_attempts", aNumber, "5", "how often create and validate run at the most, each time that something else makes the stage run",
		func(r *reader, n *yaml.Node, l *RefineLoop) {
			l.MaxAttempts = r.Integer(n, `"max_attempts" of "refine_loop"`, 1, math.MaxInt32)
		}},
	{"create", Value{Form: "mapping", Keys: "stage"}, Required, "what makes an attempt: the keys of a stage that say what runs (`run`, " +
		"`agent` with `prompt`, `command`, `uses`)",
		func(*reader, *yaml.Node, *RefineLoop) {}}, // refineLoop reads it
	{"validate", Value{Form: "mapping", Keys: "stage"}, Required, "what looks at it: the same keys, and `feedback`",
		func(*reader, *yaml.Node, *RefineLoop) {}}, // refineLoop reads it
	{"feedback_file", aText, "none", "where the findings are kept as a [task feedback file](feedback.md#task-feedback-files), in the " +
		"workspace; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, l *RefineLoop) { l.FeedbackFile = r.Filled(n, `"feedback_file"`) }},
	{"on_exhausted", exhausted, "escalate", "when the last attempt fails: `escalate` asks a person, `fail` fails the run",
		func(r *reader, n *yaml.Node, l *RefineLoop) { l.OnExhausted = r.Word(n, `"on_exhausted"`) }},
	{"convergence", keysOf("convergence"), "all off", "[rules](#convergence) that end the loop before its last attempt: the attempts alone decide unless one is given",
		func(r *reader, n *yaml.Node, l *RefineLoop) { l.Convergence = r.convergence(n) }},
}
