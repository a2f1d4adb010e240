package machine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/machine"
	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/step"
	"example.com/pipe/engine/value"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the scripts")

// TestScripts runs the scripts in testdata/scripts. A script is blocks parted by empty lines: a command, the
// line "----", and the records and effects that follow. The first block is the plan. The commands are
//
//	start [jobs=N] [task=KEY] [prior=STAGE]
//	end EFFECT [CLASS] [exit=N] [items=SEVERITY:TEXT[@LINE][#ID],…] [replies=ID:STATUS,…] [allfixed] [tree=HASH]
//	    [lines=FIRST-LAST] [out=NAME:TEXT] …
//	lost EFFECT · timer EFFECT · tree EFFECT HASH [refused] · notified EFFECT · resume [tree=HASH] · later SECONDS
//	rolledback EFFECT [CLASS]
//	approve|reject|cancel|retry|refer-back|override|abort [STAGE] [key=value …] [dead]
//
// After each the records so far are folded into a new machine, whose dump must be the same.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := &scriptRun{t: t}
	for _, block := range strings.Split(strings.TrimRight(string(text), "\n"), "\n\n") {
		block += "\n"
		command, _, has := strings.Cut(block, "----\n")
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		if !has { // a comment or the plan
			out.WriteString(strings.TrimRight(block, "\n") + "\n")
			s.setup(block)
			continue
		}
		out.WriteString(command + "----\n" + s.step(strings.TrimSpace(command)))
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

type scriptRun struct {
	t       *testing.T
	m       *machine.Machine
	plan    *plan.Plan
	fresh   func() *machine.Machine
	now     step.Instant
	answers int
	records []step.Record
}

// setup reads a block without a result: lines with "#" are comments, the others the plan.
func (s *scriptRun) setup(block string) {
	var lines []string
	for _, line := range strings.Split(block, "\n") {
		if !strings.HasPrefix(line, "#") && line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	p := parsePlan(strings.Join(lines, "\n"))
	s.plan = p
	s.fresh = func() *machine.Machine { return machine.New(p, toyEvaluator{}, nil) }
	s.m = s.fresh()
}

func (s *scriptRun) step(command string) string {
	if n, ok := strings.CutPrefix(command, "later "); ok { // time passes and nothing happens
		seconds, _ := strconv.Atoi(n)
		s.now += step.Instant(seconds) * 1000
		return ""
	}
	s.now += 1000
	ready := s.m.Step(s.event(command))
	var out strings.Builder
	for _, r := range ready.Records {
		s.records = append(s.records, throughJSON(s.t, r))
		out.WriteString(describe(s.t, r) + "\n")
	}
	for _, e := range ready.Effects {
		out.WriteString("-> " + describeEffect(e) + "\n")
	}
	folded := s.fresh()
	for _, r := range s.records {
		folded.Apply(r)
	}
	if diff := cmp.Diff(string(s.m.Dump()), string(folded.Dump())); diff != "" {
		s.t.Errorf("after %q the folded state differs (-live +folded):\n%s", command, diff)
	}
	return out.String()
}

// throughJSON gives a record as a journal would give it back.
func throughJSON(t testing.TB, r step.Record) step.Record {
	b, err := step.MarshalRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := step.UnmarshalRecord(b)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return back
}

func describeEffect(e step.Effect) string {
	switch e := e.(type) {
	case step.Dispatch:
		return fmt.Sprintf("dispatch %s %s", e.Started.Effect, e.Started.Stage)
	case step.Stop:
		return "stop " + e.Effect
	case step.Timer:
		return fmt.Sprintf("timer %s +%ds", e.Effect, e.Until/1000)
	case step.ReadTree:
		out := "read tree " + e.Effect
		if e.Keep {
			out += " and keep it"
		}
		if e.Head {
			out += " with its commit"
		}
		return out
	case step.Rollback:
		return fmt.Sprintf("roll back %s %s", e.Started.Effect, e.Started.Stage)
	case step.Notify:
		return fmt.Sprintf("notify %s of %s: %s", e.Effect, e.Escalation.ID, e.Run)
	}
	return "unknown effect"
}

// describe gives a record in one line: its type and the fields that say something.
func describe(t testing.TB, r step.Record) string {
	b, err := step.MarshalRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.DecodeJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for name, field := range v.(*value.Object).All() {
		switch name {
		case "type":
			out.WriteString(field.(string))
			continue
		case "at", "duration_ms", "key", "brief", "full_history", "run", "inputs", "until":
			continue
		}
		out.WriteString(" " + name + "=" + short(field))
	}
	return out.String()
}

func short(v value.Value) string {
	if o, ok := v.(*value.Object); ok {
		if id, ok := o.Get("id"); ok {
			if status, ok := o.Get("status"); ok {
				return fmt.Sprintf("%s:%s", id, status)
			}
			sources, _ := o.Get("sources")
			reason, _ := o.Get("reason")
			blocking, _ := o.Get("blocking_issues")
			n, _ := o.Get("iterations_attempted")
			most, _ := o.Get("max_iterations")
			more := ""
			if why, ok := o.Get("nothing_to_accept"); ok {
				more = " " + short(why)
			}
			return fmt.Sprintf("%s(%s %s %v/%v %s%s)", id, short(sources), reason, n, most, short(blocking), more)
		}
		if source, ok := o.Get("source"); ok && o.Len() > 2 {
			return envelopeText(source, o)
		}
		if most, ok := o.Get("max_attempts"); ok {
			attempt, _ := o.Get("attempt")
			return fmt.Sprintf("%v/%v", attempt, most)
		}
		if hash, ok := o.Get("hash"); ok {
			return fmt.Sprint(hash)
		}
	}
	if l, ok := v.(value.List); ok {
		var parts []string
		for _, e := range l {
			parts = append(parts, short(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	text, err := value.Format(v)
	if err != nil {
		return "null"
	}
	if strings.ContainsAny(text, " \n") {
		return strconv.Quote(text)
	}
	return text
}

// envelopeText gives an envelope by its source, and by what else is in it.
func envelopeText(source value.Value, o *value.Object) string {
	out := fmt.Sprintf("%s(", source)
	for name, v := range o.All() {
		switch v := v.(type) {
		case value.List:
			out += fmt.Sprintf("%s:%d ", name, len(v))
		case *value.Object:
			out += name + " "
		}
	}
	if note, ok := o.Get("operator_refer_back_note"); ok {
		out += fmt.Sprintf("note:%s ", note)
	}
	return strings.TrimSpace(out) + ")"
}

// learnt gives a diagnosis by the word of its slot.
func (s *scriptRun) learnt(word string) *envelope.Diagnosis {
	switch word {
	case "assembly":
		return &envelope.Diagnosis{Assembly: []envelope.AssemblyFixerConcern{{Comment: "does not fit"}}}
	case "gate":
		return &envelope.Diagnosis{Gate: &envelope.GateOutput{Summary: "FAIL"}}
	case "ci":
		return &envelope.Diagnosis{CI: &envelope.CIFailure{Workflow: "build"}}
	case "verifier":
		return &envelope.Diagnosis{Verifier: &envelope.VerifierChainResult{VerifierName: "lint"}}
	case "resolver":
		return &envelope.Diagnosis{Resolver: &envelope.ResolverDiagnosis{VerdictText: "both changed it"}}
	}
	s.t.Fatalf("script: nobody learns %q", word)
	return nil
}

func (s *scriptRun) start(words []string) step.Start {
	e := step.Start{At: s.now, Run: step.RunInfo{Run: "R", TaskID: "T", Pipeline: "script", Jobs: 4, Unattended: s.plan.Unattended}}
	for _, w := range words {
		switch key, v, _ := strings.Cut(w, "="); key {
		case "jobs":
			e.Run.Jobs, _ = strconv.Atoi(v)
		case "task":
			e.Task = &envelope.Issue{Key: v, Body: "Do it.\n\n## Acceptance criteria\n\n- it works\n", Repos: []string{"app"}}
		case "prior":
			e.Prior = append(e.Prior, step.History{Target: v, Defects: []envelope.PriorDefect{
				{Cycle: 1, Source: envelope.SourceReviewerVerdict, Summary: "it was not done"}}})
		default:
			s.t.Fatalf("script: unknown word %q", w)
		}
	}
	return e
}

func (s *scriptRun) event(command string) step.Event {
	words := strings.Fields(command)
	switch words[0] {
	case "start":
		return s.start(words[1:])
	case "end":
		return s.ended(words[1], words[2:])
	case "lost":
		return step.StageLost{At: s.now, Effect: words[1]}
	case "notified":
		return step.Notified{At: s.now, Effect: words[1]}
	case "timer":
		return step.TimerFired{At: s.now, Effect: words[1]}
	case "tree":
		e := step.TreeRead{At: s.now, Effect: words[1], Tree: step.Tree{Hash: words[2], Tracked: words[2], Head: "C-" + words[2]}}
		if len(words) > 3 {
			e.Refused = "it is too large"
		}
		return e
	case "rolledback":
		e := step.RolledBack{At: s.now, Effect: words[1]}
		if len(words) > 2 {
			e.Class, e.Message = words[2], "it did not work"
		}
		return e
	case "resume":
		e := step.Resumed{At: s.now}
		for _, w := range words[1:] {
			if v, ok := strings.CutPrefix(w, "tree="); ok {
				e.Tree = &step.Tree{Hash: v, Tracked: v}
			}
		}
		return e
	}
	return s.answer(words)
}

func (s *scriptRun) ended(effect string, words []string) step.StageEnded {
	e := step.StageEnded{At: s.now, Effect: effect}
	result := func() *feedback.Result {
		if e.Result == nil {
			e.Result = &feedback.Result{Items: []feedback.Item{}}
		}
		return e.Result
	}
	for _, w := range words {
		key, v, has := strings.Cut(w, "=")
		switch {
		case key == "items":
			for _, text := range strings.Split(v, ",") {
				severity, description, _ := strings.Cut(text, ":")
				description, id, _ := strings.Cut(description, "#")
				description, line, elsewhere := strings.Cut(description, "@")
				item := feedback.Item{ID: id, Description: description, File: "a.go", Line: 1}
				if elsewhere {
					item.Line, _ = strconv.Atoi(line)
				}
				if err := item.Severity.UnmarshalText([]byte(severity)); err != nil {
					s.t.Fatal(err)
				}
				result().Items = append(result().Items, item)
			}
		case key == "clean":
			result()
		case key == "learnt":
			e.Diagnosis = s.learnt(v)
			result().Items = append(result().Items, e.Diagnosis.Items()...)
		case key == "allfixed":
			result().Prior = feedback.PriorAllFixed
		case key == "replies":
			for _, text := range strings.Split(v, ",") {
				id, status, _ := strings.Cut(text, ":")
				reply := feedback.Reply{ID: id, Reason: "because"}
				if err := reply.Status.UnmarshalText([]byte(status)); err != nil {
					s.t.Fatal(err)
				}
				result().Replies = append(result().Replies, reply)
			}
		case key == "lines":
			var first, last int
			if _, err := fmt.Sscanf(v, "%d-%d", &first, &last); err != nil {
				s.t.Fatal(err)
			}
			e.Lines = append(e.Lines, step.Lines{File: "a.go", First: first, Last: last})
		case key == "tree":
			e.Tree = &step.Tree{Hash: v, Tracked: v}
		case key == "exit" && has:
			n, _ := strconv.Atoi(v)
			e.ExitCode = &n
		case key == "out":
			name, text, _ := strings.Cut(v, ":")
			e.Outputs = value.NewObject(value.Field{Name: name, Value: text})
		case !has:
			e.Class = key
		default:
			s.t.Fatalf("script: unknown word %q", w)
		}
	}
	return e
}

func (s *scriptRun) answer(words []string) step.Answer {
	s.answers++
	a := step.Answer{At: s.now, ID: fmt.Sprintf("A%d", s.answers), By: "maria", Live: true}
	if err := a.Kind.UnmarshalText([]byte(words[0])); err != nil || a.Kind == step.UnknownAnswer {
		s.t.Fatalf("script: unknown command %q", words[0])
	}
	for _, w := range words[1:] {
		key, v, has := strings.Cut(w, "=")
		switch {
		case key == "dead":
			a.Live = false
		case key == "rollback":
			a.Rollback = true
		case key == "tree":
			a.Tree = step.Tree{Hash: v, Tracked: v}
		case key == "untracked":
			a.Tree.Hash = v
		case key == "changed":
			a.Tree.Changed = strings.Split(v, ",")
		case key == "reason":
			a.Reason = v
		case key == "by":
			a.By = v
		case key == "note":
			a.Note = v
		case key == "to":
			a.To = v
		case key == "rounds":
			a.Rounds, _ = strconv.Atoi(v)
		case key == "items":
			a.Items = strings.Split(v, ",")
		case key == "id":
			a.ID = v
		case key == "escalation":
			a.Escalation = v
		case key == "out":
			name, text, _ := strings.Cut(v, ":")
			a.Outputs = value.NewObject(value.Field{Name: name, Value: text})
		case !has:
			a.Stage = key
		default:
			s.t.Fatalf("script: unknown word %q", w)
		}
	}
	return a
}
