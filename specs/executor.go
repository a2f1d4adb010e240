package specs

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/specs/read"
)

// executorKeys are the keys that say what a stage runs; it has exactly one of them.
var executorKeys = []string{"run", "agent", "command", "uses", "pipeline", "refine_loop"}

// stepExecutors are those of them that a step of a refine loop may have.
var stepExecutors = executorKeys[:4]

// companions are the keys that go with some of the executor keys only.
var companions = []struct {
	name  string
	owner []string
	help  string
}{
	{"shell", []string{"run"}, "a shell goes with a script"},
	{"prompt", []string{"agent"}, "a prompt goes with an agent"},
	{"prompt_file", []string{"agent"}, "a prompt goes with an agent"},
	{"with", []string{"uses", "pipeline"}, `what a stage is given is "inputs"; "with" goes with a kind, a plugin or a pipeline`},
	{"on_escalation", []string{"pipeline"}, "it says what becomes of an escalation inside of a pipeline"},
}

// reviewKeys are the keys that make a stage a review.
var reviewKeys = []string{"feedback", "feedback_loop"}

// The word of uses that makes a stage an approval, whose keys are those of requires_approval.
const usesApproval = "approval"

// executor checks the keys that say what a stage or a step runs, one of those given, and what goes with them, and
// reads "with" and "refine_loop".
func (r *reader) executor(n *yaml.Node, s *Stage, fs []field, what string, keys []string) {
	var own *field // the key that says what runs
	for _, name := range keys {
		switch f := find(fs, name); {
		case f == nil:
		case own == nil:
			own = f
		default:
			r.conflict(f, own, what, "one thing is run: "+oneOf(keys))
		}
	}
	if own == nil {
		r.noExecutor(n, fs, what, !slices.Contains(keys, "refine_loop"))
	}
	for _, c := range companions {
		f := find(fs, c.name)
		if f == nil || slices.ContainsFunc(c.owner, func(o string) bool { return has(fs, o) }) {
			continue
		}
		if own != nil && own.Name == "refine_loop" {
			r.conflict(f, own, what, "it goes into create or validate, beside what it belongs to")
		} else if own != nil {
			r.conflict(f, own, what, c.help)
		} else if c.name == "shell" {
			r.Diags.Errorf(read.CodeConflict, r.Doc.Span(f.Key), `"shell" of %s has no "run" that it could run`, what)
		}
	}
	r.noReview(fs, what)
	prompt, file := find(fs, "prompt"), find(fs, "prompt_file")
	if prompt != nil && file != nil {
		r.conflict(file, prompt, what, "give the prompt once")
	}
	if own == nil {
		return
	}
	switch {
	case own.Name == "agent" && prompt == nil && file == nil && !slices.Contains(r.Meant[n], "prompt_file"):
		r.Missing(n, r.Doc.Span(own.Key), what, "prompt", `say what the agent is to do: "prompt" or "prompt_file"`)
	case own.Name == "uses" && s.Uses != nil && s.Uses.Value == usesApproval:
		r.gate(s, fs, what)
		return
	case own.Name == "pipeline":
		r.notWith(s, notOfPipeline, what+", which runs a pipeline")
	case own.Name == "refine_loop":
		if v, done := r.Follow(own.Value); v != nil {
			s.refine(r.refineLoop(v))
			done()
		}
		return
	}
	if with := find(fs, "with"); with != nil && (has(fs, "uses") || has(fs, "pipeline")) {
		if v, done := r.Follow(with.Value); v != nil {
			s.With = &With{Entries: r.entries(v, `"with"`, "with", r.isParamName), Span: r.Doc.Span(with.Key)}
			done()
		}
	}
}

// noReview reports the keys of a review in a stage that is looped with itself: its work is reviewed.
func (r *reader) noReview(fs []field, what string) {
	v, l := find(fs, "verifiers"), find(fs, "refine_loop")
	for _, name := range reviewKeys {
		f := find(fs, name)
		switch {
		case f == nil:
		case v != nil:
			r.conflict(v, f, what, "a stage with "+name+" is a review, and verifiers send work back to an implementation: "+
				"let the commands be a stage of their own, with a feedback_loop")
		case l != nil:
			r.conflict(f, l, what, "what validate finds goes back to create; to send work back to another stage let a stage behind this one review it")
		}
	}
	if v != nil && l != nil {
		r.conflict(v, l, what, "what a refine loop made is looked at by its validate: let that run the commands")
	}
}

// noExecutor reports a stage, or a step of a refine loop, that does not say what it runs.
func (r *reader) noExecutor(n *yaml.Node, fs []field, what string, step bool) {
	switch {
	case meantExecutor(fs):
	case has(fs, "prompt") || has(fs, "prompt_file"):
		r.Missing(n, r.Doc.Span(n), what, "agent", "a prompt goes with an agent: add agent: NAME")
	case step && has(fs, "with"):
		r.Missing(n, r.Doc.Span(find(fs, "with").Key), what, "uses", `"with" goes with a kind or a plugin, uses: NAME`)
	case has(fs, "with"):
		r.Missing(n, r.Doc.Span(find(fs, "with").Key), what, "uses", `"with" goes with a kind or a plugin, uses: NAME, or with a pipeline, pipeline: NAME`)
	case step && (has(fs, "pipeline") || has(fs, "refine_loop")): // as an unknown key
	case step:
		r.Missing(n, r.Doc.Span(n), what, "run",
			`say what it runs: "run" with a script, "agent" with a "prompt", "command" with a command of the project, or "uses" with a kind or a plugin`)
	default:
		r.Missing(n, r.Doc.Span(n), what, "run",
			`say what it runs: "run" with a script, "agent" with a "prompt", "command" with a command of the project, "uses" with a kind or a plugin, "pipeline", or "refine_loop"`)
	}
}

// gate reads a stage that is nothing but an approval.
func (r *reader) gate(s *Stage, fs []field, what string) {
	s.Gate = &Approval{Required: true, Span: s.Uses.Span}
	r.notWith(s, notOfApproval, what+", which is an approval")
	with := find(fs, "with")
	if with == nil {
		return
	}
	if v, done := r.Follow(with.Value); v != nil {
		s.Gate.Span = r.Doc.Whole(v)
		r.approvalKeys(v, `"with" of `+what, s.Gate)
		done()
	}
}

// barred is a key that some stages can't have, and what to do instead.
type barred struct{ name, help string }

var notOfPipeline = []barred{
	{"inputs", `a pipeline gets its inputs through "with"`},
	{"outputs", "its outputs are those that the pipeline itself declares"},
	{"verifiers", "give the stages of the pipeline their verifiers, or let a stage behind this one send work back by feedback_loop"},
	{"feedback", `its items are those that the pipeline left open: on_escalation: findings`},
	{"retry", "what is tried again is a stage: give the stages of the pipeline a retry"},
	{"timeout", "give the stages of the pipeline a timeout"},
	{"env", `give the pipeline an input, and its stages an "env" that reads it`},
	{"dir", "the stages of the pipeline say where they work"},
	{"writes", "the stages of the pipeline say whether they write"},
	{"allowed_paths", "give the stages of the pipeline their allowed_paths"},
	{"cache", "give the stages of the pipeline a cache"},
	{"on_interrupt", "the stages of the pipeline say what follows"},
	{"rollback", "give the stages of the pipeline their rollback"},
	{"discovery", "the stages of the pipeline say which of them look around"},
}

var notOfApproval = []barred{
	{"requires_approval", "the stage is the approval already"},
	{"contract", "it runs nothing that a contract could hold for"},
	{"inputs", `what the person reads is the "message" in "with"`},
	{"outputs", "its outputs are by and reason"},
	{"post_checks", `who may answer is "approvers" in "with"`},
	{"feedback", "a person answers with yes or no"},
	{"feedback_loop", `work is sent back by "on_reject" in "with": {target_stage: …}`},
	{"verifiers", "it runs nothing whose work could be verified"},
	{"retry", "it runs nothing that could be tried again"},
	{"timeout", `the time that a person has is "timeout" in "with"`},
	{"env", "it runs nothing that reads an environment"},
	{"dir", "it runs nothing"},
	{"writes", "it runs nothing that writes"},
	{"allowed_paths", "it runs nothing that writes"},
	{"cache", "an answer holds for one run"},
	{"on_interrupt", "it runs nothing that could be interrupted"},
	{"rollback", "it runs nothing that could be undone"},
	{"discovery", "it runs nothing that looks around"},
}

// notOfFinally are the keys that a stage of finally can't have: one runs after another, once, and waits for
// nobody.
var notOfFinally = []barred{
	{"needs", "the stages of finally run one after another, in the order of the document"},
	{"feedback_loop", "finally holds no loops: nothing runs again when the run has ended"},
	{"verifiers", "finally holds no loops: let the stage verify its own work"},
	{"refine_loop", "finally holds no loops: let the stage validate its own work"},
	{"for_each", "finally holds no for_each; loop in the script"},
	{"pipeline", "finally runs no pipelines; give it a stage of its own"},
	{"requires_approval", "the run has ended, and nobody is waited for"},
	{"cache", "what has to be done at the end is done each time"},
	{"rollback", "what the stages did is undone before finally"},
	{"discovery", "looking around comes before the work"},
}

// notWith reports the keys that can't stand in a stage.
func (r *reader) notWith(s *Stage, bars []barred, what string) {
	for _, b := range bars {
		if at, there := s.Key(b.name); there {
			r.Diags.Errorf(read.CodeConflict, at, "%q cannot stand in %s", b.name, what).Help = b.help
		}
	}
}

// ofFinally checks a stage of finally.
func (r *reader) ofFinally(s *Stage) {
	const what = "a stage of finally"
	r.notWith(s, notOfFinally, what)
	if s.Gate != nil {
		r.Diags.Errorf(read.CodeConflict, s.Uses.Span, `"uses: approval" cannot stand in %s`, what).Help = "the run has ended, and nobody is waited for"
	}
	if s.OnInterrupt != nil && s.OnInterrupt.Value == "ask" {
		r.Diags.Errorf(read.CodeConflict, s.OnInterrupt.Span, `"on_interrupt: ask" cannot stand in %s`, what).Help = "the run has ended, and nobody is waited for; write rerun or fail"
	}
}

// oneOf lists words as a choice.
func oneOf(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// meantExecutor reports whether an unknown key was meant for one that says what runs: then its own
// diagnostic is enough.
func meantExecutor(fs []field) bool {
	for _, f := range fs {
		if near := diag.Nearest(f.Name, executorKeys); near != "" && !isStageKey(f.Name) {
			return true
		}
	}
	return false
}

func isStageKey(name string) bool {
	return slices.ContainsFunc(stageKeys, func(k key[Stage]) bool { return k.name == name })
}

func (r *reader) conflict(a, b *field, what, help string) {
	d := r.Diags.Errorf(read.CodeConflict, r.Doc.Span(a.Key), "%q and %q cannot both stand in %s", a.Name, b.Name, what)
	d.Related = []diag.Related{{Span: r.Doc.Span(b.Key), Message: strconv.Quote(b.Name) + " stands here"}}
	d.Help = help
}
