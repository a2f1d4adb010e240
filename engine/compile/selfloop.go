package compile

import (
	"fmt"
	"slices"
	"strings"

	"example.com/pipe/engine/compile/fixed"
	"example.com/pipe/engine/compile/scope"
	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/source"
	"example.com/pipe/engine/value"
	"example.com/pipe/specs"
)

// kindVerifiers is the kind of the node that runs the verifiers of a stage.
const kindVerifiers = "verifiers"

// What the ids of the parts of a stage end in, behind the stage's own: no id that a document gives has a "/".
const (
	verifiersPart = "verifiers"
	validatePart  = "validate"
)

// defaultRefineAttempts is how often a refine loop runs.
const defaultRefineAttempts = 5

// withParts gives the stages of a list, and right behind each that is looped with itself the part that looks at what
// it did.
func withParts(stages []*specs.Stage) []stageInfo {
	out := make([]stageInfo, 0, len(stages))
	for _, syn := range stages {
		out = append(out, stageInfo{syn: syn, owner: -1})
		if syn.Verifiers != nil {
			at, _ := syn.Key("verifiers")
			out = append(out, stageInfo{syn: &specs.Stage{Span: at}, part: verifiersPart, owner: len(out) - 1})
		} else if l := syn.Refine; l != nil {
			validate := specs.Stage{Span: l.Span}
			if l.Validate != nil {
				validate = *l.Validate
			}
			validate.Dir, validate.Env, validate.Refine = syn.Dir, syn.Env, l
			out = append(out, stageInfo{syn: &validate, part: validatePart, owner: len(out) - 1})
		}
	}
	return out
}

// isPart reports whether it is the part of a stage that looks at what the stage did.
func (s *stageInfo) isPart() bool { return s.part != "" }

// namePart gives a part its id, behind that of its stage, and its place: that of the key that it stands for.
func (c *compiler) namePart(s *stageInfo) {
	own := c.stages[s.owner]
	s.Span, s.Owner, s.Part = s.syn.Span, own.Stage, s.part
	s.node.At = s.Span.Start
	if own.ID != "" {
		s.node.ID = own.ID + "/" + s.part
	}
	c.known.Add(s.Stage)
}

// declarePart works out what may be known of a part before any expression is compiled: nobody reads it.
func (c *compiler) declarePart(s *stageInfo) {
	s.node.Role = plan.Review
	c.findCommand(s)
	c.textOutputs(s)
	c.kindOutputs(s)
	s.outputs()
	c.loadPrompt(s)
	s.syn.When = succeeded(c.stages[s.owner].ID, s.Span)
	if s.syn.When != nil {
		s.Sure = scope.SucceededIn(plain(s.syn.When.Text, false))
	}
}

// succeeded is the condition that a stage has succeeded, as if it stood at the given place; nil for a stage without
// a name.
func succeeded(id string, at source.Span) *specs.Expr {
	if id == "" {
		return nil
	}
	text := fmt.Sprintf(`stages[%q].status == "succeeded"`, id)
	return &specs.Expr{Scalar: source.NewScalar(text, at, []source.Mark{{Pos: at.Start}})}
}

// part compiles the part of a stage that looks at what the stage did. It works where the stage works.
func (c *compiler) part(i int) {
	s := c.stages[i]
	own := c.stages[s.owner]
	n := s.node
	c.selfLoop(i)
	if own.node.ForEach != nil {
		n.ForEach, s.Each = own.node.ForEach, own.Each
	}
	if s.syn.When != nil {
		n.When = c.typer.Expression(s.syn.When, value.Of(value.Bool), scope.Place{Stage: i, Key: "when", Group: true})
	}
	n.Env, n.Dir = own.node.Env, own.node.Dir
	n.Retry, n.Timeout = own.node.Retry, own.node.Timeout
	n.OnInterrupt = plan.RunAgain
	n.ContinueOnError = own.node.ContinueOnError
	n.Writes = true
	if s.part == verifiersPart {
		c.verifiers(s, own.syn.Verifiers)
		return
	}
	n.OnInterrupt = own.node.OnInterrupt
	n.Inputs = own.node.Inputs
	n.Feedback = fixed.Feedback(s.syn.Feedback, s.command.reads(), &c.diags)
	c.executor(i)
	n.Refine = c.refine(i)
}

// refine compiles what a refine loop is called, and where its findings are kept.
func (c *compiler) refine(i int) *plan.Refine {
	s := c.stages[i]
	own, l := c.stages[s.owner], s.syn.Refine
	out := &plan.Refine{Name: fixed.Pick(camelCase(own.ID), l.Name)}
	if l.FeedbackFile != nil {
		t, _ := c.typer.Template(l.FeedbackFile, false, scope.Place{Stage: s.owner, Key: "feedback_file"}) // create asks for it first
		if t.IsLiteral() {
			fixed.InWorkspace(&c.diags, l.FeedbackFile.Text, l.FeedbackFile.Span, "feedback_file")
		}
		out.FeedbackFile = &t
	}
	return out
}

// refineNames reports refine loops of the same name: their attempts would be kept in one list.
func (c *compiler) refineNames() {
	first := map[string]int{}
	for i, s := range c.stages {
		r := s.node.Refine
		if r == nil || r.Name == "" {
			continue
		}
		other, taken := first[r.Name]
		if !taken {
			first[r.Name] = i
			continue
		}
		own, at := c.stages[s.owner], c.stages[s.owner].Span
		if l := own.syn.Refine.Name; l != nil {
			at = l.Span
		}
		d := c.diags.Errorf(CodeDuplicateStage, at, "the refine loop of %s is called %q, as that of %s is, and they would share a list of attempts", c.known.Label(s.owner), r.Name, c.known.Label(c.stages[other].owner))
		d.Related = []diag.Related{{Span: c.stages[other].Span, Message: "the other one is here"}}
		d.Help = "give it a name of its own: refine_loop: {name: …}"
	}
}

// camelCase gives an id without its dashes and underscores: "generate-plan" is "generatePlan".
func camelCase(id string) string {
	var b strings.Builder
	for k, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '_' }) {
		if k > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}

// attemptsAlone gives the rules of a refine loop that says nothing else: whether it goes on is up to its attempts, whatever
// they find.
func attemptsAlone() *specs.Convergence {
	off := &specs.Leaf[int]{Value: 0}
	return &specs.Convergence{SameItem: off, Disputed: off, NoChange: &specs.Leaf[bool]{Value: false}}
}

// selfLoop fills in the loop of a stage with itself. What needs the stage waits for the loop, so that nothing but
// the part has run since, and runs again.
func (c *compiler) selfLoop(i int) {
	s := c.stages[i]
	own := c.stages[s.owner]
	var def specs.Loop
	if c.doc.Defaults != nil && c.doc.Defaults.FeedbackLoop != nil {
		def = *c.doc.Defaults.FeedbackLoop
	}
	out := s.node.Loop
	if v := own.syn.Verifiers; v != nil {
		out.MaxIterations = fixed.Pick(defaultMaxIterations, def.MaxIterations, v.MaxIterations)
		out.OnExhausted = fixed.PickWord(defaultOnExhausted, def.OnExhausted, v.OnExhausted)
		out.Convergence = fixed.Convergence(def.Convergence, v.Convergence)
	} else if l := own.syn.Refine; l != nil {
		out.MaxIterations = fixed.Pick(defaultRefineAttempts, l.MaxAttempts)
		out.OnExhausted = fixed.PickWord(defaultOnExhausted, def.OnExhausted, l.OnExhausted)
		out.Convergence = fixed.Convergence(attemptsAlone(), l.Convergence)
	}
	out.Rerun = plan.Path
	if c.judgesOnly(s, own) {
		return
	}
	if own.node.Role == plan.Implementation || own.syn.Loop != nil || own.syn.Feedback != nil { // of which specs reports the latter
		return
	}
	what := "verifiers send work back"
	if s.part == validatePart {
		what = "what validate finds goes back"
	}
	d := c.diags.Errorf(CodeLoopTarget, s.Span, "%s has the role %s, and %s to an implementation", c.known.Label(s.owner), own.node.Role, what)
	if own.syn.Role != nil {
		d.Related = []diag.Related{{Span: own.syn.Role.Span, Message: "its role is given here"}}
		d.Help = "write role: implementation there, or drop it"
	}
}

// judgesOnly reports a part of a stage that only looks at what others did: running it again would change nothing.
func (c *compiler) judgesOnly(s, own *stageInfo) bool {
	kind := c.usedKind(own)
	if kind == nil || !kind.Judges {
		return false
	}
	d := c.diags.Errorf(CodeLoopTarget, own.syn.Uses.Span, "%s is of the kind %q, which only judges, so there is no work of its own to send back", c.known.Label(s.owner), kind.Name)
	if d.Help = "give the verifiers to the stage that does the work, and this one a feedback_loop: {target_stage: …} that sends back to it"; s.part == validatePart {
		d.Help = "create must do the work: let it run a script or an agent, and put what judges into validate"
	}
	d.Related = []diag.Related{{Span: s.Span, Message: "what it would be sent back by is here"}}
	return true
}

// verifiers compiles the commands that look at what a stage did.
func (c *compiler) verifiers(s *stageInfo, v *specs.Verifiers) {
	s.node.Kind = kindVerifiers
	list := make(value.List, len(v.Commands))
	for k, cmd := range v.Commands {
		templateInRun(cmd.Run, &c.diags, func() string {
			return "give the stage an env, whose values may hold ${{ }}: its verifiers have the same environment"
		})
		list[k] = value.NewObject(
			value.Field{Name: "name", Value: cmd.Name.Value},
			value.Field{Name: "run", Value: cmd.Run.Text},
		)
	}
	s.node.Config = value.NewObject(value.Field{Name: "commands", Value: list})
	c.checkKind(s, kindVerifiers, "", nil, s.Span)
}

// withPartsOf gives the needs of a stage with the parts of those that it needs: who needs a stage waits until its loop
// with itself has settled.
func (c *compiler) withPartsOf(needs []int) []int {
	if !slices.ContainsFunc(needs, c.hasPart) {
		return needs
	}
	out := make([]int, 0, 2*len(needs))
	for _, t := range needs {
		out = append(out, t)
		if c.hasPart(t) {
			out = append(out, t+1)
		}
	}
	return out
}

// hasPart reports whether the stage is looped with itself: its part stands right behind it.
func (c *compiler) hasPart(i int) bool {
	return i+1 < len(c.stages) && c.stages[i+1].isPart() && c.stages[i+1].owner == i
}
