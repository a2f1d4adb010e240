package specs

import (
	"math"

	"gopkg.in/yaml.v3"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/source"
	"example.com/pipe/specs/read"
)

// Verifiers is verifiers: commands that run when a stage has succeeded, and send it back to itself when one fails.
type Verifiers struct {
	Commands      []*Verifier
	MaxIterations *Leaf[int]
	OnExhausted   *Leaf[string]
	Convergence   *Convergence
	Span          source.Span
}

// Verifier is one of the commands.
type Verifier struct {
	Name *Leaf[string]
	Run  *source.Scalar
	Span source.Span
}

// verifiers reads verifiers: a list of commands, or a mapping that holds them and more.
func (r *reader) verifiers(n *yaml.Node) *Verifiers {
	v := &Verifiers{Span: r.Doc.Whole(n)}
	switch n.Kind {
	case yaml.SequenceNode:
		r.verifierList(n, `"verifiers"`, v)
		return v
	case yaml.MappingNode:
	default:
		r.WrongKind(n, `"verifiers"`, "a list of commands, or a mapping that holds them")
		if read.IsString(n) {
			r.Advise("write verifiers: [{name: …, run: …}]")
		}
		return nil
	}
	fs, ok := readKeys(r, n, `"verifiers"`, verifiersKeys, v)
	switch {
	case !ok:
		return nil
	case !has(fs, "commands") && has(fs, "run"):
		r.Advise("one command is a list too: verifiers: [{name: …, run: …}]")
	case !has(fs, "commands"):
		r.Missing(n, r.Doc.Span(n), `"verifiers"`, "commands", "give the commands that look at what the stage did: commands: [{name: …, run: …}]")
	}
	return v
}

// verifierList reads the commands of verifiers.
func (r *reader) verifierList(n *yaml.Node, what string, v *Verifiers) {
	ok := r.List(n, what, "commands (name and run)", func(n *yaml.Node) {
		c := &Verifier{Span: r.Doc.Whole(n)}
		entry := "an entry of " + what
		fs, ok := readKeys(r, n, entry, verifierKeys, c)
		switch {
		case !ok && read.IsString(n):
			r.Advise("give the command a name, by which its findings are known: {name: …, run: …}")
			return
		case !ok:
			return
		}
		if !has(fs, "name") {
			r.Missing(n, r.Doc.Span(n), entry, "name", "its findings are known by the name: name: vet")
		}
		if !has(fs, "run") {
			r.Missing(n, r.Doc.Span(n), entry, "run", "give the script that looks at what the stage did: run: go vet ./...")
		}
		for _, before := range v.Commands {
			if c.Name != nil && before.Name != nil && before.Name.Value == c.Name.Value {
				d := r.Diags.Errorf(read.CodeDuplicateKey, c.Name.Span, "there are two verifiers called %q", c.Name.Value)
				d.Related = []diag.Related{{Span: before.Name.Span, Message: "the first one is here"}}
				return
			}
		}
		if c.Name != nil && c.Run != nil {
			v.Commands = append(v.Commands, c)
		}
	})
	if ok && len(n.Content) == 0 {
		r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), "%s is empty; nothing would be verified", what).Help = "give commands, or drop verifiers"
	}
}

var verifierKeys = []key[Verifier]{
	{"name", aName, Required, "what it is called in its findings; no other verifier of the stage has the same",
		func(r *reader, n *yaml.Node, v *Verifier) { v.Name = r.Name(n, `"name" of a verifier`, read.StageID) }},
	{"run", aScript, Required, "a shell script, as of a stage. An exit status other than 0 is a finding",
		func(r *reader, n *yaml.Node, v *Verifier) { v.Run = r.script(n, `"run" of a verifier`) }},
}

var verifiersKeys = []key[Verifiers]{
	{"commands", listOf("mappings", "verifier"), Required, "what runs, one after another, when the stage has succeeded",
		func(r *reader, n *yaml.Node, v *Verifiers) { r.verifierList(n, `"commands" of "verifiers"`, v) }},
	{"max_iterations", aNumber, "2", "the cap: how often the stage and its verifiers run at the most, each time that something else " +
		"makes the stage run",
		func(r *reader, n *yaml.Node, v *Verifiers) {
			v.MaxIterations = r.Integer(n, `"max_iterations"`, 1, math.MaxInt32)
		}},
	{"on_exhausted", exhausted, "escalate", "at the cap: `escalate` asks a person, `fail` fails the run",
		func(r *reader, n *yaml.Node, v *Verifiers) { v.OnExhausted = r.Word(n, `"on_exhausted"`) }},
	{"convergence", keysOf("convergence"), "", "[rules](#convergence) that end the loop before its cap",
		func(r *reader, n *yaml.Node, v *Verifiers) { v.Convergence = r.convergence(n) }},
}
