package scope

import (
	"fmt"
	"slices"

	"example.com/pipe/engine/compile/graph"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// What stands for the ends of a run where a stage is asked for: all stages run before RunEnd, and none before RunStart.
const (
	RunEnd   = -1
	RunStart = -2
)

// Place says where an expression stands, and so what it may read.
type Place struct {
	Stage int    // index of its stage, RunEnd or RunStart
	Post  bool   // in post_checks
	Group bool   // in the when or the items of a for_each, which are asked once for all items
	Key   string // for messages
}

// Typer types the expressions of one document.
type Typer struct {
	stages *Stages
	needs  graph.Needs // of the stages, without cycles
	file   string      // the plan's: places in other files carry their file
	inputs value.Type  // of the run's inputs
	diags  *diag.List

	feedback value.Type // of a stage's feedback in a scope

	before map[graph.Edge]bool  // of the pairs that the document speaks of, those that stand in this order
	envs   map[string]*expr.Env // of the places where expressions stand, without stages
	common map[string]compiled  // by text: what stages compile that speaks of no stage; many say the same
}

// NewTyper gives the typer of a document whose stages and needs are known, for a plan of the given file. texts visits, for each stage,
// what may hold expressions, so that all that they ask of the graph is found out in one go.
func NewTyper(file string, inputs value.Type, stages *Stages, needs graph.Needs, diags *diag.List, texts func(stage int, visit func(string))) *Typer {
	t := &Typer{
		stages: stages, needs: needs, file: file, inputs: inputs, diags: diags,
		feedback: feedbackType(), envs: make(map[string]*expr.Env), common: make(map[string]compiled),
	}
	var asked []graph.Edge
	for i, s := range stages.List {
		if s.Final {
			continue // it runs after all the others, whatever they need
		}
		if s.Target >= 0 {
			asked = append(asked, graph.Edge{From: i, To: s.Target})
		}
		texts(i, func(text string) {
			for _, m := range everyMention(text) {
				if to, ok := stages.index[stages.meant(m)]; ok && !stages.List[to].Final {
					asked = append(asked, graph.Edge{From: i, To: to})
				}
			}
		})
	}
	t.before = needs.Before(asked)
	return t
}

// Before reports whether a stage's loop target, or a stage that it speaks of, runs before it.
func (t *Typer) Before(first, then int) bool { return t.before[graph.Edge{From: then, To: first}] }

// outcomes are the words that run.status may be in finally.
var outcomes = []string{"succeeded", "failed", "cancelled"}

// runType is the type of run in a scope; in finally the status is what came of the rest.
func runType(final bool) value.Type {
	s := value.Of(value.String)
	status := s
	if final {
		status = value.OneOf(outcomes...)
	}
	return value.ObjectOf(
		value.FieldType{Name: plan.RunID, Type: s},
		value.FieldType{Name: plan.RunTaskID, Type: s},
		value.FieldType{Name: plan.RunPipeline, Type: s},
		value.FieldType{Name: plan.RunStatus, Type: status},
	)
}

// stageStatuses are the words that a stage's status may be when another stage reads it.
var stageStatuses = []string{"succeeded", "failed", "skipped", "not_run", "cancelled"}

// stageType is the type of an entry of stages; feedback is feedbackType, made once for all stages.
func stageType(outputs, feedback value.Type) value.Type {
	return value.ObjectOf(
		value.FieldType{Name: plan.StageStatus, Type: value.OneOf(stageStatuses...)},
		value.FieldType{Name: plan.StageOutputs, Type: outputs},
		value.FieldType{Name: plan.StageIteration, Type: value.Of(value.Int)},
		value.FieldType{Name: plan.StageAttempts, Type: value.Of(value.Int)},
		value.FieldType{Name: plan.StageFeedback, Type: feedback},
	)
}

// feedbackType is the type of a stage's feedback.
func feedbackType() value.Type {
	items := value.ListOf(feedback.ItemType())
	return value.ObjectOf(
		value.FieldType{Name: plan.FeedbackBlocking, Type: items},
		value.FieldType{Name: plan.FeedbackAdvisory, Type: items},
		value.FieldType{Name: plan.FeedbackInformational, Type: items},
	)
}

// baseEnv is what every expression of a kind of place sees, without stages.
func (t *Typer) baseEnv(at Place) *expr.Env {
	key, ofStage := "run", at.Stage >= 0
	final := ofStage && t.stages.List[at.Stage].Final
	switch {
	case final:
		key = "finally"
	case ofStage:
		key = "stage"
	case at.Stage == RunStart:
		key = "start"
	}
	if e, ok := t.envs[key]; ok {
		return e
	}
	fields := []value.FieldType{{Name: plan.ScopeInputs, Type: t.inputs}}
	if at.Stage != RunStart {
		fields = append(fields, value.FieldType{Name: plan.ScopeRun, Type: runType(final)})
	}
	if ofStage {
		n, s := value.Of(value.Int), value.Of(value.String)
		fields = append(fields,
			value.FieldType{Name: plan.ScopeIteration, Type: n},
			value.FieldType{Name: plan.ScopeAttempt, Type: n},
			value.FieldType{Name: plan.ScopeBrief, Type: s},
			value.FieldType{Name: plan.ScopeOpenItems, Type: value.ListOf(feedback.ItemType())},
			value.FieldType{Name: plan.ScopeChanges, Type: value.ListOf(s)},
		)
	}
	e := expr.NewEnv(value.ObjectOf(fields...))
	t.envs[key] = e
	return e
}

// env gives the scope's type for one expression: of the stages, it holds those that the expression speaks
// of. What it says of stages that it may not read is reported; they are in the scope nevertheless, so that
// the rest of the expression is checked.
func (t *Typer) env(sc text, at Place) *expr.Env {
	e := t.baseEnv(at)
	if t.hasEach(at) {
		e = e.With(value.FieldType{Name: plan.ScopeEach, Type: t.stages.List[at.Stage].Each})
	}
	if at.Post {
		e = e.With(value.FieldType{Name: plan.ScopeOutputs, Type: t.stages.List[at.Stage].Own})
		if !t.stages.List[at.Stage].NoProcess {
			e = e.With(value.FieldType{Name: plan.ScopeExitCode, Type: value.Of(value.Int)})
		}
	}
	ms := scanMentions(sc.plain())
	var fields []value.FieldType
	var seen []string
	for _, m := range ms {
		id := t.stages.meant(m)
		if id == "" {
			d := t.diags.Errorf(CodeStagesValue, sc.At(m.start, m.end), `"stages" is read by the id of a stage that stands in the text`)
			d.Help = `write stages.ID, or stages["ID"] where the id has a dash`
			id = "stages"
		}
		if slices.Contains(seen, id) {
			continue
		}
		seen = append(seen, id)
		fields = append(fields, value.FieldType{Name: id, Type: t.readable(sc, m, id, at)})
	}
	return e.With(value.FieldType{Name: plan.ScopeStages, Type: value.ObjectOf(fields...)})
}

// hasEach reports whether an expression stands where each is known: in a stage with for_each, but for its when
// and its items, which are asked once for all items.
func (t *Typer) hasEach(at Place) bool {
	return at.Stage >= 0 && !at.Group && t.stages.List[at.Stage].Each.Kind != value.UnknownKind
}

// readable gives the type of a stage in a scope, and reports a stage that may not be read there.
func (t *Typer) readable(sc text, m mention, id string, at Place) value.Type {
	i, ok := t.stages.index[id]
	if !ok {
		if m.id != "" {
			name := m.id
			if m.dotted {
				name = m.text
			}
			t.stages.Lookup(name, sc.At(m.start, m.start+len(name)), "")
		}
		return value.Of(value.Any)
	}
	final := at.Stage >= 0 && t.stages.List[at.Stage].Final
	switch {
	case at.Stage == RunStart:
		t.diags.Errorf(CodeNotBefore, sc.At(m.start, m.end), "%s has not run when the run starts, and %s is read then", t.stages.Label(i), at.Key).
			Help = "only inputs are known there"
	case t.stages.List[i].Final && final && i < at.Stage:
	case t.stages.List[i].Final:
		t.notFinal(sc.At(m.start, m.end), i, final)
	case at.Stage >= 0 && !final && !t.Before(i, at.Stage):
		t.notBefore(sc.At(m.start, m.end), at.Stage, i)
	}
	mayMiss := final || t.stages.List[i].MayMiss != ""
	return t.entry(t.stages.List[i], mayMiss && !t.testedByWhen(at, id))
}

// entry gives the type of a stage's entry in a scope, made when it is first read.
func (t *Typer) entry(s *Stage, mayMiss bool) value.Type {
	if mayMiss {
		if s.maybe.Kind == value.UnknownKind {
			s.maybe = stageType(maybeMissing(s.Outputs), t.feedback)
		}
		return s.maybe
	}
	if s.known.Kind == value.UnknownKind {
		s.known = stageType(s.Outputs, t.feedback)
	}
	return s.known
}

// testedByWhen reports whether the expression's stage only starts where another one has succeeded.
func (t *Typer) testedByWhen(at Place, id string) bool {
	return at.Stage >= 0 && at.Key != "when" && t.stages.List[at.Stage].Sure[id]
}

// maybeMissing gives the type of outputs none of which may be there.
func maybeMissing(outputs value.Type) value.Type {
	fields := make([]value.FieldType, len(outputs.Fields))
	for i, f := range outputs.Fields {
		fields[i] = value.FieldType{Name: f.Name, Type: f.Type.OrNull()}
	}
	outputs.Fields = fields
	return outputs
}

// notFinal reports that a stage of finally is read where it has not run yet; final says that a stage of finally
// reads it.
func (t *Typer) notFinal(at source.Span, i int, final bool) {
	d := t.diags.Errorf(CodeNotBefore, at, "%s stands in finally, which comes after everything else", t.stages.Label(i))
	d.Related = []diag.Related{{Span: t.stages.List[i].Span, Message: fmt.Sprintf("%q is here", t.stages.List[i].ID)}}
	d.Help = "only the stages of finally that stand below it can read it"
	if final {
		d.Message = fmt.Sprintf("%s does not run before this one: the stages of finally run in the order of the document", t.stages.Label(i))
		d.Help = "read only stages of finally that stand above"
	}
}

// notBefore reports that stage from reads stage to, which does not run before it.
func (t *Typer) notBefore(at source.Span, from, to int) {
	reader, read := t.stages.Label(from), t.stages.List[to]
	if from == to {
		d := t.diags.Errorf(CodeNotBefore, at, "%s can't read itself here", reader)
		d.Help = `its own outputs are "outputs", in post_checks; its rounds and tries are "iteration" and "attempt"`
		return
	}
	d := t.diags.Errorf(CodeNotBefore, at, "%s does not run before %s", t.stages.Label(to), reader)
	d.Related = []diag.Related{{Span: read.Span, Message: fmt.Sprintf("%q is here", read.ID)}}
	switch {
	case read.Target == from:
		d.Help = fmt.Sprintf(`what %q sends back is in "brief" and "open_items"`, read.ID)
	case t.needs.RunsBefore(from, to):
		d.Help = fmt.Sprintf("it runs after %s, so nothing is known of it there", reader)
	default:
		d.Help = fmt.Sprintf("add %q to the needs of %s", read.ID, reader)
	}
}
