package specs

import (
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
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
	s.Span = r.wholeSpan(n)
	if !has(fs, "id") {
		r.missing(n, r.nodeSpan(n), what, "id", "")
	}
	r.executor(n, s, fs, what)
	return s
}

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

// executor checks the keys that say what a stage runs: exactly one of run and agent, and what goes with it.
func (r *reader) executor(n *yaml.Node, s *Stage, fs []field, what string) {
	run, agent := find(fs, "run"), find(fs, "agent")
	prompt, file := find(fs, "prompt"), find(fs, "prompt_file")
	switch {
	case run != nil && agent != nil:
		r.conflict(run, agent, what, "a stage runs either a script or an agent")
	case run != nil:
		for _, p := range []*field{prompt, file} {
			if p != nil {
				r.conflict(p, run, what, "a prompt goes with an agent")
			}
		}
	case agent == nil && prompt == nil && file == nil && !meantExecutor(fs):
		r.missing(n, r.nodeSpan(n), what, "run", `say what it runs: "run" with a script, or "agent" with a "prompt"`)
	case agent == nil && !meantExecutor(fs):
		r.missing(n, r.nodeSpan(n), what, "agent", "a prompt goes with an agent: add agent: NAME")
	case agent != nil && prompt == nil && file == nil && !slices.Contains(r.meant[n], "prompt_file"):
		r.missing(n, r.nodeSpan(agent.key), what, "prompt", `say what the agent is to do: "prompt" or "prompt_file"`)
	}
	if prompt != nil && file != nil {
		r.conflict(file, prompt, what, "give the prompt once")
	}
	if shell := find(fs, "shell"); shell != nil && run == nil {
		r.diags.Errorf(codeConflict, r.nodeSpan(shell.key), `"shell" of %s has no "run" that it could run`, what)
	}
}

// meantExecutor reports whether an unknown key was meant for one that says what runs: then its own
// diagnostic is enough.
func meantExecutor(fs []field) bool {
	for _, f := range fs {
		if near := diag.Nearest(f.name, []string{"run", "agent"}); near != "" && !isStageKey(f.name) {
			return true
		}
	}
	return false
}

func isStageKey(name string) bool {
	for i := range stageKeyNames {
		if stageKeyNames[i] == name {
			return true
		}
	}
	return false
}

func (r *reader) conflict(a, b *field, what, help string) {
	d := r.diags.Errorf(codeConflict, r.nodeSpan(a.key), "%q and %q cannot both stand in %s", a.name, b.name, what)
	d.Related = []diag.Related{{Span: r.nodeSpan(b.key), Message: strconv.Quote(b.name) + " stands here"}}
	d.Help = help
}

var stageKeyNames = []string{
	"id", "description", "role", "run", "shell", "agent", "prompt", "prompt_file", "needs", "when", "inputs", "outputs",
	"pre_checks", "post_checks", "feedback", "feedback_loop", "retry", "timeout", "env", "dir", "writes",
	"requires_approval", "on_interrupt", "continue_on_error",
}

var stageKeys = []key[Stage]{
	{"id", func(r *reader, n *yaml.Node, s *Stage) { s.ID = r.name(n, `"id"`, stageID) }},
	{"description", func(r *reader, n *yaml.Node, s *Stage) { s.Description = r.str(n, `"description"`) }},
	{"role", func(r *reader, n *yaml.Node, s *Stage) {
		s.Role = r.word(n, `"role"`, "work", "implementation", "review")
	}},
	{"run", func(r *reader, n *yaml.Node, s *Stage) { s.Run = r.script(n) }},
	{"shell", func(r *reader, n *yaml.Node, s *Stage) { s.Shell = r.str(n, `"shell"`) }},
	{"agent", func(r *reader, n *yaml.Node, s *Stage) { s.Agent = r.name(n, `"agent"`, paramName) }},
	{"prompt", func(r *reader, n *yaml.Node, s *Stage) { s.Prompt = r.filled(n, `"prompt"`) }},
	{"prompt_file", func(r *reader, n *yaml.Node, s *Stage) { s.PromptFile = r.str(n, `"prompt_file"`) }},
	{"needs", func(r *reader, n *yaml.Node, s *Stage) { s.Needs = r.needs(n) }},
	{"when", func(r *reader, n *yaml.Node, s *Stage) { s.When = r.expr(n, "when", `"when"`) }},
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
	{"requires_approval", func(r *reader, n *yaml.Node, s *Stage) { s.RequiresApproval = r.approval(n) }},
	{"on_interrupt", func(r *reader, n *yaml.Node, s *Stage) {
		s.OnInterrupt = r.word(n, `"on_interrupt"`, "rerun", "ask", "fail")
	}},
	{"continue_on_error", func(r *reader, n *yaml.Node, s *Stage) {
		s.ContinueOnError = r.boolean(n, `"continue_on_error"`)
	}},
}
