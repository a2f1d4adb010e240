package specs

import (
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// stage reads one entry of stages; nil if it is no mapping.
func (r *reader) stage(n *yaml.Node) *Stage {
	s := &Stage{}
	what := "a stage"
	if id := idOf(n); id != "" {
		what = `stage "` + read.Short(id) + `"`
	}
	fs, ok := readKeys(r, n, what, stageKeys, s)
	if !ok {
		return nil
	}
	s.Span = r.Doc.Whole(n)
	s.keys = make([]keyPlace, len(fs))
	for i, f := range fs {
		s.keys[i] = keyPlace{f.Name, source.Pos{Line: f.Key.Line, Col: f.Key.Column}}
	}
	if !has(fs, "id") {
		r.Missing(n, r.Doc.Span(n), what, "id", "")
	}
	r.executor(n, s, fs, what, executorKeys)
	return s
}

// stages reads a list of stages.
func (r *reader) stages(n *yaml.Node, what string) (out []*Stage, ok bool) {
	ok = r.List(n, what, "stages", func(n *yaml.Node) {
		if s := r.stage(n); s != nil {
			out = append(out, s)
			if what == finallyStages {
				r.ofFinally(s)
			}
		}
	})
	return out, ok
}

// finallyStages is what messages call the list of stages that run at the end.
const finallyStages = `"finally"`

// idOf returns the id of a stage as written, for messages.
func idOf(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "id" && n.Content[i+1].Kind == yaml.ScalarNode {
			return n.Content[i+1].Value
		}
	}
	return ""
}

var stageKeys = slices.Concat([]key[Stage]{
	{"id", aName, Required, "lower-case letters, digits, `_` and `-`, beginning with a letter; at most 80 characters. An id with a dash " +
		"is `stages[\"a-b\"]` in expressions",
		func(r *reader, n *yaml.Node, s *Stage) { s.ID = r.Name(n, `"id"`, read.StageID) }},
	{"description", aText, "", "for people",
		func(r *reader, n *yaml.Node, s *Stage) { s.Description = r.Str(n, `"description"`) }},
	{"role", words("work", "implementation", "review"), "see right", "what the stage is for. With `feedback` or `feedback_loop` it is a " +
		"`review`; as the target of a loop, or under the id implement, fix or refactor, an `implementation`; any other is `work`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Role = r.Word(n, `"role"`) }},
}, stepKeys, []key[Stage]{
	{"pipeline", aText, "", "[another pipeline](#a-pipeline-inside), by its name or its path",
		func(r *reader, n *yaml.Node, s *Stage) { s.Pipeline = r.Str(n, `"pipeline"`) }},
	{"refine_loop", keysOf("refine_loop"), "", "attempts at something: what creates it, and what [validates](#refine-loops) it",
		func(*reader, *yaml.Node, *Stage) {}}, // executor reads it
	{"on_escalation", words("escalate", "fail", "findings"), "escalate", "of a pipeline: what an [escalation inside](#a-pipeline-inside) " +
		"becomes",
		func(r *reader, n *yaml.Node, s *Stage) { s.OnEscalation = r.Word(n, `"on_escalation"`) }},
	{"needs", someNames, "all stages above", "the stages that it waits for: `[a, b]`, or `[]` to start at once. A review with a loop meets " +
		"a need once its loop has settled",
		func(r *reader, n *yaml.Node, s *Stage) { s.Needs = r.needs(n) }},
	{"when", anExpr, "true", "a condition, asked each time the stage comes to its start. False: it is skipped, and what needs it goes on. " +
		"While a review has open blocking items, it runs whatever `when` says",
		func(r *reader, n *yaml.Node, s *Stage) { s.When = r.expr(n, "when", `"when"`) }},
	{"for_each", keysOf("for_each"), "", "the stage runs [once for each item](#for-each-item) of a list",
		func(r *reader, n *yaml.Node, s *Stage) { s.ForEach = r.forEach(n) }},
	{"contract", aName, "", "a [contract](#contracts) whose schemas and checks hold for this stage, by its name",
		func(r *reader, n *yaml.Node, s *Stage) { s.Contract = r.Str(n, `"contract"`) }},
	{"inputs", values, "", "what a process finds in `PIPE_INPUT`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Inputs = r.entries(n, `"inputs"`, "input", r.isParamName) }},
	{"outputs", namesOf("declarations", "declaration"), "", "[declarations](#declarations) of what it must give",
		func(r *reader, n *yaml.Node, s *Stage) { s.Outputs = r.params(n, `"outputs"`, "output", outputKeys) }},
	{"pre_checks", listOf("checks", "check"), "", "conditions that must hold before it starts",
		func(r *reader, n *yaml.Node, s *Stage) { s.PreChecks = r.checks(n, `"pre_checks"`) }},
	{"post_checks", listOf("checks", "check"), "", "conditions that must hold after it succeeded",
		func(r *reader, n *yaml.Node, s *Stage) { s.PostChecks = r.checks(n, `"post_checks"`) }},
	{"feedback", keysOf("feedback"), "", "where the items of a review come from",
		func(r *reader, n *yaml.Node, s *Stage) { s.Feedback = r.feedback(n) }},
	{"feedback_loop", keysOf("feedback_loop"), "", "where they are sent",
		func(r *reader, n *yaml.Node, s *Stage) { s.Loop = r.loop(n) }},
	{"verifiers", Value{Form: "list of mappings, mapping", Keys: "verifiers"}, "", "commands that run when it has succeeded. One that fails " +
		"sends the stage [back to itself](#verifiers)",
		func(r *reader, n *yaml.Node, s *Stage) { s.Verifiers = r.verifiers(n) }},
	{"retry", keysOf("retry"), "one try", "how often a try that failed is repeated",
		func(r *reader, n *yaml.Node, s *Stage) { s.Retry = r.retry(n, `"retry"`) }},
	{"timeout", aDuration, "30m", "the longest time of one try. Everything that it started is ended then",
		func(r *reader, n *yaml.Node, s *Stage) { s.Timeout = r.Duration(n, `"timeout"`, time.Nanosecond) }},
	{"env", values, "", "environment variables; values may hold `${{ }}`. Names beginning with `PIPE_` are the engine's",
		func(r *reader, n *yaml.Node, s *Stage) { s.Env = r.entries(n, `"env"`, "env", r.isEnvName) }},
	{"dir", aText, "the project", "the folder that it works in, inside the workspace; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Dir = r.Filled(n, `"dir"`) }},
	{"writes", aFlag, "by role", "an implementation writes. A stage that writes has the workspace alone, the others share it",
		func(r *reader, n *yaml.Node, s *Stage) { s.Writes = r.Boolean(n, `"writes"`) }},
	{"allowed_paths", someTexts, "all", "patterns of the paths that it may change, such as `[\"src/**\", \"go.{mod,sum}\"]`, relative to " +
		"the workspace; may hold `${{ }}`, whose values stand for themselves. A change of any other file fails the stage. A stage with " +
		"this key writes",
		func(r *reader, n *yaml.Node, s *Stage) { s.AllowedPaths = r.globs(n) }},
	{"cache", aFlag, "false", "`true`: where nothing that decides has changed (the stage itself, its inputs, the tree), what it gave before " +
		"is taken and it does not run. Not for stages that write",
		func(r *reader, n *yaml.Node, s *Stage) { s.Cache = r.Boolean(n, `"cache"`) }},
	{"requires_approval", Value{Form: "true, false, text, mapping", Keys: "approval"}, "false", "a person is asked before it starts: `true`, " +
		"a message, or [more](#approvals)",
		func(r *reader, n *yaml.Node, s *Stage) { s.RequiresApproval = r.approval(n) }},
	{"on_interrupt", words("rerun", "ask", "fail"), "rerun", "what follows when the engine died during a try: `rerun`, `ask` (the run " +
		"pauses), `fail`",
		func(r *reader, n *yaml.Node, s *Stage) { s.OnInterrupt = r.Word(n, `"on_interrupt"`) }},
	{"rollback", keysOf("rollback"), "", "how what it did is [undone](#rollback) when the run fails",
		func(r *reader, n *yaml.Node, s *Stage) { s.Rollback = r.rollback(n) }},
	{"discovery", aFlag, "false", "`true`: it only looks around, and gets the run's [task](#the-task-of-a-run) in `PIPE_INPUT`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Discovery = r.Boolean(n, `"discovery"`) }},
	{"continue_on_error", aFlag, "false", "a failure does not fail the run, and what needs it goes on",
		func(r *reader, n *yaml.Node, s *Stage) { s.ContinueOnError = r.Boolean(n, `"continue_on_error"`) }},
})

// stepKeys are the keys that say what a stage runs, or a step of a refine loop.
var stepKeys = []key[Stage]{
	{"run", aScript, "", "a shell script. `${{ }}` has no place in it: values come through `env`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Run = r.script(n, `"run"`) }},
	{"shell", aText, "bash, else sh", "the program that runs the script",
		func(r *reader, n *yaml.Node, s *Stage) { s.Shell = r.Str(n, `"shell"`) }},
	{"agent", aName, "", "an agent of `pipe.yaml`. One that is not there is `default`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Agent = r.Name(n, `"agent"`, read.ParamName) }},
	{"prompt", aTemplate, "", "what the agent is to do; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Prompt = r.message(n, `"prompt"`) }},
	{"prompt_file", aText, "", "a file with the prompt, relative to the pipeline's own",
		func(r *reader, n *yaml.Node, s *Stage) { s.PromptFile = r.Str(n, `"prompt_file"`) }},
	{"command", aName, "", "a [command of the project](#a-command-of-the-project) by what it is for, such as `test` or `lint`: one of " +
		"`pipe.yaml`, else what the project's kind calls for",
		func(r *reader, n *yaml.Node, s *Stage) { s.Command = r.Name(n, `"command"`, read.ParamName) }},
	{"uses", aName, "", "a kind of stage by its name (`approval`), or a [plugin](plugins.md) of `pipe.yaml` or the `PATH`",
		func(r *reader, n *yaml.Node, s *Stage) { s.Uses = r.Name(n, `"uses"`, read.ParamName) }},
	{"with", Value{Form: "names with values", Keys: "approval"}, "", "what a kind, a plugin or a pipeline is given; values may hold " +
		"`${{ }}`. Their types are checked",
		func(*reader, *yaml.Node, *Stage) {}}, // executor reads it: its keys depend on uses
}
