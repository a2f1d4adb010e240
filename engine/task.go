package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"example.com/pipe/engine/compile"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/journal"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
	"example.com/pipe/engine/workspace"
)

// maxIssue is the size that the text of a task may have, in bytes: each stage that looks around is given it.
const maxIssue = 256 << 10

// issue works out what a run works on, from its inputs; nil where the pipeline does not say.
func (p *Project) issue(pl *plan.Plan, given *value.Object) (*envelope.Issue, error) {
	t := pl.Task
	if t == nil {
		return nil, nil
	}
	ev := compile.NewEvaluator()
	scope := value.NewObject(value.Field{Name: plan.ScopeInputs, Value: pl.WithDefaults(given)})
	text := func(of *plan.Template) (string, error) {
		s, err := of.EvalText(ev, scope)
		if err != nil {
			return "", usagef("the task of pipeline %q: %v", pl.Name, pl.Locate(err))
		}
		return s, nil
	}
	key, err := text(&t.Key)
	if err != nil {
		return nil, err
	}
	out := &envelope.Issue{Key: strings.TrimSpace(key)}
	if out.Key == "" {
		return nil, usagef("the task of pipeline %q has an empty key; give the input that it is made of", pl.Name)
	}
	for i := range t.Repos {
		repo, err := text(&t.Repos[i])
		if err != nil {
			return nil, err
		}
		out.Repos = append(out.Repos, repo)
	}
	switch {
	case t.Body != nil:
		out.Body, err = text(t.Body)
	case t.BodyFile != nil:
		var name string
		if name, err = text(t.BodyFile); err == nil {
			out.Body, err = p.issueFile(name)
		}
	}
	if err == nil && len(out.Body) > maxIssue {
		err = usagef("the body of the task has %d bytes, more than the %d that are handed on; name a file that holds the details", len(out.Body), maxIssue)
	}
	return out, err
}

func (p *Project) issueFile(name string) (string, error) {
	b, err := workspace.ReadInside(p.Root, name, maxIssue)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usagef("the body_file %q of the task is not there", name)
	case err != nil:
		return "", usagef("the body_file %q of the task can't be read: %v", name, err)
	}
	return string(b), nil
}

// handedOn is what a run takes over from the latest ended run of the same task and pipeline.
type handedOn struct {
	from  string             // that run's id; "": there is none
	loops []feedback.Counter // that go on
	prior []step.History
}

// takeOver works out what the latest run hands on: where its loops stood, and how often work was sent back. The loop of
// a stage with itself counts anew in each run.
func (p *Project) takeOver(latest string) (handedOn, error) {
	out := handedOn{from: latest}
	v, err := p.View(latest)
	if err != nil {
		return out, err
	}
	for _, l := range v.Loops() {
		if n := v.Node(l.Source); n != nil && n.Loop != nil && n.Loop.Self {
			continue
		}
		if v.Forgotten(l.Source) || v.Forgotten(l.Target) {
			continue
		}
		if l.Last != "" && l.Last != feedback.Accept.String() && l.Last != "override" {
			out.loops = append(out.loops, l.Counter)
		}
	}
	frozen, _, err := thaw(p.RunDir(latest))
	if err != nil {
		return out, err
	}
	m := (&replay{p: p, plan: frozen}).fresh()
	_, err = journal.Read(p.RunDir(latest), func(l journal.Line) error {
		for _, r := range l.Records {
			m.Apply(r)
		}
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("read what run %s sent back: %w", latest, err)
	}
	out.prior = slices.DeleteFunc(m.SentBack(), func(h step.History) bool { return v.Forgotten(h.Target) })
	return out, nil
}
