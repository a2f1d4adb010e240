package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/expr"
	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
)

// runEnd stands for the end of the run where a stage is asked for: all stages run before it.
const runEnd = -1

// place says where an expression stands, and so what it may read.
type place struct {
	stage int  // index of its stage, or runEnd
	post  bool // in post_checks
	key   string
}

// runType is the type of run in every scope.
func runType() value.Type {
	s := value.Of(value.String)
	return value.ObjectOf(
		value.FieldType{Name: plan.RunID, Type: s},
		value.FieldType{Name: plan.RunTaskID, Type: s},
		value.FieldType{Name: plan.RunPipeline, Type: s},
		value.FieldType{Name: plan.RunStatus, Type: s},
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
func (c *compiler) baseEnv(key string, ofStage bool) *expr.Env {
	if e, ok := c.envs[key]; ok {
		return e
	}
	fields := []value.FieldType{
		{Name: plan.ScopeInputs, Type: c.inputs},
		{Name: plan.ScopeRun, Type: runType()},
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
	c.envs[key] = e
	return e
}

// env gives the scope's type for one expression: of the stages, it holds those that the expression speaks
// of. What it says of stages that it may not read is reported; they are in the scope nevertheless, so that
// the rest of the expression is checked.
func (c *compiler) env(sc source.Scalar, at place) *expr.Env {
	key := "run"
	if at.stage != runEnd {
		key = "stage"
	}
	e := c.baseEnv(key, at.stage != runEnd)
	if at.post {
		e = e.With(
			value.FieldType{Name: plan.ScopeOutputs, Type: c.stages[at.stage].outputs},
			value.FieldType{Name: plan.ScopeExitCode, Type: value.Of(value.Int)},
		)
	}
	ms := scanMentions(sc.Text)
	var fields []value.FieldType
	var seen []string
	for _, m := range ms {
		id := c.meant(m)
		if id == "" {
			d := c.diags.Errorf(CodeStagesValue, sc.At(m.start, m.end), `"stages" is read by the id of a stage that stands in the text`)
			d.Help = `write stages.ID, or stages["ID"] where the id has a dash`
			id = "stages"
		}
		if slices.Contains(seen, id) {
			continue
		}
		seen = append(seen, id)
		fields = append(fields, value.FieldType{Name: id, Type: c.readable(sc, m, id, at)})
	}
	return e.With(value.FieldType{Name: plan.ScopeStages, Type: value.ObjectOf(fields...)})
}

// meant gives the id of the stage that a mention means: stages.a-b is read as a subtraction by the
// language, but means "a-b" where that is a stage and "a" is none.
func (c *compiler) meant(m mention) string {
	if _, ok := c.index[m.id]; ok || !m.dotted || m.text == m.id {
		return m.id
	}
	for long := m.text; len(long) > len(m.id); {
		if _, ok := c.index[long]; ok {
			return long
		}
		cut := strings.LastIndexByte(long, '-')
		if cut < 0 {
			break
		}
		long = long[:cut]
	}
	return m.id
}

// readable gives the type of a stage in a scope, and reports a stage that may not be read there.
func (c *compiler) readable(sc source.Scalar, m mention, id string, at place) value.Type {
	i, ok := c.index[id]
	if !ok {
		if m.id != "" {
			name := m.id
			if m.dotted {
				name = m.text
			}
			c.lookup(name, sc.At(m.start, m.start+len(name)), "")
		}
		return value.Of(value.Any)
	}
	s := c.stages[i]
	if at.stage != runEnd && !c.before[edge{at.stage, i}] {
		c.notBefore(sc.At(m.start, m.end), at.stage, i)
	}
	if s.mayMiss == "" || c.testedByWhen(at, id) {
		return s.known
	}
	return s.maybe
}

// testedByWhen reports whether the expression's stage only starts where another one has succeeded.
func (c *compiler) testedByWhen(at place, id string) bool {
	return at.stage != runEnd && at.key != "when" && c.stages[at.stage].sure[id]
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

// notBefore reports that stage from reads stage to, which does not run before it.
func (c *compiler) notBefore(at source.Span, from, to int) {
	t := c.stages[to]
	if from == to {
		d := c.diags.Errorf(CodeNotBefore, at, "%s can't read itself here", c.label(from))
		d.Help = `its own outputs are "outputs", in post_checks; its rounds and tries are "iteration" and "attempt"`
		return
	}
	d := c.diags.Errorf(CodeNotBefore, at, "%s does not run before %s", c.label(to), c.label(from))
	d.Related = []diag.Related{{Span: t.span(), Message: fmt.Sprintf("%q is here", t.node.ID)}}
	if l := t.node.Loop; l != nil && l.Target == from {
		d.Help = fmt.Sprintf(`what %q sends back is in "brief" and "open_items"`, t.node.ID)
		return
	}
	if c.runsBefore(from, to) {
		d.Help = fmt.Sprintf("it runs after %s, so nothing is known of it there", c.label(from))
		return
	}
	d.Help = fmt.Sprintf("add %q to the needs of %s", t.node.ID, c.label(from))
}
