package gate

import (
	"context"
	"fmt"
	"time"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/script"
)

// VerifiersName is the name of the kind that runs the verifiers of a stage.
const VerifiersName = "verifiers"

// streamLimit is how much of the end of each stream of a verifier that rejects is told, in bytes.
const streamLimit = 8 << 10

// NewVerifiers returns the kind. Its processes are started by starter.
func NewVerifiers(starter *proc.Starter) stage.Kind {
	r := runner{starter, script.NewRunner(starter)}
	checker := script.NewChecker()
	command := value.ObjectOf(
		value.FieldType{Name: keyName, Type: value.Of(value.String)},
		value.FieldType{Name: keyRun, Type: value.Of(value.String)},
	)
	return stage.Kind{
		Name: VerifiersName,
		Doc: "What the `verifiers` of a stage become: shell scripts that its work must pass, one after another, in its folder. The " +
			"first that exits with a status other than 0 rejects the work. No stage names this kind itself.",
		Config: []stage.Field{
			{Name: keyCommands, Type: value.ListOf(command), Required: true,
				Doc: "the scripts, with the names that findings have them by", Example: "[{name: lint, run: make lint}]"},
		},
		Check: func(p *stage.CheckPass) {
			commands, err := commandsOf(p.Config)
			if err != nil {
				return // its type is checked by its declaration
			}
			for _, c := range commands {
				checker.Check(script.Written{Key: c.name, Text: c.run, At: source.NewScalar(c.run, p.Span, nil)}, p.Report)
			}
		},
		Run: r.verifiers,
	}
}

// verifier is one command of the config.
type verifier struct{ name, run string }

func commandsOf(config *value.Object) ([]verifier, error) {
	v, _ := config.Get(keyCommands)
	list, _ := v.(value.List)
	out := make([]verifier, 0, len(list))
	for _, entry := range list {
		o, ok := entry.(*value.Object)
		if !ok {
			return nil, fmt.Errorf("%q holds %s, expected objects", keyCommands, value.Describe(entry))
		}
		name, _ := o.Get(keyName)
		run, _ := o.Get(keyRun)
		var c verifier
		c.name, _ = name.(string)
		if c.run, ok = run.(string); !ok {
			return nil, fmt.Errorf("the verifier %q has no %q", c.name, keyRun)
		}
		out = append(out, c)
	}
	return out, nil
}

func (r runner) verifiers(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	commands, err := commandsOf(call.Config)
	if err != nil {
		return stage.Outcome{}, fmt.Errorf("stage %q: %w", call.Stage, err)
	}
	out := stage.Outcome{ExitCode: -1, Result: &feedback.Result{Items: []feedback.Item{}}}
	for _, c := range commands {
		began := time.Now()
		res, err := r.scripts.Run(ctx, call, script.Script{Text: c.run, Name: c.name, Heading: heading(c.name)})
		took := time.Since(began)
		var rejected bool
		out, rejected, err = judge(&res, err)
		switch {
		case err != nil:
			return stage.Outcome{}, err
		case rejected:
			return reject(out, &envelope.Diagnosis{Verifier: &envelope.VerifierChainResult{
				VerifierName: c.name, Gate: envelope.GatePostSubmit,
				Stdout: script.End(&res.Stdout, streamLimit), Stderr: script.End(&res.Stderr, streamLimit),
				ExitCode: out.ExitCode, DurationMs: took.Milliseconds(),
			}}), nil
		case out.Class == stage.Timeout:
			out.Message = fmt.Sprintf("the verifier %q did not end in the time that all verifiers of the stage have together: %s", diag.Escape(c.name), out.Message)
			return out, nil
		case out.Class != stage.OK:
			out.Message = fmt.Sprintf("the verifier %q could not do its work: %s", diag.Escape(c.name), out.Message)
			return out, nil
		}
	}
	return out, nil
}

// heading says in a log whose output follows: a log has that of all verifiers that wrote there, and no other.
func heading(name string) string { return "==> verifier " + diag.Escape(name) + "\n" }
