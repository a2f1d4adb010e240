package specs

import (
	"math"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// Version is the version of the language that this package reads.
const Version = 1

const codeNewer diag.Code = "newer-version"

// ParsePipeline reads a pipeline document. The tree holds what could be read, also of a file that is cut
// off in the middle; it is never nil. The list holds all mistakes of shape, in the order found.
func ParsePipeline(f *source.File) (*Pipeline, diag.List) {
	var diags diag.List
	doc := document.Load(f, &diags)
	p := &Pipeline{File: f, Incomplete: doc.Cut || doc.Root == nil}
	n := doc.Content()
	if n == nil {
		if !diags.HasErrors() { // an unreadable file is not called an empty one as well
			diags.Errorf(document.CodeEmpty, document.Point(f, 0), "the file holds no document").
				Help = "a pipeline has at least the keys name, version and stages"
		}
		return p, diags
	}
	r := newReader(doc, &diags)
	n, done := r.Follow(n)
	if n == nil {
		return p, diags
	}
	defer done()
	p.Span = r.Doc.Whole(n)
	fs, ok := readKeys(r, n, "the pipeline", pipelineKeys, p)
	if !ok {
		return p, diags
	}
	top := document.Point(f, r.Doc.Offset(n))
	for _, k := range []struct{ name, help string }{
		{"name", "add a line such as: name: bug-fix"},
		{"version", "add the line: version: 1"},
		{"stages", "add a list of stages, each with an id and a run or an agent"},
	} {
		if !has(fs, k.name) {
			r.Missing(n, top, "the pipeline", k.name, k.help)
		}
	}
	return p, diags
}

var pipelineKeys = []key[Pipeline]{
	{"name", aName, Required, "lower-case letters, digits and dashes, beginning with a letter: the file's name without its ending",
		func(r *reader, n *yaml.Node, p *Pipeline) {
			p.Name = r.Name(n, `"name" of the pipeline`, read.PipelineName)
		}},
	{"description", aText, "", "for people",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Description = r.Str(n, `"description" of the pipeline`) }},
	{"version", aNumber, Required, "of the language: 1. A higher one needs a newer pipe",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Version = r.version(n) }},
	{"pipe", Value{Form: "release"}, "any", "`\">=0.4\"`: the oldest program that knows all keys used here. An older one says so before " +
		"anything else runs",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Pipe = r.release(n) }},
	{"workspace", words("in_place", "worktree"), "in_place", "where the run works: in the project's own tree, or in a git " +
		"`worktree` of the run's own",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Workspace = r.Word(n, `"workspace"`) }},
	{"attended", aFlag, "true", "`false`: [nobody is there to be asked](#unattended)",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Attended = r.Boolean(n, `"attended"`) }},
	{"escalation", keysOf("escalation"), "", "what follows from an [escalation](#escalation) beside waiting",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Escalation = r.escalation(n) }},
	{"task", keysOf("task"), "", "what a run [works on](#the-task-of-a-run)",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Task = r.task(n) }},
	{"inputs", namesOf("declarations", "declaration"), "", "what a run is given, by name; [declarations](#declarations)",
		func(r *reader, n *yaml.Node, p *Pipeline) {
			p.Inputs = r.params(n, `"inputs" of the pipeline`, "input", inputKeys)
		}},
	{"outputs", values, "", "what a run gives: names with values, which may hold `${{ }}`",
		func(r *reader, n *yaml.Node, p *Pipeline) {
			p.Outputs = r.entries(n, `"outputs" of the pipeline`, "output", r.isParamName)
		}},
	{"defaults", keysOf("defaults"), "", "what stages take where they say nothing",
		func(r *reader, n *yaml.Node, p *Pipeline) {
			d := &Defaults{Span: r.Doc.Whole(n)}
			if _, ok := readKeys(r, n, `"defaults"`, defaultsKeys, d); ok {
				p.Defaults = d
			}
		}},
	{"stages", listOf("stages", "stage"), Required, "at least one stage",
		func(r *reader, n *yaml.Node, p *Pipeline) {
			var ok bool
			p.Stages, ok = r.stages(n, `"stages"`)
			if ok && len(n.Content) == 0 {
				r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"stages" is empty; a pipeline has at least one stage`)
			}
		}},
	{"finally", listOf("stages", "stage"), "", "stages that run [when all else has ended](#the-end-of-a-run)",
		func(r *reader, n *yaml.Node, p *Pipeline) { p.Finally, _ = r.stages(n, finallyStages) }},
}
var defaultsKeys = []key[Defaults]{
	{"timeout", aDuration, "30m", "the longest time of one try of a stage",
		func(r *reader, n *yaml.Node, d *Defaults) {
			d.Timeout = r.Duration(n, `"timeout" of "defaults"`, time.Nanosecond)
		}},
	{"retry", keysOf("retry"), "one try", "how often a try that failed is repeated",
		func(r *reader, n *yaml.Node, d *Defaults) { d.Retry = r.retry(n, `"retry" of "defaults"`) }},
	{"feedback_loop", keysOf("default_loop"), "", "what feedback loops take",
		func(r *reader, n *yaml.Node, d *Defaults) {
			l := &Loop{Span: r.Doc.Whole(n)}
			if _, ok := readKeys(r, n, `"feedback_loop" of "defaults"`, loopDefaultKeys, l); ok {
				d.FeedbackLoop = l
			}
		}},
}

func (r *reader) version(n *yaml.Node) *Leaf[int] {
	v := r.Integer(n, `"version"`, 1, math.MaxInt32)
	if v != nil && v.Value > Version {
		r.Diags.Errorf(codeNewer, v.Span, "version %d of the language needs a newer pipe; this one reads version %d", v.Value, Version)
	}
	return v
}

func (r *reader) isParamName(l Leaf[string]) bool {
	return r.GoodName(l, "a name", read.ParamName)
}

// retry reads a retry policy.
func (r *reader) retry(n *yaml.Node, what string) *Retry {
	p := &Retry{Span: r.Doc.Whole(n)}
	if _, ok := readKeys(r, n, what, retryKeys, p); !ok {
		return nil
	}
	if p.InitialDelay != nil && p.MaxDelay != nil && p.MaxDelay.Value < p.InitialDelay.Value {
		d := r.Diags.Errorf(read.CodeValue, p.MaxDelay.Span, `"max_delay" (%s) is shorter than "initial_delay" (%s)`, p.MaxDelay.Value, p.InitialDelay.Value)
		d.Related = []diag.Related{{Span: p.InitialDelay.Span, Message: "the delay of the first retry"}}
	}
	return p
}

var retryKeys = []key[Retry]{
	{"max_attempts", aNumber, "1", "all tries, the first one included; up to 10",
		func(r *reader, n *yaml.Node, p *Retry) { p.MaxAttempts = r.Integer(n, `"max_attempts"`, 1, 10) }},
	{"backoff", words("exponential", "linear", "fixed"), "exponential", "how the wait grows: `exponential` doubles it, `linear` adds " +
		"it, `fixed` keeps it",
		func(r *reader, n *yaml.Node, p *Retry) { p.Backoff = r.Word(n, `"backoff"`) }},
	{"initial_delay", aDuration, "5s", "the wait before the second try",
		func(r *reader, n *yaml.Node, p *Retry) { p.InitialDelay = r.Duration(n, `"initial_delay"`, 0) }},
	{"max_delay", aDuration, "5m", "the longest wait",
		func(r *reader, n *yaml.Node, p *Retry) { p.MaxDelay = r.Duration(n, `"max_delay"`, 0) }},
	{"on", Value{"list of words", []string{"exit", "timeout", "idle", "protocol", "unavailable", "signal", "review_unavailable"}, ""},
		"all of these", "the [failure classes](#failure-classes) that are tried again",
		func(r *reader, n *yaml.Node, p *Retry) {
			ok := r.List(n, `"on" of "retry"`, "failure classes", func(n *yaml.Node) {
				if w := r.Word(n, `an entry of "on"`); w != nil && r.fresh(*w, p.On, `"on"`) {
					p.On = append(p.On, *w)
				}
			})
			if ok && len(n.Content) == 0 {
				r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"on" of "retry" is empty; nothing would be tried again`).
					Help = "without the key every class of failure is; to try once write max_attempts: 1"
			}
		}},
}
var loopDefaultKeys = []key[Loop]{
	{"max_iterations", aNumber, "2", "the cap: how often target and review run at the most, until a person grants more",
		func(r *reader, n *yaml.Node, l *Loop) {
			l.MaxIterations = r.Integer(n, `"max_iterations"`, 1, math.MaxInt32)
		}},
	{"convergence", keysOf("convergence"), "", "[rules](#convergence) that end a loop before its cap",
		func(r *reader, n *yaml.Node, l *Loop) { l.Convergence = r.convergence(n) }},
}
var loopKeys = []key[Loop]{
	{"target_stage", aName, Required, "the stage that acts on the items: an implementation that this one needs, directly or not",
		func(r *reader, n *yaml.Node, l *Loop) { l.TargetStage = r.Name(n, `"target_stage"`, read.StageID) }},
	loopDefaultKeys[0],
	{"on_exhausted", exhausted, "escalate", "at the cap: `escalate` asks a person, `fail` fails the run",
		func(r *reader, n *yaml.Node, l *Loop) { l.OnExhausted = r.Word(n, `"on_exhausted"`) }},
	{"rerun", words("downstream", "path"), "downstream", "what runs again after the target: all that needs it, or only what lies " +
		"on the `path` to this review",
		func(r *reader, n *yaml.Node, l *Loop) { l.Rerun = r.Word(n, `"rerun"`) }},
	loopDefaultKeys[1],
}

// fresh reports an entry that a list holds already.
func (r *reader) fresh(l Leaf[string], before []Leaf[string], what string) bool {
	for _, b := range before {
		if b.Value == l.Value {
			d := r.Diags.Errorf(read.CodeDuplicateKey, l.Span, "%q is given twice in %s", l.Value, what)
			d.Related = []diag.Related{{Span: b.Span, Message: "first given here"}}
			return false
		}
	}
	return true
}
