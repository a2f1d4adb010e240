package specs

import (
	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// Rollback is rollback: how what a stage did is undone when the run fails.
type Rollback struct {
	Strategy    *Leaf[string]
	Description *Leaf[string]
	Run         *source.Scalar
	Env         []*Entry
	Span        source.Span
}

const (
	byScript = "run"
	byPerson = "manual"
)

// rollback reads rollback.
func (r *reader) rollback(n *yaml.Node) *Rollback {
	b := &Rollback{Span: r.Doc.Whole(n)}
	const what = `"rollback"`
	fs, ok := readKeys(r, n, what, rollbackKeys, b)
	if !ok {
		if read.IsString(n) {
			r.Advise("write rollback: {strategy: " + read.Short(n.Value) + "}")
		}
		return nil
	}
	if !has(fs, "strategy") {
		help := "say how it is undone: git_revert, file_restore, memory_cleanup, manual or run"
		if has(fs, "run") {
			help = "a script is a strategy too: strategy: run"
		}
		r.Missing(n, b.Span, what, "strategy", help)
		return nil
	}
	if b.Strategy == nil {
		return nil
	}
	for _, key := range []string{"run", "env"} {
		if f := find(fs, key); f != nil && b.Strategy.Value != byScript {
			r.Diags.Errorf(read.CodeConflict, r.Doc.Span(f.Key), `%q of %s goes with the strategy "run", and this is %q`, key, what, b.Strategy.Value).
				Help = "write strategy: run, or drop " + key
		}
	}
	switch {
	case b.Strategy.Value == byScript && !has(fs, "run"):
		r.Missing(n, b.Strategy.Span, what+` with the strategy "run"`, "run", "give the script that undoes what the stage did: run: ./undeploy.sh")
	case b.Strategy.Value == byPerson && !has(fs, "description"):
		r.Missing(n, b.Strategy.Span, what+` with the strategy "manual"`, "description", "say what a person has to do: description: take the release down")
	}
	return b
}

var rollbackKeys = []key[Rollback]{
	{"strategy", words("git_revert", "file_restore", "memory_cleanup", byPerson, byScript), Required, "how: the commits made since are " +
		"reverted, files are put back, what the run remembers of the stage is cleared away, a person is told, or a script does it",
		func(r *reader, n *yaml.Node, b *Rollback) { b.Strategy = r.Word(n, `"strategy" of "rollback"`) }},
	{"description", aText, "", "what is done, for people; of `manual`, which needs it, what they have to do",
		func(r *reader, n *yaml.Node, b *Rollback) { b.Description = r.Str(n, `"description" of "rollback"`) }},
	{"run", aScript, "", "of the strategy `run`, which needs it: the script; it runs as the `run` of a stage does",
		func(r *reader, n *yaml.Node, b *Rollback) { b.Run = r.script(n, `"run" of "rollback"`) }},
	{"env", values, "", "environment variables of the script; values may hold `${{ }}`",
		func(r *reader, n *yaml.Node, b *Rollback) {
			b.Env = r.entries(n, `"env" of "rollback"`, "env", r.isEnvName)
		}},
}
