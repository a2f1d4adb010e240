package specs

import (
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
)

// stage reads one entry of stages; nil if it is no mapping.
func (r *reader) stage(n *yaml.Node) *Stage {
	s := &Stage{}
	what := "a stage"
	if id := idOf(n); id != "" {
		what = `stage "` + short(id) + `"`
	}
	fs, ok := readKeys(r, n, what, stageKeys, s)
	if !ok {
		return nil
	}
	s.Span = r.doc.Whole(n)
	s.keys = make([]keyPlace, len(fs))
	for i, f := range fs {
		s.keys[i] = keyPlace{f.name, source.Pos{Line: f.key.Line, Col: f.key.Column}}
	}
	if !has(fs, "id") {
		r.missing(n, r.doc.Span(n), what, "id", "")
	}
	r.executor(n, s, fs, what)
	return s
}

// stages reads a list of stages.
func (r *reader) stages(n *yaml.Node, what string) (out []*Stage, ok bool) {
	ok = r.list(n, what, "stages", func(n *yaml.Node) {
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

var stageKeyNames = []string{
	"id", "description", "role", "run", "shell", "agent", "prompt", "prompt_file", "command", "uses", "pipeline", "with",
	"on_escalation", "needs", "when", "for_each", "contract", "inputs", "outputs", "pre_checks", "post_checks", "feedback",
	"feedback_loop", "retry", "timeout", "env", "dir", "writes", "allowed_paths", "cache", "requires_approval",
	"on_interrupt", "continue_on_error",
}

var stageKeys = []key[Stage]{
	{"id", func(r *reader, n *yaml.Node, s *Stage) { s.ID = r.name(n, `"id"`, stageID) }},
	{"description", func(r *reader, n *yaml.Node, s *Stage) { s.Description = r.str(n, `"description"`) }},
	{"role", func(r *reader, n *yaml.Node, s *Stage) {
		s.Role = r.word(n, `"role"`, "work", "implementation", "review")
	}},
	{"run", func(r *reader, n *yaml.Node, s *Stage) { s.Run = r.script(n, `"run"`) }},
	{"shell", func(r *reader, n *yaml.Node, s *Stage) { s.Shell = r.str(n, `"shell"`) }},
	{"agent", func(r *reader, n *yaml.Node, s *Stage) { s.Agent = r.name(n, `"agent"`, paramName) }},
	{"prompt", func(r *reader, n *yaml.Node, s *Stage) { s.Prompt = r.message(n, `"prompt"`) }},
	{"prompt_file", func(r *reader, n *yaml.Node, s *Stage) { s.PromptFile = r.str(n, `"prompt_file"`) }},
	{"command", func(r *reader, n *yaml.Node, s *Stage) { s.Command = r.name(n, `"command"`, paramName) }},
	{"uses", func(r *reader, n *yaml.Node, s *Stage) { s.Uses = r.name(n, `"uses"`, paramName) }},
	{"pipeline", func(r *reader, n *yaml.Node, s *Stage) { s.Pipeline = r.str(n, `"pipeline"`) }},
	{"with", func(*reader, *yaml.Node, *Stage) {}}, // executor reads it: its keys depend on uses
	{"on_escalation", func(r *reader, n *yaml.Node, s *Stage) {
		s.OnEscalation = r.word(n, `"on_escalation"`, "escalate", "fail", "findings")
	}},
	{"needs", func(r *reader, n *yaml.Node, s *Stage) { s.Needs = r.needs(n) }},
	{"when", func(r *reader, n *yaml.Node, s *Stage) { s.When = r.expr(n, "when", `"when"`) }},
	{"for_each", func(r *reader, n *yaml.Node, s *Stage) { s.ForEach = r.forEach(n) }},
	{"contract", func(r *reader, n *yaml.Node, s *Stage) { s.Contract = r.str(n, `"contract"`) }},
	{"inputs", func(r *reader, n *yaml.Node, s *Stage) {
		s.Inputs = r.entries(n, `"inputs"`, "input", r.isParamName)
	}},
	{"outputs", func(r *reader, n *yaml.Node, s *Stage) {
		s.Outputs = r.params(n, `"outputs"`, "output", outputKeys)
	}},
	{"pre_checks", func(r *reader, n *yaml.Node, s *Stage) { s.PreChecks = r.checks(n, `"pre_checks"`) }},
	{"post_checks", func(r *reader, n *yaml.Node, s *Stage) { s.PostChecks = r.checks(n, `"post_checks"`) }},
	{"feedback", func(r *reader, n *yaml.Node, s *Stage) { s.Feedback = r.feedback(n) }},
	{"feedback_loop", func(r *reader, n *yaml.Node, s *Stage) { s.Loop = r.loop(n) }},
	{"retry", func(r *reader, n *yaml.Node, s *Stage) { s.Retry = r.retry(n, `"retry"`) }},
	{"timeout", func(r *reader, n *yaml.Node, s *Stage) { s.Timeout = r.duration(n, `"timeout"`, time.Nanosecond) }},
	{"env", func(r *reader, n *yaml.Node, s *Stage) { s.Env = r.entries(n, `"env"`, "env", r.isEnvName) }},
	{"dir", func(r *reader, n *yaml.Node, s *Stage) { s.Dir = r.filled(n, `"dir"`) }},
	{"writes", func(r *reader, n *yaml.Node, s *Stage) { s.Writes = r.boolean(n, `"writes"`) }},
	{"allowed_paths", func(r *reader, n *yaml.Node, s *Stage) { s.AllowedPaths = r.globs(n) }},
	{"cache", func(r *reader, n *yaml.Node, s *Stage) { s.Cache = r.boolean(n, `"cache"`) }},
	{"requires_approval", func(r *reader, n *yaml.Node, s *Stage) { s.RequiresApproval = r.approval(n) }},
	{"on_interrupt", func(r *reader, n *yaml.Node, s *Stage) {
		s.OnInterrupt = r.word(n, `"on_interrupt"`, "rerun", "ask", "fail")
	}},
	{"continue_on_error", func(r *reader, n *yaml.Node, s *Stage) {
		s.ContinueOnError = r.boolean(n, `"continue_on_error"`)
	}},
}
