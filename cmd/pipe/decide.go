package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/view"
)

// decideOptions are the options of `pipe decide`.
type decideOptions struct {
	answerOptions
	source  string
	what    string
	id      string
	rounds  int
	to      string
	note    string
	items   []string
	outputs []string

	rollback bool
}

// decisions are the ways to answer an escalation, with the flags that go with each.
var decisions = []struct {
	word  string
	kind  step.AnswerKind
	flags []string
}{
	{"retry", step.DecideRetry, []string{"rounds"}},
	{"refer-back", step.DecideReferBack, []string{"rounds", "to", "note"}},
	{"override", step.DecideOverride, []string{"items", "output"}},
	{"abort", step.DecideAbort, []string{"rollback"}},
}

func newDecideCmd(a *app) *cobra.Command {
	o := &decideOptions{answerOptions: answerOptions{app: a}}
	cmd := &cobra.Command{
		Use:   "decide RUN [SOURCE] retry|refer-back|override|abort",
		Short: "Answer an escalation",
		Long: "Answers an escalation of a run; SOURCE is the stage that escalated, needed where several did.\n\n" +
			"  retry       it was fixed by hand: what escalated reviews again\n" +
			"  refer-back  a stage runs again, with --note first in its brief\n" +
			"  override    the items are waived, with --reason, and the run goes on\n" +
			"  abort       the run is cancelled; with --rollback what the stages did is undone, which can't be done later\n\n" +
			"Of a stage that was interrupted: retry runs it again, override takes it as succeeded, with --output for each\n" +
			"output that it must give.",
		Args: between(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ref, o.what = args[0], args[len(args)-1]
			if len(args) == 3 {
				o.source = args[1]
			}
			return o.run(cmd)
		},
	}
	o.flags(cmd)
	o.resumeFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "the `ID` of the escalation that was seen: another one is not answered")
	f.IntVar(&o.rounds, "rounds", 1, "retry, refer-back: grant `N` rounds")
	f.StringVar(&o.to, "to", "", "refer-back: the `STAGE` that runs again (default: the target of the loop)")
	f.StringVar(&o.note, "note", "", "refer-back: `TEXT` for the stage")
	f.BoolVar(&o.rollback, "rollback", false, "abort: undo what the stages did, as their rollback says")
	f.StringSliceVar(&o.items, "items", nil, "override: the `IDS` of the items that are waived, as in review.1,review.2 (default: all of the escalation)")
	f.StringArrayVar(&o.outputs, "output", nil, "override of an interrupted stage: an output, as `NAME=VALUE`; may be repeated")
	return cmd
}

func (o *decideOptions) run(cmd *cobra.Command) error {
	kind, err := o.kind(cmd)
	if err != nil {
		return err
	}
	return o.give(cmd.Context(), func(v *view.Run) (step.Answer, string, error) {
		for _, name := range []string{o.source, o.to} {
			if err := isStage(v, name); err != nil {
				return step.Answer{}, "", err
			}
		}
		a := step.Answer{Kind: kind, Stage: o.source, Escalation: o.id, Note: o.note, To: o.to, Items: o.items, Rollback: o.rollback}
		if err := mayRollBack(v, o.rollback); err != nil {
			return step.Answer{}, "", err
		}
		if kind == step.DecideRetry || kind == step.DecideReferBack {
			a.Rounds = o.rounds
		}
		q, open := v.Escalation(o.id, o.source)
		said := "decided: " + o.what
		switch {
		case kind == step.DecideOverride && len(o.items) > 0:
			said += " of " + strings.Join(o.items, ", ")
		case open:
			said += " for " + strings.Join(q.Sources, ", ")
		}
		if open {
			o.asked = q.ID
		}
		if kind == step.DecideAbort {
			o.stays(v, o.rollback)
		}
		interrupted := open && q.Reason == feedback.ReasonInterrupted
		switch {
		case len(o.outputs) > 0 && !interrupted:
			return a, "", usagef("--output goes with an escalation of an interrupted stage")
		case kind == step.DecideOverride && interrupted:
			if a.Outputs, err = readOutputs(v.Node(q.Sources[0]), o.outputs); err != nil {
				return a, "", err
			}
		}
		return a, said, nil
	})
}

// kind checks the decision and the flags that were given with it.
func (o *decideOptions) kind(cmd *cobra.Command) (step.AnswerKind, error) {
	var words []string
	for _, d := range decisions {
		words = append(words, d.word)
	}
	at := slices.Index(words, o.what)
	if at < 0 {
		hint := diag.Suggest(o.what, words)
		if hint == "" {
			hint = "expected " + strings.Join(words, ", ")
		}
		return 0, usagef("unknown decision %q, %s", o.what, hint)
	}
	for _, other := range decisions {
		for _, flag := range other.flags {
			if cmd.Flags().Changed(flag) && !slices.Contains(decisions[at].flags, flag) {
				return 0, usagef("--%s does not go with %s, it goes with %s", flag, o.what, other.word)
			}
		}
	}
	switch d := decisions[at]; {
	case d.kind == step.DecideReferBack && strings.TrimSpace(o.note) == "":
		return 0, usagef("refer-back needs --note TEXT: what the stage is to do")
	case d.kind == step.DecideOverride && strings.TrimSpace(o.reason) == "":
		return 0, usagef("override needs --reason TEXT: why it may stand")
	case o.rounds < 1:
		return 0, usagef("--rounds %d: expected a number of at least 1", o.rounds)
	default:
		return d.kind, nil
	}
}

// readOutputs makes the outputs of an interrupted stage that a person takes as succeeded.
func readOutputs(n *plan.Node, pairs []string) (*value.Object, error) {
	out := value.NewObject()
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usagef("--output %q: expected NAME=VALUE", pair)
		}
		var names []string
		i := -1
		if n != nil {
			for k, p := range n.Outputs {
				names = append(names, p.Name)
				if p.Name == name {
					i = k
				}
			}
		}
		if i < 0 {
			return nil, usagef("unknown output %q of the stage%s", name, outputHint(name, names))
		}
		v, err := n.Outputs[i].Type.ReadString(text)
		if err != nil {
			return nil, usagef("output %q: %w", name, err)
		}
		if _, twice := out.Get(name); twice {
			return nil, usagef("--output %s is given twice, expected one value for each output", name)
		}
		out.Set(name, v)
	}
	if n == nil {
		return out, nil
	}
	var missing []string
	for _, p := range n.Outputs {
		if _, ok := out.Get(p.Name); !ok && p.Required {
			missing = append(missing, fmt.Sprintf("--output %s=VALUE", p.Name))
		}
	}
	if len(missing) > 0 {
		return nil, usagef("stage %q must give more outputs to count as succeeded: add %s", n.ID, strings.Join(missing, " "))
	}
	return out, nil
}

func outputHint(name string, names []string) string {
	if hint := diag.Suggest(name, names); hint != "" {
		return ", " + hint
	}
	if len(names) == 0 {
		return ": it has none"
	}
	return fmt.Sprintf(": its outputs are %s", strings.Join(names, ", "))
}
